"""Make the example files beside this script: a DynamoDB export and a service log.

    orders.ion.gz    text, as DynamoDB exports it to S3: one `$ion_1_0 {Item:{...}}` a line, gzipped
    service.10n      binary: log records with timestamps, decimals, symbols and annotations

    python examples/make_examples.py [--items 20000] [--records 50000] [--to FOLDER]

The same arguments give the same bytes: the numbers are drawn from a seed.
"""

from __future__ import annotations

import argparse
import datetime
import decimal
import gzip
import pathlib
import random
from collections.abc import Iterator

import ionfast
from ionfast import IonPyDict, IonType, Symbol

SEED = 20240229
START = datetime.datetime(2024, 2, 29, 8, 0, tzinfo=datetime.UTC)
CITIES = ("Berlin", "Łódź", "San José", "東京", "Reykjavík")
STATES = ("PLACED", "PAID", "SHIPPED", "RETURNED")
SERVICES = ("checkout", "search", "payments", "inventory")
LEVELS = ("debug", "info", "warn", "error")


def orders(count: int) -> Iterator[dict[str, object]]:
    """Items of a DynamoDB table, with its types: decimals, sets as annotated lists, binaries."""
    rng = random.Random(SEED)
    for number in range(count):
        placed = START + datetime.timedelta(seconds=37 * number)
        lines = [_order_line(rng) for _ in range(rng.randint(1, 4))]
        yield {
            "pk": f"CUSTOMER#{rng.randrange(count // 4 + 1):07d}",
            "sk": f"ORDER#{placed:%Y-%m-%dT%H:%M:%SZ}#{number:08d}",
            "status": rng.choice(STATES),
            "total": sum((line["price"] * line["quantity"] for line in lines), decimal.Decimal(0)),
            "lines": lines,
            "ship_to": {"city": rng.choice(CITIES), "zip": f"{rng.randrange(100000):05d}"},
            "tags": ionfast.IonPyList.from_value(
                IonType.LIST,
                rng.sample(("gift", "express", "fragile", "b2b"), 2),
                ("$dynamodb_SS",),
            ),
            "note": None if number % 5 else 'ring twice; "3rd" floor',
            "signature": rng.randbytes(24),
        }


def _order_line(rng: random.Random) -> dict[str, decimal.Decimal | str]:
    cents = rng.randrange(99, 49999)
    return {
        "sku": f"SKU-{rng.randrange(3000):04d}",
        "quantity": decimal.Decimal(rng.randint(1, 5)),
        "price": decimal.Decimal(cents).scaleb(-2),
    }


def records(count: int) -> Iterator[IonPyDict]:
    """Log records, each annotated with the service that wrote it."""
    rng = random.Random(SEED)
    moment = START
    for number in range(count):
        moment += datetime.timedelta(microseconds=rng.randrange(1, 90_000))
        record: dict[str, object] = {
            "at": moment,
            "level": Symbol(rng.choices(LEVELS, (10, 80, 8, 2))[0]),
            "request": f"{rng.getrandbits(64):016x}",
            "took_ms": decimal.Decimal(rng.randrange(1, 90_000)).scaleb(-2),
            "status": rng.choices((200, 201, 404, 500), (80, 10, 8, 2))[0],
            "bytes": rng.randrange(0, 1 << 20),
            "load": rng.random() * 4,
        }
        if number % 16 == 0:
            record["path"] = [Symbol(part) for part in ("api", "v2", rng.choice(SERVICES))]
        yield IonPyDict.from_value(IonType.STRUCT, record, (rng.choice(SERVICES),))


def write_orders(path: pathlib.Path, count: int) -> None:
    """One line an item, as a DynamoDB export has it. mtime 0 keeps the gzip the same."""
    lines = (
        "$ion_1_0 " + ionfast.dumps({"Item": item}, binary=False, omit_version_marker=True) + "\n"
        for item in orders(count)
    )
    with path.open("wb") as raw, gzip.GzipFile("", "wb", 6, raw, mtime=0) as file:
        file.write("".join(lines).encode())


def write_records(path: pathlib.Path, count: int) -> None:
    """One binary stream with one symbol table for all records."""
    path.write_bytes(ionfast.dumps_all(list(records(count)), binary=True))


def main() -> None:
    """Write both files and say so."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, default=20_000)
    parser.add_argument("--records", type=int, default=50_000)
    parser.add_argument("--to", type=pathlib.Path, default=pathlib.Path(__file__).parent)
    options = parser.parse_args()
    options.to.mkdir(parents=True, exist_ok=True)
    for name, write, count in (
        ("orders.ion.gz", write_orders, options.items),
        ("service.10n", write_records, options.records),
    ):
        write(options.to / name, count)
        print(f"{options.to / name}: {count} values, {(options.to / name).stat().st_size} bytes")


if __name__ == "__main__":
    main()
