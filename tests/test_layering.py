"""The architecture as rules: who includes whom, and who holds no state. See docs/hacking.md."""

from __future__ import annotations

import collections
import graphlib
import pathlib
import re
import shutil
import subprocess

import pytest

import ccompiler
import vectors

# A core file may include files of its own level and lower ones.
LEVELS = (
    "base status alloc",
    "buf utf8 widen varint num bignum float radix ntt pow10 ts dec b64 bin_put token",
    "pool symtab symmap patch",
    "reader bin_read txt_lex txt_read txt_discard bin_write txt_put txt_write",
    "transcode",
)
LEVEL_OF = {f"ionf_{name}": i for i, names in enumerate(LEVELS) for name in names.split()}

READERS = {"ionf_reader", "ionf_bin_read", "ionf_txt_lex", "ionf_txt_read", "ionf_txt_discard"}
WRITERS = {"ionf_bin_write", "ionf_txt_write"}

HEADERS = sorted(ccompiler.CORE.glob("*.h"))
SOURCES = sorted(ccompiler.CORE.glob("*.c"))
BINDING = sorted(ccompiler.BINDING.glob("*.[ch]"))


def _named(paths: list[pathlib.Path], name: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(name, paths, ids=[path.name for path in paths])


def _code(path: pathlib.Path) -> str:
    """A file without its comments and strings' contents."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    return re.sub(r'(?<!#include )"(?:\\.|[^"\\\n])*"', '""', text)


def _includes(path: pathlib.Path) -> list[str]:
    pattern = r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"]+)[>"]'
    return re.findall(pattern, path.read_text(encoding="utf-8"), re.MULTILINE)


# ---------------------------------------------------------------------------- compiling


@ccompiler.needs_cc
@_named(HEADERS, "header")
def test_a_core_header_compiles_alone(header: pathlib.Path, tmp_path: pathlib.Path) -> None:
    alone = tmp_path / "alone.c"
    alone.write_text(
        f'#include "{header.name}"\n#include "{header.name}"\ntypedef int not_empty;\n'
    )
    ccompiler.compile_c(*ccompiler.WARNINGS, "-fsyntax-only", "-I", ccompiler.CORE, alone)


@ccompiler.needs_cc
@_named(SOURCES, "source")
def test_a_core_source_needs_no_python_and_has_no_mutable_data(
    source: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    made = tmp_path / "core.o"
    flags = ("-O1", "-fno-pic", "-fno-pie", "-c", "-I", ccompiler.CORE)
    ccompiler.compile_c(*ccompiler.WARNINGS, *flags, source, "-o", made)
    if shutil.which("nm") is None:
        pytest.skip("no nm")
    listing = subprocess.run(["nm", made], capture_output=True, text=True, check=True).stdout
    assert re.findall(r"^[0-9a-f]+ [dDbBcCgGsS] .*$", listing, re.MULTILINE) == []


# ----------------------------------------------------------------------------- including


@_named(HEADERS + SOURCES, "path")
def test_core_includes_follow_the_levels(path: pathlib.Path) -> None:
    assert path.stem in LEVEL_OF, f"{path.name} has no level: add it to the table here and in docs"
    for included in _includes(path):
        stem = pathlib.PurePath(included).stem
        if stem.startswith("ionf_"):
            assert LEVEL_OF[stem] <= LEVEL_OF[path.stem], f"{path.name} includes {included}"


def test_core_includes_have_no_cycle() -> None:
    graph = {
        header.name: [name for name in _includes(header) if name.startswith("ionf_")]
        for header in HEADERS
    }
    assert len(list(graphlib.TopologicalSorter(graph).static_order())) == len(HEADERS)


@_named(HEADERS + SOURCES, "path")
def test_readers_and_writers_never_meet(path: pathlib.Path) -> None:
    included = {pathlib.PurePath(name).stem for name in _includes(path)} | {path.stem}
    assert not (included & READERS and included & WRITERS)


@_named(HEADERS + SOURCES, "path")
def test_the_core_knows_no_python_and_no_locale(path: pathlib.Path) -> None:
    assert not [
        name for name in _includes(path) if re.match(r"Python|py_|locale|ctype|stdio", name)
    ]
    called = re.findall(
        r"\b(strto[dflu]\w*|ato[fil]\w*|is(?:alpha|alnum|digit|space|xdigit)|to(?:lower|upper)"
        r"|setlocale|localeconv|v?[fs]n?printf|printf|puts|abort|exit|Py\w+)\s*\(",
        _code(path),
    )
    assert called == []


# -------------------------------------------------------------------------- the binding


@_named(BINDING, "path")
def test_the_binding_holds_no_objects_of_its_own(path: pathlib.Path) -> None:
    code = _code(path)
    assert re.findall(r"\bstatic\s+(?:const\s+)?PyObject\s*\*+\s*\w+\s*[=;\[][^\n]*", code) == []
    assert re.findall(r"\bstatic\s+PyTypeObject\s+\w+\s*[=;][^\n]*", code) == []


def test_one_file_includes_datetime() -> None:
    """PyDateTimeAPI is a static of each translation unit."""
    assert [p.name for p in BINDING if "datetime.h" in _includes(p)] == ["py_time.c"]


def test_python_versions_are_told_apart_in_one_file() -> None:
    assert [p.name for p in BINDING if "PY_VERSION_HEX" in _code(p)] in ([], ["py_compat.h"])


def test_file_names_are_unique() -> None:
    """A name in a message or a review means one file."""
    folders = ("src", "tests", "benchmarks", "examples", "docs")
    suffixes = (".c", ".h", ".py", ".md", ".sh")
    names = collections.Counter(
        path.name
        for folder in folders
        for path in (vectors.ROOT / folder).rglob("*")
        if path.suffix in suffixes and ".egg-info" not in str(path) and path.stem[:2] != "__"
    )
    assert [name for name, count in names.items() if count > 1] == []
