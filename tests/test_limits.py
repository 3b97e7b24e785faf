"""Every limit at its edge, sizes far beyond what anybody writes, and memory that follows the input.

How time grows is measured by benchmarks/limits.py.
"""

from __future__ import annotations

import decimal
import io
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

import ionfast
import scenarios
from ionfast import IonError, SymbolToken, Timestamp

IVM = b"\xe0\x01\x00\xea"
MILLION = 1_000_000


def varuint(value: int) -> bytes:
    groups = [value & 0x7F | 0x80]
    while value := value >> 7:
        groups.append(value & 0x7F)
    return bytes(reversed(groups))


def unit(kind: int, content: bytes) -> bytes:
    return bytes([kind << 4 | 14]) + varuint(len(content)) + content


def table(content: bytes) -> bytes:
    return unit(14, b"\x81\x83" + unit(13, content))


def iterate(data: bytes, **options: Any) -> list[Any]:
    return list(ionfast.iterload(io.BytesIO(data), **options))


def refuses(call: Callable[[], object], message: str) -> None:
    with pytest.raises(IonError, match=message):
        call()


# ------------------------------------------------------------------------------------- depth


@pytest.mark.parametrize("data", [b"[{a:(1)}]", IVM + bytes.fromhex("b5 d4 84 c2 21 01")])
def test_depth_at_its_edge(data: bytes) -> None:
    for read in (ionfast.loads, ionfast.loads_all, iterate, ionfast.transcode):
        read(data, max_depth=3)
        refuses(lambda read=read: read(data, max_depth=2), "deeper than max_depth")
        refuses(lambda read=read: read(data, max_depth=0), "deeper than max_depth")


def test_depth_is_a_thousand_unless_asked() -> None:
    for opening, closing in (("[", "]"), ("(", ")"), ("{a:", "}"), ("x::[", "]")):
        ionfast.loads(opening * 1000 + "1" + closing * 1000)
        refuses(lambda o=opening, c=closing: ionfast.loads(o * 1001 + "1" + c * 1001), "max_depth")
    deep: list[Any] = []
    for _ in range(999):
        deep = [deep]
    assert ionfast.dumps(ionfast.loads(ionfast.dumps(deep))) == ionfast.dumps(deep)
    refuses(lambda: ionfast.dumps([deep]), "max_depth")


# -------------------------------------------------------------------------------- value size


@pytest.mark.parametrize(
    ("data", "size"),
    [
        (b'"12345678"', 10),
        (b"[1,2,3,45]", 10),
        (IVM + b"\x89123456789", 10),
        (IVM + b"\xb9\x21\x01\x21\x01\x21\x01\x22\x01\x01", 10),
    ],
)
def test_value_size_at_its_edge(data: bytes, size: int) -> None:
    for read in (ionfast.loads_all, iterate):
        assert len(read(data, max_value_size=size)) == 1
        refuses(lambda read=read: read(data, max_value_size=size - 1), "max_value_size")


def test_value_size_bounds_what_an_endless_value_holds() -> None:
    class Endless(io.RawIOBase):
        def readable(self) -> bool:
            return True

        def read(self, size: int = -1) -> bytes:
            return b"a" * 65536

    def drain() -> None:
        refuses(lambda: next(ionfast.iterload(Endless(), max_value_size=100_000)), "max_value_size")

    assert scenarios.peak_bytes(drain) < 4 * MILLION


# ----------------------------------------------------------------------------------- numbers


def test_ints_of_a_million_digits() -> None:
    text = "7" * MILLION
    value = ionfast.loads(text)
    binary = ionfast.transcode(text)
    assert ionfast.dumps(value) == binary
    assert ionfast.dumps(value, binary=False, omit_version_marker=True) == text
    assert ionfast.transcode(binary, binary=False, omit_version_marker=True) == text


