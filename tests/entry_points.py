"""Every way into the library, each as a small call with its result: for tests of memory, leaks and threads.

A call gives a value that can be compared, or raises IonError, TypeError, ValueError or OSError, the same
each time. Names that start with `bad` raise.
"""

from __future__ import annotations

import copy
import datetime
import gzip
import io
import pickle
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import entry_points_typed
import ionfast
from ionfast import (
    Catalog,
    ImportLocation,
    IonType,
    Reader,
    SharedSymbolTable,
    Symbol,
    SymbolToken,
    Timestamp,
    Writer,
)

TEXT = (
    '{a:[x::1.5,(b 2003T {{aGk=}})],c:d,n:null.int,s:"h\\u00e9",t:2003-04-05T06:07:08.090Z,'
    "a:y::{r:123456789012345678901234567890},f:1.5e0,l:'''p''' '''q''',k:{{\"clob\"}},u:$0}"
)
VALUE = ionfast.loads(TEXT)
BINARY = ionfast.dumps(VALUE)
STREAM = ionfast.dumps_all([VALUE, [1, -2, 3], "x" * 300, Symbol("q")])
TABLE = SharedSymbolTable("t", 1, ["a", "b", None, "c"])
CATALOG = Catalog([TABLE])
IMPORTING = (
    '$ion_symbol_table::{imports:[{name:"t",version:1,max_id:4}],symbols:["z"]} [$10,$12,$14]'
)
MIXED: list[Any] = [
    None, True, 7, -(2**80), 1.5, Decimal("1.50"), "text", "h\xe9\u20ac", b"blob", Symbol("s"),
    datetime.date(2003, 4, 5), datetime.datetime(2003, 4, 5, 6, 7, 8, 90000, datetime.UTC),
    {"k": [1, (2, 3)], "m": {}}, {4},
]  # fmt: skip


