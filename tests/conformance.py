"""Expands the Ion conformance suite's test language into documents, each with what it must give.

A test case is a tree: fragments on the way down make the document, a leaf is the expectation. The
grammar is in the suite's README.md. For Ion 1.0: `ion_1_1` clauses are left out and `ion_1_x` is
read as `ion_1_0`. A document that asks for Ion 1.1 on its own keeps its place, marked `is_ion_1_1`.
"""

from __future__ import annotations

import dataclasses
import pathlib
import re
from collections.abc import Iterator, Sequence

import ionfast
import model
from model import Model

FRAGMENTS = ("text", "binary", "ivm", "toplevel", "mactab", "symtab")
EXPECTATIONS = ("produces", "denotes", "signals", "and", "not")
IVM_1_0: Model = ("sexp", (("symbol", "ivm"), ("int", 1), ("int", 0)))


@dataclasses.dataclass(frozen=True)
class Document:
    """A document under test and the expectation that ends its branch."""

    name: str  # file, the names on the way down, and a number: unique, and stable between runs
    fragments: tuple[Model, ...]
    expectation: Model

    @property
    def encoding(self) -> str:
        """What the fragments are written in. Version markers alone leave a document abstract."""
        operators = {_operator(fragment) for fragment in self.fragments}
        if "text" in operators:
            return "text"
        return "binary" if "binary" in operators else "abstract"

    @property
    def is_ion_1_1(self) -> bool:
        """Whether it asks for Ion 1.1, which no Ion 1.0 reader can give."""
        return any(map(_asks_for_1_1, self.fragments))

    def data(self) -> bytes:
        """The document's bytes. An abstract one becomes text, which can spell any symbol table."""
        if self.encoding == "binary":
            return b"".join(map(_binary_fragment, self.fragments))
        return b"\n".join(map(_text_fragment, self.fragments))


def documents(folder: pathlib.Path) -> Iterator[Document]:
    """All documents of the suite in the order of its files."""
    for path in sorted(folder.rglob("*.ion")):
        name = path.relative_to(folder).as_posix()
        cases = model.of_values(ionfast.loads_all(path.read_bytes()), order="written")
        branches = (branch for case in cases for branch in _expand_case(case))
        for number, (names, fragments, expectation) in enumerate(branches):
            yield Document(" / ".join((name, *names, str(number))), fragments, expectation)


# ------------------------------------------------------------------------ the tree

Branch = tuple[tuple[str, ...], tuple[Model, ...]]
Leaf = tuple[tuple[str, ...], tuple[Model, ...], Model]


def _operator(clause: Model) -> str:
    return model.word(clause[1][0])


def _is_clause(form: Model) -> bool:
    return form[0] in ("sexp", "list")


def _expand_case(case: Model) -> Iterator[Leaf]:
    operator, body = _operator(case), case[1][1:]
    if operator == "ion_1_1":
        return
    start = {"document": (), "ion_1_0": (IVM_1_0,), "ion_1_x": (IVM_1_0,)}[operator]
    yield from _expand_then(body, ((), start))


def _expand_then(body: Sequence[Model], branch: Branch) -> Iterator[Leaf]:
    """Each fragment makes the document longer; the clauses after them go on from there."""
    names, fragments = branch
    for index, form in enumerate(body):
        if not _is_clause(form):
            names += _name(form)
        elif _operator(form) in FRAGMENTS:
            fragments += (form,)
        else:
            yield from _continue(body[index:], (names, fragments))
            return


def _expand_each(body: Sequence[Model], branch: Branch) -> Iterator[Leaf]:
    """Each fragment makes a document of its own; the clauses after them check every one."""
    names, fragments = branch
    branches: list[Branch] = []
    label: tuple[str, ...] = ()
    for index, form in enumerate(body):
        if not _is_clause(form):
            label = _name(form)
        elif _operator(form) in FRAGMENTS:
            branches.append((names + label, (*fragments, form)))
        else:
            for each in branches or [branch]:
                yield from _continue(body[index:], each)
            return


def _continue(clauses: Sequence[Model], branch: Branch) -> Iterator[Leaf]:
    for clause in clauses:
        operator = _operator(clause)
        if operator in EXPECTATIONS:
            yield (*branch, clause)
        elif operator == "then":
            yield from _expand_then(clause[1][1:], branch)
        elif operator == "each":
            yield from _expand_each(clause[1][1:], branch)
        else:
            raise ValueError(f"no such clause: {operator}")


def _name(form: Model) -> tuple[str, ...]:
    return (form[1],) if form[0] == "string" else ()


# -------------------------------------------------------------- fragments to bytes


def _text_fragment(fragment: Model) -> bytes:
    operator, arguments = _operator(fragment), fragment[1][1:]
    if operator == "text":
        return b"".join(_text_input(argument) for argument in arguments)
    if operator == "ivm":
        return b"$ion_%d_%d" % (arguments[0][1], arguments[1][1])
    if operator == "toplevel":
        return "\n".join(model.text(value, _mangled) for value in arguments).encode()
    if operator == "symtab":
        symbols = ", ".join(model.text(argument) for argument in arguments)
        return f"$ion_symbol_table::{{symbols: [{symbols}]}}".encode()
    if operator == "binary" and model.octets(arguments) == b"\xe0\x01\x00\xea":
        return b"$ion_1_0"  # a binary marker among text, which the suite's grammar should not have
    raise ValueError(f"cannot be written as text: {fragment!r}")


