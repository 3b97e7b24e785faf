"""`python -m benchmarks.core`: the C core without Python, traversing the corpora in binary and text.

Compiles benchmarks/core_bench.c with the core's sources, and prints microseconds of CPU time a traversal.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import ionfast

from . import data

# ion-java's streaming reader after warm-up and ion-rs, in microseconds, as measured beside each other once
# on another day: (binary, text).
OTHERS = {
    "twitter": {"ion-java": (596, 4700), "ion-rs": (2600, 6400)},
    "citm_catalog": {"ion-java": (1254, 8200), "ion-rs": (6600, 18000)},
    "canada": {"ion-java": (4495, 57000), "ion-rs": (29000, 118000)},
}


def build(folder: Path) -> Path:
    """The compiled program."""
    core = data.ROOT / "src" / "c" / "core"
    target = folder / "core_bench"
    sources = [str(path) for path in sorted(core.glob("*.c"))]
    main = str(data.ROOT / "benchmarks" / "core_bench.c")
    subprocess.run(
        ["cc", "-std=c11", "-O3", f"-I{core}", main, *sources, "-o", str(target)], check=True
    )
    return target


def main() -> int:
    """Print one line a document and encoding."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = []
        for corpus in data.CORPORA:
            if data.corpus_json(corpus) is None:
                continue
            value = data.document(corpus)
            for binary, suffix in ((True, "10n"), (False, "ion")):
                encoded = ionfast.dumps(value, binary=binary)
                path = folder / f"{corpus}.{suffix}"
                path.write_bytes(encoded if isinstance(encoded, bytes) else encoded.encode())
                files.append(str(path))
        done = subprocess.run([build(folder), *files], check=True, capture_output=True, text=True)
    for line in done.stdout.splitlines():
        path_name, encoding, best, median, _ = line.split("\t")
        corpus = Path(path_name).stem
        others = [
            f"{other} {times[encoding == 'text']} = x{times[encoding == 'text'] / float(best):.1f}"
            for other, times in OTHERS.get(corpus, {}).items()
        ]
        print(f"{corpus:14} {encoding:7} best {best} µs, median {median} µs", *others, sep=" | ")
    return 0


if __name__ == "__main__":
    sys.exit(main())
