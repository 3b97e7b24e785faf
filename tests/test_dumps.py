"""dumps and dumps_all: what each value becomes, errors and their paths, hostile callbacks."""

import collections
import dataclasses
import datetime
import decimal
import enum
import gc
import pathlib
import re
import sys
import types
import uuid
import weakref

import pytest

import ionfast
import scenarios
from ionfast import (
    Clob,
    ImportLocation,
    IonError,
    IonPyBool,
    IonPyBytes,
    IonPyDecimal,
    IonPyDict,
    IonPyFloat,
    IonPyInt,
    IonPyList,
    IonPyNull,
    IonPySymbol,
    IonPyText,
    IonPyTimestamp,
    IonType,
    Sexp,
    SharedSymbolTable,
    Symbol,
    SymbolToken,
)
from ionfast.equivalence import ion_equals

IVM = b"\xe0\x01\x00\xea"
Decimal = decimal.Decimal
UTC = datetime.UTC


class Color(enum.Enum):
    RED = "red"
    BOTH = (1, 2)


class Level(enum.IntEnum):
    LOW = 1


class Word(enum.Enum):
    YES = Symbol("yes")


Point = collections.namedtuple("Point", "x y")


@dataclasses.dataclass
class Owner:
    name: str
    age: int = 3
    kind: "dataclasses.InitVar[str]" = "cat"


@dataclasses.dataclass
class Slotted:
    __slots__ = ("a", "b")
    b: int
    a: list


class Shouting(str):
    def __str__(self):
        return "WRONG"


class Loud(int):
    def __repr__(self):
        return "WRONG"


class View(collections.abc.Mapping):
    def __init__(self, *pairs):
        self.pairs = pairs

    def __getitem__(self, key):
        return dict(self.pairs)[key]

    def __iter__(self):
        return iter(dict(self.pairs))

    def __len__(self):
        return len(self.pairs)


class Reversed(dict):
    def items(self):
        return reversed(list(super().items()))


def moved():
    ordered = collections.OrderedDict(a=1, b=2)
    ordered.move_to_end("a")
    return ordered


def text(value, **options):
    return ionfast.dumps(value, binary=False, omit_version_marker=True, **options)


def ann(cls, ion_type, value, *annotations):
    return cls.from_value(ion_type, value, annotations)


