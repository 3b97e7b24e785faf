"""`python -m benchmarks [--pure] [--seconds S]`: loads and dumps beside the peers, as a table of ratios."""

from __future__ import annotations

import argparse
import platform
import subprocess
import sys
from collections.abc import Iterator, Mapping

import ionfast

from . import data, imports, peers
from .timing import Candidate, Timing, interleave

Row = tuple[str, dict[str, Timing]]


def _cases(pure: bool) -> Iterator[tuple[str, Mapping[str, Candidate]]]:
    for name in data.CORPORA:
        text = data.corpus_json(name)
        if text is None:
            continue
        value = data.document(name)
        binary = ionfast.dumps(value)
        ion_text = ionfast.dumps(value, binary=False)
        yield f"{name} loads binary", peers.loads_candidates(binary, text, pure=pure)
        yield f"{name} loads text", peers.loads_candidates(ion_text, text, pure=pure)
        yield (
            f"{name} dumps binary",
            peers.dumps_candidates(value, binary=True, pure=pure, is_json=True),
        )
        yield (
            f"{name} dumps text",
            peers.dumps_candidates(value, binary=False, pure=pure, is_json=True),
        )
    for name in data.EXAMPLES:
        encoded = data.example(name)
        if encoded is not None:
            yield from _example_cases(name, encoded)


def _example_cases(name: str, encoded: bytes) -> Iterator[tuple[str, Mapping[str, Candidate]]]:
    values = ionfast.loads_all(encoded)
    yield f"{name} loads_all", peers.stream_candidates(encoded)
    for binary in (True, False):
        yield (
            f"{name} dumps_all {'binary' if binary else 'text'}",
            {"ionfast": lambda binary=binary: ionfast.dumps_all(values, binary=binary)},
        )


def _commit() -> str:
    done = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=data.ROOT
    )
    return done.stdout.strip() or "no commit"


def _print_row(name: str, timings: Mapping[str, Timing]) -> None:
    ours = timings["ionfast"].best
    cells = [f"{name:32} {ours * 1e6:12.1f} µs (median {timings['ionfast'].median * 1e6:.1f})"]
    cells += [
        f"{peer} {timing.best * 1e6:.1f} µs = x{timing.best / ours:.2f}"
        for peer, timing in timings.items()
        if peer != "ionfast"
    ]
    print(" | ".join(cells), flush=True)


def main(argv: list[str] | None = None) -> int:
    """Run all cases; `xN` is how many times as long as ionfast the peer takes."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=main.__doc__)
    parser.add_argument("--pure", action="store_true", help="pure-Python amazon.ion too (minutes)")
    parser.add_argument("--seconds", type=float, default=0.03, help="length of one round")
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args(argv)
    print(f"ionfast {_commit()}, CPython {platform.python_version()}, best of {options.rounds}")
    for name, candidates in _cases(options.pure):
        _print_row(
            name,
            interleave(candidates, rounds=options.rounds, round_seconds=options.seconds),
        )
    imports.report(rounds=options.rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
