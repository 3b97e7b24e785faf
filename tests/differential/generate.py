"""Random documents of every legal shape, each with the canonical text that it must read as."""

from __future__ import annotations

import random
from typing import NamedTuple

from .binary import Binary
from .symbols import Import, symbols_of
from .text import Text
from .values import LOCAL, ZERO, Absent, Value, Values, canonical_text


class Document(NamedTuple):
    """A document and the canonical text that it must read as; None where nothing is known."""

    data: bytes
    wanted: str | None


def is_system(value: Value) -> bool:
    """Whether a value would be no data at top level: a symbol table, or a version marker's look-alike."""
    annotations, kind, content = value
    if annotations[:1] == ("$ion_symbol_table",) and (kind == "struct" or content == "struct"):
        return True
    return (
        kind == "symbol"
        and not annotations
        and isinstance(content, str)
        and content.startswith("$ion_")
    )


class Generator:
    """Makes documents."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.values = Values(rng)

    def document(self) -> Document:
        """One document: a few parts, each under a symbol table of its own."""
        writer: Text | Binary = Text(self.rng) if self.rng.random() < 0.5 else Binary(self.rng)
        wanted: list[str] = []
        out = [writer.start()]
        for _ in range(1 if self.rng.random() < 0.85 else 2):
            imports = self.imports()
            values = self.part(imports)
            out.append(writer.table(imports, symbols_of(values)))
            for value in values:
                out.append(writer.top(value))
                wanted.append(canonical_text(value))
        out.append(writer.end())
        return Document(b"".join(out), "\n".join(wanted))

    def imports(self) -> list[Import]:
        rng = self.rng
        if rng.random() < 0.9:
            return []
        names = rng.sample(("t", "shared", "org.x"), rng.choice((1, 1, 2)))
        return [Import(n, rng.randrange(1, 4), rng.choice((0, 1, 3, 40))) for n in names]

    def part(self, imports: list[Import]) -> list[Value]:
        rng = self.rng
        self.values.unknowns = ()
        if rng.random() < 0.1:
            absent = [Absent(i.table, rng.randrange(1, i.max_id + 1)) for i in imports if i.max_id]
            self.values.unknowns = (ZERO, LOCAL, *absent)
        if rng.random() < 0.004:
            return [self.deep()]
        made = [self.values.value() for _ in range(rng.choice((0, 1, 1, 1, 2, 3)))]
        return [value for value in made if not is_system(value)]

    def deep(self) -> Value:
        """A value in many containers."""
        value = self.values.value(0)
        for _ in range(self.rng.choice((20, 90, 300))):
            kind = self.rng.choice(("list", "sexp", "struct"))
            value = ((), kind, [("f", value)] if kind == "struct" else [value])
        return value
