#!/usr/bin/env bash
# Builds the fuzz targets.
#
#   tests/fuzz/build.sh FOLDER              plain driver, ASan and UBSan, coverage where gcc has it
#   ENGINE=libfuzzer tests/fuzz/build.sh FOLDER     with clang (CLANG=clang-14) and its fuzzer
#   SANITIZE= tests/fuzz/build.sh FOLDER    plain driver, optimised, no sanitizer: five times as fast
set -euo pipefail

out=$1
here=$(cd "$(dirname "$0")" && pwd)
core=$here/../../src/c/core
mkdir -p "$out/obj"

sanitize=${SANITIZE-address,undefined}
flags=(-std=gnu11 -g -I "$core" -I "$here")
if [ -n "$sanitize" ]; then
    flags+=(-O1 "-fsanitize=$sanitize" -fno-sanitize-recover=all -fno-omit-frame-pointer)
else
    flags+=(-O2)
fi
engine=${ENGINE:-plain}
if [ "$engine" = libfuzzer ]; then
    cc=${CLANG:-$(command -v clang || command -v clang-14)}
    cover=(-fsanitize=fuzzer-no-link)
    link=(-fsanitize=fuzzer)
    support=(fuzz_mutate)
else
    cc=${CC:-gcc}
    cover=()
    if [ -n "$sanitize" ] && "$cc" -fsanitize-coverage=trace-pc -x c -c /dev/null -o /dev/null 2>/dev/null; then
        cover=(-fsanitize-coverage=trace-pc)
    fi
    link=()
    support=(fuzz_mutate fuzz_main)
fi

# What is looked for new code in, and what is not: the driver and the mutator.
for source in "$core"/*.c "$here"/fuzz_*.c; do
    name=$(basename "$source" .c)
    case $name in
    fuzz_main | fuzz_mutate) echo "$cc" "${flags[@]}" -c "$source" -o "$out/obj/$name.o" ;;
    *) echo "$cc" "${flags[@]}" "${cover[@]}" -c "$source" -o "$out/obj/$name.o" ;;
    esac
done | if [ "$engine" = libfuzzer ]; then grep -v fuzz_main; else cat; fi |
    xargs -P "$(nproc)" -I{} sh -c '{}'

shared=()
for name in fuzz_common "${support[@]}"; do
    shared+=("$out/obj/$name.o")
done
for source in "$core"/*.c; do
    shared+=("$out/obj/$(basename "$source" .c).o")
done
for source in "$here"/fuzz_*.c; do
    name=$(basename "$source" .c)
    case $name in
    fuzz_main | fuzz_mutate | fuzz_common) continue ;;
    esac
    echo "$cc" "${flags[@]}" "${link[@]}" "$out/obj/$name.o" "${shared[@]}" -lm -o "$out/$name"
done | xargs -P "$(nproc)" -I{} sh -c '{}'
rm -r "$out/obj"
