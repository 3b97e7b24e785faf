"""`python -m benchmarks.typed [--variants]`: typed loads and dumps, registered types, skipped fields.

Ratios within one run: each line names both sides. --variants builds the extension again with other ways
of dispatch, and with a lock around the map of field names, and compares these in turns.
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import enum
import importlib
import platform
import sys
from decimal import Decimal
from fractions import Fraction
from typing import Any

import ionfast

from . import variants
from .__main__ import _commit
from .timing import Candidate, Timing, interleave


class Status(enum.Enum):
    NEW = "new"
    PAID = "paid"
    SHIPPED = "shipped"


@dataclasses.dataclass
class Line:
    sku: str
    quantity: int
    price: float


@dataclasses.dataclass
class Order:
    id: int
    customer: str
    email: str
    created: datetime.datetime
    status: Status
    total: float
    paid: bool
    lines: list[Line]
    note: str | None = None


@dataclasses.dataclass(slots=True)
class SlotLine:
    sku: str
    quantity: int
    price: float


@dataclasses.dataclass(slots=True)
class SlotOrder:
    id: int
    customer: str
    email: str
    created: datetime.datetime
    status: Status
    total: float
    paid: bool
    lines: list[SlotLine]
    note: str | None = None


def make_orders(count: int, order: Any = Order, line: Any = Line) -> list[Any]:
    """Orders with a few lines each, the same for every run."""
    statuses = list(Status)
    return [
        order(
            i,
            f"customer {i}",
            f"c{i}@example.com",
            datetime.datetime(2024, 1, 1 + i % 28, 3, 4, 5, 678_900, datetime.UTC),
            statuses[i % 3],
            i * 1.25,
            i % 2 == 0,
            [line(f"SKU-{i % 97:05}", j + 1, j * 9.99) for j in range(3)],
            None if i % 3 else "note",
        )
        for i in range(count)
    ]


def build_orders(rows: list[dict[str, Any]], order: Any = Order, line: Any = Line) -> list[Any]:
    """What one writes by hand without typed decoding, at its quickest."""
    return [
        order(
            row["id"],
            row["customer"],
            row["email"],
            row["created"],
            Status(row["status"]),
            row["total"],
            row["paid"],
            [line(item["sku"], item["quantity"], item["price"]) for item in row["lines"]],
            row["note"],
        )
        for row in rows
    ]


def loads_candidates(order: Any, line: Any) -> dict[str, Candidate]:
    orders = make_orders(10_000, order, line)
    binary, text = ionfast.dumps(orders), ionfast.dumps(orders, binary=False).encode()
    decoder = ionfast.Decoder(list[order])
    assert decoder.loads(binary) == orders == decoder.loads(text)
    candidates: dict[str, Candidate] = {
        "ionfast": lambda: decoder.loads(binary),
        "ionfast text": lambda: decoder.loads(text),
        "loads and build": lambda: build_orders(ionfast.loads(binary), order, line),
    }
    msgspec = _module("msgspec")
    if msgspec is not None:
        packed, json = msgspec.msgpack.encode(orders), msgspec.json.encode(orders)
        pack_decoder = msgspec.msgpack.Decoder(list[order])
        json_decoder = msgspec.json.Decoder(list[order])
        candidates["msgspec.msgpack"] = lambda: pack_decoder.decode(packed)
        candidates["msgspec.json"] = lambda: json_decoder.decode(json)
    return candidates


def dumps_candidates(order: Any, line: Any) -> dict[str, Candidate]:
    orders = make_orders(10_000, order, line)
    candidates: dict[str, Candidate] = {
        "ionfast": lambda: ionfast.dumps(orders),
        "ionfast text": lambda: ionfast.dumps(orders, binary=False),
    }
    orjson, msgspec = _module("orjson"), _module("msgspec")
    if orjson is not None:
        candidates["orjson"] = lambda: orjson.dumps(orders)
    if msgspec is not None:
        candidates["msgspec.msgpack"] = lambda: msgspec.msgpack.encode(orders)
    return candidates


def skip_candidates(binary: bool) -> dict[str, Candidate]:
    """3 fields of 40 against all of them."""
    kinds: list[tuple[Any, Any]] = [
        (int, 12345), (str, "some text here"), (float, 1.5), (Decimal, Decimal("12.50")),
        (list[int], [1, 2, 3, 4]), (bool, True), (datetime.datetime, datetime.datetime(2024, 1, 2)),
        (dict[str, str], {"a": "b", "c": "d"}),
    ]  # fmt: skip
    names = [f"field_{i:02}" for i in range(40)]
    full: Any = dataclasses.make_dataclass(
        "Full", [(name, kinds[i % 8][0]) for i, name in enumerate(names)], slots=True
    )
    few: Any = dataclasses.make_dataclass(
        "Few", [(names[i], kinds[i % 8][0]) for i in (0, 17, 34)], slots=True
    )
    row = {name: kinds[i % 8][1] for i, name in enumerate(names)}
    data = ionfast.dumps([row] * 1000, binary=binary)
    all_decoder, few_decoder = ionfast.Decoder(list[full]), ionfast.Decoder(list[few])
    return {"ionfast": lambda: few_decoder.loads(data), "all 40": lambda: all_decoder.loads(data)}


def registered_candidates() -> dict[str, Candidate]:
    """Registered types against calling their `encode` from Python, the values being the same."""
    codec = ionfast.Codec()
    values = [Fraction(i, 7) for i in range(5000)]

    def encode(value: Fraction) -> list[int]:
        return [value.numerator, value.denominator]

    codec.add(Fraction, encode=encode)
    return {
        "ionfast": lambda: codec.dumps(values),
        "encode called": lambda: ionfast.dumps([encode(value) for value in values]),
        "default=": lambda: ionfast.dumps(values, default=encode),
    }


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def _print(name: str, timings: dict[str, Timing]) -> None:
    ours = timings["ionfast"].best
    cells = [f"{name:28} {ours * 1e3:9.3f} ms"]
    cells += [
        f"{peer} {timing.best * 1e3:.3f} = x{timing.best / ours:.2f}"
        for peer, timing in timings.items()
        if peer != "ionfast"
    ]
    print(" | ".join(cells), flush=True)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.typed", description=__doc__)
    parser.add_argument("--variants", action="store_true", help="dispatch and locks (minutes)")
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args(argv)
    print(f"ionfast {_commit()}, CPython {platform.python_version()}, best of {options.rounds}")
    cases = {
        "loads dataclasses": loads_candidates(Order, Line),
        "loads slots dataclasses": loads_candidates(SlotOrder, SlotLine),
        "dumps dataclasses": dumps_candidates(Order, Line),
        "dumps slots dataclasses": dumps_candidates(SlotOrder, SlotLine),
        "3 of 40 fields, binary": skip_candidates(True),
        "3 of 40 fields, text": skip_candidates(False),
        "registered types": registered_candidates(),
    }
    for name, candidates in cases.items():
        _print(name, interleave(candidates, rounds=options.rounds, round_seconds=0.1))
    if options.variants:
        variants.report(rounds=options.rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
