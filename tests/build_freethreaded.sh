#!/usr/bin/env bash
# Builds a free-threaded CPython 3.13 from the source package of Debian trixie, and runs the tests of threads on
# ionfast in it. Takes minutes, and needs apt: not part of CI.
#
#   tests/build_freethreaded.sh FOLDER                  FOLDER/python is installed; later runs use it again
#   TSAN=1 tests/build_freethreaded.sh FOLDER           interpreter and ionfast under ThreadSanitizer
#   PARALLEL=4 tests/build_freethreaded.sh FOLDER       each test of the suite in four threads at once, file by file
#   tests/build_freethreaded.sh FOLDER tests/test_dumps.py     other pytest arguments
#
# With PARALLEL or TSAN pytest runs once a file, or a test of threads, so that a crash costs no more than that; all
# that failed is told at the end. LIMIT is the most seconds that one may take.
set -euo pipefail

out=$(mkdir -p "$1" && cd "$1" && pwd)
shift
root=$(cd "$(dirname "$0")/.." && pwd)
mirror=${MIRROR:-http://deb.debian.org/debian}
prefix=$out/python${TSAN:+-tsan}

# A package list of its own, so that the system's stays as it is.
get_source() {
    mkdir -p "$out/apt/lists/partial" "$out/apt/cache/archives/partial" "$out/src"
    echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror trixie main" >"$out/apt/sources.list"
    local options=(-o "Dir::Etc::SourceList=$out/apt/sources.list" -o Dir::Etc::SourceParts=-
        -o "Dir::State::Lists=$out/apt/lists" -o "Dir::Cache=$out/apt/cache" -o APT::Sandbox::User=root)
    apt-get "${options[@]}" update
    (cd "$out/src" && apt-get "${options[@]}" source --download-only python3.13)
    tar -C "$out/src" -xf "$out"/src/python3.13_*.orig.tar.xz
}

if [ ! -x "$prefix/bin/python3" ]; then
    [ -n "$(ls -d "$out"/src/Python-3.13* 2>/dev/null)" ] || get_source
    cd "$(ls -d "$out"/src/Python-3.13* | head -1)"
    [ ! -f Makefile ] || make -s distclean
    ./configure --quiet --prefix="$prefix" --disable-gil --without-ensurepip ${TSAN:+--with-thread-sanitizer}
    make -s -j "$(nproc)" >"$out/make.log" 2>&1
    # Under ThreadSanitizer compiling the library takes longer than all else; it is done on first use then.
    make -s install ${TSAN:+COMPILEALL_OPTS=--help} >>"$out/make.log" 2>&1
fi

# Compiled Python is kept here: compiling again takes most of the time under ThreadSanitizer.
unset PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX=$out/pycache

# ionfast and what its tests need; amazon.ion has no build for this interpreter.
venv=$out/venv${TSAN:+-tsan}
if [ ! -x "$venv/bin/python" ]; then
    "$prefix/bin/python3" -m venv --without-pip "$venv"
    # All of it is Python, so any pip can put it there: one that ThreadSanitizer watches takes ten minutes. Newer
    # hypotheses have compiled parts; older ones are not thread-safe.
    python3 -m pip install --quiet --no-compile --target "$(echo "$venv"/lib/python3.*/site-packages)" \
        pytest pytest-run-parallel "setuptools>=77" "hypothesis==6.140.3"
fi
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp -r "$root"/{pyproject.toml,setup.py,MANIFEST.in,README.md,LICENSE,CHANGELOG.md,src} "$copy"
rm -rf "$copy"/build "$copy"/src/ionfast/*.so
# The free-threaded headers use SSIZE_MAX, which -std=c11 alone does not give.
IONFAST_CFLAGS="-g -D_GNU_SOURCE ${TSAN:+-fsanitize=thread}" python3 -m pip --python "$venv/bin/python" install --quiet \
    --no-build-isolation --no-deps --force-reinstall "$copy"

cd "$root"
export TSAN_OPTIONS=halt_on_error=0:second_deadlock_stack=1:history_size=7
if [ -n "${TSAN:-}" ]; then
    # CPython's own list of races that it knows of, and ours of more of its own.
    cat "$out"/src/Python-3.13*/Tools/tsan/suppressions_free_threading.txt tests/tsan_suppressions.txt >"$out/suppressions.txt"
    TSAN_OPTIONS+=:suppressions=$out/suppressions.txt
    export IONFAST_TEST_TIMEOUT=${LIMIT:-900}
fi
"$venv/bin/python" -W error -c 'import sys, ionfast; print("GIL enabled:", sys._is_gil_enabled())'
test=("$venv/bin/python" -m pytest -q -p no:cacheprovider)

# All but what has nothing of threads, and test_nomemory.py, for 3.13's own PyList_New crashes when memory runs out.
each_file() {
    ls tests/test_*.py | grep -vE 'test_(core_c|layering|type_checkers|nomemory|threads|leaks|load|fuzz)\.py'
}

each_test_of_threads() {
    "${test[@]}" --collect-only tests/test_threads.py | grep ::
}

# Tests that call one of these measure or change what is the whole process's; pytest-run-parallel runs them alone, as
# it does those that are marked.
thread_unsafe='tracemalloc.* doctest.* subprocess.* signal.* multiprocessing.* ionfast.pools.* scenarios.run_python
    sys.getallocatedblocks sys.getrefcount sys.set_int_max_str_digits gc.disable gc.freeze gc.set_threshold'

# Read what to run from standard input, one a line; all else are pytest's arguments.
one_by_one() {
    local failed=() each status
    while read -r each; do
        echo "== $each"
        status=0
        timeout "${LIMIT:-900}" "${test[@]}" "$@" "$each" </dev/null || status=$?
        [ $status = 0 ] || [ $status = 5 ] || failed+=("$each: exit $status") # 5: nothing to run in it
    done
    [ ${#failed[@]} = 0 ] || printf 'FAILED %s\n' "${failed[@]}"
    return $((${#failed[@]} > 0))
}

if [ -n "${PARALLEL:-}" ]; then
    if [ $# -gt 0 ]; then printf '%s\n' "$@"; else each_file; fi |
        one_by_one -m "not slow" --parallel-threads="$PARALLEL" -o "thread_unsafe_functions=${thread_unsafe// /$'\n'}"
elif [ -n "${TSAN:-}" ]; then
    if [ $# -gt 0 ]; then printf '%s\n' "$@"; else each_test_of_threads; fi | one_by_one
else
    [ $# -gt 0 ] || set -- tests/test_threads.py tests/test_leaks.py tests/test_limits.py tests/test_misuse.py tests/test_pools.py
    "${test[@]}" "$@"
fi
