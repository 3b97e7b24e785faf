"""Type checkers know what comes out of typed reading. The samples are in tests/typing."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import vectors

SAMPLES = sorted((vectors.ROOT / "tests" / "typing").glob("*.py"))


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="no mypy")
def test_mypy_accepts_the_samples(tmp_path: Path) -> None:
    """With --strict a `type: ignore` that hides nothing is an error, too."""
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", os.devnull]
    command += ["--cache-dir", str(tmp_path), *map(str, SAMPLES)]
    environ = {**os.environ, "MYPYPATH": str(vectors.ROOT / "src")}
    done = subprocess.run(command, capture_output=True, text=True, env=environ, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pyright") is None, reason="no pyright")
def test_pyright_accepts_the_samples(tmp_path: Path) -> None:
    settings = tmp_path / "pyrightconfig.json"
    settings.write_text(
        f'{{"include": ["{SAMPLES[0].parent}"], "extraPaths": ["{vectors.ROOT / "src"}"]}}'
    )
    done = subprocess.run(["pyright", "-p", str(settings)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
