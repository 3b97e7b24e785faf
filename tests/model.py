"""The Ion data model as plain tuples, kept apart from what ionfast itself calls equal.

`of_value` turns what `ionfast.loads` gives (any model) into such a tuple, `of_denotes` turns a
conformance suite's `denotes` expression into one, and `text` writes one as Ion text. Tuples compare
with ``==``, so a test never leans on the library's own idea of equality.

    null      ("null", "int")               symbol     ("symbol", SYMBOL)
    bool      ("bool", True)                string     ("string", "text")
    int       ("int", 7)                    blob, clob ("blob", b"..."), ("clob", b"...")
    float     ("float", "-0x0.0p+0")        list, sexp ("list", (MODEL, ...))
    decimal   ("decimal", SIGN, DIGITS, E)  struct     ("struct", ((SYMBOL, MODEL), ...)), sorted
    timestamp ("timestamp", PRECISION, FIELDS, OFFSET, (COEFFICIENT, DIGITS))
    annotated ("annotated", (SYMBOL, ...), MODEL)

SYMBOL is the text; or 0 where there is none; or ("absent", table, position) for an import that is
not there.
"""

from __future__ import annotations

import base64
import datetime
import decimal
import re
from collections.abc import Callable, Iterable
from typing import Any, Literal

import ionfast

Model = tuple[Any, ...]
Order = Literal["bag", "repeated", "written"]
Symbol = str | int | tuple[str, str, int]

SYSTEM_SYMBOLS = (
    0,
    "$ion",
    "$ion_1_0",
    "$ion_symbol_table",
    "name",
    "version",
    "imports",
    "symbols",
    "max_id",
    "$ion_shared_symbol_table",
)

PRECISIONS = ("year", "month", "day", "minute", "second")


# ----------------------------------------------------------------- Python values to the model


def of_value(value: object, *, order: Order = "bag") -> Model:
    """The model of one value that ionfast gave.

    A struct is a "bag" of fields, so they are sorted. "repeated" keeps fields that share a name in
    the order in which they came, which is more than Ion asks and what ionfast promises. "written"
    leaves all fields where they are.
    """
    content = _content(value, order)
    annotations = tuple(_symbol(a) for a in getattr(value, "ion_annotations", ()) or ())
    return ("annotated", annotations, content) if annotations else content


def of_values(values: Iterable[object], *, order: Order = "bag") -> tuple[Model, ...]:
    """The models of a stream of values."""
    return tuple(of_value(value, order=order) for value in values)


def sort_fields(fields: Iterable[tuple[Symbol, Model]], order: Order = "bag") -> Model:
    """Fields as the order asks: see `of_value`."""
    if order == "written":
        return tuple(fields)
    return tuple(sorted(fields, key=repr if order == "bag" else lambda field: repr(field[0])))


def float_model(value: float) -> Model:
    """A float by its bits, but every NaN is the same one."""
    return ("float", "nan" if value != value else value.hex())


def decimal_model(value: decimal.Decimal) -> Model:
    """A decimal by its sign, coefficient and exponent: 1.0 is not 1.00, and -0 is not 0."""
    sign, digits, exponent = value.as_tuple()
    coefficient = "".join(map(str, digits)).lstrip("0") or "0"
    return ("decimal", sign, coefficient, exponent)


def _content(value: object, order: Order) -> Model:
    kind = _kind(value)
    if kind.startswith("null."):
        return ("null", kind[5:])
    if kind in ("list", "sexp"):
        return (kind, of_values(value, order=order))  # type: ignore[call-overload]
    if kind == "struct":
        fields = ((_symbol(k), of_value(v, order=order)) for k, v in _items(value))
        return ("struct", sort_fields(fields, order))
    return _SCALARS[kind](value)


def _kind(value: object) -> str:
    """The Ion type's name, or "null." and the name."""
    if isinstance(value, ionfast.IonPyNull):
        return f"null.{value.ion_type.name.lower()}"
    ion_type = getattr(value, "ion_type", None)
    if ion_type is not None:
        return str(ion_type.name.lower())
    for python_type, kind in _KINDS:
        if isinstance(value, python_type):
            return kind
    raise AssertionError(f"loads gave a {type(value)!r}, which stands for no Ion type: {value!r}")


_KINDS: tuple[tuple[type, str], ...] = (
    (type(None), "null.null"),
    (ionfast.SymbolToken, "symbol"),
    (ionfast.Symbol, "symbol"),
    (ionfast.Clob, "clob"),
    (ionfast.Sexp, "sexp"),
    (bool, "bool"),
    (int, "int"),
    (float, "float"),
    (decimal.Decimal, "decimal"),
    (datetime.datetime, "timestamp"),
    (str, "string"),
    (bytes, "blob"),
    (list, "list"),
    (dict, "struct"),
)