VALUES = [
    (None, "null"),
    (True, "true"),
    (0, "0"),
    (-(2**63), "-9223372036854775808"),
    (2**64, "18446744073709551616"),
    (-(10**40), "-1" + "0" * 40),
    (1.5, "1.5e0"),
    (-0.0, "-0e0"),
    (float("inf"), "+inf"),
    (float("nan"), "nan"),
    (Decimal("1.50"), "1.50"),
    (Decimal("-0"), "-0."),
    (datetime.date(2024, 5, 6), "2024-05-06"),
    ("", '""'),
    ('a"b\\\n', r'"a\"b\\\n"'),
    ("é", '"é"'),
    ("日本", '"日本"'),
    ("😀", '"😀"'),
    (b"abc", "{{YWJj}}"),
    (bytearray(b"abc"), "{{YWJj}}"),
    (memoryview(b"abc"), "{{YWJj}}"),
    (memoryview(b"a-b-c")[::2], "{{YWJj}}"),
    ([], "[]"),
    ([1, [2, []]], "[1,[2,[]]]"),
    ((1, ("a",)), '[1,["a"]]'),
    ({1}, "[1]"),
    (frozenset(["x"]), '["x"]'),
    ({}, "{}"),
    ({"a": 1, "two words": {"b": {}}}, "{a:1,'two words':{b:{}}}"),
    (collections.OrderedDict(a=1), "{a:1}"),
    (moved(), "{b:2,a:1}"),
    (collections.Counter("aa"), "{a:2}"),
    (Reversed(a=1, b=2), "{b:2,a:1}"),
    (types.MappingProxyType({"a": 1}), "{a:1}"),
    (View(("a", 1), ("b", [])), "{a:1,b:[]}"),
    (Point(1, [2]), "{x:1,y:[2]}"),
    (Owner("Ann"), '{name:"Ann",age:3}'),
    (Slotted(1, []), "{b:1,a:[]}"),
    (Color.RED, '"red"'),
    (Color.BOTH, "[1,2]"),
    (Word.YES, "yes"),
    (Level.LOW, "1"),
    (Loud(7), "7"),
    (Shouting("k"), '"k"'),
    ({Shouting("k"): Shouting("é")}, '{k:"é"}'),
    (uuid.UUID(int=5), '"00000000-0000-0000-0000-000000000005"'),
    (pathlib.PurePosixPath("/a/b"), '"/a/b"'),
    (Symbol("a"), "a"),
    (Symbol("null"), "'null'"),
    (Symbol("$10"), "'$10'"),
    (SymbolToken("a b"), "'a b'"),
    (SymbolToken(None, 0), "$0"),
    ({SymbolToken("f"): 1, SymbolToken(None, 0): 2}, "{f:1,$0:2}"),
    (Clob(b"a\x80"), r'{{"a\x80"}}'),
    (Sexp([Symbol("+"), 1]), "('+' 1)"),
    (IonPyNull(), "null"),
    (IonPyNull(IonType.STRUCT), "null.struct"),
    (ann(IonPyNull, IonType.INT, None), "null.int"),
    (IonPyNull(IonType.LIST, None, ["a", "b"]), "a::b::null.list"),
    (IonPyBool(1), "true"),
    (IonPyInt(3), "3"),
    (ann(IonPyInt, IonType.INT, 3, "a"), "a::3"),
    (ann(IonPyInt, IonType.BOOL, 0), "false"),
    (ann(IonPyFloat, IonType.FLOAT, 0.5, "a"), "a::0.5e0"),
    (ann(IonPyDecimal, IonType.DECIMAL, Decimal("1.0"), "USD"), "USD::1.0"),
    (
        ann(IonPyTimestamp, IonType.TIMESTAMP, datetime.date(2024, 5, 6), "day"),
        "day::2024-05-06",
    ),
    (ann(IonPyText, IonType.STRING, "é", "a"), 'a::"é"'),
    (ann(IonPyText, IonType.SYMBOL, "s", "a"), "a::s"),
    (ann(IonPySymbol, IonType.SYMBOL, "s", "'"), r"'\''::s"),
    (ann(IonPySymbol, IonType.SYMBOL, SymbolToken(None, 0), SymbolToken(None, 0)), "$0::$0"),
    (ann(IonPyBytes, IonType.BLOB, b"abc", "a"), "a::{{YWJj}}"),
    (ann(IonPyBytes, IonType.CLOB, b"abc"), '{{"abc"}}'),
    (
        ann(IonPyList, IonType.LIST, [1, ann(IonPyList, IonType.SEXP, [], "b")], "a"),
        "a::[1,b::()]",
    ),
    (ann(IonPyDict, IonType.STRUCT, {"x": []}, "a", "b"), "a::b::{x:[]}"),
    (IonPyDict._from_items([("a", 1), ("b", 2), ("a", [3])]), "{a:1,b:2,a:[3]}"),
]


@pytest.mark.parametrize(("value", "expected"), VALUES, ids=[str(i) for i in range(len(VALUES))])
def test_text_of_a_value(value, expected):
    assert text(value) == expected
    assert text([value, {"k": value}]) == f"[{expected},{{k:{expected}}}]"


@pytest.mark.parametrize(("value", "expected"), VALUES, ids=[str(i) for i in range(len(VALUES))])
def test_binary_of_a_value_reads_back_as_its_text(value, expected):
    assert text(ionfast.loads(ionfast.dumps(value))) == expected
    nested = ionfast.loads(ionfast.dumps([value, {"k": value}]))
    assert text(nested) == f"[{expected},{{k:{expected}}}]"


def test_iterators_are_written_as_lists():
    assert text({"a": (n for n in range(3)), "b": iter("xy")}) == '{a:[0,1,2],b:["x","y"]}'
    assert ionfast.loads(ionfast.dumps(zip([1], [2], strict=False))) == [[1, 2]]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "0f"),
        (True, "11"),
        (1, "2101"),
        (-1, "3101"),
        (0.0, "40"),
        (1.0, "483ff0000000000000"),
        ("", "80"),
        ("é", "82c3a9"),
        ("x" * 14, "8e8e" + "78" * 14),
        ("é" * 7, "8e8e" + "c3a9" * 7),
        ("aé" * 50, "8e0196" + "61c3a9" * 50),  # bound of 200 bytes, 150 needed: two-byte length
        ("日" * 40, "8ef8" + "e697a5" * 40),
        ("日" + "a" * 60, "8ebf" + "e697a5" + "61" * 60),  # bound of 183 bytes, 63 needed
        ([], "b0"),
        ([[]], "b1b0"),
        ({}, "d0"),
        ({"name": 1}, "d3842101"),
        (Symbol("name"), "7104"),
        (SymbolToken(None, 0), "70"),
        (b"\x00", "a100"),
        (Clob(b"\x00"), "9100"),
        (IonPyNull(IonType.STRUCT), "df"),
        (ann(IonPyInt, IonType.INT, 1, "name"), "e481842101"),
    ],
)
def test_binary_bytes(value, expected):
    assert ionfast.dumps(value) == IVM + bytes.fromhex(expected)


