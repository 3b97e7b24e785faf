"""Joins what gcov says of the C tests' and the binding's object files. Used by coverage.sh.

    python3 tests/coverage_report.py FOLDER
"""

from __future__ import annotations

import collections
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

Counts = dict[tuple[str, int], int]


def gcov(notes: list[str]) -> list[dict[str, object]]:
    """gcov's report of each object file; `notes` are the compiler's .gcno files."""
    found = []
    for note in notes:
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["gcov", "--json-format", "--branch-probabilities", note], cwd=folder,
                           capture_output=True, check=False)  # fmt: skip
            for report in pathlib.Path(folder).glob("*.gz"):
                found.append(json.loads(gzip.decompress(report.read_bytes())))
    return found


def join(reports: list[dict[str, object]]) -> tuple[Counts, dict[tuple[str, int, int], int]]:
    """How often each line, and each way out of each line, was taken."""
    lines: Counts = collections.Counter()
    branches: dict[tuple[str, int, int], int] = collections.Counter()
    for report in reports:
        for each in report["files"]:  # type: ignore[attr-defined]
            name = each["file"]
            if "src/c/" not in name:
                continue
            name = name.partition("src/c/")[2]
            for line in each["lines"]:
                lines[name, line["line_number"]] += line["count"]
                for i, branch in enumerate(line["branches"]):
                    branches[name, line["line_number"], i] += branch["count"]
    return lines, branches


def share(counts: list[int]) -> str:
    taken = sum(count > 0 for count in counts)
    return f"{taken:5} of {len(counts):5} {100 * taken / max(1, len(counts)):6.1f}%"


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    lines, branches = join(gcov((folder / "notes.txt").read_text().split()))
    names = sorted({name for name, _ in lines})
    groups = {name: [name] for name in names}
    for part in ("core", "py"):
        groups[f"{part}/ in all"] = [name for name in names if name.startswith(part)]
    print(f"{'file':28} {'lines':22} branches")
    for label, members in groups.items():
        own = [count for (name, _), count in lines.items() if name in members]
        ways = [count for (name, _, _), count in branches.items() if name in members]
        print(f"{label:28} {share(own):22} {share(ways)}")
    missed = [f"{name}:{line}" for (name, line), count in sorted(lines.items()) if count == 0]
    (folder / "missed.txt").write_text("\n".join(missed) + "\n")


if __name__ == "__main__":
    main()
