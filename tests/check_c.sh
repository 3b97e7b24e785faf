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

for source in "$root"/src/c/core/*.c; do
    printf '%s\n' "$source"
done | xargs -P "$(nproc)" -I{} sh -c '"$0" "$@" -c "{}" -o "'"$work"'/$(basename "{}" .c).o"' "$cc" "${flags[@]}"

# One test: built, run, and its closing line; the whole log of one that fails.
run_test() {
    local way=$1 name=$2
    shift 2
    "$@" "$root/tests/c/test_$name.c" "$work"/ionf_*.o -lm -lpthread -o "$work/test_$name"
    if ! "${runner[@]}" "$work/test_$name" >"$work/$name.log" 2>&1; then
        head -n 200 "$work/$name.log"
        echo "test_$name failed under $way"
        return 1
    fi
    printf '%-9s %-14s %s\n' "$way" "$name" "$(tail -n 1 "$work/$name.log")"
}

running=0 failed=0
for name in "${tests[@]}"; do
    run_test "$way" "$name" "$cc" "${flags[@]}" &
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