def test_symbols_get_local_ids_in_order_of_first_use():
    table = "eb8183d887b6816181628163"  # {symbols:["a","b","c"]}
    body = "db8a21018b21028cd38a2103"
    assert ionfast.dumps({"a": 1, "b": 2, "c": {"a": 3}}) == IVM + bytes.fromhex(table + body)


def test_equal_names_that_are_other_objects_share_an_id():
    names = ["".join(["key", str(i % 3)]) for i in range(3000)]
    data = ionfast.dumps([{name: 1} for name in names])
    assert data.count(b"key0") == 1
    assert ionfast.loads(data) == [{name: 1} for name in names]


def test_more_names_than_the_identity_cache_holds():
    value = [{f"name{i}": i, f"é{i}": i} for i in range(5000)] * 2
    assert ionfast.loads(ionfast.dumps(value)) == value
    assert ionfast.loads(text(value)) == value


# ---- options ----


def test_version_marker():
    assert ionfast.dumps({"a": 1}, binary=False) == "$ion_1_0 {a:1}"
    assert ionfast.dumps(1, binary=False, omit_version_marker=True) == "1"
    assert ionfast.dumps(1, omit_version_marker=True) == IVM + b"\x21\x01"


@pytest.mark.parametrize("indent", [2, "  "])
def test_indent(indent):
    expected = "$ion_1_0\n{\n  a: [\n    1,\n    b\n  ],\n  c: {}\n}"
    value = {"a": [1, Symbol("b")], "c": {}}
    assert ionfast.dumps(value, binary=False, indent=indent) == expected


def test_indent_zero_and_tab():
    assert text([1], indent=0) == "[\n1\n]"
    assert text([1], indent="\t") == "[\n\t1\n]"


@pytest.mark.parametrize("indent", ["x", "é", -1, 1001, 10**30])
def test_indent_that_is_no_white_space(indent):
    with pytest.raises(ValueError, match="indent must be"):
        text([1], indent=indent)


def test_indent_of_another_type():
    with pytest.raises(TypeError, match="indent must be None, an int or a str, not 'float'"):
        text([1], indent=1.5)


def test_tuple_as_sexp():
    assert text([(1, (2,)), ()], tuple_as_sexp=True) == "[(1 (2)),()]"


def test_streams():
    assert ionfast.dumps_all([]) == IVM
    assert ionfast.dumps_all([], binary=False) == "$ion_1_0"
    assert ionfast.dumps_all([], binary=False, omit_version_marker=True) == ""
    assert ionfast.dumps_all(iter([1, {"a": 2}]), binary=False) == "$ion_1_0 1 {a:2}"
    assert ionfast.dumps_all([1, 2], binary=False, indent=1) == "$ion_1_0\n1\n2"
    values = [{"a": i, "b": [str(i)]} for i in range(1000)]
    assert ionfast.loads_all(ionfast.dumps_all(values)) == values


def test_arguments():
    with pytest.raises(TypeError, match="unexpected keyword argument 'binry'"):
        ionfast.dumps(1, binry=True)
    with pytest.raises(TypeError, match="takes 1 positional argument but 2 were given"):
        ionfast.dumps(1, True)
    with pytest.raises(TypeError, match="takes 1 positional argument but 0 were given"):
        ionfast.dumps()
    with pytest.raises(TypeError, match="default must be callable, not 'int'"):
        ionfast.dumps(1, default=3)
    with pytest.raises(TypeError):
        ionfast.dumps(1, imports=[1])
    with pytest.raises(TypeError, match="'int' object is not iterable"):
        ionfast.dumps_all(3)


def test_a_keyword_that_is_not_interned():
    name = "".join(["bin", "ary"])
    assert ionfast.dumps(1, **{name: False}) == "$ion_1_0 1"


def test_imports_save_symbols():
    table = SharedSymbolTable("fruits", 2, ["apple", "plum"])
    data = ionfast.dumps({"plum": Symbol("apple"), "own": 1}, imports=[table])
    assert b"plum" not in data
    assert b"own" in data
    catalog = ionfast.Catalog()
    catalog.register(table)
    assert ionfast.loads(data, catalog=catalog) == {"plum": "apple", "own": 1}
    assert text(Symbol("plum"), imports=[table]) == "plum"


# ---- default ----


def test_default():
    assert text([{1j}], default=lambda z: [z.real, z.imag]) == "[[[0e0,1e0]]]"
    assert text(range(2), default=list) == "[0,1]"
    assert text({"a": object}, default=lambda o: Color.RED) == '{a:"red"}'
    assert text(1j, default=lambda o: ann(IonPyInt, IonType.INT, 1, "a")) == "a::1"


