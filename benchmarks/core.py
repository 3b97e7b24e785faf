"""`python -m benchmarks.core --with rs,java`: the C core without Python, beside ion-rs and ion-java.

All do a full traversal of the corpora in binary and text: containers are stepped into, every scalar is
decoded to the language's own type, field names are not asked for. The programs (core_bench.c, core_rs,
core_java) are built in a temporary folder and run side by side, taking turns, after a warm-up in which the
JVM compiles. Times are of each thread's CPU: the JVM's collector and compiler threads are not counted.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import ionfast

from . import data

HERE = Path(__file__).resolve().parent
WARM_UP = 3.0  # seconds a program and document
TURNS = 12
TURN = 0.15  # seconds, about


class Program:
    """A program that answers `COUNT PATH` with so many times in microseconds."""

    def __init__(self, name: str, command: list[str]) -> None:
        self.name = name
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def times(self, path: Path, count: int) -> list[float]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{count} {path}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"{self.name} cannot read {path}")
        return [float(time) for time in answer.split()]

    def warm_up(self, path: Path) -> int:
        """Run for a while; how many rounds make a turn."""
        spent, last = 0.0, 1e5
        while spent < WARM_UP * 1e6:
            last = min(self.times(path, max(1, int(1e5 / last))))
            last = max(last, 1.0)
            spent += 1e5
        return max(1, int(TURN * 1e6 / last))

    def close(self) -> None:
        self.process.communicate()


# ---------------------------------------------------------------------------------- building


def build_c(folder: Path) -> list[str]:
    """The core with core_bench.c."""
    core = data.ROOT / "src" / "c" / "core"
    target = folder / "core_bench"
    sources = [str(path) for path in sorted(core.glob("*.c"))]
    main = str(HERE / "core_bench.c")
    command = ["cc", "-std=c11", "-O3", f"-I{core}", main, *sources, "-o", str(target)]
    subprocess.run(command, check=True)
    return [str(target)]


def build_rs(folder: Path) -> list[str]:
    """The program that uses ion-rs, with cargo."""
    project = folder / "core_rs"
    shutil.copytree(HERE / "core_rs", project, dirs_exist_ok=True)
    subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=project, check=True)
    return [str(project / "target" / "release" / "core-bench")]


def build_java(folder: Path) -> list[str]:
    """The program that uses ion-java, with Maven and javac."""
    project = folder / "core_java"
    shutil.copytree(HERE / "core_java", project, dirs_exist_ok=True)
    fetch = ["mvn", "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=lib"]
    subprocess.run(fetch, cwd=project, check=True, stdout=subprocess.DEVNULL)
    path = f"{project / 'classes'}:{project / 'lib'}/*"
    source = str(project / "CoreBench.java")
    subprocess.run(["javac", "-cp", path, "-d", project / "classes", source], check=True)
    return ["java", "-cp", path, "CoreBench"]


BUILDS: dict[str, Callable[[Path], list[str]]] = {"rs": build_rs, "java": build_java}


# ---------------------------------------------------------------------------------- measuring


def documents(folder: Path) -> list[Path]:
    """The corpora that are at hand, written by ionfast in both encodings."""
    paths = []
    for corpus in data.CORPORA:
        if data.corpus_json(corpus) is None:
            continue
        for suffix in ("10n", "ion"):
            encoded = ionfast.dumps(data.document(corpus), binary=suffix == "10n")
            path = folder / f"{corpus}.{suffix}"
            path.write_bytes(encoded if isinstance(encoded, bytes) else encoded.encode())
            paths.append(path)
    return paths


def measure(path: Path, programs: list[Program]) -> dict[str, list[float]]:
    """Each program's times of a document, taken in turns."""
    counts = {program.name: program.warm_up(path) for program in programs}
    times: dict[str, list[float]] = {program.name: [] for program in programs}
    for _ in range(TURNS):
        for program in programs:
            times[program.name] += program.times(path, counts[program.name])
    return times


def line(path: Path, times: dict[str, list[float]]) -> str:
    """A row of the table: microseconds, best and median, and how many times the core's."""
    core = times["core"]
    encoding = "binary" if path.suffix == ".10n" else "text"
    cells = [path.stem, encoding, f"{min(core):.0f}", f"{statistics.median(core):.0f}"]
    for name, found in times.items():
        if name != "core":
            best, median = min(found), statistics.median(found)
            cells += [f"{best:.0f}", f"{median:.0f}"]
            cells += [f"{best / min(core):.1f}", f"{median / statistics.median(core):.1f}"]
    return "| " + " | ".join(cells) + " |"


def main() -> int:
    """Print one line a document and encoding."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.core")
    parser.add_argument("--with", dest="peers", default="", help="of rs,java (none)")
    parser.add_argument(
        "--build", type=Path, help="folder to build in, and keep (a temporary one)"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = options.build or Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        commands = {"core": build_c(folder)}
        for peer in filter(None, options.peers.split(",")):
            commands[peer] = BUILDS[peer](folder)
        programs = [Program(*item) for item in commands.items()]
        heads = ["document", "encoding", "core best", "median"]
        for peer in list(commands)[1:]:
            heads += [f"{peer} best", "median", "x best", "x median"]
        print("| " + " | ".join(heads) + " |")
        print("|" + "---|" * 2 + "--:|" * (len(heads) - 2))
        for path in documents(folder):
            print(line(path, measure(path, programs)), flush=True)
        for program in programs:
            program.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
