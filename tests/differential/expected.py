"""The differences that are known: each a rule, with the sentence of the specification that decides it.

A rule looks at the document, at what ionfast said and at what the peer said. A difference that no rule
knows makes the command fail. docs/robustness.md lists the same; docs/ion-choices.md says more of what is
left open.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from .binary import IVM
from .programs import Answer


class Difference(NamedTuple):
    """One document that a peer reads otherwise than ionfast does."""

    data: bytes
    peer: str
    kind: str  # what the peer does: "reads" or "refuses" it, gives other "values", or "dies"
    ours: Answer
    theirs: Answer

    @property
    def is_binary(self) -> bool:
        return self.data.startswith(IVM)

    def print(self) -> None:
        shown = self.data.hex(" ") if self.is_binary else repr(self.data)
        print(f"    document: {shown[:400]}")
        print(f"    ionfast:  {self.ours.sign} {self.ours.text[:300]}")
        print(f"    {self.peer}: {self.theirs.sign} {self.theirs.text[:300]}")


Test = Callable[[Difference], object]


class Rule(NamedTuple):
    """A known kind of difference."""

    name: str
    because: str  # the specification's sentence, with its page
    kind: str
    peers: tuple[str, ...]
    test: Test


# ------------------------------------------------------------------------ what a rule looks at


def theirs(pattern: str, *tests: Test) -> Test:
    """The peer's error holds a pattern, and all tests hold."""
    search = re.compile(pattern).search
    return lambda d: search(d.theirs.text) and all(test(d) for test in tests)


def ours(pattern: str, *tests: Test) -> Test:
    """ionfast's error holds a pattern, and all tests hold."""
    search = re.compile(pattern).search
    return lambda d: search(d.ours.text) and all(test(d) for test in tests)


def text(pattern: bytes) -> Test:
    """The document is text and holds a pattern."""
    search = re.compile(pattern, re.S).search
    return lambda d: not d.is_binary and search(d.data)


def value(pattern: str) -> Test:
    """What ionfast read holds a pattern."""
    search = re.compile(pattern).search
    return lambda d: search(d.ours.strong)


def either(*tests: Test) -> Test:
    return lambda d: any(test(d) for test in tests)


def both(*tests: Test) -> Test:
    return lambda d: all(test(d) for test in tests)


def is_binary(d: Difference) -> bool:
    return d.is_binary


def is_not_utf8(d: Difference) -> bool:
    try:
        d.data.decode()
    except UnicodeDecodeError:
        return True
    return False


def is_padded(d: Difference) -> bool:
    """Binary with an octet of zeros, or one of only a sign, as padding has it."""
    return d.is_binary and re.search(rb"[\0\x40]", d.data[4:]) is not None


def holds_symbol_table(d: Difference) -> bool:
    """Whether there is a symbol table, or what may be one."""
    if d.is_binary:
        return b"\x83" in d.data[4:]
    return re.search(rb"ion_symbol_table|\$3", d.data) is not None


def is_in_symbol_table(d: Difference) -> bool:
    """Whether ionfast's error stands where a symbol table may not have ended yet."""
    match = re.search(r"offset ([0-9]+)", d.ours.text)
    before = d.data[: int(match[1])] if match else b""
    if d.is_binary:
        return b"\x83" in before[4:]
    tables = list(re.finditer(rb"(ion_symbol_table'?|\$3)\s*::", before))
    rest = before[tables[-1].end() :] if tables else b""
    return rest.count(b"{") > rest.count(b"}")


COMMENT_BEHIND_A_TOKEN = text(rb"[^\s,:\[({]/[/*]")
VERTICAL_SPACE = text(rb"[\v\f]")
KEYWORD_AND_MORE = text(
    rb"(?:true|false|nan|null|[a-z])[-+'\"{(\[]|(?:true|false|nan|null(?:\.[a-z]+)?)[^\sA-Za-z0-9_$,\])}]"
)
MARKER_AND_MORE = text(rb"\$ion_[0-9]+_[0-9]+[A-Za-z0-9_$.:]|\$ion_1_0[0-9]")
SYMBOL_ID_AND_MORE = text(rb"\$[0-9]+[A-Za-z_$]")
STARS = text(rb"\*\*/")
QUOTES = text(rb"'{5}")
LONG_FRACTION = value(r"t[0-9T:-]{19}\.[0-9]{10}")
UNKNOWN_SYMBOL = value(r"\$0|\$local|\$import")