def test_default_chain_is_bounded():
    calls = []

    def again(value):
        calls.append(value)
        return object()

    with pytest.raises(TypeError, match=r"default never gave a value .* 'object', at \$\.a$"):
        text({"a": 1j}, default=again)
    assert len(calls) == 255


def test_default_that_recurses():
    class Node:
        pass

    with pytest.raises(IonError, match="max_depth"):
        ionfast.dumps(Node(), default=lambda node: [node], max_depth=50)


def test_errors_of_hooks_pass_unchanged():
    error = KeyError("mine")

    def fail(value):
        raise error

    with pytest.raises(KeyError) as caught:
        ionfast.dumps([1, {"a": 1j}], default=fail)
    assert caught.value is error

    class Broken(View):
        def items(self):
            yield "a", 1
            raise error

    with pytest.raises(KeyError) as caught:
        ionfast.dumps(Broken())
    assert caught.value is error


def test_hooks_may_call_dumps():
    def inner(value):
        return ionfast.dumps({"real": value.real}, binary=False)

    value = [{"a": 1j, "b": 2}] * 50
    assert text(value, default=inner).count("real: 0" + "e0") == 0
    assert text(value, default=inner).count("{real:0e0}") == 50


# ---- errors and paths ----


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (object(), "cannot write a value of type 'object' at $"),
        (
            {"items": [0, 1, 2, {"owner": 1j}]},
            "cannot write a value of type 'complex' at $.items[3].owner",
        ),
        ({"a b": (1, [1j])}, "cannot write a value of type 'complex' at $['a b'][1][0]"),
        (Point(1, {"z": 1j}), "cannot write a value of type 'complex' at $.y.z"),
        (Owner(1j), "cannot write a value of type 'complex' at $.name"),
        (View(("a", 1), ("b", [1j])), "cannot write a value of type 'complex' at $.b[0]"),
        ([iter([1, 1j])], "cannot write a value of type 'complex' at $[0][1]"),
        ({"a": {1: 2}}, "field names must be str or SymbolToken, not 'int', at $.a"),
        (View((None, 1)), "field names must be str or SymbolToken, not 'NoneType', at $"),
        ([range(3)], "cannot write a value of type 'range' at $[0]"),
        (int, "cannot write a value of type 'type' at $"),
        (Owner, "cannot write a value of type 'type' at $"),
    ],
)
@pytest.mark.parametrize("binary", [True, False])
def test_type_errors_name_the_path(value, message, binary):
    if isinstance(value, list) and hasattr(value[0], "__next__"):
        value = [iter([1, 1j])]
    with pytest.raises(TypeError) as caught:
        ionfast.dumps(value, binary=binary)
    assert str(caught.value) == message


def test_path_in_a_stream_and_of_a_deep_value():
    with pytest.raises(TypeError, match=r"'complex' at values\[2\]\.a$"):
        ionfast.dumps_all([1, 2, {"a": 1j}])
    deep = 1j
    for _ in range(100):
        deep = [deep]
    with pytest.raises(TypeError) as caught:
        ionfast.dumps(deep)
    assert str(caught.value).endswith("at $" + "[0]" * 16 + "..." + "[0]" * 16)


def test_mismatched_ion_type():
    value = IonPyInt(1)
    value.ion_type = IonType.STRING
    with pytest.raises(TypeError, match=r"'ionfast.*IonPyInt' at \$\[0\] does not fit|IonPyInt"):
        ionfast.dumps([value])
    value.ion_type = "int"
    with pytest.raises(TypeError, match="is no IonType"):
        ionfast.dumps([value])


def test_annotations_must_be_symbols():
    value = IonPyInt(1)
    value.ion_annotations = (1,)
    with pytest.raises(
        TypeError, match=r"annotations must be str or SymbolToken, not 'int', at \$\[1\]"
    ):
        ionfast.dumps([0, value])


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize(
    ("make", "path"),
    [
        (lambda s: s, "$"),
        (lambda s: ["a", s], "$[1]"),
        (lambda s: {s: 1}, None),
        (lambda s: Symbol(s), "$"),
        (lambda s: [SymbolToken(s)], "$[0]"),
        (lambda s: ann(IonPyInt, IonType.INT, 1, s), "$"),
    ],
)
@pytest.mark.parametrize("bad", ["\ud83d", "a\udc00b", "😀\udfff"])
def test_lone_surrogates(bad, make, path, binary):
    with pytest.raises(UnicodeEncodeError) as caught:
        ionfast.dumps(make(bad), binary=binary)
    assert "surrogates not allowed, at $" in str(caught.value)
    assert caught.value.object == bad
    assert 0xD800 <= ord(bad[caught.value.start]) < 0xE000
    if path is not None:
        assert str(caught.value).endswith(f"at {path}")


