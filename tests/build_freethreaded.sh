#!/usr/bin/env bash
# Builds a free-threaded CPython 3.13 from the source package of Debian trixie, and runs the tests of threads on
# ionfast in it. Takes minutes, and needs apt: not part of CI.
#
#   tests/build_freethreaded.sh FOLDER                  FOLDER/python is installed; later runs use it again
#   TSAN=1 tests/build_freethreaded.sh FOLDER           interpreter and ionfast under ThreadSanitizer
#   tests/build_freethreaded.sh FOLDER tests/test_dumps.py     other pytest arguments
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

# ionfast and what its tests need; amazon.ion has no build for this interpreter.
venv=$out/venv${TSAN:+-tsan}
if [ ! -x "$venv/bin/python" ]; then
    "$prefix/bin/python3" -m venv --without-pip "$venv"
    # An old hypothesis, for newer ones have compiled parts that pip picks for the wrong interpreter.
    python3 -m pip --python "$venv/bin/python" install --quiet pytest pytest-run-parallel "setuptools>=77" "hypothesis==6.100.0"
fi
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp -r "$root"/{pyproject.toml,setup.py,MANIFEST.in,README.md,LICENSE,CHANGELOG.md,src} "$copy"
rm -rf "$copy"/build "$copy"/src/ionfast/*.so
# The free-threaded headers use SSIZE_MAX, which -std=c11 alone does not give.
IONFAST_CFLAGS="-g -D_GNU_SOURCE ${TSAN:+-fsanitize=thread}" python3 -m pip --python "$venv/bin/python" install --quiet \
    --no-build-isolation --no-deps --force-reinstall "$copy"

cd "$root"
[ $# -gt 0 ] || set -- tests/test_threads.py tests/test_leaks.py tests/test_limits.py tests/test_misuse.py tests/test_pools.py
# CPython's own list of races that it knows of.
known=$(ls "$out"/src/Python-3.13*/Tools/tsan/suppressions_free_threading.txt 2>/dev/null | head -1)
export TSAN_OPTIONS=halt_on_error=0:second_deadlock_stack=1${known:+:suppressions=$known}
"$venv/bin/python" -W error -c 'import sys, ionfast; print("GIL enabled:", sys._is_gil_enabled())'
exec "$venv/bin/python" -m pytest -q -p no:cacheprovider "$@"
