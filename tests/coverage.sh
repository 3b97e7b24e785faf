#!/usr/bin/env bash
# Which lines and branches of the C code do the C tests and the pytest suite reach? Prints a table, and the
# lines that nothing reaches to FER/missed.txt.
#
#   tests/coverage.sh FER [pytest argument]...
set -euo pipefail

out=$(mkdir -p "$1" && cd "$1" && pwd)
shift
root=$(cd "$(dirname "$0")/.." && pwd)
export IONFAST_TESTDATA=${IONFAST_TESTDATA:-$root/../shared/testdata}
tree=$out/tree
rm -rf "$tree" "$out/objects"
mkdir -p "$tree" "$out/objects"
cp -r "$root"/{pyproject.toml,setup.py,MANIFEST.in,README.md,LICENSE,CHANGELOG.md,src,tests,docs,benchmarks,examples} "$tree"
rm -rf "$tree"/build "$tree"/src/*.egg-info "$tree"/src/ionfast/*.so
core=$tree/src/c/core

echo "== C tests"
flags=(-std=gnu11 -O0 -g --coverage -I "$core" -I "$tree/tests/c")
for source in "$core"/*.c; do
    echo "gcc ${flags[*]} -c $source -o $out/objects/$(basename "$source" .c).o"
done | xargs -P "$(nproc)" -I{} sh -c '{}'
for source in "$tree"/tests/c/test_*.c; do
    gcc "${flags[@]}" "$source" "$out"/objects/ionf_*.o -lm -o "$out/objects/$(basename "$source" .c)"
    "$out/objects/$(basename "$source" .c)" >"$out/c-tests.log" 2>&1 || {
        cat "$out/c-tests.log"
        exit 1
    }
done

echo "== pytest"
cd "$tree"
python3 -m venv "$out/venv"
"$out/venv/bin/pip" install --quiet -e '.[test]' 'setuptools>=77'
# Once more in the open: pip builds in a folder that it deletes, and the counters with it.
IONFAST_CFLAGS="-O0 -g --coverage" "$out/venv/bin/python" setup.py --quiet build_ext --force --inplace \
    --build-temp "$out/binding"
"$out/venv/bin/python" -m pytest -q -p no:cacheprovider -n "$(nproc)" tests "$@" | tail -5 || echo "some tests failed: their lines count all the same"

echo "== report"
find "$out" -name '*.gcno' | sort >"$out/notes.txt"
python3 "$root/tests/coverage_report.py" "$out"
