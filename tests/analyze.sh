#!/usr/bin/env bash
# What compilers can find in the core without running it: gcc's -fanalyzer and clang-tidy with .clang-tidy.
#
#   tests/analyze.sh                        GCC and CLANG_TIDY name others
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
flags=(-std=c11 -I src/c/core)

gcc=${GCC:-gcc}
if "$gcc" -fanalyzer -x c -c /dev/null -o /dev/null 2>/dev/null; then
    echo "== $gcc -fanalyzer"
    printf '%s\n' src/c/core/*.c |
        xargs -P "$(nproc)" -I{} "$gcc" "${flags[@]}" -O1 -Wall -Wextra -Werror -fanalyzer -c {} -o /dev/null
else
    echo "no gcc with -fanalyzer here: skipped"
fi

tidy=${CLANG_TIDY:-$(command -v clang-tidy || command -v clang-tidy-14 || true)}
if [ -z "$tidy" ]; then
    echo "no clang-tidy here: skipped"
    exit 0
fi
echo "== $tidy"
printf '%s\n' src/c/core/*.c | xargs -P "$(nproc)" -n 3 sh -c \
    'out=$("$0" --quiet "$@" -- -std=c11 -I src/c/core 2>&1) || { echo "$out"; exit 1; }' "$tidy"
echo "nothing found"
