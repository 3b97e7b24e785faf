"""ionfast.Writer: the same bytes as dumps_all, misuse, failing targets, and that nothing leaks."""

from __future__ import annotations

import gc
import gzip
import io
import itertools
import pathlib
import random
import tracemalloc
import warnings
import weakref
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import pytest

import ionfast
import leaks
import scenarios
from ionfast import (
    Catalog,
    Clob,
    ImportLocation,
    IonError,
    IonPyInt,
    IonPyList,
    IonType,
    SharedSymbolTable,
    Symbol,
    SymbolToken,
    Timestamp,
    Writer,
    dumps,
    dumps_all,
    loads_all,
    pools,
)
from ionfast.equivalence import ion_equals

IVM = b"\xe0\x01\x00\xea"
VALUES: list[Any] = [
    None,
    True,
    -5,
    10**40,
    1.5,
    Decimal("1.50"),
    "text",
    "h\u00e9",
    Symbol("sym"),
    b"blob",
    Clob(b"clob"),
    Timestamp(2024, 5, 6),
    [1, [2, {"a": 3, "b": [Symbol("sym")]}]],
    {"a": {"a": {}}, "c": ()},
    IonPyInt.from_value(IonType.INT, 7, ("x", "y")),
]


@pytest.fixture(autouse=True)
def _everything_goes_back() -> Iterator[None]:
    """Whatever a test does with writers, the pools get back what was taken."""
    before = taken()
    if any(before):  # something that an earlier test left to the collector
        gc.collect()
        before = taken()
    yield
    gc.collect()
    assert taken() == before


def taken() -> list[int]:
    """How many encoders and buffers are out of their pools."""
    stats = pools.stats()
    return [stats[name]["takes"] - stats[name]["gives"] for name in ("encoders", "buffers")]


def write_all(values: Any, target: Any = None, **options: Any) -> Any:
    """What a writer makes of values, one call each; from memory."""
    with Writer(target, **options) as w:
        for value in values:
            w.write(value)
    return w.getvalue() if target is None else None


# ---- the same as dumps_all ----


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("indent", [None, 2, "\t"])
@pytest.mark.parametrize("omit", [True, False])
def test_one_segment_is_what_dumps_all_gives(binary: bool, indent: Any, omit: bool) -> None:
    options: dict[str, Any] = {"binary": binary, "indent": indent, "omit_version_marker": omit}
    assert write_all(VALUES, **options) == dumps_all(VALUES, **options)
    assert write_all([], **options) == dumps_all([], **options)


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("indent", [None, 2, "\t"])
@pytest.mark.parametrize("auto_flush", [1, 50, 1000])
def test_many_segments_hold_the_same_values(binary: bool, indent: Any, auto_flush: int) -> None:
    file = io.BytesIO()
    write_all(VALUES * 3, file, binary=binary, indent=indent, auto_flush=auto_flush)
    assert ion_equals(loads_all(file.getvalue()), VALUES * 3)
    if not binary:
        assert file.getvalue().decode() == dumps_all(VALUES * 3, binary=False, indent=indent)


def test_the_symbol_table_grows_by_append() -> None:
    w = Writer(auto_flush=1)
    w.write(Symbol("a"))
    w.write(Symbol("b"))
    w.write(Symbol("a"))
    table = b"\xe7\x81\x83\xd4\x87\xb2\x81a"  # $ion_symbol_table::{symbols:["a"]}
    append = b"\xea\x81\x83\xd7\x86q\x03\x87\xb2\x81b"  # imports:$ion_symbol_table
    assert w.getvalue() == IVM + table + b"q\x0a" + append + b"q\x0b" + b"q\x0a"
    w.close()


@pytest.mark.parametrize("binary", [True, False])
def test_finish_starts_a_new_context(binary: bool) -> None:
    w = Writer(binary=binary)
    w.write({"a": 1})
    w.finish()
    w.finish()
    w.write({"b": 2})
    w.finish()
    w.close()
    separator = b"" if binary else " "
    first, second = dumps({"a": 1}, binary=binary), dumps({"b": 2}, binary=binary)
    assert w.getvalue() == first + separator + second


def test_imports_serve_every_context() -> None:
    table = SharedSymbolTable("t", 1, ["a", "b"])
    w = Writer(imports=[table], auto_flush=1)
    w.write({"a": 1})
    w.write({"b": 2})
    w.finish()
    w.write({"a": 1})
    w.close()
    first = dumps({"a": 1}, imports=[table])
    assert w.getvalue() == first + b"\xd3\x8b\x21\x02" + first


def test_a_large_symbol_table_is_not_carried_on_for_ever() -> None:
    values = [{f"s{i}": i} for i in range(70_000)]
    data = write_all(values, auto_flush=1 << 16)
    assert data.count(IVM) == 2
    assert loads_all(data) == values


# ---- imports and catalogs ----

FRUITS = SharedSymbolTable("fruits", 1, ["apple", "pear"])
FRUITS_2 = SharedSymbolTable("fruits", 2, ["apple", "pear", None, "fig"])
TOOLS = SharedSymbolTable("tools", 1, ["saw", "apple"])
CATALOG = Catalog([FRUITS, FRUITS_2, TOOLS])


@pytest.mark.parametrize(
    ("imports", "rows", "spelled"),
    [
        (["fruits", "tools"], (b"fruits\x85!\x02\x88!\x04", b"tools\x85!\x01\x88!\x02"), "own"),
        (
            [("fruits", 1), TOOLS],
            (b"fruits\x85!\x01\x88!\x02", b"tools\x85!\x01\x88!\x02"),
            "fig own",
        ),
        ([("fruits", None, None)], (b"fruits\x85!\x02\x88!\x04",), "saw own"),
        ([("fruits", 2, 1)], (b"fruits\x85!\x02\x88!\x01",), "fig saw own pear"),
        ([("fruits", 2, 0)], (b"fruits\x85!\x02\x88 ",), "apple fig saw own pear"),
        ([("tools", 1, 2**48 - 1)], (b"tools\x85!\x01\x88&" + b"\xff" * 6,), "fig own pear"),
        ([FRUITS], (b"fruits\x85!\x01\x88!\x02",), "fig saw own"),
    ],
)
def test_imports_that_the_catalog_finds(
    imports: Any, rows: tuple[bytes, ...], spelled: str
) -> None:
    value = {"apple": 1, "fig": Symbol("saw"), "own": Symbol("pear")}
    data = write_all([value], imports=iter(imports), catalog=CATALOG)
    assert data == dumps(value, imports=imports, catalog=CATALOG)
    assert data == dumps_all([value], imports=imports, catalog=CATALOG)
    assert loads_all(data, catalog=CATALOG) == [value]
    assert all(row in data for row in rows)
    texts = ("apple", "fig", "saw", "own", "pear")
    assert [text for text in texts if text.encode() in data] == spelled.split()


