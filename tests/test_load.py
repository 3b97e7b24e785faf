"""tests/load.py for a few seconds: threads, and interpreters with a GIL of their own."""

from __future__ import annotations

import importlib.util

import pytest

import load
import scenarios

pytestmark = [pytest.mark.slow, scenarios.not_sanitized]

MOST_GROWTH_BYTES = 8 << 20  # a leak of 100 bytes a call would be several times that
SECONDS = 4


@pytest.mark.parametrize("interpreters", [False, True])
def test_nothing_breaks_and_memory_stays(interpreters: bool) -> None:
    if interpreters and importlib.util.find_spec("_interpreters") is None:
        pytest.skip("own-GIL interpreters are of 3.13")
    out = scenarios.run_python(f"""
        sys.path.insert(0, {str(load.TESTS)!r})
        import load
        done = load.run({SECONDS}, 8, interpreters={interpreters})
        middle, end = done.growth()
        print(done.wrong, done.calls > 100, end - middle)
    """)
    wrong, enough, growth = out.rsplit(" ", 2)
    assert (wrong, enough) == ("[]", "True")
    assert int(growth) < MOST_GROWTH_BYTES
