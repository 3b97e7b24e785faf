"""`python -m benchmarks.compare`: ionfast beside every serialization library, on the same data.

Corpora, examples, generated documents and small messages; loads and dumps, binary and text, three
models. All candidates of a case take turns, so that a slow moment of the machine hits all of them.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import platform
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import ionfast

from . import chart, data, formats, generators, loads_floor
from .timing import Candidate, interleave

MODELS = ("lossless", "plain", "ionpy")
KEPT = 50  # documents that --kept holds at once


@dataclass
class Case:
    """One operation on one document, with everyone who can do it."""

    document: str
    operation: str  # loads or dumps
    binary: bool
    model: str
    candidates: dict[str, Candidate]
    values: int  # scalars, containers and field names
    size: int  # bytes of ionfast's encoding

    @property
    def name(self) -> str:
        """As `--only` sees it."""
        encoding = "binary" if self.binary else "text"
        model = f" {self.model}" if self.operation == "loads" else ""
        return f"{self.document} / {self.operation} {encoding}{model}"


@dataclass
class Result:
    """Seconds of one call, by candidate, best and median."""

    name: str
    values: int
    size: int
    best: dict[str, float] = field(default_factory=dict)
    median: dict[str, float] = field(default_factory=dict)

    def peer(self) -> str | None:
        """The fastest of the fast peers."""
        peers = [name for name in formats.FAST if name in self.best]
        return min(peers, key=self.best.__getitem__, default=None)

    def ratio_to(self, name: str | None) -> float:
        """Our time as a share of theirs; NaN where they are not there."""
        return self.best["ionfast"] / self.best[name] if name in self.best else math.nan


def count_values(value: Any) -> int:
    """Scalars, containers and field names of a document, without recursion."""
    count, rest = 0, [value]
    while rest:
        item = rest.pop()
        count += 1
        if isinstance(item, dict):
            count += len(item)
            rest.extend(item.values())
        elif isinstance(item, list):
            rest.extend(item)
    return count


# ---- what is measured ----


def documents() -> Iterator[tuple[str, Any]]:
    """All documents, by name."""
    for name in data.CORPORA:
        if data.corpus_json(name) is not None:
            yield name, data.document(name)
    for name in data.EXAMPLES:
        encoded = data.example(name)
        if encoded is not None:
            yield name, ionfast.loads_all(encoded)
    yield from generators.documents()
    for size in generators.SMALL_SIZES:
        yield f"message of {size} bytes", generators.small_message(size)


def _works(action: Candidate) -> bool:
    try:
        action()
    except Exception:
        return False
    return True


def _peers(operation: str, value: Any, name: str, binary: bool) -> dict[str, Candidate]:
    found: dict[str, Candidate] = {}
    for peer in formats.all_formats(binary):
        try:
            wrapped = peer.wrap(value)
            encoded = peer.dumps(wrapped)
            if peer.name == "orjson" and name in data.CORPORA:
                encoded = data.corpus_json(name)
        except Exception:
            continue
        if operation == "loads":
            action = lambda loads=peer.loads, encoded=encoded: loads(encoded)  # noqa: E731
        else:
            action = lambda dumps=peer.dumps, wrapped=wrapped: dumps(wrapped)  # noqa: E731
        if _works(action):
            found[peer.name] = action
    return found


def _floors(value: Any) -> dict[str, Candidate]:
    floors = {
        "floor": loads_floor.candidate(value, copies=True),
        "floor, public": loads_floor.candidate(value, copies=False),
    }
    return {name: action for name, action in floors.items() if action is not None}


def _ours(operation: str, value: Any, encoded: bytes, binary: bool, model: str) -> Candidate:
    """The call as its user would write it: without a keyword that says what is so anyway."""
    if operation == "loads":
        if model == "lossless":
            return lambda: ionfast.loads(encoded)
        return lambda: ionfast.loads(encoded, model=model)
    if binary:
        return lambda: ionfast.dumps(value)
    return lambda: ionfast.dumps(value, binary=False)


def cases(name: str, value: Any, wanted: Callable[[str], bool]) -> Iterator[Case]:
    """Every case of one document that is `wanted` by name."""
    values = count_values(value)
    for binary in (True, False):
        out = ionfast.dumps(value, binary=binary)
        encoded = out if isinstance(out, bytes) else out.encode()
        for operation, model in (*(("loads", model) for model in MODELS), ("dumps", "lossless")):
            case = Case(name, operation, binary, model, {}, values, len(encoded))
            if not wanted(case.name):
                continue
            case.candidates["ionfast"] = _ours(operation, value, encoded, binary, model)
            if operation == "loads" and model == "lossless":
                case.candidates |= _floors(value)
            case.candidates |= _peers(operation, value, name, binary)
            yield case


def measure(case: Case, options: argparse.Namespace) -> Result:
    """Time everyone in turns."""
    candidates = case.candidates
    per_call = 1
    if options.kept and case.operation == "loads":
        per_call = KEPT
        candidates = {
            name: lambda action=action: [action() for _ in range(KEPT)]
            for name, action in candidates.items()
        }
    timings = interleave(
        candidates,
        rounds=options.rounds,
        round_seconds=options.seconds,
        budget_seconds=options.budget,
        clock=time.process_time if options.cpu else time.perf_counter,
    )
    result = Result(case.name, case.values, case.size)
    for name, timing in timings.items():
        result.best[name] = timing.best / per_call
        result.median[name] = timing.median / per_call
    return result


# ---- what is said of it ----

HEADER = (
    "| case | best µs | median µs | ns/value | MB/s | best peer | its µs | ratio | of floor | "
    "amazon.ion C |\n|---|--:|--:|--:|--:|---|--:|--:|--:|--:|"
)


def _number(value: float, form: str) -> str:
    return "" if math.isnan(value) else format(value, form)


def row(result: Result) -> str:
    """One line of the table."""
    ours = result.best["ionfast"]
    peer = result.peer()
    amazon = 1 / result.ratio_to("amazon.ion C")
    return (
        f"| {result.name} | {ours * 1e6:.1f} | {result.median['ionfast'] * 1e6:.1f} "
        f"| {ours * 1e9 / result.values:.1f} | {result.size / ours / 1e6:.0f} "
        f"| {peer or ''} | {_number(result.best.get(peer or '', math.nan) * 1e6, '.1f')} "
        f"| {_number(result.ratio_to(peer), '.2f')} | {_number(result.ratio_to('floor'), '.2f')} "
        f"| {_number(amazon, '.1f')}{'' if math.isnan(amazon) else 'x'} |"
    )


def geometric_mean(numbers: list[float]) -> float:
    """NaN of none."""
    return math.exp(sum(map(math.log, numbers)) / len(numbers)) if numbers else math.nan


def summary(results: list[Result]) -> str:
    """The goals' means: the four corpora, by operation."""
    lines = []
    for ending in ("loads binary lossless", "loads text lossless", "dumps binary", "dumps text"):
        ratios = [
            result.ratio_to("orjson" if "text" in ending else result.peer())
            for result in results
            if result.name.endswith(f"/ {ending}") and result.name.split(" / ")[0] in data.CORPORA
        ]
        ratios = [ratio for ratio in ratios if not math.isnan(ratio)]
        if ratios:
            against = "orjson" if "text" in ending else "the best peer"
            lines.append(
                f"{ending}, corpora, against {against}: geometric mean "
                f"{geometric_mean(ratios):.2f}, worst {max(ratios):.2f}"
            )
    return "\n".join(lines)