def _items(struct: Any) -> Iterable[tuple[object, object]]:
    """All fields, repeated ones too: an IonPyDict's `items` has them all, as a dict's has."""
    return struct.items()  # type: ignore[no-any-return]


def _symbol(token: Any) -> Symbol:
    if token is None:
        return 0
    symbol_text = token.text if isinstance(token, ionfast.SymbolToken) else token
    if symbol_text is not None:
        return str.__str__(symbol_text)
    location = token.location
    return 0 if location is None else ("absent", str(location.name), int(location.position))


def _timestamp(value: Any) -> Model:
    precision = value.precision.name.lower()
    count = {"year": 1, "month": 2, "day": 3, "minute": 5}.get(precision, 6)
    fields = (value.year, value.month, value.day, value.hour, value.minute, value.second)[:count]
    offset = value.utcoffset()
    minutes = None if offset is None else offset // datetime.timedelta(minutes=1)
    if count < 5:
        return ("timestamp", precision, fields, None, (0, 0))
    if count == 5:
        return ("timestamp", "minute", fields, minutes, (0, 0))
    _, digits, exponent = value.fractional_seconds.as_tuple()
    fraction = (int("".join(map(str, digits))), -exponent) if exponent < 0 else (0, 0)
    return ("timestamp", "second", fields, minutes, fraction)


_SCALARS: dict[str, Callable[[Any], Model]] = {
    "bool": lambda value: ("bool", bool(value)),
    "int": lambda value: ("int", int(value)),
    "float": lambda value: float_model(float(value)),
    "decimal": decimal_model,
    "timestamp": _timestamp,
    "symbol": lambda value: ("symbol", _symbol(value)),
    "string": lambda value: ("string", str.__str__(value)),
    "blob": lambda value: ("blob", bytes(value)),
    "clob": lambda value: ("clob", bytes(value)),
}


# --------------------------------------------------------------- the model to Ion text

