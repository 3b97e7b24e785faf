#!/usr/bin/env bash
# Builds the C tests of the core and runs them, without Python.
#
#   tests/check_c.sh asan               under ASan, LeakSanitizer and UBSan
#   tests/check_c.sh tsan               the tests with threads, under TSan
#   tests/check_c.sh valgrind           under valgrind, leaks included; a message where there is none
#   tests/check_c.sh asan dec txt_lex   these tests only
#
# CC names another compiler.
set -euo pipefail

way=$1
shift
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cc=${CC:-gcc}
flags=(-std=c11 -g -O1 -Wall -Wextra -Werror -I "$root/src/c/core" -I "$root/tests/c")
runner=()
short_steps=()

case $way in
asan) flags+=(-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer) ;;
tsan)
    flags+=(-fsanitize=thread)
    [ $# -ne 0 ] || set -- pool
    ;;
valgrind)
    if ! command -v valgrind >/dev/null; then
        echo "no valgrind here: skipped"
        exit 0
    fi
    flags+=(-DCT_SLOWED)
    short_steps=(interrupt) # else its documents are megabytes, and few of them are tried
    runner=(valgrind --quiet --error-exitcode=99 --leak-check=full --show-leak-kinds=all
        --errors-for-leak-kinds=all)
    ;;
*)
    sed -n '2,9s/^# \{0,1\}//p' "$0"
    exit 2
    ;;
esac

tests=("$@")
if [ ${#tests[@]} -eq 0 ]; then
    for source in "$root"/tests/c/test_*.c; do
        name=${source##*/test_}
        tests+=("${name%.c}")
    done
fi

build_core() {
    mkdir "$1"
    printf '%s\n' "$root"/src/c/core/*.c | xargs -P "$(nproc)" -I{} sh -c \
        'out=$0/$(basename "{}" .c).o && "$@" -c "{}" -o "$out"' "$1" "$cc" "${flags[@]}" "${@:2}"
}

# As tests/ccompiler.py defines them.
short=-DIONF_STEP_BYTES=16u
build_core "$work/core"
[ ${#short_steps[@]} -eq 0 ] || build_core "$work/short" "$short"

# One test: built, run, and its closing line; the whole log of one that fails.
run_test() {
    local way=$1 name=$2 build=("$cc" "${flags[@]}") objects=$work/core
    if [[ " ${short_steps[*]} " == *" $name "* ]]; then
        build+=("$short")
        objects=$work/short
    fi
    "${build[@]}" "$root/tests/c/test_$name.c" "$objects"/ionf_*.o -lm -lpthread -o "$work/test_$name"
    if ! "${runner[@]}" "$work/test_$name" >"$work/$name.log" 2>&1; then
        head -n 200 "$work/$name.log"
        echo "test_$name failed under $way"
        return 1
    fi
    printf '%-9s %-14s %s\n' "$way" "$name" "$(tail -n 1 "$work/$name.log")"
}

running=0 failed=0
for name in "${tests[@]}"; do
    run_test "$way" "$name" &
    running=$((running + 1))
    if [ "$running" -ge "$(nproc)" ]; then
        wait -n || failed=1
        running=$((running - 1))
    fi
done
while [ "$running" -gt 0 ]; do
    wait -n || failed=1
    running=$((running - 1))
done
exit "$failed"