def against(results: list[Result], path: Path) -> str:
    """Each case now and in an older run; relative to orjson then and now, as machines differ."""
    old = {item["name"]: item for item in json.loads(path.read_text())["results"]}
    lines = ["| case | then µs | now µs | now/then |", "|---|--:|--:|--:|"]
    for result in results:
        then = old.get(result.name, {}).get("best", {}).get("ionfast")
        if then is not None:
            now = result.best["ionfast"]
            lines.append(
                f"| {result.name} | {then * 1e6:.1f} | {now * 1e6:.1f} | {now / then:.2f} |"
            )
    return "\n".join(lines)


def _commit() -> str:
    done = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=data.ROOT
    )
    return done.stdout.strip() or "no commit"


def _options(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compare", description=__doc__)
    parser.add_argument("--only", default="", help="regular expression; cases whose name matches")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=0.03, help="length of one round")
    parser.add_argument("--budget", type=float, default=1.0, help="seconds a candidate and case")
    parser.add_argument(
        "--cpu", action="store_true", help="CPU time, for a machine that is shared"
    )
    parser.add_argument("--no-gc", action="store_true", help="with the collector off")
    parser.add_argument("--kept", action="store_true", help=f"loads: keep {KEPT} documents")
    parser.add_argument("--markdown", type=Path, help="write the table here as well")
    parser.add_argument("--json", type=Path, help="write all figures here")
    parser.add_argument("--svg", type=Path, help="write the plot of the corpora here")
    parser.add_argument("--against", type=Path, help="a file that --json wrote before")
    return parser.parse_args(argv)


def _write(
    options: argparse.Namespace, title: str, table: list[str], results: list[Result]
) -> None:
    if options.markdown:
        options.markdown.write_text("\n".join((title, "", *table, "", summary(results), "")))
    if options.json:
        figures = {"title": title, "results": [asdict(result) for result in results]}
        options.json.write_text(json.dumps(figures, indent=1))
    if options.svg:
        options.svg.write_text(chart.render(title, results))
    if options.against:
        print("\n" + against(results, options.against))


def main(argv: list[str] | None = None) -> int:
    """Run the cases and print the table."""
    options = _options(argv)
    wanted = re.compile(options.only).search
    title = (
        f"ionfast {_commit()}, CPython {platform.python_version()}, {platform.machine()}, "
        f"{'CPU' if options.cpu else 'wall'} time, best of {options.rounds}, "
        f"collector {'off' if options.no_gc else 'on'}"
        f"{f', {KEPT} documents kept' if options.kept else ''}"
    )
    print(title, "", HEADER, sep="\n", flush=True)
    table, results = [HEADER], []
    if options.no_gc:
        gc.disable()
    for name, value in documents():
        for case in cases(name, value, lambda case_name: wanted(case_name) is not None):
            results.append(measure(case, options))
            table.append(row(results[-1]))
            print(table[-1], flush=True)
    print("\n" + summary(results))
    _write(options, title, table, results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