@pytest.mark.parametrize("binary", [True, False])
def test_a_symbol_table_cannot_be_written_as_data(binary):
    table = ann(IonPyDict, IonType.STRUCT, {"symbols": ["a"]}, "$ion_symbol_table")
    null = IonPyNull(IonType.STRUCT, None, ["$ion_symbol_table"])
    for value in (table, null):
        with pytest.raises(IonError, match="reserved"):
            ionfast.dumps(value, binary=binary)
        assert ionfast.loads(ionfast.dumps([value], binary=binary)) == [value]
    second = ann(IonPyDict, IonType.STRUCT, {"symbols": ["a"]}, "x", "$ion_symbol_table")
    assert ionfast.loads(ionfast.dumps(second, binary=binary)) == second


@pytest.mark.parametrize("binary", [True, False])
def test_a_version_marker_cannot_be_written_as_a_top_level_symbol(binary):
    # Readers skip $ion_1_0 at top level in every form, so it would vanish.
    for value in (Symbol("$ion_1_0"), SymbolToken("$ion_1_0"), IonPySymbol("$ion_1_0")):
        with pytest.raises(IonError, match="reserved"):
            ionfast.dumps(value, binary=binary)
    annotated = ann(IonPySymbol, IonType.SYMBOL, "$ion_1_0", "a")
    for value in ([Symbol("$ion_1_0")], annotated, "$ion_1_0", Symbol("$ion_1_1")):
        assert ionfast.loads(ionfast.dumps(value, binary=binary)) == value


@pytest.mark.parametrize("binary", [True, False])
def test_depth(binary):
    deep = []
    for _ in range(999):
        deep = [deep]
    data = ionfast.dumps(deep, binary=binary)
    assert text(ionfast.loads(data)) == "[" * 1000 + "]" * 1000
    with pytest.raises(IonError, match="max_depth"):
        ionfast.dumps([deep], binary=binary)
    with pytest.raises(IonError, match="max_depth"):
        ionfast.dumps({}, binary=binary, max_depth=0)
    assert len(ionfast.dumps([deep], binary=binary, max_depth=None)) > 1000


@pytest.mark.parametrize("binary", [True, False])
def test_cycles_end_at_max_depth(binary):
    cycle = {}
    cycle["self"] = [cycle]
    with pytest.raises(IonError, match="max_depth"):
        ionfast.dumps(cycle, binary=binary)


def test_very_deep_values_need_no_c_stack():
    deep = None
    for _ in range(300_000):
        deep = [deep]
    assert len(ionfast.dumps(deep, max_depth=None)) > 300_000
    assert len(text(deep, max_depth=None)) == 600_004
    while deep:  # or the list's own deallocation would be what this tests
        deep = deep.pop()


@pytest.mark.parametrize("special", ["NaN", "sNaN", "Infinity", "-Infinity"])
def test_decimals_that_are_no_numbers(special):
    with pytest.raises(IonError, match="Ion has no such decimal"):
        ionfast.dumps([Decimal(special)])


# ---- callbacks that change what is being written ----


class Trap:
    """An object whose `default` runs an action."""

    def __init__(self, action):
        self.action = action


def spring(trap):
    trap.action()
    return "sprung"


@pytest.mark.parametrize("binary", [True, False])
def test_list_that_shrinks(binary):
    items = [Trap(lambda: items.clear()), [1], {"a": 2}]
    assert ionfast.loads(ionfast.dumps(items, binary=binary, default=spring)) == ["sprung"]


@pytest.mark.parametrize("binary", [True, False])
def test_list_that_grows(binary):
    items = [Trap(lambda: items.extend([[1]] * 100))]
    out = ionfast.loads(ionfast.dumps(items, binary=binary, default=spring))
    assert out == ["sprung"] + [[1]] * 100


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("action", [dict.clear, lambda fields: fields.update(new=1)])
def test_dict_that_changes(action, binary):
    fields = {"a": None, "b": [1], "c": [2]}
    fields["a"] = Trap(lambda: action(fields))
    with pytest.raises(RuntimeError, match="dictionary size changed during iteration"):
        ionfast.dumps(fields, binary=binary, default=spring)


def test_dict_whose_keys_keep_changing_ends():
    fields = {"a": 1}

    def renew(_):
        fields.pop(next(iter(fields)))
        fields[str(len(fields)) + "x" * renew.n] = Trap(None)
        renew.n += 1
        return 1

    renew.n = 1
    fields["a"] = Trap(None)
    with pytest.raises(RuntimeError, match="changed during iteration"):
        ionfast.dumps(fields, default=renew)


def test_parents_dropped_during_the_walk():
    outer = [[[Trap(lambda: (outer.clear(), gc.collect()))], "later"], "last"]
    assert ionfast.loads(ionfast.dumps(outer, default=spring)) == [[["sprung"], "later"]]