_TOKENS = re.compile(r"""s"[^"]*"|y?'[^']*'|t[0-9][0-9T:.+\-]*|[A-Za-z0-9.^+\-$]+|.""", re.S)


def differs_only(*allowed: Callable[[str, str], object], but: str = "(?!)") -> Test:
    """The values differ in single tokens, and each has one in the peer's reading that a test allows.

    As bags, since fields are sorted by what is written for them; without what `but` matches.
    """
    drop = re.compile(but).sub

    def test(d: Difference) -> bool:
        mine = Counter(_TOKENS.findall(drop("", d.ours.weak)))
        other = Counter(_TOKENS.findall(drop("", d.theirs.text)))
        extra = list((other - mine).elements())
        for token in (mine - other).elements():
            match = next((o for o in extra if any(may(token, o) for may in allowed)), None)
            if match is None:
                return False
            extra.remove(match)
        return not extra

    return test


def _same_second(mine: str, other: str) -> object:
    """The same time up to the second, with over six digits after it."""
    match = re.fullmatch(r"(t[0-9T:-]{19})\.[0-9]{7,}([+-][0-9:]+)", mine)
    return match and re.fullmatch(f"{match[1]}(\\.[0-9]+)?{re.escape(match[2])}", other)


def _zero_of_another_exponent(mine: str, other: str) -> object:
    match = re.fullmatch(r"(d-?0)\^(-?[0-9]+)", mine)
    return match and abs(int(match[2])) > 6111 and other.startswith(match[1] + "^")


def _rounded_decimal(mine: str, other: str) -> object:
    """A decimal of over 34 digits, and one of 34."""
    match = re.fullmatch(r"d-?([0-9a-f]+)\^-?[0-9]+", mine)
    found = re.fullmatch(r"d-?([0-9a-f]+)\^-?[0-9]+", other)
    return match and found and int(match[1], 16) >= 10**34 > int(found[1], 16)


def _large_exponent(mine: str, other: str) -> object:
    """A decimal whose exponent has more than 31 bits, and the same with another."""
    match = re.fullmatch(r"(d-?[0-9a-f]+)\^(-?[0-9]+)", mine)
    return match and int(match[2]) >> 31 not in (0, -1) and other.startswith(match[1] + "^")


def _keyword_as_symbol(mine: str, other: str) -> bool:
    word = {"fnan": "nan", "null.null": "null"}.get(mine, mine)
    return word in ("true", "false", "nan", "null") and other == f"y'{word}'"


def _zero_without_its_sign(mine: str, other: str) -> object:
    return mine.startswith("d-0^") and other == mine.replace("-0", "0", 1)


def _timestamp_of_other_parts(mine: str, other: str) -> object:
    return mine[0] == other[0] == "t" and mine[1:5].isdigit() and other[1:5].isdigit()


def _name_as_symbol_id(mine: str, other: str) -> object:
    """A field name that looks like a symbol ID, and the symbol of that ID."""
    return re.fullmatch(r"'\$[0-9]+'", mine) and re.fullmatch(r"'[^']*'|\$0", other)


def without(pattern: str) -> Test:
    """What the peer reads is what ionfast reads, once a pattern is taken out of it."""
    sub = re.compile(pattern).sub
    return lambda d: _lines(sub("", d.theirs.text)) == _lines(d.ours.weak)


def more_annotations(d: Difference) -> bool:
    return d.theirs.text.count("::") > d.ours.weak.count("::")


def shows_symbol_tables(d: Difference) -> bool:
    """The peer gives symbol tables as values, and so has not the symbols that they define."""
    other = re.sub(r"(?m)^'\$ion_symbol_table'::\{.*\n?", "", d.theirs.text)
    symbol = re.compile(r"'[^']*'|\$0").sub
    mine, rest = symbol("_", d.ours.weak), symbol("_", other)
    return other != d.theirs.text and Counter(mine.strip()) == Counter(rest.strip())


def _lines(canonical: str) -> list[str]:
    return [line for line in canonical.split("\n") if line]