@pytest.mark.parametrize(
    ("imports", "error", "message"),
    [
        (["nuts"], IonError, "the catalog has no symbol table 'nuts'"),
        ([("fruits", 3)], IonError, "no version 3 of symbol table 'fruits': its greatest is 2"),
        ([FRUITS, ("fruits",)], TypeError, r"a name, \(name, version\) or"),
        ([("fruits", 1, 2, 3)], TypeError, r"\(name, version, max_id\)"),
        ([("fruits", 0)], ValueError, "must be 1 .. 4294967295, not 0"),
        ([("fruits", "1")], TypeError, "version of a symbol table must be an int, not str"),
        ([(5, 1)], TypeError, "name of a symbol table must be a str, not int"),
        ([("fruits", 1, -1)], ValueError, "max_id of an import must be 0 .. 281474976710655"),
        ([("fruits", 1, 2**48)], ValueError, "max_id of an import must be 0 .. 281474976710655"),
        ([("fruits", 1, True)], TypeError, "max_id of an import must be an int, not bool"),
        ("fruits", TypeError, "an iterable of tables, not one str"),
        ([["fruits", 1]], TypeError, "must be a SharedSymbolTable, not list"),
    ],
)
def test_imports_that_are_refused(imports: Any, error: type[Exception], message: str) -> None:
    calls: list[Callable[[], object]] = [
        lambda: Writer(imports=imports, catalog=CATALOG),
        lambda: Writer(imports=imports, catalog=CATALOG, binary=False),
        lambda: dumps(1, imports=imports, catalog=CATALOG),
        lambda: ionfast.transcode("1", imports=imports, catalog=CATALOG),
    ]
    for call in calls:
        with pytest.raises(error, match=message):
            call()


def test_a_name_without_a_catalog() -> None:
    with pytest.raises(TypeError, match="needs a catalog to find 'fruits' in"):
        Writer(imports=[("fruits", 1)])
    with pytest.raises(TypeError, match="a Catalog or None, not dict"):
        Writer(catalog={})  # type: ignore[arg-type]


@pytest.mark.parametrize("binary", [True, False])
def test_the_catalog_spells_out_symbols_known_by_their_place(binary: bool) -> None:
    fig, gap, nut = place("fruits", 4), place("fruits", 3), place("nuts", 1)

    def write(**options: Any) -> Any:
        with Writer(binary=binary, auto_flush=1, **options) as w:
            w.write_symbol(fig)
            w.step_in(IonType.STRUCT, annotations=[fig, nut])
            w.write([fig], field_name=fig)
            w.write(IonPyInt.from_value(IonType.INT, 1, (fig,)), gap)
            w.step_out()
        return w.getvalue()

    wanted = ionfast.transcode(
        '$ion_symbol_table::{imports:[{name:"fruits",version:2,max_id:4},'
        '{name:"nuts",version:1,max_id:1}]} $13 $13::$14::{$13:[$13],$12:$13::1}',
        catalog=CATALOG,
    )
    spelled = write(catalog=CATALOG)
    assert all(map(ion_equals, loads_all(spelled), loads_all(wanted)))
    assert ion_equals(loads_all(spelled)[0], Symbol("fig"))
    # Whoever has the table sees the same without it; nobody else does.
    bare = write()
    assert loads_all(bare)[0].location == ("fruits", 4)
    imported = write(imports=[FRUITS_2])
    assert all(map(ion_equals, loads_all(imported, catalog=CATALOG), loads_all(wanted)))
    assert dumps(fig, binary=binary, catalog=CATALOG) == dumps(Symbol("fig"), binary=binary)


def test_a_text_of_the_catalog_is_looked_up_in_the_imports() -> None:
    """`saw` is what the place means, and an import has a symbol ID for it."""
    nuts = SharedSymbolTable("nuts", 1, ["saw"])
    data = dumps(place("nuts", 1), imports=[TOOLS], catalog=Catalog([nuts]))
    assert data == dumps(Symbol("saw"), imports=[TOOLS])


def test_a_catalog_that_changes_while_a_writer_is_open() -> None:
    catalog = Catalog([FRUITS])
    w = Writer(binary=False, catalog=catalog, imports=["fruits"])
    w.write_symbol(place("fruits", 4))
    catalog.register(FRUITS_2)
    w.write_symbol(place("fruits", 4))
    w.close()
    first, second = loads_all(w.getvalue())
    assert first.location == ("fruits", 4)
    assert second == "fig"


# ---- containers, field names, annotations ----


def build(w: Writer) -> None:
    w.step_in(IonType.STRUCT, annotations=["order", "new"])
    w.write(7, "id")
    w.write("x", field_name="name", annotations=("note",))
    w.step_in(IonType.LIST, "items")
    w.step_in(IonType.SEXP, annotations=[Symbol("op")])
    w.write_symbol("+")
    w.write(1)
    w.step_out()
    w.write_null(IonType.STRUCT)
    w.step_out()
    w.write_clob(b"c", SymbolToken("clob"))
    w.write_null(IonType.NULL, "none", ["a"])
    w.step_out()
    w.write([1], annotations=[])


BUILT = (
    "order::new::{id:7,name:note::\"x\",items:[op::('+' 1),null.struct],"
    'clob:{{"c"}},none:a::null} [1]'
)


@pytest.mark.parametrize("preallocate", [0, 1, 2])
def test_building_step_by_step(preallocate: int) -> None:
    with Writer(binary=False, omit_version_marker=True) as text:
        build(text)
    assert text.getvalue() == BUILT
    with Writer(preallocate=preallocate) as binary:
        build(binary)
    assert ionfast.transcode(binary.getvalue(), binary=False, omit_version_marker=True) == BUILT
    assert ion_equals(loads_all(binary.getvalue()), loads_all(BUILT))


@pytest.mark.parametrize("binary", [True, False])
def test_annotations_come_before_those_of_the_value(binary: bool) -> None:
    own = IonPyList.from_value(IonType.LIST, [1] * 20, ("c",))
    wanted = IonPyList.from_value(IonType.LIST, [1] * 20, ("a", "b", "c"))
    w = Writer(binary=binary)
    w.write(own, annotations=("a", "b"))
    w.close()
    assert w.getvalue() == dumps(wanted, binary=binary)


