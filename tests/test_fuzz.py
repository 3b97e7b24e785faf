"""Every fuzz target for a short, fixed number of runs from a fixed seed, under ASan and UBSan where the
compiler has them. For longer: tests/fuzz/run.sh.

An input that breaks a target is left behind; with it the target runs again alone: FUZZ_TARGET FILE.
"""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest

import ccompiler
import scenarios
import vectors

sys.path.append(str(vectors.ROOT / "tests" / "fuzz"))
import fuzz_binding

FUZZ = vectors.ROOT / "tests" / "fuzz"
RUNS = {"pieces": 2000, "write": 2000, "symbols": 1500, "numbers": 500}
DEFAULT_RUNS = 8000


@ccompiler.needs_cc
@scenarios.not_sanitized  # a compiler that runs under the sanitizers; the targets have their own
@pytest.mark.slow
def test_every_target(tmp_path: pathlib.Path) -> None:
    """One test, since building takes longer than running."""
    sanitize = "address,undefined" if ccompiler.sanitizer_flags() else ""
    environment = os.environ | {"CC": str(ccompiler.CC), "ENGINE": "plain", "SANITIZE": sanitize,
                                "ASAN_OPTIONS": "abort_on_error=1:allocator_may_return_null=1",
                                "UBSAN_OPTIONS": "abort_on_error=1:print_stacktrace=1"}  # fmt: skip
    run(["bash", FUZZ / "build.sh", tmp_path / "bin"], environment)
    run([sys.executable, FUZZ / "seeds.py", tmp_path / "seeds"], environment)
    targets = sorted((tmp_path / "bin").iterdir())
    assert len(targets) == len(list(FUZZ.glob("fuzz_*.c"))) - 3
    for target in targets:
        count = RUNS.get(target.name.removeprefix("fuzz_"), DEFAULT_RUNS)
        options = [f"-runs={count}", "-seed=1", "-max_len=512", f"-out={tmp_path}"]
        out = run([target, *options, tmp_path / "seeds"], environment)
        assert out.startswith(f"{count} runs"), (target.name, out)


@pytest.mark.slow
def test_binding() -> None:
    assert fuzz_binding.run(60, 1, [], most=2000) > 0


def run(command: list[object], environment: dict[str, str]) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, env=environment,
                          timeout=300, check=False)  # fmt: skip
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr[-6000:]}"
    return done.stdout