# ---------------------------------------------------------------------------------- the rules

ALL = ("c", "rs", "java")
C, RS, JAVA = ("c",), ("rs",), ("java",)
C_VALUES = (
    _same_second,
    _zero_of_another_exponent,
    _zero_without_its_sign,
    _rounded_decimal,
    _keyword_as_symbol,
    _name_as_symbol_id,
)

SPACE = r"spec: numeric stop-characters are `{}[](),\"\'\ \t\n\r\v\f`"
COMMENT = "spec: C-style comments are treated as whitespace"
STOP = "spec: real values must be followed by one of the fifteen numeric stop-characters"
SEPARATE = "spec: whitespace is only required where necessary to separate tokens"
SIZE = "spec: signed integers of arbitrary size; real numbers of arbitrary precision"
FRACTION = "spec: fractional seconds are allowed, with an unlimited maximum"
LENGTH = "binary: the length value is the number of octets in the representation"
UTF8 = "text: a valid sequence of Unicode code points; binary: UTF-8"
IGNORED = (
    "symbols: any other field is ignored; that makes it no less of an error where it is no Ion"
)
IDENTIFIER = "symbols: an identifier is a sequence of ASCII letters, digits, `$` or `_`"
SYSTEM = "symbols: any other encoding of $ion_1_0 is a system value without semantics (a NOP)"
UNKNOWN = "symbols: a processor encountering a symbol with unknown text MAY produce an error"
IMPORT = "symbols: if no table has been selected, substitute a dummy table of max_id symbols"
IGNORED_IMPORT = "symbols: if name is not a non-empty string, the import clause is ignored"
PADDED = "binary: all high-order bits but the last octet's are zero; leading zeros are not barred"
GRAMMAR = "the grammar has no such value"