def test_key_that_runs_code():
    class Key(SymbolToken):
        @property
        def text(self):
            fields.clear()
            gc.collect()
            return "".join(["na", "me"])

    fields = {Key("k"): ["".join(["va", "lue"])] * 2}
    with pytest.raises(RuntimeError, match="size changed"):
        ionfast.dumps({"a": fields, **{}})
    fields = {Key("k"): "x"}


def test_tzinfo_that_raises():
    class Bad(datetime.tzinfo):
        def utcoffset(self, moment):
            raise KeyError("zone")

    with pytest.raises(KeyError, match="zone"):
        ionfast.dumps([datetime.datetime(2024, 1, 1, tzinfo=Bad())])


def test_str_of_a_uuid_subclass_that_raises():
    class Bad(uuid.UUID):
        def __str__(self):
            raise KeyError("text")

    with pytest.raises(KeyError, match="text"):
        ionfast.dumps([Bad(int=1)])


def test_items_that_are_no_pairs():
    class Bad(View):
        def items(self):
            return [1]

    with pytest.raises(
        TypeError, match=r"items\(\) gave a value of type 'int', not a pair, at \$"
    ):
        ionfast.dumps(Bad())


def test_an_encoder_is_clean_after_an_error():
    before = ionfast.dumps({"x": [1, {"y": Symbol("z")}]})
    for bad in (
        {"q": [1j]},
        {"q": ["\ud800"]},
        [{"r": {1: 1}}],
        ann(IonPyInt, IonType.INT, 1, "\ud800"),
    ):
        with pytest.raises((TypeError, ValueError)):
            ionfast.dumps(bad)
        with pytest.raises((TypeError, ValueError)):
            ionfast.dumps(bad, binary=False)
        assert ionfast.dumps({"x": [1, {"y": Symbol("z")}]}) == before


# ---- references ----


def test_no_reference_is_kept():
    class Marker:
        pass

    value = {"k" + "ey": [Marker(), b"x", {"n": "".join(["a", "b"])}]}
    inner = value["key"]
    counts = [sys.getrefcount(x) for x in (value, inner, inner[2], inner[2]["n"])]
    probe = weakref.ref(inner[0])
    for _ in range(20):
        ionfast.dumps(value, default=lambda m: 1)
        with pytest.raises(TypeError):
            ionfast.dumps(value)
        text(value, default=lambda m: 1)
    assert [sys.getrefcount(x) for x in (value, inner, inner[2], inner[2]["n"])] == counts
    del inner[0]
    assert probe() is None


@scenarios.classes_die
def test_types_are_let_go_when_the_pools_are_cleared():
    class Local(dict):
        pass

    ionfast.dumps(Local(a=1))
    probe = weakref.ref(Local)
    del Local
    ionfast.pools.clear()
    gc.collect()
    assert probe() is None


def test_more_types_than_the_map_holds():
    kinds = [type(f"Kind{i}", (dict,), {}) for i in range(300)]
    values = [kind(a=i) for i, kind in enumerate(kinds)]
    assert ionfast.loads(ionfast.dumps(values * 2)) == values * 2


def test_a_mapping_registered_late():
    class Late:
        def items(self):
            return [("a", 1)]

    with pytest.raises(TypeError):
        ionfast.dumps(Late())
    collections.abc.Mapping.register(Late)
    assert text(Late()) == "{a:1}"


# ---- what has a fast path of its own ----


class OtherList(list):
    """Written like a list, but not by the hot loops' short cuts."""


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("count", range(7))
def test_rows_of_floats(count, binary):
    for first in (0.0, -0.0, 1.5, 5e-324, -1.7976931348623157e308, 1e16, float("nan"), 7, None):
        row = [first, 2.5, 0.0, -65.613616999999977, 1e-7, 123456789012.5][:count]
        plain = [[row, {"name": row}, 1]] * 40
        other = [[OtherList(row), {"name": OtherList(row)}, 1]] * 40
        data = ionfast.dumps(plain, binary=binary)
        assert data == ionfast.dumps(other, binary=binary)
        assert ion_equals(ionfast.loads(data), plain)


@pytest.mark.parametrize("binary", [True, False])
def test_rows_count_as_a_level(binary):
    assert ionfast.loads(ionfast.dumps([[1.5]], binary=binary, max_depth=2)) == [[1.5]]
    with pytest.raises(IonError):
        ionfast.dumps([[1.5]], binary=binary, max_depth=1)


