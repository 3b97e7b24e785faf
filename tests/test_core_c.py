"""Compiles and runs the C tests of the core, under ASan and UBSan where the compiler has them.

One of them alone, with a debugger's symbols, from the project's root:

    gcc -std=c11 -g -fsanitize=address,undefined -Isrc/c/core -Itests/c \\
        tests/c/test_ionf_buf.c src/c/core/*.c -o /tmp/test_ionf_buf && /tmp/test_ionf_buf
"""

from __future__ import annotations

import os
import pathlib
import re
import subprocess

import pytest

import ccompiler

pytestmark = [ccompiler.needs_cc, pytest.mark.slow]

SOURCES = sorted(ccompiler.C_TESTS.glob("test_*.c"))


def shared_folder(factory: pytest.TempPathFactory, name: str) -> pathlib.Path:
    """Of this run: one for all of pytest-xdist's workers, whose own folders lie beside each other."""
    base = factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / name
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def core_objects(tmp_path_factory: pytest.TempPathFactory) -> list[pathlib.Path]:
    """The core, compiled once."""
    return ccompiler.build_core(shared_folder(tmp_path_factory, "core"))


@pytest.fixture(scope="session")
def core_objects_with_short_steps(tmp_path_factory: pytest.TempPathFactory) -> list[pathlib.Path]:
    return ccompiler.build_core(shared_folder(tmp_path_factory, "short"), ccompiler.SHORT_STEPS)


def build_and_run(source: pathlib.Path, objects: list[pathlib.Path], program: pathlib.Path,
                  *flags: str) -> None:  # fmt: skip
    ccompiler.compile_c(
        *ccompiler.build_flags(), *flags, "-I", ccompiler.CORE, "-I", ccompiler.C_TESTS, source,
        *objects, "-lm", "-o", program,
    )  # fmt: skip
    done = subprocess.run([program], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    counts = re.search(r"^([0-9]+) checks, ([0-9]+) failures$", done.stdout, re.MULTILINE)
    assert counts is not None, f"no closing line in {done.stdout!r}"
    assert int(counts[1]) > 0
    assert int(counts[2]) == 0


@pytest.mark.parametrize("source", SOURCES, ids=[source.stem for source in SOURCES])
def test_c(source: pathlib.Path, core_objects: list[pathlib.Path], tmp_path: pathlib.Path) -> None:
    build_and_run(source, core_objects, tmp_path / source.stem)


@pytest.mark.parametrize("source", SOURCES, ids=[source.stem for source in SOURCES])
def test_c_with_short_steps(
    source: pathlib.Path, core_objects_with_short_steps: list[pathlib.Path], tmp_path: pathlib.Path
) -> None:
    """The core works in steps, between which it may be interrupted: all the same when they are tiny."""
    program = tmp_path / source.stem
    build_and_run(source, core_objects_with_short_steps, program, ccompiler.SHORT_STEPS)


# Helpers behind another file's functions, tested through those.
BEHIND = {
    "ionf_bignum": "ionf_num",
    "ionf_ntt": "ionf_num",
    "ionf_radix": "ionf_num",
    "ionf_reader": "ionf_bin_read",
}


@pytest.mark.parametrize("name", sorted(path.stem for path in ccompiler.CORE.glob("*.c")))
def test_a_c_test_calls_each_core_source(name: str) -> None:
    source = (ccompiler.CORE / f"{BEHIND.get(name, name)}.c").read_text(encoding="utf-8")
    functions = re.findall(r"^(ionf_\w+)\(", source, re.MULTILINE)
    tests = "".join(test.read_text(encoding="utf-8") for test in SOURCES)
    assert [function for function in functions if function in tests] != []
