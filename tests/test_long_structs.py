"""Structs of more fields than the value stack keeps: they move to their dict while they are read."""

from __future__ import annotations

import gc
import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

import ionfast
import scenarios
from ionfast import IonPyDict, SymbolToken

SCALE = 512 if scenarios.SANITIZED else 1  # as tests/sanitize.sh has it built
FULL = 65_536 // SCALE  # fields when the stack is full
MANY = 2 * FULL + 10_000 // SCALE


def fields(count: int, prefix: str = "f") -> dict[str, Any]:
    return {f"{prefix}{i}": i for i in range(count)}


DOCUMENTS: dict[str, Any] = {
    "ints": fields(MANY),
    "structs": {f"f{i}": {"a": i, "b": [i]} for i in range(MANY // 2)},
    "in each other": {**fields(MANY // 3), "x": {**fields(MANY), "y": fields(MANY // 2)}, "z": 1},
    "in lists": [fields(FULL + 7)] * 2 + [0] * FULL,
    "with lists": {**fields(MANY // 3), "x": list(range(MANY)), "y": [fields(FULL + 7), {"z": 1}]},
}


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("name", DOCUMENTS)
def test_long_structs(name: str, binary: bool) -> None:
    value = DOCUMENTS[name]
    encoded = ionfast.dumps(value, binary=binary)
    for model in ("lossless", "plain", "ionpy"):
        assert ionfast.loads(encoded, model=model) == value
    assert ionfast.loads_all(encoded) == [value]


@pytest.mark.parametrize("binary", [True, False])
def test_fields_stay_in_order_and_the_collector_sees_what_it_must(binary: bool) -> None:
    value = DOCUMENTS["structs"]
    loaded = ionfast.loads(ionfast.dumps(value, binary=binary))
    assert type(loaded) is dict
    assert list(loaded.items()) == list(value.items())
    assert gc.is_tracked(loaded)
    loaded["f0"]["a"] = loaded
    for reference in gc.get_referents(loaded):
        assert type(reference) in (str, dict)


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("name", DOCUMENTS)
def test_long_structs_in_pieces(name: str, binary: bool) -> None:
    value = DOCUMENTS[name]
    assert scenarios.value_in_pieces(ionfast.dumps(value, binary=binary)) == value


def with_repeats(*repeats: int) -> list[tuple[str, Any]]:
    """Many fields; the one at each of `repeats` has the name of the one before it."""
    items: list[tuple[str, Any]] = list(fields(MANY).items())
    for i in repeats:
        items[i] = (items[i - 1][0], [i])
    return items


REPEATS = {
    "at once": (1,),
    "before it is full": (FULL // 2,),
    "where the stack is full": (FULL - 1, FULL, FULL + 1),
    "in the second half": (FULL * 3 // 2, FULL * 3 // 2 + 2),
    "last": (MANY - 1,),
    "everywhere": tuple(range(1, MANY, 2)),
}


def text_of(items: list[tuple[str, Any]]) -> str:
    return "{" + ",".join(f"{name}:{value}" for name, value in items) + "}"


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("where", REPEATS)
def test_repeated_names_are_all_there_in_order(where: str, binary: bool) -> None:
    items = with_repeats(*REPEATS[where])
    data: Any = text_of([*items[:-1], ("inner", text_of(items)), items[-1]])
    if binary:
        data = ionfast.transcode(data, binary=True)
    loaded = ionfast.loads(data)
    assert type(loaded) is IonPyDict
    inner = loaded["inner"]
    assert type(inner) is IonPyDict
    assert inner.all_items() == items
    assert loaded.all_items() == [*items[:-1], ("inner", inner), items[-1]]
    plain = ionfast.loads(data, model="plain")
    assert plain == {**dict(items), "inner": dict(items)}
    assert list(plain["inner"]) == list(dict(items))


def test_a_name_that_comes_again_after_a_long_value() -> None:
    items = list(fields(FULL + 7).items())
    text = text_of([*items, ("x", list(range(MANY))), *items])
    loaded = ionfast.loads(text)
    assert loaded.all_items() == [*items, ("x", list(range(MANY))), *items]
    assert ionfast.loads(text, model="plain") == {**dict(items), "x": list(range(MANY))}


def test_names_without_text() -> None:
    items = [("$0", 1), *fields(FULL + 7).items()]
    loaded = ionfast.loads(text_of(items))
    assert loaded[SymbolToken(None, 0)] == 1
    assert len(loaded) == FULL + 8
    loaded = ionfast.loads(text_of([*items, ("$0", 2)]))
    assert loaded.get_all_values(SymbolToken(None, 0)) == [1, 2]
    assert len(loaded) == FULL + 9


def test_annotated_structs_stay_together() -> None:
    value = ionfast.loads("a::" + text_of(with_repeats(FULL + 7)))
    assert value.ion_annotations == ("a",)
    assert value.all_items() == with_repeats(FULL + 7)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_half_a_long_struct_is_dropped(name: str) -> None:
    scenarios.assert_cut_off_is_dropped(ionfast.dumps(DOCUMENTS[name], binary=False))


@pytest.mark.parametrize("binary", [True, False])
def test_nothing_is_left_of_repeats(binary: bool) -> None:
    data: Any = text_of(with_repeats(FULL // 2, MANY - 1))
    if binary:
        data = ionfast.transcode(data, binary=True)
    ionfast.loads(data)
    gc.collect()
    before = sys.getallocatedblocks()
    for _ in range(3):
        ionfast.loads(data)
    gc.collect()
    assert sys.getallocatedblocks() - before < 1000


@scenarios.needs_gil
@scenarios.not_sanitized
def test_a_long_struct_is_not_held_twice() -> None:
    value = dict.fromkeys(map(str, range(85_000)))  # its dict need not grow any more
    loaded, beyond = scenarios.loads_with_peak(ionfast.dumps(value, binary=False))
    assert loaded == value
    assert beyond < 1_500_000  # the stack would be 2.1 MB, and 3.1 while it grows


@pytest.mark.slow
@scenarios.not_sanitized
@scenarios.needs_gil
@pytest.mark.skipif(
    importlib.util.find_spec("_testcapi") is None, reason="needs CPython's test modules"
)
@pytest.mark.parametrize("repeats", [(), (FULL + 7,), (MANY - 1,)])
def test_each_allocation_of_a_long_struct_fails_once(
    tmp_path: Path, repeats: tuple[int, ...]
) -> None:
    """In an interpreter of its own. The second value of a stream: its names are there already, so that
    few allocations are left, all of them for the containers."""
    text = text_of([(name, "true") for name, _ in with_repeats(*repeats)])
    path = tmp_path / "twice.10n"
    path.write_bytes(ionfast.transcode(text * 2, binary=True))
    out = scenarios.run_python(
        f"""
import _testcapi, ionfast
data = open({str(path)!r}, "rb").read()

def attempt(n):
    r = ionfast.Reader(data)
    r.next()
    r.value()
    r.next()
    _testcapi.set_nomemory(n, n + 1)
    try:
        return r.value()
    except MemoryError:
        return None
    finally:
        _testcapi.remove_mem_hooks()

wanted = ionfast.loads_all(data)[1]
failures, n, last = 0, 0, 0
while n < last + 5:
    n += 1 + n * (n > 12)  # then a pair of each field takes something
    value = attempt(n)
    if value is None:
        failures, last = failures + 1, n
    else:
        assert value == wanted, n
print(failures)
"""
    )
    assert int(out) >= 3  # the dict, its table, a greater one