RULES: tuple[Rule, ...] = (
    # ---- ionfast reads, the peer refuses
    Rule(
        "vertical tab, form feed",
        SPACE,
        "refuses",
        ALL,
        theirs(
            r"INVALID_(SYNTAX|TOKEN|TIMESTAMP)|bad character \[1[12]"
            "|invalid (character|syntax|closing)"
            "|unrecognized|invalid base64",
            VERTICAL_SPACE,
        ),
    ),
    Rule(
        "a comment right behind a token",
        COMMENT,
        "refuses",
        ALL,
        theirs(
            "INVALID_(SYNTAX|TOKEN|TIMESTAMP)|NEW_LINE|unrecognized|bad character",
            COMMENT_BEHIND_A_TOKEN,
        ),
    ),
    Rule(
        "a token right behind a keyword",
        SEPARATE,
        "refuses",
        ("c", "rs"),
        theirs("INVALID_(SYNTAX|TOKEN)|unrecognized", KEYWORD_AND_MORE),
    ),
    Rule(
        "more than ten annotations",
        "spec: any value can include one or more annotation symbols",
        "refuses",
        C,
        theirs(
            "TOO_MANY_ANNOTATIONS", value(r"(?:(?:'[^']*'|\$[a-z0-9]+(?:<[^>]*>#[0-9]+)?)::){10}")
        ),
    ),
    Rule(
        "large numbers",
        SIZE,
        "refuses",
        C,
        theirs(
            "NUMERIC_OVERFLOW",
            either(value(r"[id]-?[0-9a-f]{16}|\^-?[0-9]{4}"), holds_symbol_table, is_binary),
        ),
    ),
    Rule(
        "a code point whose low half looks like a surrogate",
        "spec: 8-digit hexadecimal Unicode code point",
        "refuses",
        C,
        theirs(
            "INVALID_UTF8|INVALID_SYMBOL$|INVALID_UNICODE",
            text(rb"\\U00[01][0-9a-fA-F][dD][89a-fA-F]"),
        ),
    ),
    Rule(
        "U+FFFF as an escape",
        "spec: 4-digit hexadecimal Unicode code point",
        "refuses",
        C,
        theirs("NEW_LINE_IN_STRING", text(rb"\\(u|U0000)[fF]{4}")),
    ),
    Rule(
        "zero groups before a VarUInt or VarInt",
        PADDED,
        "refuses",
        C,
        theirs("INVALID_BINARY", is_padded),
    ),
    Rule(
        "underscores in exponents",
        "spec: digits may be separated with an underscore",
        "refuses",
        C,
        theirs("INVALID_SYNTAX", text(rb"[eEdD][+-]?[0-9]+_[0-9]")),
    ),
    Rule(
        "long fractions",
        FRACTION,
        "refuses",
        ("c", "rs"),
        theirs(
            "INTERNAL_ERROR|exceeds maximum|NUMERIC_OVERFLOW",
            either(LONG_FRACTION, holds_symbol_table),
        ),
    ),
    Rule(
        "imports that are to be ignored",
        IGNORED_IMPORT,
        "refuses",
        C,
        theirs("INVALID_SYMBOL_TABLE|NULL_VALUE|INVALID_STATE", holds_symbol_table),
    ),
    Rule(
        "a field of a symbol table, named by symbol ID",
        "symbols: these identifiers directly represent the symbol's ID",
        "refuses",
        ("c", "java"),
        theirs("INVALID_SYMBOL|UnknownSymbol", text(rb"\$[0-9]+\s*:")),
    ),
    Rule(
        "names that look like symbol IDs",
        "symbols: an identifier, not a string",
        "refuses",
        C,
        theirs("INVALID_SYMBOL", text(rb"[\"'].*(\$|\\\\(x|u00|U000000)24).*[\"']")),
    ),
    Rule(
        "imports that are not in the catalog",
        IMPORT,
        "refuses",
        RS,
        theirs("symbol table import failed", holds_symbol_table),
    ),
    Rule(
        "a null symbol table",
        "symbols: if the struct is null, it is treated as if it were an empty struct",
        "refuses",
        RS,
        theirs("expected a.n. struct but found a null.struct", holds_symbol_table),
    ),
    Rule(
        "a version marker and more is an identifier",
        IDENTIFIER,
        "refuses",
        RS,
        theirs("Ion version|IVM|unrecognized|symbol table", MARKER_AND_MORE),
    ),
    Rule(
        "a symbol ID and more is an identifier",
        IDENTIFIER,
        "refuses",
        RS,
        theirs("symbol table|unrecognized|too large|Ion version", SYMBOL_ID_AND_MORE),
    ),
    Rule(
        "zero octets before a symbol ID or an exponent",
        "binary: UInts are sequences of octets",
        "refuses",
        RS,
        theirs("too large to fit in a usize|byte VarInt|VarUInt that was too large", is_binary),
    ),
    Rule(
        "white space and unused bits in base64",
        "spec: blob lists what is an error, and these are not there",
        "refuses",
        RS,
        theirs("InvalidLastSymbol|unrecognized", text(rb"\{\{[^\"']*\}\}")),
    ),
    Rule(
        "an escaped newline in a clob",
        "spec: escaped NL expands to nothing",
        "refuses",
        JAVA,
        theirs("UnexpectedEof", text(rb"\\[\r\n]")),
    ),
    Rule(
        "local time beyond the first or last UTC year",
        "spec: the earliest instant is Jan 01, 0001",
        "refuses",
        JAVA,
        theirs("year (is less than|exceeds)", text(rb"0001-01-01|9999-12-31")),
    ),
    Rule(
        "symbols without text",
        UNKNOWN,
        "refuses",
        JAVA,
        theirs("UnknownSymbol", either(UNKNOWN_SYMBOL, text(rb"\$3|imports"))),
    ),
    Rule(
        "comments that end in **/",
        "grammar: BLOCK_COMMENT is '/*' .*? '*/'",
        "refuses",
        C,
        theirs("UNEXPECTED_EOF", STARS),
    ),
    Rule(
        "an empty symbol behind a long string",
        "grammar: LONG_QUOTED_STRING ends at the next three quotes",
        "refuses",
        C,
        theirs("UNEXPECTED_EOF|NEW_LINE", QUOTES),
    ),
    Rule(
        "a symbol table in a symbol table",
        "symbols: symbol tables only (meaningfully) occur at the top level of a data stream",
        "refuses",
        C,
        theirs("INVALID_SYMBOL", lambda d: d.is_binary and d.data.count(b"\x81\x83") > 1),
    ),
    Rule(
        "large max_ids and exponents",
        "symbols: each import allocates max_id symbol IDs; " + SIZE,
        "refuses",
        JAVA,
        theirs("CantConvert|lacks a valid max_id|Too many nonzero exponent digits"),
    ),
    Rule(
        "look-alikes of the version marker",
        SYSTEM,
        "refuses",
        JAVA,
        theirs("UnknownSymbol", text(rb"'\$ion_1_0'|\$2")),
    ),
    # ---- the peer reads, ionfast refuses
    Rule("invalid UTF-8", UTF8, "reads", ALL, ours("invalid UTF-8", is_not_utf8)),
    Rule(
        "symbol IDs out of range",
        "symbols: a symbol ID beyond max_id is an error",
        "reads",
        ALL,
        ours("symbol ID out of range"),
    ),
    Rule(
        "lengths that overrun",
        LENGTH,
        "reads",
        ALL,
        ours("a length overruns|annotation wrapper", is_binary),
    ),
    Rule(
        "the last value is cut off",
        LENGTH,
        "reads",
        ("c", "java"),
        ours("input ends inside a value", is_binary),
    ),
    Rule(
        "timestamps with parts out of range",
        "binary: the fraction is less than 1; spec: zero dates are not valid",
        "reads",
        ALL,
        ours("invalid timestamp", either(is_binary, holds_symbol_table)),
    ),
    Rule(
        "VarInts without an end",
        "binary: the last octet has its high-order bit set",
        "reads",
        ALL,
        ours("invalid decimal|variable-length integer", is_binary),
    ),
    Rule(
        "what stands in a symbol table beside its strings",
        IGNORED,
        "reads",
        ("c", "rs"),
        ours("invalid (type descriptor|base64)", is_in_symbol_table),
    ),
    Rule(
        "newlines in short strings",
        "grammar: a short string has no raw newline",
        "reads",
        RS,
        ours(r"to end a (string|quoted symbol), found U\+000[AD]", text(rb"[\r\n]")),
    ),
    Rule(
        "null. and a word that is no type",
        "spec: the keyword is followed by a period and the type",
        "reads",
        JAVA,
        ours("the name of an Ion type", text(rb"null\.")),
    ),
    Rule(
        "lengths that no bool, int or float has",
        "binary: 0 means false, 1 true; L of a float is 0, 4 or 8; negative zero is illegal",
        "reads",
        C,
        ours("invalid (type descriptor|float length|int)", is_binary),
    ),
    Rule(
        "numbers without digits",
        "grammar: digits follow an exponent, 0x, 0b and underscores",
        "reads",
        ("c", "java"),
        ours("expected a digit", text(rb"[eEdDxXbB0-9_]")),
    ),
    Rule(
        "annotations without a value",
        "grammar: an annotation stands before a value",
        "reads",
        C,
        ours("expected a value", text(rb"::")),
    ),
    Rule(
        "colons outside of structs, commas left out or too many",
        GRAMMAR,
        "reads",
        C,
        ours("expected (a value|.* in (sexp|list|struct)|':' after the field name), found '.'"),
    ),
    Rule(
        "NUL and the byte order mark",
        "grammar: they are no white space",
        "reads",
        ("c", "java"),
        ours(r"found U\+(0000|FEFF)", text(rb"\x00|\xef\xbb\xbf")),
    ),
    Rule(
        "control characters in quotes",
        "grammar: quoted text has no control characters but white space",
        "reads",
        ("c", "java"),
        ours("an escape for a control character", text(rb"[\0-\x1f]")),
    ),
    Rule(
        "version markers of other versions",
        "symbols: $ion_1_0 identifies a specific version",
        "reads",
        ("c", "rs"),
        ours("unsupported Ion version", text(rb"ion_[0-9]+_[0-9]+")),
    ),
    Rule(
        "base64 without its padding",
        "spec: blob: incorrect padding is an error",
        "reads",
        ("rs", "java"),
        ours("invalid base64", text(rb"\{\{")),
    ),
    Rule(
        "a version marker and more is an identifier",
        IDENTIFIER,
        "reads",
        RS,
        ours("expected|symbol ID", MARKER_AND_MORE),
    ),
    Rule(
        "a comment without an end",
        "grammar: a block comment ends with */",
        "reads",
        RS,
        ours("end a comment", text(rb"/\*")),
    ),
    Rule(
        "repeated fields in a symbol table",
        "left open: see ion-choices",
        "reads",
        ALL,
        ours("invalid symbol table", holds_symbol_table),
    ),
    Rule(
        "what a symbol table holds beside its fields",
        IGNORED,
        "reads",
        ALL,
        ours("expected|invalid", is_in_symbol_table),
    ),
    Rule(
        "exponents beyond 64 bits or Python's Decimal",
        "a limit of ionfast",
        "reads",
        ALL,
        ours("out of the supported range|Python's Decimal can hold"),
    ),
    Rule(
        "a symbol ID and more is an identifier",
        IDENTIFIER,
        "reads",
        RS,
        ours("expected", SYMBOL_ID_AND_MORE),
    ),
    Rule(
        "an empty symbol behind a long string",
        "grammar: LONG_QUOTED_STRING ends at the next three quotes",
        "reads",
        C,
        ours("to end a long string", QUOTES),
    ),
    Rule(
        "numbers and more",
        STOP,
        "reads",
        C,
        ours("expected the end of the number", text(rb"[0-9]")),
    ),
    Rule(
        "code points beyond U+10FFFF",
        "grammar: UNICODE_ESCAPE begins with \\U000 or \\U0010",
        "reads",
        JAVA,
        ours("invalid escape sequence", text(rb"\\U(?!000|0010)")),
    ),
    Rule(
        "base64 behind its padding",
        "grammar: BLOB ends with BASE_64_PAD",
        "reads",
        C,
        ours("invalid base64", text(rb"\{\{.*=")),
    ),
    Rule(
        "an import that cannot be resolved, in a table annotated by $3",
        "symbols: $3 directly represents $ion_symbol_table",
        "reads",
        JAVA,
        ours("import cannot be resolved", text(rb"\$3")),
    ),
    # ---- other values
    Rule(
        "long numbers and fractions, keywords before \\v, names like $10",
        f"{SIZE}; {FRACTION}; {SPACE}",
        "values",
        C,
        differs_only(*C_VALUES),
    ),
    Rule(
        "zero groups before a VarUInt",
        PADDED,
        "values",
        C,
        both(is_padded, differs_only(*C_VALUES, _timestamp_of_other_parts)),
    ),
    Rule(
        "annotations of a symbol table are kept",
        "symbols: a symbol table is a system value",
        "values",
        C,
        both(
            is_binary,
            holds_symbol_table,
            more_annotations,
            differs_only(*C_VALUES, but=r"(?:'[^']*'|\$0)::"),
        ),
    ),
    Rule("exponents of more than 31 bits", SIZE, "values", JAVA, differs_only(_large_exponent)),
    Rule(
        "a null symbol table",
        "symbols: if the struct is null, it is treated as if it were an empty struct",
        "values",
        ALL,
        without(r"'\$ion_symbol_table'::null\.struct(\n|$)"),
    ),
    Rule(
        "look-alikes of the version marker",
        SYSTEM,
        "values",
        ALL,
        without(r"(?m)^y'\$ion_1_0'(\n|$)"),
    ),
    Rule("a version marker and more is an identifier", IDENTIFIER, "values", RS, MARKER_AND_MORE),
    Rule("a symbol ID and more is an identifier", IDENTIFIER, "values", RS, SYMBOL_ID_AND_MORE),
    Rule(
        "$3 as the annotation of a symbol table",
        "symbols: $3 directly represents $ion_symbol_table",
        "values",
        JAVA,
        both(text(rb"\$3"), shows_symbol_tables),
    ),
    Rule(
        "comments that end in **/",
        "grammar: BLOCK_COMMENT is '/*' .*? '*/'",
        "values",
        C,
        STARS,
    ),
    # ---- the peer dies
    Rule(
        "no answer in time, or a crash",
        "no answer is no reading",
        "dies",
        ALL,
        either(lambda d: d.ours.sign == "-", SYMBOL_ID_AND_MORE, LONG_FRACTION),
    ),
)


def expected(difference: Difference) -> Rule | None:
    """The rule for a difference, if there is one."""
    for rule in RULES:
        if (
            difference.peer in rule.peers
            and difference.kind == rule.kind
            and rule.test(difference)
        ):
            return rule
    return None
