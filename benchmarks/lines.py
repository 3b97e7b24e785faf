"""`python -m benchmarks.lines`: a DynamoDB export beside JSON lines, and scalars beside their constructors.

The export is examples/orders.ion.gz, text, one `$ion_1_0 {Item:{...}}` a line; the JSON lines hold the
same items, with decimals as JSON numbers and blobs as base64. Needs orjson, and the example files.
"""

from __future__ import annotations

import argparse
import datetime
import json
import platform
import random
import sys
import time
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from typing import Any

import ionfast

from . import data
from .timing import Candidate, interleave

COUNT = 10_000


def _each(loads: Callable[[bytes], object], lines: list[bytes]) -> None:
    """Each line's value is dropped before the next, as by one who reads them in turn."""
    for line in lines:
        loads(line)


def _each_plain(lines: list[bytes]) -> None:
    """The same in the plain model, with the keyword where its user would write it."""
    loads = ionfast.loads
    for line in lines:
        loads(line, model="plain")


_EACH: dict[str, Callable[[list[bytes]], None]] = {
    "lossless": partial(_each, ionfast.loads),
    "plain": _each_plain,
}


def _json(value: Any) -> Any:
    """Decimals as floats, blobs as base64: what an export to JSON would hold."""
    if isinstance(value, dict):
        return {str(name): _json(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_json(item) for item in value]
    if isinstance(value, Decimal):
        return float(value) if value % 1 else int(value)
    return value.hex() if isinstance(value, bytes) else value


def _report(title: str, candidates: dict[str, Candidate], per: int, rounds: int) -> None:
    timings = interleave(candidates, rounds=rounds, clock=time.process_time)
    first, *others = timings
    ours = timings[first]
    cells = [f"{first} {ours.best / per * 1e9:.0f} ns (median {ours.median / per * 1e9:.0f})"]
    cells += [
        f"{name} {timings[name].best / per * 1e9:.0f} ns, ratio {ours.best / timings[name].best:.2f}"
        for name in others
    ]
    print(f"{title:24} " + " | ".join(cells), flush=True)


def report_export(lines: int, rounds: int) -> None:
    """Nanoseconds an item: each line alone, and the text as a whole."""
    import orjson

    export = data.example("orders")
    if export is None:
        print("no examples: run `python examples/make_examples.py` first")
        return
    ion_lines = export.splitlines()[:lines]
    values = [ionfast.loads(line, model="plain") for line in ion_lines]
    json_lines = [json.dumps(_json(value), ensure_ascii=False).encode() for value in values]
    ion_text, json_text = b"\n".join(ion_lines), b"\n".join(json_lines)
    print(f"\n{len(values)} items: {len(ion_text)} bytes of Ion, {len(json_text)} of JSON")
    for model in ("lossless", "plain"):
        _report(
            f"line by line, {model}",
            {
                "ionfast": partial(_EACH[model], ion_lines),
                "orjson": lambda: _each(orjson.loads, json_lines),
            },
            len(values),
            rounds,
        )
        _report(
            f"whole, {model}",
            {
                "ionfast": lambda m=model: ionfast.loads_all(ion_text, model=m),
                "orjson": lambda: [orjson.loads(line) for line in json_text.splitlines()],
            },
            len(values),
            rounds,
        )


def report_scalars(rounds: int) -> None:
    """Nanoseconds a value, in lists of COUNT."""
    random_ = random.Random(1)
    decimals = [Decimal(random_.randrange(10**9)).scaleb(-2) for _ in range(COUNT)]
    start = datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC)
    moments = [start + datetime.timedelta(milliseconds=random_.randrange(10**12)) for _ in decimals]
    of_text: dict[str, tuple[list[Any], Any, list[str]]] = {
        "decimals": (decimals, Decimal, [str(value) for value in decimals]),
        "timestamps": (
            moments,
            datetime.datetime.fromisoformat,
            [value.isoformat() for value in moments],
        ),
    }
    print(f"\nlists of {COUNT} scalars, beside a constructor called for each")
    for name, (values, construct, texts) in of_text.items():
        for encoding in ("binary", "text"):
            encoded: Any = ionfast.dumps(values, binary=encoding == "binary")
            _report(
                f"{name}, {encoding}",
                {
                    "ionfast.loads": lambda encoded=encoded: ionfast.loads(encoded),
                    construct.__qualname__: lambda c=construct, t=texts: [c(text) for text in t],
                },
                COUNT,
                rounds,
            )


def main(argv: list[str] | None = None) -> int:
    """Print both tables."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.lines", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--lines", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args(argv)
    print(f"ionfast {ionfast.__version__}, CPython {platform.python_version()}, CPU time, best")
    report_export(options.lines, options.rounds)
    report_scalars(options.rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