_ESCAPES = {"\\": "\\\\", "'": "\\'", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def text(model: Model, symbol_text: Callable[[Symbol], str] | None = None) -> str:
    """Ion text for a model, with every symbol quoted. symbol_text may write a symbol otherwise."""
    symbol = symbol_text or quote_symbol
    kind = model[0]
    if kind == "annotated":
        return "".join(f"{symbol(a)}::" for a in model[1]) + text(model[2], symbol)
    if kind in ("list", "sexp"):
        items = (text(item, symbol) for item in model[1])
        return "[" + ", ".join(items) + "]" if kind == "list" else "(" + " ".join(items) + ")"
    if kind == "struct":
        return "{" + ", ".join(f"{symbol(n)}: {text(v, symbol)}" for n, v in model[1]) + "}"
    if kind == "symbol":
        return symbol(model[1])
    return _scalar_text(model)


def quote_symbol(symbol: Symbol) -> str:
    """'quoted', or $0 for the symbol without text."""
    if symbol == 0:
        return "$0"
    if not isinstance(symbol, str):
        raise ValueError(f"no text stands for {symbol!r}")
    return "'" + _escape(symbol) + "'"


def _escape(string: str) -> str:
    return "".join(
        _ESCAPES.get(c) or (c if c.isprintable() else f"\\U{ord(c):08x}") for c in string
    )


def _scalar_text(model: Model) -> str:
    kind = model[0]
    if kind == "null":
        return f"null.{model[1]}"
    if kind == "bool":
        return "true" if model[1] else "false"
    if kind == "int":
        return hex(model[1])
    if kind == "float":
        value = model[1] if model[1] == "nan" else repr(float.fromhex(model[1]))
        return {"inf": "+inf", "-inf": "-inf", "nan": "nan"}.get(value) or (
            value if "e" in value else value + "e0"
        )
    if kind == "decimal":
        return f"{'-' if model[1] else ''}{model[2]}d{model[3]}"
    if kind == "timestamp":
        return _timestamp_text(model)
    if kind == "string":
        return '"' + _escape(model[1]) + '"'
    if kind == "clob":
        return '{{"' + "".join(f"\\x{byte:02x}" for byte in model[1]) + '"}}'
    return "{{" + base64.b64encode(model[1]).decode() + "}}"


def _timestamp_text(model: Model) -> str:
    _, precision, fields, offset, (coefficient, digits) = model
    date = "-".join(f"{n:0{width}}" for n, width in zip(fields[:3], (4, 2, 2), strict=False))
    if precision in ("year", "month"):
        return date + "T"
    if precision == "day":
        return date
    time = ":".join(f"{n:02}" for n in fields[3:])
    fraction = f".{coefficient:0{digits}}" if digits else ""
    if offset is None:
        zone = "-00:00"
    else:
        zone = f"{'-' if offset < 0 else '+'}{abs(offset) // 60:02}:{abs(offset) % 60:02}"
    return f"{date}T{time}{fraction}{zone}"


# ----------------------------------------------------- `denotes` expressions to the model


def of_denotes(form: Model) -> Model:
    """The model that a model-value of the conformance suite's grammar stands for.

    The form is itself a model, so that this file needs nothing from the library's value classes.
    """
    kind = form[0]
    if kind in ("bool", "int", "string"):
        return form
    if kind not in ("sexp", "list"):
        raise ValueError(f"not a model value: {form!r}")
    head, *args = form[1]
    return _DENOTES[word(head).lower()](args)


def word(form: Model) -> str:
    """The text of a symbol or string that names something in the grammar."""
    if form[0] not in ("symbol", "string") or not isinstance(form[1], str):
        raise ValueError(f"not a keyword: {form!r}")
    return form[1]


def _denotes_null(args: list[Model]) -> Model:
    return ("null", word(args[0]) if args else "null")


def _denotes_float(args: list[Model]) -> Model:
    return float_model(float(word(args[0])))


def _denotes_decimal(args: list[Model]) -> Model:
    coefficient, exponent = args
    if coefficient[0] == "int":
        return ("decimal", int(coefficient[1] < 0), str(abs(coefficient[1])), exponent[1])
    if word(coefficient) != "negative_0":
        raise ValueError(f"not a coefficient: {coefficient!r}")
    return ("decimal", 1, "0", exponent[1])


def _denotes_timestamp(args: list[Model]) -> Model:
    precision = word(args[0])
    numbers = [arg[1] for arg in args[1:] if arg[0] == "int"]
    if precision in ("year", "month", "day"):
        return ("timestamp", precision, tuple(numbers), None, (0, 0))
    ((_, (_, offset)),) = (arg for arg in args if arg[0] in ("sexp", "list"))
    count = 5 if precision == "minute" else 6
    fields = tuple(numbers[:count])
    minutes = None if offset[0] == "null" else offset[1]
    if minutes is not None:  # the grammar gives the fields in UTC, Ion's model the local ones
        local = datetime.datetime(*fields) + datetime.timedelta(minutes=minutes)
        fields = (local.year, local.month, local.day, local.hour, local.minute, local.second)[
            :count
        ]
    fraction = (0, 0)
    if precision == "fraction":
        coefficient, exponent = numbers[count:]
        fraction = (coefficient, -exponent) if exponent < 0 else (0, 0)
    return ("timestamp", "minute" if count == 5 else "second", fields, minutes, fraction)


def _denotes_symbol(form: Model) -> Symbol:
    if form[0] == "int":
        return SYSTEM_SYMBOLS[form[1]]
    if form[0] in ("string", "symbol"):
        return word(form)
    head, *args = form[1]
    if word(head) == "text":
        return "".join(chr(arg[1]) for arg in args)
    if word(head) == "absent":
        return ("absent", word(args[0]), args[1][1])
    raise ValueError(f"not a symbol token: {form!r}")


def _denotes_struct(args: list[Model]) -> Model:
    return ("struct", sort_fields((_denotes_symbol(n), of_denotes(v)) for _, (n, v) in args))


def _denotes_annotated(args: list[Model]) -> Model:
    content, *annotations = args
    return ("annotated", tuple(map(_denotes_symbol, annotations)), of_denotes(content))


def octets(forms: Iterable[Model]) -> bytes:
    """Bytes written as ints and as strings of hexadecimal digits."""
    parts = []
    for form in forms:
        if form[0] == "int":
            parts.append(bytes([form[1]]))
        else:
            parts.append(bytes.fromhex(re.sub(r"\s", "", word(form))))
    return b"".join(parts)


_DENOTES: dict[str, Callable[[list[Model]], Model]] = {
    "null": _denotes_null,
    "bool": lambda args: args[0],
    "int": lambda args: args[0],
    "float": _denotes_float,
    "decimal": _denotes_decimal,
    "timestamp": _denotes_timestamp,
    "string": lambda args: ("string", "".join(chr(arg[1]) for arg in args)),
    "symbol": lambda args: ("symbol", _denotes_symbol(args[0])),
    "list": lambda args: ("list", tuple(map(of_denotes, args))),
    "sexp": lambda args: ("sexp", tuple(map(of_denotes, args))),
    "struct": _denotes_struct,
    "blob": lambda args: ("blob", octets(args)),
    "clob": lambda args: ("clob", octets(args)),
    "annot": _denotes_annotated,
}