@pytest.mark.parametrize("binary", [True, False])
def test_names_kept_from_call_to_call(binary):
    """The same names in other orders, beside names that are no literals, system symbols and symbols."""
    made = "".join(["mad", "e"])  # not interned
    for value in (
        *({"a": 1, "b": 2}, {"b": 1, "a": 2}, {made: 1, "a": 2}, {"a": 1, made: {"b": 3}}),
        *({"name": 1, "a": {"name": 2, "version": 3}}, {"a": Symbol("b"), "b": Symbol("a")}),
        *({"a": 1, "mad" + "e": [{made: 1}]}, {"x" * 31: 1, "x" * 32: 2, "x" * 70: 3}),
        *(
            {"null": 1, "$10": 2, "a b": 3},
            {"a": 1, "é": 2, "b": 3},
            {f"n{i}": i for i in range(3000)},
        ),
    ):
        with ionfast.pools.disabled():
            fresh = ionfast.dumps(value, binary=binary)
        for _ in range(3):
            assert ionfast.dumps(value, binary=binary) == fresh
        assert ionfast.loads(fresh) == value


def test_one_symbol_for_equal_names():
    made = "".join(["twic", "e"])
    for value in ([{"twice": 1}, {made: 2}], [{made: 1}, {"twice": 2}]):
        for _ in range(2):
            assert ionfast.dumps(value).count(b"twice") == 1


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("size", [0, 1, 7, 8, 15, 16, 17, 31, 40, 255, 256])
def test_characters_at_every_place(size, binary):
    """Escapes and wide characters in each position of the blocks that are handled at a time."""
    for char in ('"', "\\", "\n", "\x00", "\x1f", "\x7f", "'", "é", "ÿ", "語", "\U0001f600"):
        for at in range(0, size + 1, 1 if size < 42 else 37):
            value = ["a" * at + char + "b" * (size - at), char * size]
            data = ionfast.dumps(value, binary=binary)
            assert ionfast.loads(data) == value
            if not binary:
                assert max(data) <= max("{", "n", char)


# ---- unknown text ----


def place(name, position, sid=None):
    return SymbolToken(None, sid, ImportLocation(name, position))


def places(value):
    """The value with each token reduced to its location."""
    if isinstance(value, SymbolToken):
        return (value.text, value.location and tuple(value.location))
    if isinstance(value, dict):
        return {places(k): places(v) for k, v in value.items()}
    if isinstance(value, list):
        return [places(v) for v in value]
    return value


UNKNOWN = [
    place("fruits", 3),
    {place("fruits", 3): [place("fruits", 1), Symbol("known")], "own": place("nuts", 2)},
    [place("a", 1), place("b", 1), place("a", 5), place("b", 7), place("a", 6), "x"],
    [{"a": {"b" * 20: [place("far", 2**33), Symbol("c")]}}] * 30,
    [SymbolToken(None, 0), place("fruits", 1), SymbolToken(None, 12), b"\x71\x0a", -1, 1.5],
]


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("omit", [True, False])
@pytest.mark.parametrize("value", UNKNOWN, ids=range(len(UNKNOWN)))
def test_symbols_of_absent_imports_survive(value, binary, omit):
    data = ionfast.dumps(value, binary=binary, omit_version_marker=omit)
    assert places(ionfast.loads(data)) == places(value)
    again = ionfast.dumps(ionfast.loads(data), binary=binary, omit_version_marker=omit)
    assert again == data


@pytest.mark.parametrize("binary", [True, False])
def test_absent_symbols_in_annotations_and_streams(binary):
    value = ann(IonPyList, IonType.LIST, [1], place("fruits", 2), "a")
    data = ionfast.dumps_all([Symbol("x"), value, place("fruits", 9)], binary=binary)
    first, second, third = ionfast.loads_all(data)
    assert (first, second) == ("x", [1])
    assert second.ion_annotations[0].location == ImportLocation("fruits", 2)
    assert second.ion_annotations[1] == "a"
    assert third.location == ImportLocation("fruits", 9)


def test_text_that_declares_an_absent_import():
    table = '$ion_symbol_table::{imports:[{name:"fruits",version:1,max_id:3}]}'
    assert ionfast.dumps(place("fruits", 3), binary=False) == f"$ion_1_0 {table} $12"
    assert text(place("fruits", 3)) == f"{table} $12"


# A symbol that a local symbol table declares without text is not $0.
SLOTS = [
    "$10",
    "$12",
    "[$0, $10, $12, 'own']",
    "{$10: 1, $0: 2, own: $12}",
    "{$10: 1, $12: 2, $10: 3}",
    "$12::$0::$10::{own: $12::[]}",
    "(($10))",
]


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("model", ["lossless", "ionpy"])
@pytest.mark.parametrize("source", SLOTS)
def test_null_slots_of_a_local_table_survive(source, model, binary):
    table = '$ion_symbol_table::{symbols:[null,"own",7]}'
    value = ionfast.loads(table + source, model=model)
    data = ionfast.dumps(value, binary=binary)
    again = ionfast.loads(data, model=model)
    assert ion_equals(again, value)
    assert not ion_equals(again, ionfast.loads(re.sub(r"\$1\d", "$0", source), model=model))
    assert ionfast.dumps(again, binary=binary) == data