def _text_input(argument: Model) -> bytes:
    return bytes([argument[1]]) if argument[0] == "int" else model.word(argument).encode()


def _mangled(symbol: model.Symbol) -> str:
    """A symbol of the abstract syntax: '#$10' stands for the symbol ID $10, '#$ion_1_0' for the IVM."""
    if isinstance(symbol, str) and re.fullmatch(r"#\$([0-9]+|ion_[0-9]+_[0-9]+)", symbol):
        return symbol[1:]
    return model.quote_symbol(symbol)


def _binary_fragment(fragment: Model) -> bytes:
    operator, arguments = _operator(fragment), fragment[1][1:]
    if operator == "binary":
        return model.octets(arguments)
    if operator == "ivm":
        return bytes((0xE0, arguments[0][1], arguments[1][1], 0xEA))
    if operator == "toplevel":
        return b"".join(map(_binary_value, arguments))
    raise ValueError(f"cannot be written as binary: {fragment!r}")


def _binary_value(value: Model) -> bytes:
    """The few values that the suite mixes into binary documents: version markers and small ints."""
    if value[0] == "int" and 0 < value[1] < 256:
        return bytes((0x21, value[1]))
    marker = re.fullmatch(r"#\$ion_([0-9]+)_([0-9]+)", str(value[1]))
    if value[0] == "symbol" and marker:
        return bytes((0xE0, int(marker[1]), int(marker[2]), 0xEA))
    raise ValueError(f"cannot be written as binary: {value!r}")


def _asks_for_1_1(fragment: Model) -> bool:
    operator = _operator(fragment)
    if operator == "text":
        return b"$ion_1_1" in _text_fragment(fragment)
    if operator in ("binary", "ivm"):
        return b"\xe0\x01\x01\xea" in _binary_fragment(fragment)
    return operator == "mactab"


# ------------------------------------------------------------------- expectations


def produced(values: Sequence[Model]) -> tuple[Model, ...]:
    """The models that a `produces` clause asks for, its '#$...' symbols replaced."""
    return tuple(map(_unmangle, values))


def _unmangle(value: Model) -> Model:
    kind = value[0]
    if kind == "annotated":
        return ("annotated", tuple(map(_unmangle_symbol, value[1])), _unmangle(value[2]))
    if kind in ("list", "sexp"):
        return (kind, produced(value[1]))
    if kind == "struct":
        fields = ((_unmangle_symbol(name), _unmangle(item)) for name, item in value[1])
        return ("struct", model.sort_fields(fields))
    return ("symbol", _unmangle_symbol(value[1])) if kind == "symbol" else value


def _unmangle_symbol(symbol: model.Symbol) -> model.Symbol:
    if not isinstance(symbol, str) or not symbol.startswith("#$"):
        return symbol
    if symbol == "#$0":
        return 0
    absent = re.fullmatch(r"#\$(.+)#([0-9]+)", symbol)
    if absent is None:
        raise ValueError(f"reserved symbol in `produces`: {symbol}")
    return ("absent", absent[1], int(absent[2]))


def check(expectation: Model, data: bytes, catalog: ionfast.Catalog) -> None:
    """Read the document and assert its expectation."""
    operator, arguments = _operator(expectation), expectation[1][1:]
    if operator == "and":
        for argument in arguments:
            check(argument, data, catalog)
    elif operator == "not":
        _check_not(arguments[0], data, catalog)
    elif operator == "signals":
        _check_signals(data, catalog)
    else:
        values = model.of_values(ionfast.loads_all(data, catalog=catalog))
        wanted = produced(arguments) if operator == "produces" else _denoted(arguments)
        assert values == wanted, f"{data!r}"


def _denoted(arguments: Sequence[Model]) -> tuple[Model, ...]:
    return tuple(map(model.of_denotes, arguments))


def _check_signals(data: bytes, catalog: ionfast.Catalog) -> None:
    try:
        values = ionfast.loads_all(data, catalog=catalog)
    except ionfast.IonError as error:
        assert error.offset is not None, f"no offset in {error!r} for {data!r}"
        return
    raise AssertionError(f"{data!r} gave {values!r}, not an error")


def _check_not(expectation: Model, data: bytes, catalog: ionfast.Catalog) -> None:
    try:
        check(expectation, data, catalog)
    except (AssertionError, ionfast.IonError):
        return
    raise AssertionError(f"{data!r} meets {expectation!r}, but must not")


def catalog(folder: pathlib.Path) -> ionfast.Catalog:
    """The suite's catalog. `<name>.ion` comes before `catalog.ion`, so the latter is read first."""
    tables = ionfast.Catalog()
    paths = sorted(folder.glob("*.ion"), key=lambda path: path.name != "catalog.ion")
    for path in paths:
        for table in ionfast.loads_all(path.read_bytes()):
            # An entry that is no string leaves a gap, and a gap keeps its symbol ID.
            symbols = [s if _is_string(s) else None for s in table["symbols"]]
            tables.register(ionfast.SharedSymbolTable(table["name"], table["version"], symbols))
    return tables


def _is_string(value: object) -> bool:
    return model.of_value(value)[0] == "string"