@pytest.mark.parametrize("binary", [True, False])
def test_symbols_and_clobs_keep_their_own_annotations(binary: bool) -> None:
    symbol, clob, text = loads_all("a::b::sym a::{{'''c'''}} a::'''t'''")
    with Writer(binary=binary) as w:
        w.write_symbol(symbol)
        w.write_symbol(symbol, annotations=["x"])
        w.write_clob(clob, annotations=("x", "y"))
        w.write_symbol(text)
        w.step_in(IonType.STRUCT)
        w.write_clob(clob, "f")
        w.step_out()
    wanted = "a::b::sym x::a::b::sym x::y::a::{{'''c'''}} a::t {f:a::{{'''c'''}}}"
    assert all(map(ion_equals, loads_all(w.getvalue()), loads_all(wanted)))


@pytest.mark.parametrize("binary", [True, False])
def test_every_null(binary: bool) -> None:
    with Writer(binary=binary, omit_version_marker=True) as w:
        for ion_type in IonType:
            w.write_null(ion_type)
    types = [value.ion_type for value in loads_all(w.getvalue(), model="ionpy")]
    assert types == list(IonType)


def test_depth_and_closed() -> None:
    w = Writer()
    assert (w.depth, w.closed) == (0, False)
    w.step_in(IonType.LIST, annotations=["a"])
    w.step_in(IonType.LIST)
    assert w.depth == 2
    w.step_out()
    assert w.depth == 1
    w.step_out()
    w.close()
    assert w.closed


# ---- misuse ----


def steps(*types: IonType, binary: bool = True) -> Writer:
    """A writer inside these containers; structs' children are called f."""
    w = Writer(binary=binary)
    in_struct = False
    for ion_type in types:
        w.step_in(ion_type, "f" if in_struct else None, annotations=["a"])
        in_struct = ion_type is IonType.STRUCT
    return w


MISUSE: list[tuple[tuple[IonType, ...], Callable[[Writer], object], str]] = [
    ((), lambda w: w.write(1, "f"), "for values in a struct only; open: nothing"),
    (
        (IonType.STRUCT, IonType.LIST),
        lambda w: w.write(1, "f"),
        "for values in a struct only; open: struct > list",
    ),
    (
        (IonType.SEXP, IonType.STRUCT),
        lambda w: w.write(1),
        "needs a field_name; open: sexp > struct",
    ),
    ((IonType.STRUCT,), lambda w: w.step_in(IonType.LIST), "needs a field_name; open: struct"),
    ((), lambda w: w.step_out(), r"step_out\(\) at top level; open: nothing"),
    ((IonType.LIST,), lambda w: w.flush(), r"flush\(\) inside a value; open: list"),
    ((IonType.LIST,), lambda w: w.finish(), r"finish\(\) inside a value; open: list"),
    ((IonType.LIST,), lambda w: w.getvalue(), r"getvalue\(\) inside a value; open: list"),
    ((), lambda w: w.step_in(IonType.INT), r"step_in\(\) needs LIST, SEXP or STRUCT, not"),
    (
        (IonType.LIST,) * 20,
        lambda w: w.flush(),
        "open: list > list > list > list > list > list > list > ... > list$",
    ),
]


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize(("types", "call", "message"), MISUSE)
def test_misuse_says_what_is_open(
    types: tuple[IonType, ...], call: Callable[[Writer], object], message: str, binary: bool
) -> None:
    w = steps(*types, binary=binary)
    with pytest.raises(IonError, match=message):
        call(w)
    while w.depth:
        w.step_out()
    before = w.getvalue()
    w.write(1)
    w.close()
    assert w.getvalue() == before + (b"\x21\x01" if binary else " 1")


@pytest.mark.parametrize("binary", [True, False])
def test_closing_inside_a_value_drops_it(binary: bool) -> None:
    w = Writer(binary=binary)
    w.write(1)
    w.step_in(IonType.STRUCT, annotations=["a"])
    w.step_in(IonType.LIST, "b")
    with pytest.raises(IonError, match=r"close\(\) inside a value, .*; open: struct > list"):
        w.close()
    assert w.closed
    w.close()
    assert w.getvalue() == dumps_all([1], binary=binary)


def test_leaving_the_block_inside_a_value() -> None:
    with pytest.raises(IonError, match="open: list"):  # noqa: SIM117
        with Writer() as w:
            w.step_in(IonType.LIST)


def test_leaving_the_block_by_an_exception() -> None:
    def leave(w: Writer) -> None:
        with w:
            w.write(1)
            w.step_in(IonType.LIST)
            raise KeyError("mine")

    w = Writer()
    with pytest.raises(KeyError, match="mine"):
        leave(w)
    assert w.getvalue() == dumps(1)


def test_after_closing() -> None:
    w = Writer(io.BytesIO())
    w.close()
    w.close()
    calls: list[Callable[[], object]] = [
        lambda: w.write(1),
        lambda: w.write_null(IonType.INT),
        lambda: w.step_in(IonType.LIST),
        w.step_out,
        w.flush,
        w.finish,
        w.getvalue,
        w.__enter__,
        lambda: w.depth,
    ]
    for call in calls:
        with pytest.raises(ValueError, match="the writer is closed"):
            call()
    w.__exit__(None, None, None)


