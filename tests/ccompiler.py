"""The C compiler as the tests use it: on the core, without Python."""

from __future__ import annotations

import contextlib
import fcntl
import functools
import os
import pathlib
import shutil
import subprocess

import pytest

import vectors

SRC = vectors.ROOT / "src" / "c"
CORE = SRC / "core"
BINDING = SRC / "py"
C_TESTS = vectors.ROOT / "tests" / "c"

WARNINGS = ("-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wundef", "-Werror")
SANITIZERS = (
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
    "-fno-omit-frame-pointer",
)

CC = os.environ.get("CC") or shutil.which("gcc") or shutil.which("cc")
needs_cc = pytest.mark.skipif(CC is None, reason="no C compiler")


def compile_c(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run the compiler. A failure shows what it said."""
    command = [str(CC), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, " ".join(command) + "\n" + done.stderr
    return done


@functools.cache
def sanitizer_flags() -> tuple[str, ...]:
    """ASan's and UBSan's flags where the compiler has both, else nothing."""
    probe = [str(CC), *SANITIZERS, "-x", "c", "-", "-o", os.devnull]
    done = subprocess.run(probe, input="int main(void) { return 0; }", text=True,
                          capture_output=True, check=False)  # fmt: skip
    return SANITIZERS if done.returncode == 0 else ()


# Steps after which the core asks whether to go on: as short as may be, so that everything is cut everywhere.
SHORT_STEPS = "-DIONF_STEP_BYTES=16u"


def build_flags() -> tuple[str, ...]:
    """Flags to build the C tests and what they test with.

    Without -Wconversion: the sanitizers' own checks make GCC see conversions that nobody wrote.
    test_layering.py compiles the core with it.
    """
    return ("-std=c11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", *sanitizer_flags())


def build_core(folder: pathlib.Path, *flags: str) -> list[pathlib.Path]:
    """Compile each core file for the C tests. Gives the object files.

    Processes that build the same in one folder share the work: each takes what no other is at, then waits.
    """
    objects = {source: folder / (source.stem + ".o") for source in sorted(CORE.glob("*.c"))}
    for waits in (fcntl.LOCK_NB, 0):
        for source, made in objects.items():
            with made.with_suffix(".lock").open("w") as lock, contextlib.suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | waits)
                if not made.exists():
                    compile_c(*build_flags(), *flags, "-c", "-I", CORE, source, "-o", made)
    return list(objects.values())
