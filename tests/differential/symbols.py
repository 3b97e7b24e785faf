"""Symbol tables as the two writers need them: what each symbol ID means, and which symbols values use."""

from __future__ import annotations

from typing import NamedTuple

from .values import SYSTEM, ZERO, Symbol, Value


class Table:
    """The current symbol table of a document: what stands at each symbol ID from 10 on."""

    def __init__(self) -> None:
        self.slots: list[Symbol] = []

    def ids(self, symbol: Symbol) -> list[int]:
        """All symbol IDs that mean the symbol."""
        if symbol == ZERO:
            return [0]
        found = [SYSTEM.index(symbol) + 1] if symbol in SYSTEM else []
        return found + [10 + i for i, slot in enumerate(self.slots) if slot == symbol]


def symbols_of(values: list[Value]) -> list[Symbol]:
    """The symbols that values use, each once, in order."""
    found: dict[Symbol, None] = {}
    todo = list(reversed(values))
    while todo:
        annotations, kind, content = todo.pop()
        found.update(dict.fromkeys(annotations))
        if kind == "symbol":
            found[content] = None
        elif kind == "struct":
            found.update(dict.fromkeys(name for name, _ in content))
            todo.extend(reversed([value for _, value in content]))
        elif kind in ("list", "sexp"):
            todo.extend(reversed(content))
    return list(found)


class Import(NamedTuple):
    """An import that no catalog has."""

    table: str
    version: int
    max_id: int
