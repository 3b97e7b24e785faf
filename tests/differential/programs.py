"""The implementations: how each is built and run, and what it answers to a batch of documents."""

from __future__ import annotations

import select
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
PATIENCE = 30.0  # seconds of waiting for the answer to one document


class Answer(NamedTuple):
    """`+` and the canonical text, `-` and the error, or `!` and how the reader died."""

    sign: str
    text: str

    @property
    def weak(self) -> str:
        """The text without what only ionfast tells apart: see canonical.py."""
        return self.text.rpartition("\0")[2]

    @property
    def strong(self) -> str:
        return self.text.partition("\0")[0]


class ReaderDiedError(Exception):
    """The reader's process ended, or does not answer."""


class Reader:
    """One implementation in a process of its own, started anew when it dies."""

    def __init__(self, name: str, command: list[str]) -> None:
        self.name = name
        self.command = command
        self.process: subprocess.Popen[bytes] | None = None
        self.pending = b""

    def read(self, documents: list[bytes], folder: Path) -> list[Answer]:
        """The answer to each document."""
        answers: list[Answer] = []
        while len(answers) < len(documents):
            rest = documents[len(answers) :]
            path = folder / f"{self.name}.batch"
            path.write_bytes(b"".join([struct.pack("<I", len(d)) + d for d in rest]))
            try:
                self._ask(path)
                for _ in rest:
                    answers.append(self._answer())
            except ReaderDiedError as death:
                self.close()
                answers.append(Answer("!", str(death)))
        return answers

    def close(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None
        self.pending = b""

    def _ask(self, path: Path) -> None:
        if self.process is None:
            self.process = subprocess.Popen(
                self.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=HERE.parent,
                bufsize=0,
            )
        assert self.process.stdin is not None
        self.process.stdin.write(f"{path}\n".encode())

    def _answer(self) -> Answer:
        sign, length = struct.unpack("<cI", self._take(5))
        return Answer(sign.decode(), self._take(length).decode("utf-8", "replace"))

    def _take(self, count: int) -> bytes:
        assert self.process is not None
        assert self.process.stdout is not None
        parts, have = [self.pending], len(self.pending)
        while have < count:
            if not select.select([self.process.stdout], [], [], PATIENCE)[0]:
                raise ReaderDiedError("no answer in time")
            part = self.process.stdout.read(1 << 20)
            if not part:
                raise ReaderDiedError("crash: the process ended")
            parts.append(part)
            have += len(part)
        data = b"".join(parts)
        self.pending = data[count:]
        return data[:count]


# ---------------------------------------------------------------------------------- building


def python(name: str) -> list[str]:
    """The command of a reader in Python."""
    return [sys.executable, "-m", "differential.worker", name]


def rust(folder: Path) -> list[str]:
    """Build the program that uses ion-rs."""
    project = folder / "rust"
    shutil.copytree(HERE / "rust", project, dirs_exist_ok=True)
    subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=project, check=True)
    return [str(project / "target" / "release" / "ionfast-differential")]


def java(folder: Path) -> list[str]:
    """Fetch ion-java, and compile the program that uses it."""
    project = folder / "java"
    shutil.copytree(HERE / "java", project, dirs_exist_ok=True)
    fetch = ["mvn", "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=lib"]
    subprocess.run(fetch, cwd=project, check=True)
    path = f"{project / 'classes'}:{project / 'lib'}/*"
    source = str(project / "src" / "Differential.java")
    subprocess.run(["javac", "-cp", path, "-d", project / "classes", source], check=True)
    return ["java", "-Xmx2g", "-XX:+UseSerialGC", "-cp", path, "Differential"]


# What --with takes: how to get the command.
PEERS: dict[str, Callable[[Path], list[str]]] = {
    "c": lambda _: python("amazon"),
    "rs": rust,
    "java": java,
}


def peer(name: str, folder: Path) -> Reader:
    """A peer, built in a folder."""
    return Reader(name, PEERS[name](folder))


def ionfast() -> Reader:
    """The reader that is tested."""
    return Reader("ionfast", python("ionfast"))