def test_the_slot_is_declared():
    value = {SymbolToken(None, 12): [SymbolToken(None, 99), SymbolToken(None, 0), Symbol("s")]}
    assert ionfast.dumps(value, binary=False) == (
        "$ion_1_0 $ion_symbol_table::{symbols:[null]} {$10:[$10,$0,s]}"
    )
    assert ionfast.dumps(value, binary=False, indent=0, omit_version_marker=True) == (
        "$ion_symbol_table::{symbols:[null]}\n{\n$10: [\n$10,\n$0,\ns\n]\n}"
    )
    assert ionfast.dumps(value) == IVM + bytes.fromhex(
        "e8 8183 d5 87 b3 0f 8173 d7 8a b5 710a 70 710b"
    )


@pytest.mark.parametrize("binary", [True, False])
def test_slots_stand_behind_the_imports(binary):
    value = [
        *(place("a", 3), SymbolToken(None, 10), place("b", 1), place("a", 5), place("b", 999)),
        *({SymbolToken(None, 11): "'\xff'"}, place("a", 1), "own"),
    ]
    data = ionfast.dumps(value, binary=binary)
    again = ionfast.loads(data)
    assert ion_equals(again, value)
    assert ionfast.dumps(again, binary=binary) == data
    imports = [SharedSymbolTable("given", 1, ["own"])]
    assert ion_equals(ionfast.loads(ionfast.dumps(value, binary=binary, imports=imports)), value)


@pytest.mark.parametrize("binary", [True, False])
def test_an_import_can_still_grow_behind_a_slot(binary):
    data = ionfast.dumps([place("a", 1), SymbolToken(None, 10), place("a", 70)], binary=binary)
    assert ionfast.loads(data)[2].sid == 79


@pytest.mark.parametrize("binary", [True, False])
def test_slots_in_a_writer(binary):
    writer = ionfast.Writer(binary=binary)
    writer.write(1)
    with pytest.raises(TypeError):
        writer.write([SymbolToken(None, 10), object()])
    writer.write("'\xff'")
    writer.flush()
    writer.write([SymbolToken(None, 10), Symbol("own")])
    writer.write({SymbolToken(None, 12): SymbolToken(None, 0)})
    writer.flush()
    writer.write({Symbol("own"): 1})
    writer.close()
    wanted = [
        *(1, "'\xff'", [SymbolToken(None, 10), Symbol("own")]),
        *({SymbolToken(None, 10): SymbolToken(None, 0)}, {"own": 1}),
    ]
    assert ion_equals(ionfast.loads_all(writer.getvalue()), wanted)


@pytest.mark.parametrize("binary", [True, False])
def test_the_catalog_can_resolve_them_later(binary):
    data = ionfast.dumps({place("fruits", 2): Symbol("own")}, binary=binary)
    catalog = ionfast.Catalog()
    catalog.register(SharedSymbolTable("fruits", 1, ["apple", "plum", "pear"]))
    assert ionfast.loads(data, catalog=catalog) == {"plum": "own"}


@pytest.mark.parametrize("binary", [True, False])
def test_a_place_in_a_table_that_is_imported(binary):
    table = SharedSymbolTable("fruits", 1, ["apple", None, "pear"])
    value = [
        place("fruits", 1),
        place("fruits", 2),
        place("fruits", 8),
        Symbol("pear"),
        Symbol("own"),
    ]
    data = ionfast.dumps(value, binary=binary, imports=[table])
    catalog = ionfast.Catalog()
    catalog.register(table)
    out = ionfast.loads(data, catalog=catalog)
    assert out[0] == "apple"
    assert out[3:] == ["pear", "own"]
    assert [out[i].location for i in (1, 2)] == [ImportLocation("fruits", i) for i in (2, 8)]


def test_places_that_cannot_be():
    for token in (place("fruits", 0), place("", 1), place("fruits", 2**60), place("$ion", 10)):
        with pytest.raises(IonError):
            ionfast.dumps(token)
    for token in (place("fruits", -1), place("fruits", 2**70)):
        with pytest.raises(OverflowError):
            ionfast.dumps(token)
    for token in (place(1, 1), place("a", "b"), SymbolToken(3)):
        with pytest.raises(TypeError):
            ionfast.dumps(token)
    assert ionfast.loads(ionfast.dumps([place("$ion", 4)])) == ["name"]
