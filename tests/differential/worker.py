"""`python -m differential.worker ionfast|amazon`: answers documents with their canonical texts.

Takes the name of a batch file a line on standard input. A batch is length-prefixed documents (32 bits, little
end first); the answer to each is b"+" or b"-", a length, and the canonical text or the error. What reads may
crash or run for ever, so a child does it under a limit of CPU time and memory, and its parent answers b"!"
for a document on which it died. Where the weak form differs, ionfast gives both, with a NUL between.
"""

from __future__ import annotations

import datetime
import os
import resource
import signal
import struct
import sys
import types
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

from . import canonical

SECONDS = 0.25  # of CPU time a document
MEMORY = 3 << 30

Read = Callable[[bytes], str]


def ionfast_reader() -> Read:
    """All values of a document as ionfast reads them."""
    import ionfast

    names = _ionfast_names(ionfast)
    walker, weak_walker = canonical.Walker(names), canonical.Walker(names, weak=True)

    def read(data: bytes) -> str:
        values = ionfast.loads_all(data)
        text = walker.values(values)
        return f"{text}\0{weak_walker.values(values)}" if canonical.is_weakened(text) else text

    return read


def _ionfast_names(ionfast: Any) -> Any:
    kinds = (
        (ionfast.SymbolToken, "symbol"),
        (ionfast.Symbol, "symbol"),
        (ionfast.Clob, "clob"),
        (ionfast.Sexp, "sexp"),
        (bool, "bool"),
        (int, "int"),
        (float, "float"),
        (Decimal, "decimal"),
        (datetime.datetime, "timestamp"),
        (str, "string"),
        (bytes, "blob"),
        (list, "list"),
        (dict, "struct"),
    )

    def fraction(value: Any) -> str:
        _, digits, exponent = value.fractional_seconds.as_tuple()
        return "".join(map(str, digits)).zfill(-exponent)[exponent:] if exponent < 0 else ""

    return types.SimpleNamespace(
        SymbolToken=ionfast.SymbolToken,
        IonPyNull=ionfast.IonPyNull,
        KINDS=kinds,
        fraction=fraction,
    )


def amazon_reader() -> Read:
    """All values of a document as amazon.ion's C extension reads them."""
    from amazon.ion import simple_types, simpleion, symbols

    if not simpleion.c_ext:
        raise ImportError("amazon.ion is there without its C extension")

    def fraction(value: Any) -> str:
        digits = value.fractional_precision
        return str(int(value.fractional_seconds.scaleb(digits))).zfill(digits) if digits else ""

    names = types.SimpleNamespace(
        SymbolToken=symbols.SymbolToken,
        IonPyNull=simple_types.IonPyNull,
        KINDS=(),
        fraction=fraction,
    )
    walker = canonical.Walker(names)
    return lambda data: walker.values(simpleion.loads(data, single_value=False))


READERS = {"ionfast": ionfast_reader, "amazon": amazon_reader}


def answer(read: Read, data: bytes) -> bytes:
    """A document's answer, ready to be sent."""
    try:
        sign, text = b"+", read(data)
    except MemoryError:
        sign, text = b"!", "MemoryError"
    except Exception as error:
        sign, text = b"-", f"{type(error).__name__}: {error}"
    encoded = text.encode("utf-8", "backslashreplace")
    return sign + struct.pack("<I", len(encoded)) + encoded


def split(batch: bytes) -> list[bytes]:
    """The documents of a batch."""
    found, at = [], 0
    while at < len(batch):
        (length,) = struct.unpack_from("<I", batch, at)
        found.append(batch[at + 4 : at + 4 + length])
        at += 4 + length
    return found


def _send(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


def _child(read: Read, documents: list[bytes], progress: int) -> None:
    """Answer one after the other; how many are done goes through a pipe, for the parent to see."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for document in documents:
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        message = answer(read, document)
        signal.setitimer(signal.ITIMER_PROF, 0)
        _send(message)
        os.write(progress, b".")


def _answered(read: Read, documents: list[bytes]) -> tuple[int, int]:
    """Run a child over documents: how many it answered, and its exit status."""
    here, there = os.pipe()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.close(here)
            _child(read, documents, there)
            status = 0
        finally:
            os._exit(status)
    os.close(there)
    count = 0
    while dots := os.read(here, 4096):
        count += len(dots)
    os.close(here)
    return count, os.waitpid(pid, 0)[1]


def main() -> None:
    sys.setrecursionlimit(20000)
    read = READERS[sys.argv[1]]()
    for line in sys.stdin:
        documents = split(Path(line.rstrip("\n")).read_bytes())
        while documents:
            count, status = _answered(read, documents)
            if count < len(documents):
                what = "no answer in time" if os.WTERMSIG(status) == signal.SIGPROF else "crash"
                text = f"{what}: wait status {status}".encode()
                _send(b"!" + struct.pack("<I", len(text)) + text)
            documents = documents[count + 1 :]


if __name__ == "__main__":
    main()
