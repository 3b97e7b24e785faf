"""The floor of loads: the same objects, made without parsing. Built on demand with the C compiler."""

from __future__ import annotations

import importlib.util
import subprocess
import sysconfig
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from .data import ROOT

SOURCE = ROOT / "benchmarks" / "floor" / "loads_floor.c"


@cache
def module() -> Any:
    """The extension, compiled into a temporary folder; None where there is no compiler."""
    folder = Path(tempfile.mkdtemp(prefix="ionfast-floor-"))
    target = folder / f"loads_floor{sysconfig.get_config_var('EXT_SUFFIX')}"
    include = sysconfig.get_path("include")
    command = ["cc", "-O3", "-shared", "-fPIC", f"-I{include}"]
    command += [f"-I{ROOT / 'src' / 'c' / part}" for part in ("core", "py")]
    try:
        subprocess.run([*command, str(SOURCE), "-o", str(target)], check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    spec = importlib.util.spec_from_file_location("loads_floor", target)
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def candidate(value: Any, *, copies: bool) -> Callable[[], object] | None:
    """A call that builds `value` anew; None where that cannot be done."""
    floor = module()
    if floor is None:
        return None
    try:
        program = floor.prepare(value)
    except (TypeError, OverflowError):
        return None
    return lambda: floor.replay(program, copies)
