#!/usr/bin/env bash
# Builds ionfast for a debug build of CPython and counts every reference that each entry point leaves
# behind, with sys.gettotalrefcount(). The C code's asserts and the interpreter's are on.
#
#   tests/debug_leaks.sh                          all entry points
#   tests/debug_leaks.sh loads_binary bad_text    these
#
# PYTHON_DEBUG names the interpreter: python3-dbg of a distribution, or a build --with-pydebug.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
python=${PYTHON_DEBUG:-$(command -v python3-dbg || true)}
if [ -z "$python" ] || ! "$python" -c 'import sys; sys.gettotalrefcount()' 2>/dev/null; then
    echo "no debug build of CPython here: skipped"
    exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$root/src" "$work/src"
include=$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')
platform=$("$python" -c 'import sysconfig; print(sysconfig.get_path("platinclude"))')
suffix=$("$python" -c 'import sysconfig; print(sysconfig.get_config_var("EXT_SUFFIX"))')
flags=(-std=c11 -O1 -g -UNDEBUG -fPIC -fvisibility=hidden -I "$include" -I "$platform"
    -I "$work/src/c/core" -I "$work/src/c/py")
find "$work/src/c" -name '*.c' | xargs -P "$(nproc)" -I{} "${CC:-gcc}" "${flags[@]}" -c {} -o {}.o
"${CC:-gcc}" -shared "$work"/src/c/*/*.o -o "$work/src/ionfast/_ionfast$suffix"
PYTHONPATH="$work/src:$root/tests" PYTHONDONTWRITEBYTECODE=1 "$python" "$root/tests/debug_leaks.py" "$@"
