"""Calls that are wrong in themselves, and objects that fail where nobody waits for the failure."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from typing import Any

import pytest

import ionfast
from ionfast import Catalog, SharedSymbolTable, Writer


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: ionfast.loads("1", model=7), TypeError, "model must be a str, not int"),
        (lambda: ionfast.loads("1", max_depth="9"), TypeError, "max_depth must be an int or None, not str"),
        (lambda: ionfast.loads("1", max_depth=True), TypeError, "max_depth must be an int or None, not bool"),
        (lambda: ionfast.loads("1", max_value_size=2**64), ValueError, "max_value_size is out of range"),
        (lambda: ionfast.loads("1", max_depth=-(2**64)), ValueError, "max_depth is out of range"),
        (lambda: Catalog().get(), TypeError, "get"),
        (lambda: Catalog([], []), TypeError, "Catalog"),
        (lambda: SharedSymbolTable(), TypeError, "SharedSymbolTable"),
        (lambda: ionfast.pools.configure(max_idle=-1), ValueError, "max_idle"),
        (lambda: ionfast.pools.configure(max_bytes="1"), TypeError, "int"),
    ],
)  # fmt: skip
def test_wrong_arguments(call: Callable[[], object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


class Subclass(Writer):
    pass


@pytest.mark.parametrize("cls", [Writer, Subclass])
def test_a_writer_takes_one_thing_to_write_to(cls: type[Writer]) -> None:
    with pytest.raises(TypeError, match="at most 1 positional"):
        cls(io.BytesIO(), io.BytesIO())  # type: ignore[call-arg]


def test_a_catalog_tells_how_many_tables_it_has() -> None:
    assert repr(Catalog()) == "<Catalog of 0 tables>"
    assert repr(Catalog([SharedSymbolTable("t", 1, ["a"])])) == "<Catalog of 1 table>"


class Unflushable:
    """A file whose `flush` is there and yet cannot be had."""

    def __init__(self, error: Exception) -> None:
        self.error = error
        self.data = b""

    def write(self, data: Any) -> int:
        self.data += bytes(data)
        return len(data)

    @property
    def flush(self) -> Callable[[], None]:
        raise self.error


def test_an_error_in_looking_for_flush_comes_out() -> None:
    file = Unflushable(KeyError("mine"))
    writer = Writer(file)
    writer.write([1])
    with pytest.raises(KeyError, match="mine"):
        writer.flush()
    assert ionfast.loads(file.data) == [1]
    quiet = Unflushable(AttributeError("none"))  # the same as a file without it
    other = Writer(quiet)
    other.write([1])
    other.flush()
    assert quiet.data == file.data


def test_a_hook_that_writes_to_its_own_writer_is_refused() -> None:
    seen: list[str] = []

    def default(value: object) -> object:
        with pytest.raises(RuntimeError) as caught:
            writer.write(1)
        seen.append(str(caught.value))
        return "done"

    with Writer(default=default) as writer:
        writer.write([1j])
        data = writer.getvalue()
    assert len(seen) == 1
    assert ionfast.loads(data) == ["done"]


def test_a_dropped_writer_warns_and_a_warning_made_an_error_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """pytest makes warnings errors here: in a finalizer there is nobody to raise it to."""
    told: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", told.append)
    writer = Writer(io.BytesIO())
    writer.write([1])
    del writer
    assert [each.exc_type for each in told] == [ResourceWarning]
    assert "values not written" in str(told[0].exc_value)
