#!/usr/bin/env bash
# Builds ionfast with ASan and UBSan in a temporary folder and runs tests on it. Lists and structs count as
# long ones (py_spill.c) after a few items.
#
#   tests/sanitize.sh                               what CI runs: every C file reads and writes
#   tests/sanitize.sh -n 2 tests                    the whole suite
#   tests/sanitize.sh tests/test_hostile.py -x      any other pytest arguments
#   tests/sanitize.sh --build FOLDER                builds only, in a new folder that stays
#   tests/sanitize.sh --built FOLDER ...            runs tests on what is built there
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
gcc=${CC:-gcc}
export IONFAST_TESTDATA=${IONFAST_TESTDATA:-$root/../shared/testdata}

# Into folder $1, a copy, since a build in place would take over object files that have no sanitizer in them.
build() {
    mkdir -p "$1/ionfast"
    cd "$root"
    cp -r pyproject.toml setup.py MANIFEST.in README.md LICENSE CHANGELOG.md src tests docs "$1/ionfast"
    cd "$1/ionfast"
    rm -rf build src/*.egg-info src/ionfast/*.so
    python3 -m venv "$1/venv"
    IONFAST_CFLAGS="-O1 -g -UNDEBUG -fsanitize=address,undefined -fno-sanitize-recover=all \
-fno-omit-frame-pointer -DIONFAST_SPILL_MIN=64" "$1/venv/bin/pip" install --quiet '.[test]'
}

case ${1-} in
--build)
    build "$2"
    echo "built in $2"
    exit 0
    ;;
--built)
    work=$2
    shift 2
    ;;
*)
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    build "$work"
    ;;
esac
cd "$work/ionfast"

# All but what has nothing of the library under the sanitizers (compilers, type checkers and the C tests,
# which have sanitizers of their own), what the sanitizers' own memory makes meaningless or impossible,
# and what takes longest and reaches nothing that the rest does not.
if [ $# -eq 0 ]; then
    set -- -q -n 2 tests
    for name in core_c differential doctest interrupt layering leaks load nomemory type_checkers; do
        set -- "$@" "--ignore=tests/test_$name.py"
    done
fi

# The runtime comes before Python's own libraries; Python's allocator would hide overruns from it, and
# the interpreter keeps memory until it ends, which is no leak.
export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1
export PYTHONMALLOC=malloc IONFAST_SANITIZED=1
LD_PRELOAD="$($gcc -print-file-name=libasan.so) $($gcc -print-file-name=libubsan.so)" \
    "$work/venv/bin/python" -m pytest -p no:cacheprovider "$@"
