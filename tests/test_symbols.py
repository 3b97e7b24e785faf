"""SharedSymbolTable and Catalog."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import ionfast
from ionfast import Catalog, SharedSymbolTable
from leaks import assert_flat

FRUITS = SharedSymbolTable("fruits", 2, ["apple", None, "pêche", "", "\U0001f352"])
FRUITS_1 = SharedSymbolTable("fruits", 1, ["apple"])
TOOLS = SharedSymbolTable("tools", 7)


def fruits_and_tools() -> Catalog:
    return Catalog([FRUITS, FRUITS_1, TOOLS])


class PlainStr(str):
    pass


# ---------------------------------------------------------------------------- tables


def test_attributes() -> None:
    assert FRUITS.name == "fruits"
    assert FRUITS.version == 2
    assert FRUITS.max_id == 5
    assert FRUITS.symbols == ("apple", None, "pêche", "", "\U0001f352")
    assert len(FRUITS) == 5
    assert (TOOLS.max_id, TOOLS.symbols, len(TOOLS)) == (0, (), 0)


@pytest.mark.parametrize("name", ["name", "version", "max_id", "symbols", "other"])
def test_tables_are_immutable(name: str) -> None:
    with pytest.raises((AttributeError, TypeError)):
        setattr(FRUITS, name, 1)


def test_any_iterable_of_symbols() -> None:
    assert SharedSymbolTable("t", 1, iter("ab")).symbols == ("a", "b")
    assert SharedSymbolTable(name="t", version=1, symbols={"k": 1}).symbols == ("k",)
    assert SharedSymbolTable("t", 2**32 - 1, ()).version == 2**32 - 1


def test_strs_become_exact() -> None:
    table = SharedSymbolTable(PlainStr("t"), 1, [PlainStr("a"), ionfast.Symbol("b")])
    assert type(table.name) is str
    assert [type(symbol) for symbol in table.symbols] == [str, str]


def test_repr() -> None:
    assert repr(FRUITS_1) == "SharedSymbolTable('fruits', 1, ('apple',))"
    assert repr(SharedSymbolTable("t", 1, ["x"] * 9)) == "SharedSymbolTable('t', 1, <9 symbols>)"


def test_equality_and_hash() -> None:
    twin = SharedSymbolTable("fruits", 2, list(FRUITS.symbols))
    assert twin == FRUITS
    assert hash(twin) == hash(FRUITS)
    for other in (
        SharedSymbolTable("fruits", 3, FRUITS.symbols),
        SharedSymbolTable("Fruits", 2, FRUITS.symbols),
        SharedSymbolTable("fruits", 2, FRUITS.symbols[:-1]),
        SharedSymbolTable("fruits", 2, [*FRUITS.symbols[:-1], None]),
        "fruits",
    ):
        assert other != FRUITS


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickle(protocol: int) -> None:
    table = pickle.loads(pickle.dumps(FRUITS, protocol))
    assert type(table) is SharedSymbolTable
    assert table == FRUITS


def test_copy() -> None:
    assert copy.copy(FRUITS) == FRUITS
    assert copy.deepcopy(FRUITS) == FRUITS


def failing() -> Iterator[str]:
    yield "a"
    raise KeyError("from the iterable")


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("t",), TypeError, "version"),
        ((1, 1), TypeError, "the name .* must be a str, not int"),
        ((b"t", 1), TypeError, "the name .* must be a str, not bytes"),
        (("", 1), ValueError, "must not be empty"),
        (("$ion", 1), ValueError, "system symbol table"),
        (("\ud800", 1), UnicodeEncodeError, "surrogates"),
        (("t", "1"), TypeError, "the version .* must be an int, not str"),
        (("t", True), TypeError, "the version .* must be an int, not bool"),
        (("t", 1.0), TypeError, "the version .* must be an int, not float"),
        (("t", 0), ValueError, "1 .. 4294967295, not 0"),
        (("t", -1), ValueError, "1 .. 4294967295, not -1"),
        (("t", 2**32), ValueError, "not 4294967296"),
        (("t", 10**30), ValueError, "not 1000000000000000000000000000000"),
        (("t", 1, 5), TypeError, "not iterable"),
        (("t", 1, None), TypeError, "not iterable"),
        (("t", 1, "abc"), TypeError, "an iterable of str and None, not str"),
        (("t", 1, b"abc"), TypeError, "an iterable of str and None, not bytes"),
        (("t", 1, ["a", 1]), TypeError, r"symbols\[1\] must be a str or None, not int"),
        (("t", 1, ["\ud800"]), UnicodeEncodeError, "surrogates"),
    ],
)
def test_bad_arguments(arguments: tuple[Any, ...], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        SharedSymbolTable(*arguments)


def test_what_the_iterable_raises_comes_out() -> None:
    with pytest.raises(KeyError, match="from the iterable"):
        SharedSymbolTable("t", 1, failing())


# ---------------------------------------------------------------------------- catalogs


def test_get_prefers_the_version_then_the_greatest() -> None:
    catalog = fruits_and_tools()
    assert catalog.get("fruits") is FRUITS
    assert catalog.get("fruits", 1) is FRUITS_1
    assert catalog.get("fruits", version=2) is FRUITS
    assert catalog.get("fruits", 9) is FRUITS
    assert catalog.get(PlainStr("tools"), None) is TOOLS
    assert catalog.get("unknown") is None
    assert catalog.get("unknown", 1) is None


def test_registering_again_replaces() -> None:
    catalog = fruits_and_tools()
    newer = SharedSymbolTable("tools", 7, ["saw"])
    catalog.register(newer)
    assert len(catalog) == 3
    assert catalog.get("tools", 7) is newer


def test_iteration_length_and_membership() -> None:
    catalog = fruits_and_tools()
    assert list(catalog) == [FRUITS, FRUITS_1, TOOLS]
    assert len(catalog) == 3
    assert FRUITS in catalog
    assert SharedSymbolTable("tools", 7) in catalog
    assert SharedSymbolTable("tools", 8) not in catalog
    assert SharedSymbolTable("tools", 7, ["saw"]) not in catalog
    assert "tools" in catalog
    assert "unknown" not in catalog
    assert (list(Catalog()), len(Catalog())) == ([], 0)


def test_registering_while_iterating() -> None:
    catalog = Catalog([TOOLS])
    for table in catalog:
        catalog.register(SharedSymbolTable("more", table.version + 1))
    assert len(catalog) == 2


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda c: c.register(5), TypeError, "holds SharedSymbolTable objects, not int"),
        (lambda c: c.get(5), TypeError, "must be a str, not int"),
        (lambda c: c.get("fruits", "1"), TypeError, "must be an int, not str"),
        (lambda c: c.get("fruits", 0), ValueError, "not 0"),
        (lambda c: 5 in c, TypeError, "not int"),
        (lambda c: Catalog(5), TypeError, "not iterable"),
        (lambda c: Catalog([FRUITS, "x"]), TypeError, "not str"),
        (lambda c: Catalog(failing()), TypeError, "not str"),
        (lambda c: ionfast.loads("1", catalog={}), TypeError, "a Catalog or None, not dict"),
        (lambda c: ionfast.dumps(1, imports=["x"]), TypeError, "needs a catalog to find 'x' in"),
    ],
)
def test_bad_calls(
    call: Callable[[Catalog], object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        call(fruits_and_tools())


class LabelledCatalog(Catalog):
    label = "none"


def test_a_subclass_pickles_with_its_attributes() -> None:
    catalog = LabelledCatalog([FRUITS, TOOLS])
    catalog.label = "mine"
    again = pickle.loads(pickle.dumps(catalog))
    assert type(again) is LabelledCatalog
    assert list(again) == list(catalog)
    assert again.label == "mine"
    assert ionfast.loads("1", catalog=again) == 1


# ---------------------------------------------------------------------------- imports

IMPORTING = '$ion_symbol_table::{{imports:[{{name:"{}",version:{},max_id:{}}}]}} [$10, $12, $13]'


def test_imports_are_looked_up() -> None:
    read = ionfast.loads(IMPORTING.format("fruits", 2, 5), catalog=fruits_and_tools())
    assert read == ["apple", "pêche", ""]
    assert all(type(symbol) is ionfast.Symbol for symbol in read)


def test_a_gap_and_an_absent_table_keep_their_location() -> None:
    text = '$ion_symbol_table::{imports:[{name:"fruits",version:2,max_id:5}]} $11'
    for catalog in (fruits_and_tools(), None):
        read = ionfast.loads(text, catalog=catalog)
        assert read.text is None
        assert read.location == ("fruits", 2)


@pytest.mark.parametrize("version", [3, 5])
def test_another_version_serves_where_there_is_none(version: int) -> None:
    read = ionfast.loads(IMPORTING.format("fruits", version, 5), catalog=fruits_and_tools())
    assert read == ["apple", "pêche", ""]


def test_written_with_an_import_and_read_back() -> None:
    value = {"pêche": ionfast.Symbol("apple"), "own": 1}
    data = ionfast.dumps(value, imports=[FRUITS])
    assert "pêche".encode() not in data
    assert ionfast.loads(data, catalog=fruits_and_tools()) == value


def test_a_table_lives_as_long_as_its_catalog_is_read_from() -> None:
    """The reader holds tables by itself: they may go from the catalog at any time."""
    catalog = Catalog([SharedSymbolTable("t", 1, ["a", "b"])])
    text = '$ion_symbol_table::{imports:[{name:"t",version:1,max_id:2}]} [$10, $11]'
    for _ in range(3):
        assert ionfast.loads(text, catalog=catalog) == ["a", "b"]
        catalog.register(SharedSymbolTable("t", 1, ["a", "b"]))
        gc.collect()


# ---------------------------------------------------------------------------- leaks


def test_nothing_is_left_behind() -> None:
    text = IMPORTING.format("fruits", 2, 5)

    def everything() -> None:
        table = SharedSymbolTable("fruits", 2, ["a", None, "pêche"])
        catalog = LabelledCatalog([table])
        catalog.myself = catalog  # type: ignore[attr-defined]
        catalog.register(SharedSymbolTable("fruits", 3))
        assert catalog.get("fruits", 9) is not None
        assert table in catalog
        assert len(list(catalog)) == 2
        repr(table)
        hash(table)
        copy.copy(table)
        ionfast.loads(text, catalog=catalog)
        ionfast.dumps({"a": 1}, imports=[table])
        with pytest.raises(TypeError):
            SharedSymbolTable("t", 1, ["a", "b", 1])  # type: ignore[list-item]

    assert_flat(everything, SharedSymbolTable, Catalog, LabelledCatalog)


def test_a_catalog_in_a_cycle_is_collected() -> None:
    catalog = LabelledCatalog([FRUITS])
    catalog.myself = catalog  # type: ignore[attr-defined]
    watch = weakref.ref(catalog)
    del catalog
    gc.collect()
    assert watch() is None


@pytest.mark.parametrize("between", ["", " ", "\n", " \t\r\n ", " /* */ ", " // x\n"])
def test_a_version_marker_that_is_an_annotation(between: str) -> None:
    for space in ("", " "):
        (value,) = ionfast.loads_all(f"$ion_1_0{between}::{space}1")
        assert value.ion_annotations == ("$ion_1_0",)
    assert ionfast.loads_all("$ion_1_0 1") == [1]


@pytest.mark.parametrize("between", [" ", "\n", "\r\n", " \n \n"])
def test_places_behind_a_version_marker(between: str) -> None:
    text = f"$ion_1_0{between}{{a b}}"
    with pytest.raises(ionfast.IonError) as caught:
        ionfast.loads(text)
    assert caught.value.offset == len(text) - 2
    assert caught.value.line == 1 + text.count("\n")
    assert caught.value.column == len(text.rpartition("\n")[2]) - 1
    reader = ionfast.Reader(f"$ion_1_0{between}[7]")
    assert (reader.next(), reader.offset) == (ionfast.IonType.LIST, 8 + len(between))
