#!/usr/bin/env bash
# Fuzzes every target for so many seconds each, from the project's own seeds and, where they are, the
# public vectors. Ends with the counts of each target, or with the input that broke one.
#
#   tests/fuzz/run.sh 60                        each target for a minute
#   tests/fuzz/run.sh 60 read pieces            these only
#   ENGINE=libfuzzer tests/fuzz/run.sh 600      the same with clang's libFuzzer
#   SANITIZE= SEED=7 tests/fuzz/run.sh 600      five times as fast, without sanitizers; another seed
#
# What libFuzzer finds on the way stays in FUZZ_CORPUS (default: tests/fuzz/corpus, not in git).
set -euo pipefail

seconds=$1
shift
here=$(cd "$(dirname "$0")" && pwd)
vectors=${IONFAST_TESTDATA:-$here/../../../shared/testdata}/ion-tests/iontestdata
corpus=${FUZZ_CORPUS:-$here/corpus}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$here/build.sh" "$work/bin"
python3 "$here/seeds.py" "$work/seeds"
folders=("$work/seeds")
if [ -d "$vectors" ]; then
    while IFS= read -r folder; do folders+=("$folder"); done < <(find "$vectors" -type d)
fi
if [ $# -eq 0 ]; then
    for target in "$work"/bin/fuzz_*; do set -- "$@" "${target##*/fuzz_}"; done
fi

export ASAN_OPTIONS=abort_on_error=1:allocator_may_return_null=1:quarantine_size_mb=8
export UBSAN_OPTIONS=abort_on_error=1:print_stacktrace=1
for target in "$@"; do
    mkdir -p "$corpus/$target"
    echo "== $target"
    if [ "${ENGINE:-plain}" = libfuzzer ]; then
        "$work/bin/fuzz_$target" -max_total_time="$seconds" -max_len=1024 -timeout=5 -dict="$here/ion.dict" \
            -artifact_prefix="$corpus/crash-$target-" -verbosity=0 -print_final_stats=1 \
            "$corpus/$target" "${folders[@]}"
    else
        "$work/bin/fuzz_$target" -seconds="$seconds" -seed="${SEED:-1}" -max_len=1024 -out="$corpus" \
            "${folders[@]}"
    fi
done