class ShortFile(io.RawIOBase):
    """Gives a few bytes at a time, all of them only when asked for all."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        size = len(self._data) if size < 0 else min(size, 7)
        part, self._data = self._data[:size], self._data[size:]
        return part


def walk(reader: Reader) -> list[Any]:
    """All tokens of a reader, containers entered."""
    found: list[Any] = []
    while True:
        kind = reader.next()
        if kind is None:
            if reader.depth == 0:
                reader.close()
                return found
            reader.step_out()
        elif kind in (IonType.LIST, IonType.SEXP, IonType.STRUCT) and not reader.is_null:
            found.append((kind, reader.field_name, reader.annotations, reader.offset))
            reader.step_in()
        else:
            found.append((kind, reader.field_symbol, reader.value()))


def feed(data: bytes) -> list[Any]:
    reader = Reader()
    found: list[Any] = []
    for start in range(0, len(data), 11):
        reader.feed(data[start : start + 11])
        while (kind := reader.next()) is not ionfast.NEED_DATA:
            found.append((kind, reader.value()))
    reader.end()
    while reader.next() is not None:
        found.append(reader.value())
    return found


def write(**options: Any) -> Any:
    writer = Writer(**options)
    writer.write(VALUE)
    writer.step_in(IonType.STRUCT, annotations=["p", "q"])
    writer.write([1, {"a": 2.5}], "first")
    writer.write_null(IonType.CLOB, "second")
    writer.write_symbol("z", "third", ["y"])
    writer.write_clob(b"c", "fourth")
    writer.step_out()
    writer.flush()
    writer.write("last")
    writer.finish()
    return writer.getvalue()


def write_to_file(**options: Any) -> bytes:
    file = io.BytesIO()
    with Writer(file, **options) as writer:
        for value in MIXED:
            writer.write(value)
    return file.getvalue()


def write_after_errors() -> Any:
    writer = Writer()
    for bad in (object(), [1, {"k": [object()]}], {1: 2}, Decimal("NaN")):
        try:
            writer.write(bad)
        except (TypeError, ValueError):
            pass
    writer.write([1])
    writer.finish()
    return writer.getvalue()


def timestamps() -> list[Any]:
    first = Timestamp.from_text("2003-04-05T06:07:08.123456789-07:00")
    return [
        first.to_text(), first.fractional_seconds, first.astimezone(datetime.UTC).to_text(),
        first.replace(year=2004).to_text(), pickle.loads(pickle.dumps(first)).to_text(),
        copy.deepcopy(first) == first, Timestamp(2003, 4, precision=2).to_text(), hash(first),
    ]  # fmt: skip


def dump_to_file(**options: Any) -> bytes:
    file = io.BytesIO()
    ionfast.dump(MIXED, file, **options)
    return file.getvalue()


def transcode_to_file() -> bytes:
    file = io.BytesIO()
    ionfast.transcode(io.BytesIO(STREAM), file, binary=False)
    return file.getvalue()


def place(position: int) -> SymbolToken:
    return SymbolToken(None, None, ImportLocation("t", position))


def bad_default(value: object) -> object:
    raise ValueError("a hook that fails")


GOOD: dict[str, Callable[[], Any]] = {
    "loads_text": lambda: ionfast.loads(TEXT),
    "loads_text_bytes": lambda: ionfast.loads(TEXT.encode()),
    "loads_binary": lambda: ionfast.loads(BINARY),
    "loads_plain": lambda: ionfast.loads(BINARY, model="plain"),
    "loads_ionpy": lambda: ionfast.loads(BINARY, model="ionpy"),
    "loads_ionpy_text": lambda: ionfast.loads(TEXT, model="ionpy"),
    "loads_all": lambda: ionfast.loads_all(STREAM),
    "loads_catalog": lambda: str(ionfast.loads(IMPORTING, catalog=CATALOG)),
    "loads_no_catalog": lambda: str(ionfast.loads(IMPORTING)),
    "load": lambda: ionfast.load(ShortFile(BINARY)),
    "load_all_gzip": lambda: ionfast.load_all(io.BytesIO(gzip.compress(STREAM))),
    "iterload": lambda: list(ionfast.iterload(ShortFile(STREAM))),
    "dumps": lambda: ionfast.dumps(MIXED),
    "dumps_text": lambda: ionfast.dumps(MIXED, binary=False),
    "dumps_pretty": lambda: ionfast.dumps(VALUE, binary=False, indent="  "),
    "dumps_imports": lambda: ionfast.dumps({"a": 1, "c": [Symbol("b")], "new": 2}, imports=[TABLE]),
    "dumps_catalog": lambda: ionfast.dumps([place(2), {"a": 1}], imports=[("t", 1, 1)], catalog=CATALOG),
    "dumps_default": lambda: ionfast.dumps([1j], default=str),
    "dumps_all": lambda: ionfast.dumps_all([VALUE, *MIXED]),
    "dump": dump_to_file,
    "reader_binary": lambda: walk(Reader(STREAM)),
    "reader_text": lambda: walk(Reader(TEXT)),
    "reader_file": lambda: walk(Reader(ShortFile(STREAM))),
    "reader_catalog": lambda: str(walk(Reader(IMPORTING, catalog=CATALOG))),
    "reader_feed": lambda: feed(STREAM),
    "reader_abandoned": lambda: Reader(STREAM).next(),
    "writer_binary": write,
    "writer_text": lambda: write(binary=False),
    "writer_pretty": lambda: write(binary=False, indent="\t"),
    "writer_imports": lambda: write(imports=[TABLE]),
    "writer_file": write_to_file,
    "writer_file_blocks": lambda: write_to_file(auto_flush=16),
    "writer_after_errors": write_after_errors,
    "transcode_to_text": lambda: ionfast.transcode(STREAM, binary=False),
    "transcode_to_binary": lambda: ionfast.transcode(TEXT),
    "transcode_imports": lambda: ionfast.transcode(IMPORTING),
    "transcode_given_imports": lambda: ionfast.transcode(IMPORTING, imports=[TABLE]),
    "transcode_file": transcode_to_file,
    "timestamps": timestamps,
    "shared_table": lambda: SharedSymbolTable("v", 2, ["a", None, "h\xe9"]).symbols,
    "catalog": lambda: len(Catalog([TABLE, SharedSymbolTable("v", 2, ["a"])])),
    "pickled_values": lambda: str(pickle.loads(pickle.dumps(VALUE))),
    "copied_values": lambda: copy.deepcopy(VALUE) == VALUE,
    "equivalence": lambda: ionfast.equivalence.ion_equals(VALUE, copy.copy(VALUE)),
    "pools": lambda: sorted(ionfast.pools.stats()),
}  # fmt: skip

BAD: dict[str, Callable[[], Any]] = {
    "bad_text": lambda: ionfast.loads("{a:[1, b::{{aGk}}]}"),
    "bad_text_end": lambda: ionfast.loads("[x::1.5, 'y', {k: 'v'"),
    "bad_binary": lambda: ionfast.loads(BINARY[:-9]),
    "bad_binary_length": lambda: ionfast.loads(b"\xe0\x01\x00\xea\xbe\x8f\x21\x01"),
    "bad_symbol": lambda: ionfast.loads(b"\xe0\x01\x00\xea\xb4\x21\x01\x71\x7f"),
    "bad_depth": lambda: ionfast.loads("[[[[a]]]]", max_depth=3),
    "bad_size": lambda: ionfast.loads_all("1 'a long symbol, in fact'", max_value_size=8),
    "bad_empty": lambda: ionfast.loads(""),
    "bad_file": lambda: ionfast.load_all(ShortFile(STREAM[:-3])),
    "bad_reader": lambda: walk(Reader("[1, {a: b c}]")),
    "bad_reader_step": lambda: Reader("1").step_out(),
    "bad_feed": lambda: feed(STREAM[:-3]),
    "bad_dumps_type": lambda: ionfast.dumps([1, {"k": [object()]}]),
    "bad_dumps_key": lambda: ionfast.dumps({"a": {2: 3}}, binary=False),
    "bad_dumps_nan": lambda: ionfast.dumps([Decimal("NaN")]),
    "bad_dumps_hook": lambda: ionfast.dumps([1, [1j]], default=bad_default),
    "bad_dumps_surrogate": lambda: ionfast.dumps({"k": "\ud800"}),
    "bad_writer": lambda: Writer().step_out(),
    "bad_writer_open": lambda: [writer := Writer(), writer.step_in(IonType.LIST), writer.finish()],
    "bad_transcode": lambda: ionfast.transcode("[1, 'a', 2003-13T]"),
    "bad_timestamp": lambda: Timestamp.from_text("2003-02-30"),
    "bad_table": lambda: SharedSymbolTable("v", 0, ["a"]),
    "bad_catalog": lambda: ionfast.loads("1", catalog=7),  # type: ignore[arg-type]
    "bad_import": lambda: ionfast.dumps(1, imports=[("t", 7)], catalog=CATALOG),
    "bad_option": lambda: ionfast.loads("1", model="none"),  # type: ignore[arg-type]
}  # fmt: skip

GOOD |= entry_points_typed.GOOD | entry_points_typed.RUNS_PYTHON
BAD |= entry_points_typed.BAD | entry_points_typed.BAD_RUNS_PYTHON
ALL = GOOD | BAD
ERRORS = (ionfast.IonError, TypeError, ValueError, OSError)


def run(name: str) -> Any:
    """The call's result, or its error's type and text."""
    try:
        return ALL[name]()
    except ERRORS as error:
        return type(error), str(error)