@pytest.mark.parametrize(
    ("arguments", "options", "error"),
    [
        ((1, 2), {}, TypeError),
        ((5,), {}, TypeError),
        ((None,), {"nonsense": 1}, TypeError),
        ((None,), {"preallocate": 3}, ValueError),
        ((None,), {"preallocate": None}, ValueError),
        ((None,), {"auto_flush": -1}, ValueError),
        ((None,), {"auto_flush": "x"}, TypeError),
        ((None,), {"default": 5}, TypeError),
        ((None,), {"imports": 5}, TypeError),
        ((None,), {"imports": [5]}, TypeError),
        ((None,), {"binary": False, "indent": "x"}, ValueError),
        ((io.StringIO(),), {}, TypeError),
    ],
)
def test_wrong_arguments(
    arguments: tuple[Any, ...], options: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        Writer(*arguments, **options)


def test_wrong_arguments_of_methods() -> None:
    w = Writer()
    wrong: list[Callable[[], object]] = [
        lambda: w.write(),  # type: ignore[call-arg]
        lambda: w.write(1, None, (), 3),  # type: ignore[call-arg]
        lambda: w.write(1, nonsense=1),  # type: ignore[call-arg]
        lambda: w.write(1, None, field_name="a"),  # type: ignore[misc]
        lambda: w.write(1, annotations="abc"),
        lambda: w.write(1, annotations=[1]),  # type: ignore[list-item]
        lambda: w.write(1, annotations=5),  # type: ignore[arg-type]
        lambda: w.write_null(1),  # type: ignore[arg-type]
        lambda: w.step_in("list"),  # type: ignore[arg-type]
        lambda: w.write_symbol(1),  # type: ignore[arg-type]
        lambda: w.write_clob("text"),  # type: ignore[arg-type]
    ]
    for call in wrong:
        with pytest.raises(TypeError):
            call()
    w.close()
    assert w.getvalue() == IVM


def test_a_wrong_option_leaves_the_file(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.ion"
    path.write_bytes(b"kept")
    with pytest.raises(ValueError, match="preallocate"):
        Writer(path, preallocate=5)
    with pytest.raises(TypeError):
        Writer(path, imports=5)  # type: ignore[arg-type]
    assert path.read_bytes() == b"kept"


@pytest.mark.parametrize("binary", [True, False])
def test_the_version_marker_is_no_value(binary: bool) -> None:
    w = Writer(binary=binary)
    for name in ("$ion_1_0", Symbol("$ion_1_0"), SymbolToken("$ion_1_0")):
        with pytest.raises(IonError, match="reserved"):
            w.write_symbol(name)
    with pytest.raises(IonError, match="reserved"):
        w.write({}, annotations=["$ion_symbol_table"])
    with pytest.raises(IonError, match="reserved"):
        w.write_null(IonType.STRUCT, annotations=["$ion_symbol_table"])
    w.write_symbol("$ion_1_0", annotations=["a"])
    w.write([Symbol("$ion_1_0")])
    w.close()
    assert len(loads_all(w.getvalue())) == 2


def test_max_depth() -> None:
    w = Writer(max_depth=3)
    w.step_in(IonType.LIST)
    w.step_in(IonType.LIST)
    with pytest.raises(IonError, match="max_depth"):
        w.write([[]])
    w.write([])
    w.step_out()
    w.step_out()
    w.close()
    assert loads_all(w.getvalue()) == [[[[]]]]


# ---- a value that fails leaves no trace ----


class Failing:
    """An iterable that fails after its first element."""

    def __iter__(self) -> Iterator[Any]:
        yield Symbol("new")
        yield 1 // 0


def unwritable() -> Iterator[Any]:
    yield {"new": [1, {"names": [2, object()]}]}
    yield {"big": "x" * 20_000, "bad": object()}  # a patch, then the failure
    yield [Symbol("new"), IonPyList.from_value(IonType.LIST, [object()], ("note",))]
    yield {1: 2}
    yield ["\ud800"]
    yield [Decimal("NaN")]
    yield [SymbolToken(None, 10, ImportLocation("absent", 3)), object()]
    yield Failing()


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("value", list(unwritable()), ids=lambda v: type(v).__name__)
def test_a_failing_value_leaves_no_trace(value: Any, binary: bool) -> None:
    plain = Writer(binary=binary)
    w = Writer(binary=binary)
    for writer in (plain, w):
        writer.write({"a": 1})
        writer.step_in(IonType.STRUCT, annotations=["s"])
        if writer is w:
            for names in ({}, {"annotations": ["z"]}):
                with pytest.raises((TypeError, ValueError, ZeroDivisionError)):
                    writer.write(value, "field", **names)  # type: ignore[arg-type]
            with pytest.raises(TypeError):
                writer.write(1, "field", annotations=["z", 5])  # type: ignore[list-item]
            with pytest.raises(TypeError):
                writer.step_in(IonType.LIST, "field", annotations=["z", 5])  # type: ignore[list-item]
        writer.write("x" * 300, "big")
        writer.step_out()
        if writer is w:
            with pytest.raises((TypeError, ValueError, ZeroDivisionError)):
                writer.write(value)
        writer.write({"field": 2, "new": 3, "names": 4})
        writer.close()
    assert w.getvalue() == plain.getvalue()
    assert len(loads_all(w.getvalue())) == 3


def test_a_failing_first_value_of_a_context() -> None:
    w = Writer(binary=False)
    for value in (1, 2):
        with pytest.raises(TypeError):
            w.write(object())
        w.write(value)
        w.finish()
    with pytest.raises(TypeError):
        w.write(object())
    w.close()
    assert w.getvalue() == "$ion_1_0 1 $ion_1_0 2"


# ---- symbols that nobody knows ----


def place(name: str, position: int) -> SymbolToken:
    return SymbolToken(None, None, ImportLocation(name, position))


def places(data: bytes | str) -> list[Any]:
    """Every top-level symbol, as a token without its symbol ID."""
    return [
        v._replace(sid=None) if isinstance(v, SymbolToken) else v
        for v in loads_all(data, model="plain")
    ]


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("auto_flush", [False, 1])
@pytest.mark.parametrize("omit", [True, False])
def test_unknown_symbols_in_every_segment(binary: bool, auto_flush: Any, omit: bool) -> None:
    values = [Symbol("a"), place("t", 3), Symbol("b"), place("u", 1), place("t", 9), Symbol("a")]
    for order in (values, values[1:], values[::-1]):
        options: dict[str, Any] = {"binary": binary, "omit_version_marker": omit}
        data = write_all(order, auto_flush=auto_flush, **options)
        assert places(data) == order
        if not auto_flush:
            assert data == dumps_all(order, **options)


def test_unknown_symbols_in_a_failing_value() -> None:
    for binary in (True, False):
        w = Writer(binary=binary)
        w.write(1)
        with pytest.raises(TypeError):
            w.write([place("t", 3), object()])
        w.close()
        assert w.getvalue() == dumps_all([1], binary=binary)


# ---- lengths: every segment, every size, every depth, every preallocation ----


def content(size: int) -> list[Any]:
    """A list whose content has exactly `size` bytes in binary: a blob, and one-byte values."""
    for padding in range(5):
        for head in range(1, 5):
            left = size - padding - head
            if left >= 0 and len(dumps(bytes(left))) - len(IVM) == head + left:
                return [bytes(left)] + [True] * padding
    raise AssertionError(size)


def nested(size: int, depth: int) -> Any:
    """`content` inside `depth` containers of all kinds, only system symbols for names."""
    value: Any = content(size)
    for level in range(depth):
        match level % 4:
            case 0:
                value = [value]
            case 1:
                value = {"name": value}
            case 2:
                value = IonPyList.from_value(IonType.SEXP, [value, True])
            case _:
                value = IonPyList.from_value(IonType.LIST, [value], ("version",))
    return value


def stepped(w: Writer, size: int, depth: int) -> None:
    """The same with one call a container."""
    levels = [("list", "struct", "sexp", "note")[level % 4] for level in reversed(range(depth))]
    field = None
    for level in levels:
        ion_type = {"struct": IonType.STRUCT, "sexp": IonType.SEXP}.get(level, IonType.LIST)
        w.step_in(ion_type, field, ["version"] if level == "note" else ())
        field = "name" if level == "struct" else None
    w.write(content(size), field)
    for level in reversed(levels):
        if level == "sexp":
            w.write(True)
        w.step_out()


SIZES = {
    "nibble": (11, 12, 13, 14, 15),
    "one byte": (125, 126, 127, 128, 129),
    "two bytes": (16_381, 16_382, 16_383, 16_384, 16_385),
    "three bytes": (2**21 - 1, 2**21),
}


def test_content_has_its_size() -> None:
    for size in itertools.chain(*SIZES.values()):
        head = 1 if size < 14 else 2 if size < 128 else 3 if size < 16_384 else 4
        head += size >= 2**21
        assert len(dumps(content(size))) == len(IVM) + head + size


class Chunks(io.RawIOBase):
    """A file that hands out what it was given since the last time."""

    def __init__(self) -> None:
        self.chunks: list[bytes] = []

    def write(self, data: Any) -> int:
        self.chunks.append(bytes(data))
        return len(data)

    def take(self) -> bytes:
        chunks, self.chunks = self.chunks, []
        return b"".join(chunks)


@pytest.mark.parametrize("preallocate", [0, 1, 2])
@pytest.mark.parametrize("sizes", list(SIZES.values()), ids=list(SIZES))
def test_segments_of_every_size_and_depth(sizes: tuple[int, ...], preallocate: int) -> None:
    # One writer for all: each flush reuses the patch list of the ones before.
    files = (Chunks(), Chunks())
    streamed, by_steps = (Writer(f, preallocate=preallocate, auto_flush=1) for f in files)
    # Megabytes at every depth take most of a minute, and the lengths around them change by a few bytes.
    for depth in range(41) if max(sizes) < 1 << 20 else (0, 1, 2, 3, 7, 20, 40):
        # Large, then small, then large: a slot left over from the first would show in the last.
        values = [nested(size, depth) for size in (*sizes, 10, *sizes[:2])]
        for size, value in zip((*sizes, 10, *sizes[:2]), values, strict=True):
            streamed.write(value)
            stepped(by_steps, size, depth)
        wanted = dumps_all(values)
        for file in files:
            got = file.take()
            assert (IVM if depth else b"") + got == wanted, (depth, file is files[1])
        assert ion_equals(loads_all(wanted), values)
    streamed.close()
    by_steps.close()


def encoded(value: Any) -> bytes:
    """Binary Ion of the few kinds of values that `nested` and `tree` make, the straightforward way."""
    if value is True:
        return b"\x11"
    if isinstance(value, bytes):
        return tagged(10, value)
    if isinstance(value, dict):
        return tagged(13, b"".join(b"\x84" + encoded(child) for child in value.values()))
    is_sexp = getattr(value, "ion_type", None) is IonType.SEXP
    whole = tagged(12 if is_sexp else 11, b"".join(map(encoded, value)))
    return tagged(14, b"\x81\x85" + whole) if getattr(value, "ion_annotations", ()) else whole


def tagged(code: int, content: bytes) -> bytes:
    """A type code, the shortest length that is possible, and the content."""
    if len(content) < 14:
        return bytes([code << 4 | len(content)]) + content
    length = bytearray([len(content) & 127 | 128])
    while len(content) >> 7 * len(length):
        length.insert(0, len(content) >> 7 * len(length) & 127)
    return bytes([code << 4 | 14]) + length + content


def tree(random_: random.Random, depth: int) -> Any:
    """Containers with some children each, most of a size where a length takes one byte more."""
    children: list[Any] = [True] * random_.randrange(3)
    for _ in range(random_.randrange(1, 3)):
        edge = random_.choice((14, 14, 128, 128, 16_384) if depth % 4 == 0 else (14, 128))
        children.append(bytes(max(0, edge - random_.randrange(8))))
    for _ in range(random_.choice((1, 1, 1, 2)) if depth else 0):
        children.insert(random_.randrange(len(children) + 1), tree(random_, depth - 1))
    match random_.randrange(4):
        case 0:
            return children
        case 1:
            return {"name": children}
        case 2:
            return IonPyList.from_value(IonType.SEXP, children)
        case _:
            return IonPyList.from_value(IonType.LIST, children, ("version",))


@pytest.mark.parametrize("preallocate", [0, 1, 2])
def test_segments_of_trees(preallocate: int) -> None:
    random_ = random.Random(2024)
    values = [
        tree(random_, depth) for depth in (0, 1, 2, 3, 5, 8, 12, 0, 12, 1, 8) for _ in range(9)
    ]
    values[20:20] = [
        nested(size, depth) for depth in (0, 1, 39, 40) for size in SIZES["three bytes"]
    ]
    file = Chunks()
    with Writer(file, preallocate=preallocate, auto_flush=1) as w:
        for i, value in enumerate(values):
            w.write(value)
            assert file.take() == (IVM if i == 0 else b"") + encoded(value), i
            assert dumps(value) == IVM + encoded(value), i
    with Writer(file, preallocate=preallocate, auto_flush=50_000) as w:
        for value in values:
            w.write(value)
    assert file.take() == IVM + b"".join(map(encoded, values))


@pytest.mark.parametrize("preallocate", [0, 1, 2])
def test_segments_with_new_symbols(preallocate: int) -> None:
    values = [
        {f"k{i}": {f"n{i % 7}": "x" * size, "same": [Symbol(f"v{i}")]}}
        for i, size in enumerate([5, 100, 130, 20_000, 3, 16_380, 127, 2**21, 1, 130] * 2)
    ]
    for auto_flush in (1, 200, 1 << 16):
        data = write_all(values, preallocate=preallocate, auto_flush=auto_flush)
        assert loads_all(data) == values
        assert data == write_all(values, preallocate=1, auto_flush=auto_flush)
    assert write_all(values, preallocate=preallocate) == dumps_all(values)


# ---- targets ----


def test_paths_and_files(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.ion"
    for target in (path, str(path)):
        write_all(VALUES, target)
        assert path.read_bytes() == dumps_all(VALUES)
        write_all(VALUES, target, binary=False)
        assert path.read_text("utf-8") == dumps_all(VALUES, binary=False)
    with path.open("w", encoding="utf-8") as text:
        write_all(VALUES, text, binary=False, auto_flush=1)
    assert path.read_text("utf-8") == dumps_all(VALUES, binary=False)
    with gzip.open(path, "wb") as packed:
        write_all(VALUES, packed, auto_flush=100)
    assert ion_equals(ionfast.load_all(path), VALUES)
    with pytest.raises(TypeError, match=r"getvalue\(\) is for a writer to memory"):
        Writer(io.BytesIO()).getvalue()


def test_flush_reaches_the_file(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.ion"
    with path.open("wb") as file, Writer(file) as w:
        w.write(1)
        assert path.read_bytes() == b""
        w.flush()
        assert path.read_bytes() == dumps(1)
        w.flush()
        w.write(2)
    assert path.read_bytes() == dumps_all([1, 2])


def test_an_empty_stream(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.ion"
    with Writer(path) as w:
        w.flush()
        assert path.read_bytes() == b""
    assert path.read_bytes() == IVM
    w = Writer(binary=False)
    assert w.getvalue() == w.getvalue() == "$ion_1_0"
    w.write(1)
    w.close()
    assert w.getvalue() == "$ion_1_0 1"


def test_blocks() -> None:
    file = Chunks()
    with Writer(file, auto_flush=100) as w:
        for _ in range(30):
            w.write("x" * 8)  # 9 bytes
        sizes = [len(chunk) for chunk in file.chunks]
        assert sizes == [108 + len(IVM), 108]
    with Writer(file, auto_flush=False) as w:
        for _ in range(300):
            w.write("x" * 1000)
        assert len(file.chunks) == 3
    with Writer(file) as w:
        for _ in range(300):
            w.write("x" * 1000)
        assert len(file.chunks) == 4 + 300_000 // (1 << 16)


def test_memory_is_bounded_by_the_block() -> None:
    class Sink(io.RawIOBase):
        total = 0

        def write(self, data: Any) -> int:
            self.total += len(data)
            return len(data)

    value = {"id": 5, "items": [{"name": "n" * 50, "tags": [Symbol("a"), Symbol("b")]}] * 20}
    size = len(dumps(value))
    sink = Sink()
    with Writer(sink, auto_flush=1 << 16) as w:
        w.write(value)
        tracemalloc.start()
        for _ in range(20_000_000 // size):
            w.write(value)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert sink.total > 15_000_000
    assert peak < 4 * (1 << 16) + 4 * size


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("block", [1, 1 << 14, 1 << 18])
@pytest.mark.parametrize("largest", [100, 1_000_000])
def test_the_peak_is_that_of_a_block_and_the_largest_value(
    binary: bool, block: int, largest: int
) -> None:
    """Whatever the length of the stream: the buffer, which grows by doubling, and one copy to hand over."""
    row = {"id": 5, "items": [{"name": "n" * 50, "tags": [Symbol("a"), Symbol("b")]}] * 3}
    large = "x" * largest

    def write(count: int) -> None:
        with Writer(Nowhere(), binary=binary, auto_flush=block) as w:
            for i in range(count):
                w.write(large if i == 7 else row)

    def peak(count: int) -> int:
        pools.clear()
        return scenarios.peak_bytes(lambda: write(count))

    write(10)
    short, long = peak(5_000), peak(25_000)
    encoder = 100_000  # what one that has written nothing takes, its caches most of it
    assert long <= short + 1_000
    assert long <= 3.5 * (block + largest) + encoder


class Nowhere(io.RawIOBase):
    """A file that keeps nothing."""

    def write(self, data: Any) -> int:
        return len(data)


@pytest.mark.parametrize("preallocate", [0, 1, 2])
def test_the_second_write_allocates_nothing(preallocate: int) -> None:
    """Patches, buffers and the symbol map are there: the core asks for no memory again."""
    for value in (
        [["x" * 20_000] * 3] * 3,
        {"a": [{"b": [Symbol("c")] * 200}] * 200},
        nested(2**21, 40),
    ):
        with Writer(Nowhere(), preallocate=preallocate, auto_flush=1) as w:
            w.write(value)
            before = pools.stats()["heap"]["allocs"]
            w.write(value)
            assert pools.stats()["heap"]["allocs"] == before
            w.write(value)
            assert pools.stats()["heap"]["allocs"] == before


@pytest.mark.slow
@scenarios.not_sanitized
@pytest.mark.parametrize("kind", ["binary", "text", "pipe"])
def test_a_hundred_megabytes_copied_grow_the_process_by_little(kind: str) -> None:
    grown = scenarios.run_python(f"""
    import os, pathlib, resource
    sys.path.insert(0, {str(pathlib.Path(__file__).parent)!r})
    from test_iterload import _records

    class Nowhere(io.RawIOBase):
        total = 0
        def write(self, data):
            self.total += len(data)
            return len(data)

    class Pipe(Nowhere):
        def __init__(self):
            self.read_end, self.write_end = os.pipe()
            self.reader = threading.Thread(target=self.drain)
            self.reader.start()
        def drain(self):
            while data := os.read(self.read_end, 1 << 16):
                pass
        def write(self, data):
            super().write(data)
            return os.write(self.write_end, data)
        def close(self):
            if not self.closed:
                os.close(self.write_end)
                self.reader.join()
                os.close(self.read_end)
            super().close()

    def copy(count):
        is_binary = {kind!r} != "text"
        file = Pipe() if {kind!r} == "pipe" else Nowhere()
        with file, ionfast.Writer(file, binary=is_binary) as w:
            for value in ionfast.iterload(_records(is_binary, count)):
                w.write(value)
        return file.total

    def greatest():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

    one = (copy(20_000) - copy(10_000)) // 10_000
    before = greatest()
    assert copy(100_000_000 // one) > 99_000_000
    print(greatest() - before)
    """)
    assert int(grown) < 8_000_000


def test_a_second_write_allocates_nothing() -> None:
    value = [["x" * 20_000] * 3] * 3
    with Writer(Chunks(), auto_flush=1) as w:
        for _ in range(3):
            w.write(value)
        before = pools.stats()["heap"]["allocs"]
        for _ in range(10):
            w.write(value)
        assert pools.stats()["heap"]["allocs"] == before
    for _ in range(3):
        dumps(value)
    before = pools.stats()["heap"]["allocs"]
    for _ in range(10):
        dumps(value)
    assert pools.stats()["heap"]["allocs"] == before


# ---- targets that take little, or raise ----


class Reluctant(io.RawIOBase):
    """Takes `most` bytes a call; raises `error` at the calls numbered in `failing`."""

    def __init__(self, most: int, failing: set[int], error: BaseException | None) -> None:
        self.data = b""
        self.most, self.failing, self.error = most, failing, error
        self.calls = 0

    def write(self, data: Any) -> int | None:
        self.calls += 1
        if self.calls - 1 in self.failing:
            if self.error is None:
                return None
            raise self.error
        taken = bytes(data)[: self.most]
        self.data += taken
        return len(taken)


@pytest.mark.parametrize("most", [1, 3, 100])
def test_short_writes(most: int) -> None:
    file = Reluctant(most, set(), None)
    write_all(VALUES, file)
    assert file.data == dumps_all(VALUES)


ERRORS = [KeyError("mine"), KeyboardInterrupt(), BlockingIOError(11, "full"), OSError(28, "full")]


@pytest.mark.parametrize("error", [*ERRORS, None], ids=repr)
@pytest.mark.parametrize("failing", [0, 1, 2, 5, 7])
def test_a_failed_write_loses_nothing(error: BaseException | None, failing: int) -> None:
    values = [[i] * 10 for i in range(1, 21)]  # 22 bytes each
    file = Reluctant(9, {failing, failing + 1}, error)
    failures = []
    w = Writer(file, auto_flush=1)
    for value in values:
        try:
            w.write(value)
        except BaseException as raised:
            failures.append(raised)
            whole = len(file.data) - max(len(file.data) - len(IVM), 0) % 22
            assert loads_all(file.data[:whole]) == values[: value[0] - 1]
            with pytest.raises(IonError, match="an earlier write to the target failed"):
                w.write("refused")
            with pytest.raises(IonError, match="an earlier write to the target failed"):
                w.step_in(IonType.LIST)
            with pytest.raises(BlockingIOError if error is None else type(error)):
                w.flush()
            w.flush()
    w.close()
    assert file.data == dumps_all(values)
    assert len(failures) == 1
    if error is not None:
        assert failures[0] is error


def test_what_a_blocking_error_says_was_taken() -> None:
    class File(io.BufferedIOBase):
        data = b""

        def write(self, data: Any) -> int:
            if not self.data:
                self.data = bytes(data[:5])
                raise BlockingIOError(11, "full", 5)
            self.data += bytes(data)
            return len(data)

    file = File()
    w = Writer(file)
    w.write([1, 2, 3])
    with pytest.raises(BlockingIOError):
        w.flush()
    w.flush()
    w.close()
    assert file.data == dumps([1, 2, 3])


@pytest.mark.parametrize("gives", [0, -1, 10**6, 10**30])
def test_nonsense_from_write(gives: int) -> None:
    class File:
        def write(self, data: bytes) -> int:
            return gives

    w = Writer(File())  # type: ignore[arg-type]
    w.write(1)
    with pytest.raises(OSError, match="of the target gave"):
        w.flush()
    w.close()


def test_files_that_say_nothing() -> None:
    class File:
        data = b""

        def write(self, data: bytes) -> None:
            self.data += data

    file = File()
    write_all(VALUES, file, auto_flush=1)
    assert ion_equals(loads_all(file.data), VALUES)


def test_closing_gives_a_failed_write_up() -> None:
    file = Reluctant(100, {1, 2}, OSError("mine"))
    w = Writer(file, auto_flush=1)
    w.write(1)
    with pytest.raises(OSError, match="mine"), w:
        w.write(2)
    assert w.closed
    assert (file.data, file.calls) == (dumps(1), 2)


def test_a_failure_in_close_is_seen() -> None:
    file = Reluctant(100, {0}, OSError("mine"))
    w = Writer(file)
    w.write(1)
    with pytest.raises(OSError, match="mine"):
        w.close()
    assert w.closed
    w.close()
    assert file.data == b""


# ---- coming in again ----


@pytest.mark.parametrize(
    "call",
    [
        lambda w: w.write(1),
        lambda w: w.write_null(IonType.INT),
        lambda w: w.step_in(IonType.LIST),
        lambda w: w.step_out(),
        lambda w: w.flush(),
        lambda w: w.finish(),
        lambda w: w.close(),
        lambda w: w.__exit__(None, None, None),
        lambda w: w.depth,
    ],
)
def test_reentered_from_everywhere(call: Callable[[Writer], object]) -> None:
    def reenter(what: object) -> Any:
        with pytest.raises(RuntimeError, match="the writer is in use"):
            call(w)
        return 5

    class File:
        data = b""

        def write(self, data: bytes) -> int:
            reenter(None)
            self.data += data
            return len(data)

    class Names:
        def __iter__(self) -> Iterator[str]:
            reenter(None)
            return iter(("a",))

    file = File()
    w = Writer(file, default=reenter, auto_flush=1)  # type: ignore[arg-type]
    w.write(object())
    w.write(reenter(i) for i in range(2))
    w.write(1, annotations=Names())  # type: ignore[arg-type]
    w.close()
    assert (
        file.data
        == dumps(5)
        + dumps([5, 5])[len(IVM) :]
        + dumps(IonPyInt.from_value(IonType.INT, 1, ("a",)))[len(IVM) :]
    )


def test_two_writers_inside_each_other() -> None:
    class Outer(io.RawIOBase):
        def write(self, data: Any) -> int:
            inner.write(bytes(data))
            return len(data)

    inner = Writer()
    write_all([1, 2], Outer(), auto_flush=1)
    inner.close()
    assert b"".join(loads_all(inner.getvalue())) == dumps_all([1, 2])


# ---- every life that a writer can have ----


class Once(io.RawIOBase):
    """A file whose first write does something else, and may not come back from it."""

    def __init__(self, first: Callable[[], object]) -> None:
        self.first: Callable[[], object] | None = first
        self.data = b""

    def write(self, data: Any) -> int:
        first, self.first = self.first, None
        if first is not None:
            first()
        self.data += data
        return len(data)


def _left_open() -> None:
    w = Writer(io.BytesIO(), imports=["fruits"], catalog=CATALOG)
    w.step_in(IonType.STRUCT, annotations=["a"])
    w.write([place("nuts", 2), {"new": "x" * 300}], "f")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        del w


def _left_open_in_memory() -> None:
    w = Writer(binary=False, indent="\t")
    w.write(VALUES)
    w.step_in(IonType.LIST)


def _closed_twice() -> None:
    w = Writer()
    w.write(VALUES)
    w.close()
    w.close()
    assert w.getvalue() == w.getvalue()


def _used_after_close() -> None:
    w = Writer(io.BytesIO())
    w.write(1)
    w.close()
    for call in (lambda: w.write(VALUES), w.flush, lambda: w.step_in(IonType.LIST)):
        with pytest.raises(ValueError, match="closed"):
            call()


def _in_a_loop_that_breaks() -> None:
    file = io.BytesIO()
    with Writer(file, auto_flush=1) as w:
        for value in ionfast.iterload(b"{a: 1} {b: 2} {c: [3, 4"):
            w.write(value)
            if "b" in value:
                break
    assert loads_all(file.getvalue()) == [{"a": 1}, {"b": 2}]


def _re_entered() -> None:
    w: Writer

    def enter() -> None:
        for call in (w.close, w.flush, lambda: w.write(2)):
            with pytest.raises(RuntimeError, match="in use"):
                call()

    file = Once(enter)
    w = Writer(file)
    w.write({"a": 1})
    w.close()
    assert file.data == dumps({"a": 1})


def _failed_and_closed() -> None:
    def fail() -> None:
        raise OSError(28, "full")

    w = Writer(Once(fail), auto_flush=1)
    with pytest.raises(OSError, match="full"):
        w.write(VALUES)
    w.close()


def _failed_and_dropped() -> None:
    def fail() -> None:
        raise KeyError("mine")

    w = Writer(Once(fail))
    w.write({"a": 1})
    with pytest.raises(KeyError):
        w.flush()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        del w


def _closed_inside_a_value() -> None:
    w = Writer()
    w.step_in(IonType.LIST)
    w.write([place("nuts", 1)])
    with pytest.raises(IonError, match="open: list"):
        w.close()


def _values_that_fail() -> None:
    for binary in (True, False):
        with Writer(binary=binary) as w:
            for value in (
                [{"new": object()}],
                {1: 2},
                Failing(),
                [place("nuts", 1), Decimal("NaN")],
            ):
                with pytest.raises((TypeError, ValueError, ZeroDivisionError)):
                    w.write(value, annotations=["b"])


def _not_made() -> None:
    wrong: tuple[dict[str, Any], ...] = (
        {"imports": ["nuts"], "catalog": CATALOG},
        {"imports": [FRUITS, 5]},
        {"catalog": 5},
        {"preallocate": 9},
        {"binary": False, "indent": "x"},
        {"codec": 5},
        {"target": 5},
        {"target": pathlib.Path("/no/such/folder/file")},
    )
    for options in wrong:
        with pytest.raises((TypeError, ValueError, OSError)):
            Writer(**options)


def _new_contexts() -> None:
    with Writer(imports=["fruits"], catalog=CATALOG) as w:
        for _ in range(3):
            w.write({"fig": Symbol("saw"), "new": place("nuts", 7)})
            w.write_symbol(place("tools", 1))
            w.finish()


LIVES = [
    _left_open, _left_open_in_memory, _closed_twice, _used_after_close, _in_a_loop_that_breaks,
    _re_entered, _failed_and_closed, _failed_and_dropped, _closed_inside_a_value, _values_that_fail,
    _not_made, _new_contexts,
]  # fmt: skip


@pytest.mark.parametrize("life", LIVES, ids=lambda life: life.__name__[1:])
def test_no_life_of_a_writer_leaks_or_harms_a_pool(
    life: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leaks, "REPEATS", 400)
    leaks.assert_flat(life, Writer, Symbol, SymbolToken, SharedSymbolTable, Catalog)
    assert ion_equals(loads_all(write_all(VALUES)), VALUES)
    assert write_all(VALUES, binary=False) == dumps_all(VALUES, binary=False)


def test_what_flush_of_the_target_raises_comes_through() -> None:
    error = KeyError("mine")

    class File(Once):
        def flush(self) -> None:
            if self.data.endswith(b"\x21\x01"):
                raise error

    file = File(lambda: None)
    with Writer(file) as w:
        w.write(1)
        with pytest.raises(KeyError) as raised:
            w.flush()
        assert raised.value is error
        w.write(2)
        w.flush()
    assert file.data == dumps_all([1, 2])


# ---- dropped ----


def test_dropping_a_writer_warns_of_what_is_lost(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.ion"
    for target in (path, io.BytesIO()):
        writers = [Writer(target)]
        writers[0].write(1)
        writers[0].flush()
        writers[0].write(2)
        with pytest.warns(ResourceWarning, match="dropped with values not written"):
            writers.clear()
    assert path.read_bytes() == dumps(1)


def test_dropping_a_writer_with_nothing_to_lose(tmp_path: pathlib.Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        w = Writer(io.BytesIO())
        w.write(1)
        w.flush()
        del w
        w = Writer()
        w.step_in(IonType.LIST)
        del w
        gc.collect()
    path = tmp_path / "a.ion"
    w = Writer(path)
    w.write(1)
    w.flush()
    del w
    path.unlink()


def test_a_writer_in_a_cycle() -> None:
    class File(io.BytesIO):
        writer: Any = None

        def hook(self, value: object) -> int:
            return 1

    file = File()
    file.writer = Writer(file, default=file.hook)
    file.writer.write(object())
    gone = weakref.ref(file)
    del file
    with pytest.warns(ResourceWarning, match="not written"):
        gc.collect()
    assert gone() is None


def test_a_writer_in_a_cycle_with_its_options() -> None:
    class Known(Catalog):
        writer: Any = None

    class Encode:
        writer: Any = None

        def __call__(self, value: object) -> int:
            return 1

    catalog, encode, codec = Known(), Encode(), ionfast.Codec()
    codec.add(Encode, encode=encode)
    catalog.writer = Writer(catalog=catalog)
    encode.writer = codec.Writer()
    encode.writer.write(encode)
    gone = [weakref.ref(catalog), weakref.ref(encode)]
    del catalog, encode, codec
    gc.collect()
    assert [reference() for reference in gone] == [None, None]


def test_no_memory_stays_behind() -> None:
    def misuse() -> None:
        for binary in (True, False):
            w = Writer(Reluctant(5, {3}, OSError()), binary=binary, auto_flush=1)
            for value in VALUES:
                try:
                    w.write(value)
                except (OSError, IonError):
                    pass
            w.close()
            w = Writer(binary=binary)
            w.step_in(IonType.STRUCT)
            with pytest.raises(TypeError):
                w.write([place("t", 3), {"x" * 50: object()}], "a")

    misuse()
    gc.collect()
    pools.clear()
    before = pools.stats()["heap"]["live_bytes"]
    for _ in range(20):
        misuse()
    gc.collect()
    pools.clear()
    assert pools.stats()["heap"]["live_bytes"] == before


def test_a_subclass() -> None:
    class Counting(Writer):
        count = 0

        def write(self, *args: Any, **kwargs: Any) -> None:
            self.count += 1
            super().write(*args, **kwargs)

    with Counting(binary=False, indent=1) as w:
        w.write([1])
    assert (w.count, w.getvalue()) == (1, "$ion_1_0\n[\n 1\n]")