@pytest.mark.parametrize("digits", [1999, 2001, 4301, 199_999, 200_001])
def test_ints_around_each_change_of_method(digits: int) -> None:
    for value in (10**digits - 1, -(10**digits) // 7):
        assert ionfast.loads(ionfast.dumps(value, binary=False)) == value


def test_decimals_of_a_million_digits_and_at_the_edge_of_exponents() -> None:
    value = Decimal((0, (1, 2, 3, 4, 5) * (MILLION // 5), -12345))
    for binary in (True, False):
        assert ionfast.loads(ionfast.dumps(value, binary=binary)).compare_total(value) == 0
    top = decimal.MAX_EMAX
    assert ionfast.loads(f"1d{top}") == Decimal(f"1E+{top}")
    for beyond in (f"1d{top + 1}", f"1d{2**63 - 1}", f"1d-{2**63 - 1}"):
        refuses(lambda beyond=beyond: ionfast.loads(beyond), "exponent")
    refuses(lambda: ionfast.loads(f"1d{2**63}"), "range|decimal|number")


def test_floats_of_a_million_digits() -> None:
    assert ionfast.loads("1" * MILLION + "e-999999") == pytest.approx(1.1111111111111112)
    assert ionfast.loads("0." + "0" * MILLION + "1e1000001") == 1.0
    assert ionfast.loads("1e999999999999999999999") == float("inf")


def test_timestamps_with_a_hundred_thousand_digits_of_a_second() -> None:
    text = "2003-04-05T06:07:08." + "1" * 100_000 + "Z"
    value = ionfast.loads(text)
    assert isinstance(value, Timestamp)
    assert value.fractional_seconds.as_tuple().exponent == -100_000
    assert value.to_text() == text
    assert ionfast.loads(ionfast.dumps(value)).to_text() == text


def test_a_timestamp_of_twelve_bytes_that_would_print_as_exabytes() -> None:
    fraction = bytes.fromhex("7f 7f 00 00 00 00 00 00 00 80 01")  # 1d-(2 ** 69)
    short = bytes.fromhex("60 00 00 00 00 00 00 00 80 01")  # 1d-(2 ** 61)
    for each in (fraction, short):
        data = IVM + unit(6, bytes.fromhex("80 0f d3 84 85 86 87 88") + each)
        for read in (
            lambda data: ionfast.loads(data).fractional_seconds,
            lambda data: ionfast.dumps(ionfast.loads(data), binary=False),
            lambda data: ionfast.transcode(data, binary=False),
        ):
            with pytest.raises(IonError):
                read(data)


def test_a_fraction_of_thousands_of_nines() -> None:
    """A big-endian fraction of more than 8192 bits that is nearly 1 cannot be compared cheaply."""

    def seconds(digits: int) -> bytes:
        size = (10**digits - 1).bit_length() // 8 + 1
        exponent = bytes([0x40 | digits >> 7, digits & 0x7F | 0x80])
        content = exponent + (10**digits - 1).to_bytes(size, "big")
        return IVM + unit(6, bytes.fromhex("80 0f d3 84 85 86 87 88") + content)

    assert str(ionfast.loads(seconds(2465)).fractional_seconds) == "0." + "9" * 2465
    refuses(lambda: ionfast.loads(seconds(2470)), "timestamp")
    # In text there is nothing to compare.
    text = "2003-04-05T06:07:08." + "9" * 2470 + "Z"
    assert ionfast.loads(text).to_text() == text


# ----------------------------------------------------------------------------------- symbols


def test_a_table_of_a_million_symbols() -> None:
    names = b"".join(b"\x86%06x" % i for i in range(MILLION))
    data = IVM + table(b"\x87" + unit(11, names)) + b"\x73" + (10 + MILLION - 1).to_bytes(3, "big")
    assert ionfast.loads(data) == f"{MILLION - 1:06x}"
    refuses(lambda: ionfast.loads(data[:-3] + (10 + MILLION).to_bytes(3, "big")), "symbol ID")


def test_a_hundred_thousand_appends() -> None:
    append = table(b"\x86\x71\x03\x87\xb4\x83abc")
    data = IVM + append * 100_000 + b"\x73" + (10 + 99_999).to_bytes(3, "big")
    assert ionfast.loads(data) == "abc"
    assert iterate(data) == ["abc"]


def test_ten_million_version_markers() -> None:
    assert ionfast.loads_all(IVM * (10 * MILLION) + b"\x21\x07") == [7]


def test_an_import_of_more_symbols_than_memory_has_bytes() -> None:
    huge = (2**62).to_bytes(8, "big")
    imports = unit(13, b"\x84\x81q\x85\x21\x01\x88\x28" + huge)
    symbols = b"\x87\xb2\x81z"
    data = IVM + table(b"\x86" + unit(11, imports) + symbols) + b"\x78" + (10 + 2**62).to_bytes(8, "big")
    assert ionfast.loads(data) == "z"
    inside = ionfast.loads(data[:-9] + b"\x78" + (2**61).to_bytes(8, "big"))
    assert isinstance(inside, SymbolToken)
    assert (inside.text, inside.location) == (None, ("q", 2**61 - 9))
    eight = IVM + table(b"\x86" + unit(11, imports * 8) + symbols)
    refuses(lambda: ionfast.loads(eight + b"\x71\x04"), "symbol table")


def test_a_million_annotations_and_a_symbol_of_a_megabyte() -> None:
    value = ionfast.loads("a::" * MILLION + "1")
    assert len(value.ion_annotations) == MILLION
    assert len(ionfast.loads(ionfast.dumps(value)).ion_annotations) == MILLION
    assert len(ionfast.loads("'" + "b" * MILLION + "'")) == MILLION


# ------------------------------------------------------------------------------------ memory


LIES = {
    "string": "8e 0f 7f 7f 7f ff",
    "blob": "ae 3f 7f 7f 7f 7f 7f ff",
    "list": "be 0f 7f 7f 7f ff 21 01",
    "int": "2e 0f 7f 7f 7f ff 01",
    "symbols": "ee 0f 7f 7f 7f fb 81 83 de 0f 7f 7f 7f f0 87 be 0f 7f 7f 7f e0 81 61",
    "annotations": "ee 0f 7f 7f 7f ff 0f 7f 7f 7f f0 84 84",
    "padding": "0e 0f 7f 7f 7f ff",
}


@scenarios.not_sanitized
@pytest.mark.parametrize("name", LIES)
def test_nothing_is_allocated_for_a_length_that_lies(name: str) -> None:
    data = IVM + bytes.fromhex(LIES[name])

    def read() -> None:
        for way in (ionfast.loads_all, iterate, ionfast.transcode):
            with pytest.raises(IonError):
                way(data)

    assert scenarios.peak_bytes(read) < 4 * MILLION


@scenarios.not_sanitized
@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    ["[", "[],", "{a:1}", "a::", "1 ", "'a' ", '"" ', "{{aGk=}} ", "2003T ", "1.5 ", "0x1 ", "/**/", "nan ",
     "$ion_1_0 ", '$ion_symbol_table::{symbols:["a"]} ', "'''a''' "],
)  # fmt: skip
def test_memory_follows_the_input(piece: str) -> None:
    """64 MB and 64 times the input, values included."""
    data = piece * (400_000 // len(piece))

    def read() -> None:
        try:
            ionfast.loads_all(data, max_depth=None)
        except IonError:
            pass

    assert scenarios.peak_bytes(read) < 64 * MILLION + 64 * len(data)
