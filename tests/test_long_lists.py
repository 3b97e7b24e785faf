"""Lists of more items than the value stack keeps: they move to their list object while it is read."""

from __future__ import annotations

import gc
from typing import Any

import pytest

import ionfast
import scenarios

DOCUMENTS: dict[str, Any] = {
    "ints": list(range(100_000)),
    "structs": [{"a": i, "b": [i]} for i in range(40_000)],
    "lists in lists": [[list(range(20_000))] * 3 + [0] * 50_000] * 2,
    "lists in structs": {
        "x": list(range(70_000)),
        "y": [list(range(40_000)), {"z": [1.5] * 70_000}],
    },
    "one after another": [[i] for i in range(70_000)] + [1.5] * 70_000,
}


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("name", DOCUMENTS)
def test_long_lists(name: str, binary: bool) -> None:
    value = DOCUMENTS[name]
    encoded = ionfast.dumps(value, binary=binary)
    for model in ("lossless", "plain", "ionpy"):
        assert ionfast.loads(encoded, model=model) == value
    assert ionfast.loads_all(encoded) == [value]
    assert gc.is_tracked(ionfast.loads(encoded))


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("name", DOCUMENTS)
def test_long_lists_in_pieces(name: str, binary: bool) -> None:
    value = DOCUMENTS[name]
    assert scenarios.value_in_pieces(ionfast.dumps(value, binary=binary)) == value


@pytest.mark.parametrize("name", DOCUMENTS)
def test_half_a_long_list_is_dropped(name: str) -> None:
    scenarios.assert_cut_off_is_dropped(ionfast.dumps(DOCUMENTS[name], binary=False))


@scenarios.needs_gil
@pytest.mark.parametrize("binary", [True, False])
def test_a_long_list_is_not_held_twice(binary: bool) -> None:
    encoded = ionfast.dumps(list(range(500_000)), binary=binary)
    value, beyond = scenarios.loads_with_peak(encoded)
    assert len(value) == 500_000
    assert beyond < 1_500_000  # the items' places alone are 4 MB
