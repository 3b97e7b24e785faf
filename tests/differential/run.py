"""Runs the readers over the documents and reports each kind of difference with its smallest document."""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import time
from pathlib import Path

from . import programs
from .documents import Documents
from .expected import Difference, expected
from .generate import Document

BATCH = 500


class Report:
    """Differences by kind: how many, and the smallest document of each."""

    def __init__(self) -> None:
        self.documents: dict[str, int] = {}  # by sort
        self.agreed: dict[str, list[int]] = {}  # by reader: documents read alike, refused alike
        self.counts: dict[tuple[str, str], int] = {}
        self.smallest: dict[tuple[str, str], Difference] = {}
        self.unexpected: set[tuple[str, str]] = set()

    def add(self, difference: Difference) -> None:
        """Count a difference under its rule, or under what was said where there is none."""
        rule = expected(difference)
        name = f"{rule.kind}: {rule.name} ({rule.because})" if rule else unknown(difference)
        key = (difference.peer, name)
        if rule is None:
            self.unexpected.add(key)
        self.counts[key] = self.counts.get(key, 0) + 1
        smallest = self.smallest.get(key)
        if smallest is None or len(difference.data) < len(smallest.data):
            self.smallest[key] = difference

    def agree(self, peer: str, is_read: bool) -> None:
        self.agreed.setdefault(peer, [0, 0])[not is_read] += 1

    def print(self) -> None:
        for peer, (read, refused) in self.agreed.items():
            print(f"{peer}: {read} read alike, {refused} refused alike")
        for key in sorted(
            self.counts, key=lambda k: (k in self.unexpected, k[0], -self.counts[k])
        ):
            peer, name = key
            mark = "UNEXPECTED" if key in self.unexpected else "expected"
            print(f"\n{mark}: {peer}: {self.counts[key]} x {name}")
            self.smallest[key].print()


def unknown(difference: Difference) -> str:
    """A name for a difference that no rule expects: who says what, without its numbers and names."""
    ours, theirs = _gist(difference.ours), _gist(difference.theirs)
    return f"{difference.kind} | ionfast: {ours} | {difference.peer}: {theirs}"


def _gist(answer: programs.Answer) -> str:
    if answer.sign == "+":
        return "reads"
    text = re.sub(r"'[^']*'|\"[^\"]*\"|[0-9a-fA-F]*[0-9][0-9a-fA-F]*", "#", answer.text)
    return " ".join(text.split())[:150]


def compare(
    document: Document, ours: programs.Answer, theirs: programs.Answer, peer: programs.Reader
) -> Difference | None:
    """How two answers differ, or None."""
    if ours.sign == theirs.sign == "-":
        return None
    if ours.sign == theirs.sign == "+":
        if ours.weak == theirs.text:
            return None
        return Difference(document.data, peer.name, "values", ours, theirs)
    kind = {"+": "reads", "-": "refuses", "!": "dies"}[theirs.sign]
    return Difference(document.data, peer.name, kind, ours, theirs)


def run(
    count: int,
    seed: int,
    names: list[str],
    *,
    with_seeds: bool = True,
    build: Path | None = None,
    verbose: bool = False,
) -> Report:
    """Read `count` documents with ionfast and the named peers, which are built in a folder."""
    documents = Documents(seed, with_seeds)
    report = Report()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ours = programs.ionfast()
        peers = [programs.peer(n, build or folder) for n in names]
        try:
            done, start = 0, time.monotonic()
            while done < count:
                batch = documents.batch(min(BATCH, count - done))
                compare_batch(batch, ours, peers, folder, report)
                done += len(batch)
                if verbose:
                    print(
                        f"\r{done} documents, {time.monotonic() - start:.0f} s",
                        end="",
                        file=sys.stderr,
                    )
            if verbose:
                print(file=sys.stderr)
            shrink_unexpected(report, ours, peers, folder)
        finally:
            for reader in (ours, *peers):
                reader.close()
    report.documents = dict(documents.counts)
    return report


def compare_batch(
    batch: list[Document],
    ours: programs.Reader,
    peers: list[programs.Reader],
    folder: Path,
    report: Report,
) -> None:
    """Every reader's answers to a batch, compared with ionfast's, and those with what was meant."""
    data = [document.data for document in batch]
    mine = ours.read(data, folder)
    for document, answer in zip(batch, mine, strict=True):
        check(document, answer, report)
    for peer in peers:
        for document, answer, theirs in zip(batch, mine, peer.read(data, folder), strict=True):
            difference = compare(document, answer, theirs, peer)
            if difference is None:
                report.agree(peer.name, answer.sign == "+")
            else:
                report.add(difference)


def check(document: Document, answer: programs.Answer, report: Report) -> None:
    """Whether ionfast read what the document was made to say, and did not die."""
    if document.wanted is not None and (answer.sign != "+" or answer.strong != document.wanted):
        meant = programs.Answer("+", document.wanted)
        report.add(Difference(document.data, "generator", "values", answer, meant))
    elif answer.sign == "!":
        report.add(Difference(document.data, "ionfast", "dies", answer, answer))


# --------------------------------------------------------------------------------- shrinking

KINDS = 20  # how many kinds are made small; where there are more, something larger is wrong
ROUNDS = 40
CUTS = 64


def shrink_unexpected(
    report: Report, ours: programs.Reader, peers: list[programs.Reader], folder: Path
) -> None:
    """Make the documents that show unexpected differences small."""
    by_name = {peer.name: peer for peer in peers}
    for key in sorted(report.unexpected)[:KINDS]:
        peer = by_name.get(key[0])
        if peer is not None and report.smallest[key].kind != "dies":
            report.smallest[key] = shrink(report.smallest[key], key[1], ours, peer, folder)


def shrink(
    found: Difference, name: str, ours: programs.Reader, peer: programs.Reader, folder: Path
) -> Difference:
    """Leave out pieces, large ones first, while the difference stays of its kind."""
    size = len(found.data) // 2
    for _ in range(ROUNDS):
        if size == 0:
            break
        starts = range(0, len(found.data), size)
        cuts = [found.data[:at] + found.data[at + size :] for at in starts]
        smaller = first_alike(cuts[-CUTS:], name, ours, peer, folder)
        if smaller is None:
            size //= 2
        else:
            found = smaller
    return found


def first_alike(
    cuts: list[bytes], name: str, ours: programs.Reader, peer: programs.Reader, folder: Path
) -> Difference | None:
    """The first of some documents that shows a difference of the same kind."""
    answers = zip(cuts, ours.read(cuts, folder), peer.read(cuts, folder), strict=True)
    for data, mine, theirs in answers:
        difference = compare(Document(data, None), mine, theirs, peer)
        if difference is not None and not expected(difference) and unknown(difference) == name:
            return difference
    return None


# ----------------------------------------------------------------------------------- running


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.differential", description=__doc__)
    parser.add_argument("--count", type=int, default=10_000, help="documents (10000)")
    parser.add_argument("--seed", type=int, default=1, help="where the random documents start (1)")
    parser.add_argument(
        "--with", dest="peers", default="c", help=f"of {','.join(programs.PEERS)} (c)"
    )
    parser.add_argument(
        "--build", type=Path, help="folder to build the readers in, and keep (a temporary one)"
    )
    options = parser.parse_args()
    sys.setrecursionlimit(20000)
    report = run(
        options.count, options.seed, options.peers.split(","), build=options.build, verbose=True
    )
    print(", ".join(f"{n} {sort}" for sort, n in sorted(report.documents.items())))
    report.print()
    return 1 if report.unexpected else 0
