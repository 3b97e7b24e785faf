#!/usr/bin/env bash
# Builds ionfast with ASan and UBSan in a temporary folder and runs tests on it.
#
#   tests/sanitize.sh                               the tests that read and write
#   tests/sanitize.sh tests/test_hostile.py -x      any other pytest arguments
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export IONFAST_TESTDATA=${IONFAST_TESTDATA:-$root/../shared/testdata}

# A copy, since a build in place would take over object files that have no sanitizer in them.
mkdir "$work/ionfast"
cd "$root"
cp -r pyproject.toml setup.py MANIFEST.in README.md LICENSE CHANGELOG.md src tests docs "$work/ionfast"
cd "$work/ionfast"
rm -rf build src/*.egg-info src/ionfast/*.so

export IONFAST_CFLAGS="-O1 -g -UNDEBUG -fsanitize=address,undefined -fno-sanitize-recover=all \
-fno-omit-frame-pointer"
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet '.[test]'

if [ $# -eq 0 ]; then
    set -- tests/test_hostile.py tests/test_faults.py tests/test_vectors.py tests/test_conformance.py \
        tests/test_cases.py tests/test_hypothesis.py
fi

# The runtime comes before Python's own libraries; Python's allocator would hide overruns from it, and
# the interpreter keeps memory until it ends, which is no leak.
gcc=${CC:-gcc}
export LD_PRELOAD="$($gcc -print-file-name=libasan.so) $($gcc -print-file-name=libubsan.so)"
export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1
export PYTHONMALLOC=malloc IONFAST_SANITIZED=1
exec "$work/venv/bin/python" -m pytest -p no:cacheprovider "$@"
