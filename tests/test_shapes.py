"""Structs of one shape: the reader makes them from a dict that it remembers, and nobody can tell."""

from __future__ import annotations

import gc
import sys
import weakref
from typing import Any

import pytest

import ionfast
from ionfast import Symbol
from ionfast.equivalence import ion_equals

BOTH = pytest.mark.parametrize("binary", [True, False], ids=["binary", "text"])


def round_trip(value: Any, binary: bool) -> Any:
    return ionfast.loads(ionfast.dumps(value, binary=binary))


def record(i: int, **more: Any) -> dict[str, Any]:
    return {"id": i, "name": f"n{i}", "score": i / 4, "ok": None, **more}


@BOTH
def test_many_of_one_shape(binary: bool) -> None:
    records = [record(i) for i in range(100)]
    assert round_trip(records, binary) == records
    assert [list(item) for item in round_trip(records, binary)] == [list(records[0])] * 100


@BOTH
def test_each_struct_is_its_own(binary: bool) -> None:
    loaded = round_trip([record(i) for i in range(10)], binary)
    loaded[5]["id"] = "changed"
    loaded[6]["new"] = 1
    del loaded[7]["name"]
    loaded[8].clear()
    for i in (4, 9):
        assert loaded[i] == record(i)
    assert round_trip([record(i) for i in range(10)], binary) == [record(i) for i in range(10)]


@BOTH
def test_shapes_that_differ_in_one_name(binary: bool) -> None:
    names = [["a", inner, "c", "d", "e"] for inner in ("b", "x", "y", "z", "aa", "bb")]
    structs = [dict.fromkeys(names[i % len(names)], i) for i in range(60)]
    loaded = round_trip(structs, binary)
    assert [list(item.items()) for item in loaded] == [list(item.items()) for item in structs]


@pytest.mark.parametrize("count", [1, 5, 6, 30, 31, 63, 64, 65, 200])
@BOTH
def test_sizes(binary: bool, count: int) -> None:
    structs = [{f"field_{j}": i * j for j in range(count)} for i in range(5)]
    assert round_trip(structs, binary) == structs


@BOTH
def test_a_repeated_field_after_the_shape(binary: bool) -> None:
    text = "[{a:1,b:2},{a:3,b:4},{a:5,b:6},{a:7,a:8},{a:9,a:10},{a:11,a:12}]"
    data = text if not binary else ionfast.dumps(ionfast.loads(text))
    loaded = ionfast.loads(data)
    assert loaded[2] == {"a": 5, "b": 6}
    assert [item.all_items() for item in loaded[3:]] == [
        [("a", 7), ("a", 8)],
        [("a", 9), ("a", 10)],
        [("a", 11), ("a", 12)],
    ]


def test_more_names_than_the_cache_holds() -> None:
    names = [f"name_{i}" for i in range(5000)]
    struct = {name: i for i, name in enumerate(names)}
    document = [struct, *[{name: {name: 1}} for name in names], struct]
    data = ionfast.dumps(document, binary=False)
    for _ in range(3):
        assert ionfast.loads(data) == document


def test_symbol_tables_that_change() -> None:
    streams = [
        [{first: 1, second: 2}] * 4 for first, second in (("a", "b"), ("b", "a"), ("c", "d"))
    ]
    data = b"".join(ionfast.dumps_all(stream) for stream in streams)
    for _ in range(3):
        assert ionfast.loads_all(data) == [*streams[0], *streams[1], *streams[2]]


def test_an_error_inside_a_shape() -> None:
    good = "{a:1,b:{c:2,d:3}}"
    for _ in range(50):
        with pytest.raises(ionfast.IonError):
            ionfast.loads(f"[{good},{good},{good},{{a:1,b:{{c:2,d:")
    assert ionfast.loads(f"[{good},{good}]") == [{"a": 1, "b": {"c": 2, "d": 3}}] * 2


@BOTH
def test_the_collector_sees_them(binary: bool) -> None:
    class Canary:
        pass

    loaded = round_trip([{"items": [i], "next": None} for i in range(5)], binary)
    assert all(gc.is_tracked(item) for item in loaded)
    canary = Canary()
    seen = weakref.ref(canary)
    loaded[4]["items"].append(loaded[4])
    loaded[4]["next"] = canary
    del loaded, canary
    gc.collect()
    assert seen() is None


@BOTH
def test_a_dict_of_atoms_becomes_tracked_when_needed(binary: bool) -> None:
    loaded = round_trip([{"a": 1, "b": 2}] * 5, binary)
    loaded[4]["a"] = loaded[4]
    assert gc.is_tracked(loaded[4])


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="None is immortal")
@BOTH
def test_references_to_none(binary: bool) -> None:
    data = ionfast.dumps([record(i) for i in range(20)], binary=binary)
    ionfast.loads(data)
    before = sys.getrefcount(None)
    for _ in range(100):
        ionfast.loads(data)
    assert abs(sys.getrefcount(None) - before) < 20


@BOTH
def test_symbols_are_equal_whether_shared_or_not(binary: bool) -> None:
    symbols = [Symbol(f"s{i % 7}") for i in range(50)]
    for _ in range(3):
        loaded = round_trip(symbols, binary)
        assert loaded == symbols
        assert {type(item) for item in loaded} == {Symbol}


@BOTH
def test_ionpy_model(binary: bool) -> None:
    value = [{"id": i, "inner": [{"x": 0.5, "y": [True, "é", "日本"]}]} for i in range(5)]
    data = ionfast.dumps(value, binary=binary)
    loaded = ionfast.loads(data, model="ionpy")
    assert loaded == value
    assert {type(item).__name__ for item in loaded} == {"IonPyDict"}
    assert type(loaded[0]["inner"]).__name__ == "IonPyList"
    assert type(loaded[0]["inner"][0]["x"]).__name__ == "IonPyFloat"
    loaded[0].add_item("id", 2)
    assert loaded[0].get_all_values("id") == [0, 2]
    loaded[0]["inner"].append(1)
    assert len(loaded[0]["inner"]) == 2


def test_values_with_the_same_annotation_share_no_attributes() -> None:
    text = "[h::[1], h::{a: 1}, h::2.5, h::[h::3, g::[4]], h::null, h::sym, h::(1)]"
    values = ionfast.loads(text)
    values[0].ion_annotations += (Symbol("g"),)
    values[1].note = "mine"
    assert [value.ion_annotations for value in values[:2]] == [("h", "g"), ("h",)]
    assert vars(values[1])["note"] == "mine"
    assert ["note" in vars(value) for value in values[:4]] == [False, True, False, False]
    again = ionfast.loads(text)
    assert [value.ion_annotations for value in again] == [("h",)] * 7
    assert [value.ion_annotations for value in again[3]] == [("h",), ("g",)]
    assert ion_equals(again, ionfast.loads(ionfast.dumps(again)))
