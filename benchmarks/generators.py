"""Documents from a seed: one kind of value each, many of them, for what the corpora have little of."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

from ionfast import Symbol

SEED = 20240229
COUNT = 2000

Generator = Callable[[random.Random], Any]


def _text(random_: random.Random, first: int, last: int) -> str:
    length = random_.randrange(1, 60)
    return "".join(chr(random_.randrange(first, last)) for _ in range(length))


def _moment(random_: random.Random) -> datetime:
    zone = random_.choice((UTC, timezone(timedelta(minutes=60 * random_.randrange(-11, 12)))))
    start = datetime(2000, 1, 1, tzinfo=zone)
    return start + timedelta(microseconds=random_.randrange(10**15))


def _nested(depth: int) -> Any:
    value: Any = 1
    for level in range(depth):
        value = [value] if level % 2 else {"inner": value}
    return value


def _wide(random_: random.Random) -> dict[str, int]:
    return {f"field_{i}": random_.randrange(1000) for i in range(COUNT)}


# Name -> one value of a list of COUNT, or (with a star) the whole document.
GENERATORS: dict[str, Generator] = {
    "small ints": lambda r: r.randrange(-100, 200),
    "64-bit ints": lambda r: r.randrange(-(1 << 63), 1 << 63),
    "huge ints": lambda r: r.getrandbits(r.randrange(65, 2000)),
    "floats": lambda r: r.uniform(-1000, 1000),
    "decimals": lambda r: Decimal(r.randrange(-(10**9), 10**9)).scaleb(-r.randrange(0, 7)),
    "timestamps": _moment,
    "ASCII strings": lambda r: _text(r, 0x20, 0x7F),
    "Latin-1 strings": lambda r: _text(r, 0xA0, 0x100),
    "CJK strings": lambda r: _text(r, 0x4E00, 0x9FA5),
    "emoji strings": lambda r: _text(r, 0x1F600, 0x1F650),
    "blobs": lambda r: r.randbytes(r.randrange(200)),
    "symbols": lambda r: Symbol(f"symbol_{r.randrange(100)}"),
    "small structs": lambda r: {"id": r.randrange(10**6), "name": f"n{r.randrange(99)}"},
    "*deep nesting": lambda r: _nested(900),
    "*wide struct": _wide,
}

SMALL_SIZES = (20, 50, 200)


def documents() -> Iterator[tuple[str, Any]]:
    """Each generator's name and its document, the same in every run."""
    for name, generate in GENERATORS.items():
        random_ = random.Random(f"{SEED} {name}")
        if name.startswith("*"):
            yield name[1:], generate(random_)
        else:
            yield name, [generate(random_) for _ in range(COUNT)]


def small_message(size: int) -> dict[str, Any]:
    """A record of about `size` bytes as JSON."""
    message: dict[str, Any] = {"id": 7, "ok": True}
    fields: list[tuple[str, Any]] = [
        ("name", "Ada"),
        ("score", 0.5),
        ("tags", ["a", "bc"]),
        ("at", "2024-02-29T12:00:00Z"),
        ("owner", {"id": 12345, "city": "Oslo"}),
        ("note", "nothing to report today"),
        ("count", 1234567),
    ]
    for name, value in fields:
        if len(str(message)) + len(str(value)) + len(name) + 4 > size + 4:
            break
        message[name] = value
    return message
