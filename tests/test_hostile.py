"""Input that means harm: never anything but a value or an IonError.

`-m slow` runs the whole; the rest is a sample of the same. Under ASan and UBSan: tests/sanitize.sh.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

import ionfast
import scenarios
import vectors

IVM = b"\xe0\x01\x00\xea"

# Own inputs, so that there is something to break where the test data is absent.
SEEDS: tuple[bytes, ...] = (
    b"{a:[1,-2.50,3e0,null.int],b:x::'y z'::\"\\u00e9\\n\",c:(2003-04-05T06:07:08.09-01:30 +)}",
    b"$ion_1_0 $ion_symbol_table::{symbols:[\"s\",\"t\"]} {$10:$11::{{aGk=}}} '''l''' '''m''' {{'''c'''}}",
    b"[0x1F, 0b1_0, 1_000d-3, nan, +inf, -inf, true, /* c */ $3, '', {}, ()] // end",
    IVM
    + bytes.fromhex("de8a84210785d3862203e880")
    + bytes.fromhex("b5 2101 5 3c201f4".replace(" ", "")),
    IVM
    + bytes.fromhex("e98183d687b4817381 74".replace(" ", ""))
    + bytes.fromhex("d88a710b8b7104e0"),
    IVM + bytes.fromhex("6a800fd38485868788c3 07 483ff8000000000000 8e83c3a978 a3000102 93616263"),
    IVM + bytes.fromhex("e581842f 00 02ffff 2901020304050607 0809 3501 02030405 1f0f11"),
)


def survives(data: bytes) -> None:
    """Reading ends in values or an IonError, in both ways to read a document."""
    for read in (ionfast.loads_all, ionfast.loads):
        try:
            read(data)
        except ionfast.IonError as error:
            assert error.offset is not None, data
            assert 0 <= error.offset <= len(data), data


def _documents() -> list[bytes]:
    names = vectors.paths("good") + vectors.paths("bad")
    return [*SEEDS, *(vectors.read(name) for name in names)]


def _prefixes(data: bytes, step: int) -> Iterator[bytes]:
    return (data[:length] for length in range(0, len(data), step))


def _single_changes(data: bytes, step: int) -> Iterator[bytes]:
    changed = bytearray(data)
    for index, old in enumerate(data):
        for new in range(index % step, 256, step):
            changed[index] = new
            yield bytes(changed)
        changed[index] = old


def test_prefixes_of_every_document() -> None:
    for data in _documents():
        for prefix in _prefixes(data, max(1, len(data) // 40)):
            survives(prefix)


@pytest.mark.slow
def test_every_prefix_of_every_document() -> None:
    for data in _documents():
        # The few large vectors would take as long as all the others together: a step keeps them near 3000.
        for prefix in _prefixes(data, len(data) // 3000 + 1):
            survives(prefix)


def test_single_byte_changes_of_the_seeds() -> None:
    for data in SEEDS:
        for changed in _single_changes(data, 7):
            survives(changed)


@pytest.mark.slow
def test_every_single_byte_change_of_small_documents() -> None:
    for data in _documents():
        if len(data) <= 64 or data in SEEDS:
            for changed in _single_changes(data, 1):
                survives(changed)


@pytest.mark.slow
def test_random_damage() -> None:
    """Cuts, repeats, swaps between documents and random bytes, from a fixed seed."""
    rng = random.Random(1)
    documents = [data for data in _documents() if len(data) < 2000]
    for _ in range(20_000):
        data, other = bytearray(rng.choice(documents)), rng.choice(documents)
        for _ in range(rng.randint(1, 4)):
            at = rng.randint(0, len(data))
            cut = rng.randint(0, 8)
            start = rng.randint(0, len(other))
            insert = rng.choice((b"", rng.randbytes(rng.randint(1, 4)), other[start : start + 12]))
            data[at : at + cut] = insert
        survives(bytes(data))
        if not data.startswith(IVM):
            survives(IVM + bytes(data))


@pytest.mark.slow
@pytest.mark.parametrize("opening", [b"[", b"(", b"{a:", b"[{a:("])
def test_ten_million_openings(opening: bytes) -> None:
    data = opening * (10_000_000 // len(opening))
    survives(data)
    with pytest.raises(ionfast.IonError):
        ionfast.loads_all(data, max_depth=None)


@pytest.mark.slow
def test_a_million_annotations_and_a_million_lists_in_binary() -> None:
    survives(b"a::" * 1_000_000 + b"1")
    survives(IVM + b"\xbe\x7f\x7f\x7f\xff" * 1_000_000)


@scenarios.not_sanitized
@pytest.mark.parametrize("code", range(16))
def test_a_length_of_two_to_the_sixty(code: int) -> None:
    length = b"\x10" + b"\x00" * 7 + b"\x80"  # 2**60 as a VarUInt
    data = IVM + bytes([code << 4 | 14]) + length + b"abc"
    peak = scenarios.peak_bytes(lambda: survives(data))
    assert peak < 100_000


@pytest.mark.parametrize(
    "text", [b'"%s"', b"'%s'", b"{{%s}}", b"%s", b"[%s]", b"{a:%s}", b"//%s\n1"]
)
def test_every_byte_pair_inside_text(text: bytes) -> None:
    for first in range(256):
        for second in (0x00, 0x0A, 0x22, 0x27, 0x5C, 0x7F, 0x80, 0xBF, 0xC3, 0xED, 0xF4, 0xFF):
            survives(text % bytes((first, second)))


def test_every_two_bytes_after_a_marker() -> None:
    for first in range(256):
        for second in range(0, 256, 3):
            survives(IVM + bytes((first, second)))
            survives(IVM + bytes((first, second)) + b"\x21\x01\x00\x80\xff" * 3)
