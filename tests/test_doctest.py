"""Every example in a docstring and in the documents runs and gives what it says."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re

import pytest

import ionfast
import vectors

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
DOCUMENTS = sorted(
    p.relative_to(vectors.ROOT).as_posix()
    for p in (vectors.ROOT / "README.md", *(vectors.ROOT / "docs").glob("*.md"))
)


def _modules() -> list[str]:
    found = pkgutil.walk_packages(ionfast.__path__, "ionfast.")
    return ["ionfast", *sorted(m.name for m in found if not m.name.endswith("__main__"))]


@pytest.mark.parametrize("name", _modules())
def test_docstrings(name: str) -> None:
    module = importlib.import_module(name)
    result = doctest.testmod(module, optionflags=FLAGS)
    assert result.failed == 0


@pytest.mark.parametrize("name", DOCUMENTS)
def test_python_blocks(name: str) -> None:
    """A ```python block with >>> prompts is a doctest; one without runs as it stands."""
    text = (vectors.ROOT / name).read_text(encoding="utf-8")
    globals_: dict[str, object] = {}
    for number, block in enumerate(re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)):
        if ">>>" not in block:
            code = compile(block, f"{name}, block {number}", "exec", dont_inherit=True)
            exec(code, globals_)
            continue
        parsed = doctest.DocTestParser().get_doctest(block, globals_, f"{name}[{number}]", name, 0)
        runner = doctest.DocTestRunner(optionflags=FLAGS)
        runner.run(parsed, clear_globs=False)
        assert runner.failures == 0
        globals_ |= parsed.globs


@pytest.mark.parametrize("name", ["loads", "loads_all", "load", "dumps", "dumps_all", "dump"])
def test_each_entry_point_has_an_example(name: str) -> None:
    assert ">>>" in (getattr(ionfast, name).__doc__ or "")


@pytest.mark.parametrize("name", ["write", "write_null", "write_symbol", "write_clob", "step_in"])
def test_each_call_that_writes_has_an_example(name: str) -> None:
    assert ">>>" in getattr(ionfast.Writer, name).__doc__
