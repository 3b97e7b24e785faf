"""Fuzzes the binding: mutated documents through every reader with equal results, random objects through every
writer and back.

    python tests/fuzz/fuzz_binding.py SECONDS [SEED [FOLDER]...]
    tests/sanitize.sh tests/test_fuzz.py -k binding         for a short count under ASan and UBSan

Prints the input and the seed of what it finds. Folders hold more seeds.
"""

from __future__ import annotations

import datetime
import functools
import io
import pathlib
import random
import sys
import time
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import seeds

import ionfast
from ionfast import Clob, IonError, IonPyNull, IonType, Sexp, Symbol
from ionfast.equivalence import ion_equals

IVM = b"\xe0\x01\x00\xea"
WORDS = (b"::", b"'''", b"{{", b"}}", b"$ion_symbol_table::{symbols:[\"a\"]}", b"null.int", b"2003T",
         b"\\u00e9", b"-0.", b"1e5", b"//", b"/*", b"*/", b"\xe7\x81\x83\xd4\x87\xb2\x81a",
         b"q\x0a", b"\x0f", b"\xbe\x81")  # fmt: skip


def mutated(rng: random.Random, documents: list[bytes]) -> bytes:
    """One of the documents with some of its bytes changed, cut, repeated or swapped for another's."""
    data = bytearray(rng.choice(documents))
    for _ in range(rng.randint(1, 5)):
        at = rng.randint(0, len(data))
        choice = rng.randrange(6)
        if choice == 0 and at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        elif choice == 1:
            del data[at : at + rng.randint(1, 9)]
        elif choice == 2:
            data[at:at] = rng.choice(WORDS)
        elif choice == 3:
            other = rng.choice(documents)
            start = rng.randint(0, len(other))
            data[at:at] = other[start : start + rng.randint(1, 30)]
        elif choice == 4 and at < len(data):
            data[at] = rng.randrange(256)
    return bytes(data[:2000])


def outcome(read: Callable[[], Any]) -> Any:
    """The values as binary, which says more than == does, or where reading stopped."""
    try:
        values = read()
    except IonError as error:
        assert error.offset is not None
        return error.offset
    try:
        return ionfast.dumps_all(values)
    except IonError as error:
        return str(error)


def fed(data: bytes, rng: random.Random) -> list[Any]:
    """All values, from pieces; a value that is not there as a whole is asked for again."""
    reader = ionfast.Reader()
    values: list[Any] = []
    at = 0
    is_inside = False
    while True:
        if at < len(data):
            size = rng.choice((1, 2, 5, 30, 200))
            reader.feed(data[at : at + size])
            at += size
        else:
            reader.end()
        while is_inside or (kind := reader.next()) is not ionfast.NEED_DATA:
            if not is_inside and kind is None:
                return values
            value = reader.value()
            is_inside = value is ionfast.NEED_DATA
            if is_inside:
                break
            values.append(value)


def check_reading(data: bytes, rng: random.Random) -> None:
    wanted = outcome(lambda: ionfast.loads_all(data))
    got = outcome(lambda: list(ionfast.iterload(io.BytesIO(data))))
    # Magic bytes of gzip and zstd make a file, but not bytes in memory, compressed; a container that is
    # longer than the input is found at once, or only at its end.
    is_same = got == wanted or (isinstance(got, int) and isinstance(wanted, int))
    assert is_same or data[:2] in (b"\x1f\x8b", b"\x28\xb5"), ("iterload", wanted, got)
    got = outcome(lambda: fed(data, rng))
    assert got == wanted or (isinstance(got, int) and isinstance(wanted, int)), ("feed", wanted, got)
    for model in ("plain", "ionpy"):
        got = outcome(functools.partial(ionfast.loads_all, data, model=model))  # type: ignore[arg-type]
        assert isinstance(got, int) == isinstance(wanted, int), (model, wanted, got)
    if isinstance(wanted, bytes):
        try:
            text = ionfast.transcode(data, binary=False)
        except IonError as error:  # a fraction of a second with more zeros than text may have
            assert "out of the supported range" in str(error), data
            return
        pairs = zip(ionfast.loads_all(text), ionfast.loads_all(data), strict=True)
        assert all(ion_equals(a, b) for a, b in pairs), ("transcode", text)


def scalars(rng: random.Random) -> list[Any]:
    return [
        None,
        True,
        rng.randrange(-(1 << rng.randrange(1, 200)), 1 << 70),
        rng.random() * 10 ** rng.randrange(-30, 30),
        float("nan"),
        Decimal(rng.randrange(10**20)).scaleb(rng.randrange(-40, 40)),
        "a" * rng.randrange(40),
        "h\xe9\u20ac\U0001f600"[: rng.randrange(5)],
        rng.randbytes(rng.randrange(30)),
        Symbol(rng.choice(("a", "", "$10", "null", "x y"))),
        Clob(b"c\x80"),
        datetime.datetime(rng.randrange(1, 9999), 1, 2, 3, 4, 5, rng.randrange(10**6)),
        IonPyNull(rng.choice(list(IonType))),
        "\ud800" if rng.randrange(30) == 0 else "b",
        object() if rng.randrange(30) == 0 else 1,
    ]


def any_object(rng: random.Random, depth: int) -> Any:
    """Something that may have an Ion value, or may not."""
    choice = rng.randrange(20 if depth else 15)
    if choice < 15:
        return rng.choice(scalars(rng))
    children = [any_object(rng, depth - 1) for _ in range(rng.randrange(6))]
    if choice == 15:
        return {rng.choice(("a", "b", "\xe9", "")) + str(i): child for i, child in enumerate(children)}
    return rng.choice((list, tuple, Sexp))(children)


def check_writing(rng: random.Random) -> None:
    value = any_object(rng, 5)
    try:
        binary = ionfast.dumps(value)
    except (IonError, TypeError, UnicodeError) as error:
        for options in ({"binary": False}, {"binary": False, "indent": "\t"}):
            try:
                ionfast.dumps(value, **options)  # type: ignore[call-overload]
            except type(error):
                continue
            raise AssertionError(("text takes what binary does not", value)) from error
        return
    for indent in (None, "  "):
        text = ionfast.dumps(value, binary=False, indent=indent)
        assert ionfast.dumps(ionfast.loads(text)) == binary, value
    assert ionfast.dumps(ionfast.loads(binary)) == binary, value
    writer = ionfast.Writer(preallocate=rng.randrange(3))  # type: ignore[arg-type]
    writer.write(value)
    writer.finish()
    assert writer.getvalue() == binary, value


def run(seconds: float, seed: int, folders: list[str], most: int = sys.maxsize) -> int:
    documents = list(seeds.documents().values())
    for folder in folders:
        documents += [path.read_bytes() for path in sorted(pathlib.Path(folder).iterdir()) if path.is_file()]
    end = time.monotonic() + seconds
    count = 0
    while count < most and time.monotonic() < end:
        rng = random.Random(f"{seed}-{count}")
        data = mutated(rng, documents)
        try:
            check_reading(data, rng)
            check_writing(rng)
        except BaseException:
            print(f"seed {seed}, run {count}, input {data!r}", file=sys.stderr)
            raise
        count += 1
    return count


if __name__ == "__main__":
    done = run(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1, sys.argv[3:])
    print(f"{done} runs")
