"""What a type asks of Ion: type hints, looked at once, as the description that the C half compiles.

A description is a list of nodes, the root first; py_plan.c says what is in one. What happens per value
is in py_typed.c. Nothing heavy is imported until a type is described.
"""

from __future__ import annotations

import decimal
import enum
import sys
import typing
import weakref
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ._ionfast import Timestamp
from ._symbols import Symbol

if TYPE_CHECKING:
    from ._codec import Codec

__all__ = ["Annotated", "Field", "describe_encoding", "describe_type"]

# ionfast_plan_op, in py_plan.h.
(
    _ANY, _NONE, _BOOL, _INT, _FLOAT, _DECIMAL, _STR, _SYMBOL, _BYTES, _TIMESTAMP, _DATETIME, _DATE,
    _MOMENT, _CHOICE, _CONVERT, _UNION, _LIST, _SET, _FROZENSET, _TUPLE_OF, _TUPLE, _DICT, _RECORD,
    _ANY_LIST, _ANY_STRUCT, _TAGGED,
) = range(26)  # fmt: skip

# ionfast_record_form.
_DIRECT, _CALL, _NAMED_TUPLE, _TYPED_DICT = range(4)

# How a missing field is made up for.
_NO_FALLBACK, _DEFAULT, _FACTORY = range(3)

# Bits of ionf_kind.
(
    _K_NULL, _K_BOOL, _K_INT, _K_FLOAT, _K_DECIMAL, _K_TIMESTAMP, _K_SYMBOL, _K_STRING, _K_CLOB,
    _K_BLOB, _K_LIST, _K_SEXP, _K_STRUCT,
) = (1 << kind for kind in range(13))  # fmt: skip
_KIND_COUNT = 13
_ALL = (1 << _KIND_COUNT) - 1

# Kinds that a reader also takes for want of a better: any other member of a union goes first.
_SECOND_CHOICE = {
    _STR: _K_SYMBOL,
    _CHOICE: _K_SYMBOL,
    _FLOAT: _K_INT | _K_DECIMAL,
    _DECIMAL: _K_INT,
    _BYTES: _K_CLOB,
    _LIST: _K_SEXP,
    _SET: _K_SEXP,
    _FROZENSET: _K_SEXP,
    _TUPLE_OF: _K_SEXP,
    _TUPLE: _K_SEXP,
}


class Field:
    """What the Ion field of an attribute looks like, as ``Annotated[T, Field(...)]``.

    Args:
        name: The field's name in Ion, where it is not the attribute's.
        annotation: An annotation that the value is written with, and must have when it is read.

    >>> import dataclasses, ionfast
    >>> from typing import Annotated
    >>> width = Annotated[int, ionfast.Field(name="w", annotation="cm")]
    >>> Box = dataclasses.make_dataclass("Box", [("width", width)])
    >>> ionfast.dumps(Box(3), binary=False)
    '$ion_1_0 {w:cm::3}'
    >>> ionfast.loads("{w: cm::3}", type=Box)
    Box(width=3)
    """

    __slots__ = ("annotation", "name")

    name: str | None
    annotation: str | None

    def __init__(self, *, name: str | None = None, annotation: str | None = None) -> None:
        for what, value in (("name", name), ("annotation", annotation)):
            if value is not None and not isinstance(value, str):
                raise TypeError(f"{what} must be a str or None, not {type(value).__qualname__}")
        self.name = name
        self.annotation = annotation

    def __repr__(self) -> str:
        return f"Field(name={self.name!r}, annotation={self.annotation!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Field):
            return NotImplemented
        return (self.name, self.annotation) == (other.name, other.annotation)

    def __hash__(self) -> int:
        return hash((self.name, self.annotation))


class _Node(typing.NamedTuple):
    """One step of a plan; the tuple is what the C half parses."""

    op: int
    accepts: int
    expected: str
    annotation: str | None = None
    is_strict: bool = False
    object: Any = None
    children: tuple[int, ...] = ()
    extra: Any = None


class _Member(typing.NamedTuple):
    """A field of a class, of whatever sort the class is."""

    attribute: str  # or what the constructor calls it
    hint: Any
    is_required: bool
    fallback: Any = None
    fallback_kind: int = _NO_FALLBACK
    is_ignored: bool = False
    name: str | None = None  # in Ion, unless a Field says otherwise


def describe_type(tp: Any, codec: Codec | None) -> list[_Node]:
    """The description of a type; TypeError, naming the field, for one that cannot be read."""
    describer = _Describer(codec)
    describer.describe_root(tp)
    return typing.cast(list[_Node], describer.nodes)


# ---------------------------------------------------------------------------- simple types

_SCALARS: dict[Any, _Node] = {
    bool: _Node(_BOOL, _K_BOOL, "bool"),
    int: _Node(_INT, _K_INT, "int"),
    float: _Node(_FLOAT, _K_FLOAT | _K_INT | _K_DECIMAL, "float"),
    decimal.Decimal: _Node(_DECIMAL, _K_DECIMAL | _K_INT, "decimal"),
    str: _Node(_STR, _K_STRING | _K_SYMBOL, "string"),
    Symbol: _Node(_SYMBOL, _K_SYMBOL, "symbol"),
    bytes: _Node(_BYTES, _K_BLOB | _K_CLOB, "blob"),
    Timestamp: _Node(_TIMESTAMP, _K_TIMESTAMP, "timestamp"),
    type(None): _Node(_NONE, _K_NULL, "null"),
    None: _Node(_NONE, _K_NULL, "null"),
}

_ANYTHING = (Any, object)


def _or(words: Iterable[str]) -> str:
    """ "a, b or c"."""
    *head, last = dict.fromkeys(words)
    return f"{', '.join(head)} or {last}" if head else last


def _name_of(tp: Any) -> str:
    return tp.__qualname__ if isinstance(tp, type) else str(tp)


def _unsupported(where: str, tp: Any, why: str = "cannot be read from Ion") -> TypeError:
    return TypeError(f"{where}: {_name_of(tp)} {why}")


def _module_class(module: str, name: str) -> Any:
    """A class of a module that need not be loaded: before that nobody can name it."""
    return getattr(sys.modules.get(module), name, None)


# ------------------------------------------------------------------------------- the walk


class _Describer:
    """One description in the making."""

    def __init__(self, codec: Codec | None) -> None:
        self.codec = codec
        self.nodes: list[_Node | None] = []
        self._records: dict[Any, int] = {}
        self._tags: dict[int, tuple[str, str | int]] = {}  # of the records that have one
        self._outlines: set[int] = set()  # nodes that are not what they will be in the end
        self._any: int | None = None
        self._describing: dict[str, type] = {}

    # ---- nodes ----

    def _add(self, node: _Node | None) -> int:
        self.nodes.append(node)
        return len(self.nodes) - 1

    def _at(self, index: int) -> _Node:
        node = self.nodes[index]
        # A record that is still being described is in the end a record.
        return _Node(_RECORD, _K_STRUCT, "struct") if node is None else node

    def describe_root(self, tp: Any) -> None:
        self._add(None)
        where = _name_of(tp)
        index = self.node(tp, where, {})
        self.nodes[0] = self._alias(index)

    def _alias(self, index: int) -> _Node:
        """A node that stands for another, wherever that is."""
        node = self._at(index)
        if node.op not in (_RECORD, _ANY):
            return node
        return self._through(index, node.accepts, node.expected)

    def _through(self, index: int, accepts: int, expected: str, **more: Any) -> _Node:
        """A union of one."""
        kinds = accepts & self._at(index).accepts
        by_kind = tuple(index if kinds >> kind & 1 else -1 for kind in range(_KIND_COUNT))
        return _Node(_UNION, accepts, expected, children=by_kind, **more)

    def _nullable(self, index: int) -> int:
        node = self._at(index)
        if node.accepts & _K_NULL:
            return index
        accepts = node.accepts | _K_NULL
        expected = _or([node.expected, "null"])
        if node.op == _RECORD or index in self._outlines:
            return self._add(self._through(index, accepts, expected))
        return self._add(node._replace(accepts=accepts, expected=expected))

    def _annotated(self, index: int, annotation: str) -> int:
        node = self._at(index)
        expected = f"{annotation}::{node.expected}"
        more = {"annotation": annotation, "is_strict": True}
        return self._add(self._through(index, node.accepts, expected, **more))

    def _anything(self) -> int:
        if self._any is None:
            self._any = self._add(None)
            self.nodes[self._any] = _Node(_ANY, _ALL, "a value")
            if self.codec is not None:
                self._any_registered(self._any, self.codec.annotated_types())
        return self._any

    def _any_registered(self, root: int, registered: Mapping[str, type]) -> None:
        lists = self._add(_Node(_ANY_LIST, _ALL, "a list", children=(root,)))
        structs = self._add(_Node(_ANY_STRUCT, _ALL, "a struct", children=(root,)))
        children, positions = [lists, structs], {}
        for annotation, cls in registered.items():
            positions[annotation] = len(children)
            children.append(self.node(cls, _name_of(cls), {}))
        self.nodes[root] = _Node(_ANY, _ALL, "a value", object=positions, children=tuple(children))

    # ---- hints ----

    def node(self, tp: Any, where: str, variables: Mapping[Any, Any]) -> int:
        """Index of the node for a type hint."""
        if isinstance(tp, typing.TypeVar):
            tp = variables.get(tp, tp.__bound__ or Any)
        while hasattr(tp, "__supertype__"):  # NewType
            tp = tp.__supertype__
        if tp is typing.Self:
            tp = variables.get(tp, tp)
        if tp is typing.LiteralString:
            tp = str
        if _is_type_statement(tp) or _is_type_statement(typing.get_origin(tp)):
            return self._type_statement(tp, where, variables)
        registered = self._registered(tp, where)
        if registered is not None:
            return registered
        if tp in _ANYTHING:
            return self._anything()
        try:
            scalar = _SCALARS.get(tp)
        except TypeError:  # not hashable
            scalar = None
        if scalar is not None:
            return self._add(scalar)
        origin = typing.get_origin(tp)
        if origin is not None:
            return self._generic(tp, origin, typing.get_args(tp), where, variables)
        if isinstance(tp, type):
            return self._class(tp, (), where)
        raise _unsupported(where, tp)

    def _type_statement(self, tp: Any, where: str, variables: Mapping[Any, Any]) -> int:
        """What the name stands for, which may contain the name itself."""
        statement = typing.get_origin(tp) or tp
        args = tuple(_substitute(arg, variables) for arg in typing.get_args(tp))
        key = (statement, args)
        if key not in self._records:
            index = self._records[key] = self._add(_outline(statement.__value__, set()))
            self._outlines.add(index)
            bound = dict(zip(statement.__type_params__, args, strict=False))
            inner = self.node(statement.__value__, where, bound)
            if inner in self._outlines:
                raise _unsupported(where, tp, "stands for nothing but itself")
            self.nodes[index] = self._alias(inner)
            self._outlines.remove(index)
        return self._records[key]

    def _registered(self, tp: Any, where: str) -> int | None:
        if self.codec is None or not isinstance(tp, type):
            return None
        known = self.codec.registered(tp)
        if known is None:
            return None
        annotation, decode = known
        if decode is None:
            return self._class(tp, (), where, annotation)
        key = (tp, "decode")
        if key not in self._records:
            expected = "a value" if annotation is None else f"{annotation}::"
            self._records[key] = self._add(None)
            child = self._anything()
            self.nodes[self._records[key]] = _Node(
                _CONVERT, _ALL & ~_K_NULL, expected, annotation, False, decode, (child,), True
            )
        return self._records[key]

    def _generic(
        self, tp: Any, origin: Any, args: tuple[Any, ...], where: str, variables: Mapping[Any, Any]
    ) -> int:
        name = getattr(origin, "_name", None) or getattr(origin, "__name__", "")
        if origin is typing.Annotated:
            index = self.node(args[0], where, variables)
            field = _field_of(args[1:])
            if field is None or field.annotation is None:
                return index
            return self._annotated(index, field.annotation)
        if origin is typing.Literal:
            return self._literal(args, where)
        if origin is typing.Union or name == "UnionType":
            return self._union(args, where, variables)
        if name in ("Final", "Required", "NotRequired", "ReadOnly"):
            return self.node(args[0], where, variables)
        args = tuple(_substitute(arg, variables) for arg in args)
        if isinstance(origin, type):
            return self._class(origin, args, where)
        raise _unsupported(where, tp)

    def _class(
        self, cls: type, args: tuple[Any, ...], where: str, annotation: str | None = None
    ) -> int:
        if cls in _COLLECTIONS:
            return self._collection(cls, args, where)
        if issubclass(cls, enum.Enum):
            return self._enum(cls, where)
        members = _members_of(cls)
        if members is not None:
            return self._record(cls, args, where, members, annotation)
        return self._converted(cls, where, annotation)

    # ---- scalars beyond the simple ones ----

    def _converted(self, cls: type, where: str, annotation: str | None) -> int:
        datetimes = sys.modules.get("datetime")
        if datetimes is not None and cls is datetimes.datetime:
            return self._add(_Node(_DATETIME, _K_TIMESTAMP, "timestamp", annotation))
        if datetimes is not None and cls is datetimes.date:
            return self._add(_Node(_DATE, _K_TIMESTAMP, "timestamp", annotation))
        if cls in (bytearray, memoryview):
            child = self._add(_SCALARS[bytes])
            return self._add(
                _Node(
                    _CONVERT, _K_BLOB | _K_CLOB, "blob", annotation, object=cls, children=(child,)
                )
            )
        uuid = _module_class("uuid", "UUID")
        path = _module_class("pathlib", "PurePath")
        if uuid is not None and cls is uuid:
            return self._from_text(cls, "a UUID", annotation)
        if path is not None and issubclass(cls, path):
            return self._from_text(cls, "a path", annotation)
        raise _unsupported(where, cls)

    def _from_text(self, cls: type, expected: str, annotation: str | None = None) -> int:
        child = self._add(_SCALARS[str]._replace(expected=expected))
        accepts = _K_STRING | _K_SYMBOL
        return self._add(
            _Node(_CONVERT, accepts, expected, annotation, object=cls, children=(child,))
        )

    def _enum(self, cls: type[enum.Enum], where: str) -> int:
        if issubclass(cls, enum.Flag):
            child = self._add(_SCALARS[int]._replace(expected=f"a {cls.__name__}"))
            return self._add(
                _Node(_CONVERT, _K_INT, f"a {cls.__name__}", object=cls, children=(child,))
            )
        members = cls.__members__.values()
        return self._choice([(m.value, m) for m in members], where, cls)

    def _literal(self, args: tuple[Any, ...], where: str) -> int:
        values = [arg for arg in args if arg is not None]
        if not values:
            return self._add(_SCALARS[None])
        index = self._choice(
            [(v.value if isinstance(v, enum.Enum) else v, v) for v in values], where, args
        )
        return self._nullable(index) if len(values) < len(args) else index

    def _choice(self, pairs: list[tuple[Any, Any]], where: str, what: Any) -> int:
        kinds = {
            bool: _K_BOOL,
            int: _K_INT,
            float: _K_FLOAT,
            str: _K_STRING | _K_SYMBOL,
            bytes: _K_BLOB | _K_CLOB,
            decimal.Decimal: _K_DECIMAL,
        }
        accepts = 0
        texts: dict[str, Any] = {}
        others: dict[Any, Any] = {}
        for value, result in pairs:
            base = next((t for t in kinds if isinstance(value, t)), None)
            if base is None:
                raise _unsupported(where, what, f"has the value {value!r}, which is no scalar")
            accepts |= kinds[base]
            if base is str:
                texts.setdefault(str.__str__(value), result)
            else:
                others.setdefault((value,) if base is bool else value, result)
        shown = [repr(value) for value, _ in pairs]
        if len(shown) > 8:
            shown = [*shown[:8], "..."]
        expected = shown[0] if len(shown) == 1 else f"one of {', '.join(shown)}"
        extra = (tuple(texts), tuple(texts.values()))
        return self._add(_Node(_CHOICE, accepts, expected, object=others, extra=extra))

    # ---- unions ----

    def _union(self, args: tuple[Any, ...], where: str, variables: Mapping[Any, Any]) -> int:
        if Any in args or object in args:
            return self._anything()
        options = [arg for arg in args if arg not in (None, type(None))]
        has_null = len(options) < len(args)
        options, indexes = self._moments(options)
        indexes += [self.node(option, where, variables) for option in options]
        indexes = self._tagged(indexes, where)
        if len(indexes) == 1:
            return self._nullable(indexes[0]) if has_null else indexes[0]
        children, positions = self._branches(indexes, where, args)
        nodes = [self._at(index) for index in indexes]
        accepts = _K_NULL if has_null else 0
        for node in nodes:
            accepts |= node.accepts
        words = [
            f"{node.annotation}::{node.expected}"
            if node.annotation is not None and not node.expected.startswith(f"{node.annotation}::")
            else node.expected
            for node in nodes
        ]
        expected = _or([*words, "null"] if has_null else words)
        return self._add(
            _Node(_UNION, accepts, expected, object=positions or None, children=tuple(children))
        )

    def _tagged(self, indexes: list[int], where: str) -> list[int]:
        """One node in the place of all structs that the same field of theirs tells apart."""
        group = [i for i in indexes if i in self._tags and self._at(i).annotation is None]
        if len(group) < 2 or len({self._tags[i][0] for i in group}) > 1:
            return indexes
        tags = [self._tags[i][1] for i in group]
        if len(set(tags)) < len(tags):
            raise TypeError(f"{where}: two members of the union have the same tag")
        # Those that are text first: the C half finds them by their place.
        group.sort(key=lambda i: not isinstance(self._tags[i][1], str))
        texts = tuple(tag for i in group if isinstance(tag := self._tags[i][1], str))
        numbers = {self._tags[i][1]: n for n, i in enumerate(group) if n >= len(texts)}
        shown = f"one of {', '.join(map(repr, tags))}"
        index = self._add(
            _Node(
                _TAGGED,
                _K_STRUCT,
                "struct",
                object=numbers or None,
                children=tuple(group),
                extra=(texts, self._tags[group[0]][0], shown),
            )
        )
        return [i for i in indexes if i not in group] + [index]

    def _moments(self, options: list[Any]) -> tuple[list[Any], list[int]]:
        """date and datetime are one Ion type: the precision tells them apart."""
        datetimes = sys.modules.get("datetime")
        both = [] if datetimes is None else [datetimes.date, datetimes.datetime]
        if not both or not all(tp in options for tp in both):
            return options, []
        index = self._add(_Node(_MOMENT, _K_TIMESTAMP, "timestamp"))
        return [tp for tp in options if tp not in both], [index]

    def _branches(
        self, indexes: list[int], where: str, args: tuple[Any, ...]
    ) -> tuple[list[int], dict[str, int]]:
        """Who reads which kind of value, and who which annotation."""
        by_kind = [-1] * _KIND_COUNT
        extra: list[int] = []
        positions: dict[str, int] = {}
        plain = []
        for index in indexes:
            annotation = self._at(index).annotation
            if annotation is None:
                plain.append(index)
                continue
            if annotation in positions:
                raise TypeError(
                    f"{where}: two members of the union have annotation {annotation!r}"
                )
            positions[annotation] = _KIND_COUNT + len(extra)
            extra.append(index)
        for index in plain:
            node = self._at(index)
            for kind in _kinds(node.accepts & ~_SECOND_CHOICE.get(node.op, 0) & ~_K_NULL):
                if by_kind[kind] != -1:
                    raise TypeError(
                        f"{where}: members of {' | '.join(map(_name_of, args))} are the same Ion "
                        "type, and no annotations tell them apart"
                    )
                by_kind[kind] = index
        # An exact decimal before a float, whatever the order: the same union is written both ways.
        for index in sorted(plain, key=lambda index: self._at(index).op != _DECIMAL):
            node = self._at(index)
            for kind in _kinds(node.accepts & _SECOND_CHOICE.get(node.op, 0)):
                if by_kind[kind] == -1:
                    by_kind[kind] = index
        return by_kind + extra, positions

    # ---- containers ----

    def _collection(self, cls: type, args: tuple[Any, ...], where: str) -> int:
        op = _COLLECTIONS[cls]
        if op == _DICT:
            return self._dict(args or (str, Any), where)
        if op == _TUPLE_OF and args and not (len(args) == 2 and args[1] is Ellipsis):
            items = () if args == ((),) else args
            children = tuple(self.node(arg, f"{where}[{i}]", {}) for i, arg in enumerate(items))
            return self._add(_Node(_TUPLE, _K_LIST | _K_SEXP, "list", children=children))
        child = self.node(args[0] if args else Any, f"{where}[...]", {})
        return self._add(_Node(op, _K_LIST | _K_SEXP, "list", children=(child,)))

    def _dict(self, args: tuple[Any, ...], where: str) -> int:
        value = self.node(args[1], f"{where}[...]", {})
        children: tuple[int, ...] = (value,)
        if args[0] not in (str, *_ANYTHING):
            key = self.node(args[0], f"{where} (its keys)", {})
            node = self._at(key)
            if node.op not in (_SYMBOL, _CHOICE) or not node.accepts & _K_SYMBOL:
                raise _unsupported(where, args[0], "cannot be a field name, which is text")
            children = (value, key)
        return self._add(_Node(_DICT, _K_STRUCT, "struct", children=children))

    def _record(
        self,
        cls: type,
        args: tuple[Any, ...],
        where: str,
        members_of: Callable[[type, dict[str, Any]], tuple[int, bool, list[_Member]]],
        annotation: str | None,
    ) -> int:
        key = (cls, args)
        if key in self._records:
            return self._records[key]
        index = self._records[key] = self._add(None)
        tag = _tag_of(cls)
        if tag is not None:
            self._tags[index] = tag
        name = cls.__qualname__
        self._describing[cls.__name__] = cls
        hints = _hints_of(cls, self._describing)
        form, has_post_init, members = members_of(cls, hints)
        variables = {**_variables_of(cls, args), typing.Self: cls[args] if args else cls}  # type: ignore[index]
        children, fields = [], []
        seen: dict[str, str] = {}
        for member in members:
            label = f"{name}.{member.attribute}"
            # The wrapped annotation goes through node(); the name is the field's alone.
            field = _field_of(getattr(_bare(member.hint), "__metadata__", ()))
            ion_name = (field and field.name) or member.name or member.attribute
            if ion_name in seen:
                raise TypeError(f"{label}: field {ion_name!r} is that of {seen[ion_name]} too")
            seen[ion_name] = member.attribute
            hint = Any if member.is_ignored else member.hint
            children.append(self.node(hint, label, variables))
            fields.append(
                (
                    sys.intern(ion_name),
                    sys.intern(member.attribute),
                    member.is_required,
                    member.fallback,
                    member.fallback_kind,
                    member.is_ignored,
                )
            )
        if tag is not None:  # the last: it is read and checked, and then no attribute
            children.append(self._choice([(tag[1], tag[1])], name, cls))
            fields.append((tag[0], "", False, None, _NO_FALLBACK, False))
        self.nodes[index] = _Node(
            _RECORD,
            _K_STRUCT,
            "struct",
            annotation,
            object=cls,
            children=tuple(children),
            extra=(form, has_post_init, tag is not None, _is_closed(cls), tuple(fields)),
        )
        return index


_COLLECTIONS: dict[Any, int] = {
    list: _LIST,
    set: _SET,
    frozenset: _FROZENSET,
    tuple: _TUPLE_OF,
    dict: _DICT,
}


def _abstract_collections() -> None:
    """Sequence and the like are read as their plainest class."""
    import collections.abc

    for name, op in (
        ("Sequence", _LIST),
        ("MutableSequence", _LIST),
        ("Collection", _LIST),
        ("Iterable", _LIST),
        ("Set", _FROZENSET),
        ("MutableSet", _SET),
        ("Mapping", _DICT),
        ("MutableMapping", _DICT),
    ):
        _COLLECTIONS[getattr(collections.abc, name)] = op


_abstract_collections()


def _is_type_statement(tp: Any) -> bool:
    return hasattr(tp, "__value__") and hasattr(tp, "__type_params__") and not isinstance(tp, type)


def _outline(tp: Any, seen: set[Any]) -> _Node:
    """Which kinds of values a `type` statement takes, before its parts have been looked at."""
    while typing.get_origin(tp) is typing.Annotated:
        tp = typing.get_args(tp)[0]
    origin = typing.get_origin(tp) or tp
    if _is_type_statement(origin) and origin not in seen:
        return _outline(origin.__value__, seen | {origin})
    if _is_union(tp):
        nodes = [_outline(arg, seen) for arg in typing.get_args(tp)]
        accepts = 0
        for node in nodes:
            accepts |= node.accepts
        return _Node(_UNION, accepts, _or(node.expected for node in nodes))
    op = _COLLECTIONS.get(origin)
    if op is not None and op != _DICT:
        return _Node(op, _K_LIST | _K_SEXP, "list")
    return _SCALARS.get(tp, _Node(_RECORD, _K_STRUCT, "struct"))


def _kinds(accepts: int) -> list[int]:
    return [kind for kind in range(_KIND_COUNT) if accepts >> kind & 1]


# ---------------------------------------------------------------------------------- hints


def _field_of(metadata: Iterable[Any]) -> Field | None:
    return next((item for item in metadata if isinstance(item, Field)), None)


def _bare(hint: Any) -> Any:
    """A hint without what says only whether it must be there."""
    while getattr(typing.get_origin(hint), "_name", None) in (
        "Required",
        "NotRequired",
        "ReadOnly",
        "Final",
    ):
        hint = typing.get_args(hint)[0]
    return hint


def _parameters_of(cls: type) -> dict[str, Any]:
    """What `class C[T]` calls its parameters, for hints that are text: 3.12 does not look there."""
    return {each.__name__: each for each in getattr(cls, "__type_params__", ())}


def _hints_of(cls: type, known: Mapping[str, type]) -> dict[str, Any]:
    try:
        names = {**_parameters_of(cls), **known}
        return typing.get_type_hints(cls, localns=names, include_extras=True)
    except NameError as error:
        raise TypeError(f"{cls.__qualname__}: a type hint cannot be resolved: {error}") from error


def _substitute(tp: Any, variables: Mapping[Any, Any]) -> Any:
    if isinstance(tp, typing.TypeVar):
        return variables.get(tp, tp)
    parameters = getattr(tp, "__parameters__", ())
    if parameters and not isinstance(tp, type):
        return tp[tuple(variables.get(p, p) for p in parameters)]
    return tp


def _variables_of(cls: type, args: tuple[Any, ...]) -> dict[Any, Any]:
    """What the type variables of a class and of its bases stand for."""
    parameters = getattr(cls, "__parameters__", ())
    variables = dict(zip(parameters, args, strict=False))
    for base in getattr(cls, "__orig_bases__", ()):
        origin = typing.get_origin(base)
        if isinstance(origin, type) and origin is not typing.Generic:
            bound = tuple(_substitute(arg, variables) for arg in typing.get_args(base))
            variables = {**_variables_of(origin, bound), **variables}
    return variables


# -------------------------------------------------------------------------------- classes

_Lister = typing.Callable[[type, dict[str, Any]], tuple[int, bool, list[_Member]]]


def _members_of(cls: type) -> _Lister | None:
    """What lists the fields of such a class; ``None`` for a class without."""
    if hasattr(cls, "__dataclass_fields__"):
        return _dataclass_members
    if hasattr(cls, "__struct_fields__"):
        return _msgspec_members
    if hasattr(cls, "__attrs_attrs__"):
        return _attrs_members
    if typing.is_typeddict(cls) or hasattr(cls, "__required_keys__"):
        return _typed_dict_members
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return _named_tuple_members
    return None


def _is_generated(function: Any) -> bool:
    """Was the method made by dataclass or NamedTuple, or by nobody?"""
    code = getattr(function, "__code__", None)
    return code is not None and code.co_filename == "<string>"


def _can_be_filled(cls: type) -> bool:
    """Would the dataclass's constructor only store its arguments?"""
    init, setter, maker = (getattr(cls, n) for n in ("__init__", "__setattr__", "__new__"))
    return (
        (init is object.__init__ or _is_generated(init))
        and (setter is object.__setattr__ or _is_generated(setter))
        and maker is object.__new__
        and not getattr(cls, "__abstractmethods__", None)
    )


def _dataclass_members(cls: type, hints: dict[str, Any]) -> tuple[int, bool, list[_Member]]:
    import dataclasses

    for field in cls.__dataclass_fields__.values():  # type: ignore[attr-defined]
        if getattr(field._field_type, "name", "") == "_FIELD_INITVAR":
            raise TypeError(
                f"{cls.__qualname__}.{field.name}: InitVar cannot be read from Ion, "
                "for it is no part of the object"
            )
    is_direct = _can_be_filled(cls)
    members = []
    for field in dataclasses.fields(cls):
        fallback, kind = None, _NO_FALLBACK
        if field.default is not dataclasses.MISSING:
            fallback, kind = field.default, _DEFAULT
        elif field.default_factory is not dataclasses.MISSING:
            fallback, kind = field.default_factory, _FACTORY
        members.append(
            _Member(
                field.name,
                hints.get(field.name, Any),
                field.init and kind == _NO_FALLBACK,
                fallback if is_direct else None,
                kind if is_direct else _NO_FALLBACK,
                not field.init,
            )
        )
    has_post_init = is_direct and hasattr(cls, "__post_init__") and _calls_post_init(cls)
    return _DIRECT if is_direct else _CALL, has_post_init, members


def _calls_post_init(cls: type) -> bool:
    """With ``init=False`` nobody calls it."""
    return cls.__init__ is not object.__init__  # type: ignore[misc]


def _attrs_members(cls: type, hints: dict[str, Any]) -> tuple[int, bool, list[_Member]]:
    import importlib

    nothing = importlib.import_module("attr").NOTHING
    members = []
    for field in cls.__attrs_attrs__:  # type: ignore[attr-defined]
        alias = getattr(field, "alias", None) or field.name.lstrip("_")
        members.append(
            _Member(
                alias,
                hints.get(field.name, Any),
                field.init and field.default is nothing,
                is_ignored=not field.init,
                name=field.name,
            )
        )
    return _CALL, False, members


def _msgspec_members(cls: type, hints: dict[str, Any]) -> tuple[int, bool, list[_Member]]:
    import importlib

    _refuse_array_like(cls)
    structs: Any = importlib.import_module("msgspec.structs")
    members = [
        _Member(field.name, hints.get(field.name, Any), field.required, name=field.encode_name)
        for field in structs.fields(cls)
    ]
    return _CALL, False, members


def _typed_dict_members(cls: type, hints: dict[str, Any]) -> tuple[int, bool, list[_Member]]:
    required: frozenset[str] = cls.__required_keys__  # type: ignore[attr-defined]
    members = []
    for key, hint in hints.items():
        # The hint itself knows better than the class where annotations are strings.
        wrapped = getattr(typing.get_origin(hint), "_name", None)
        is_required = {"Required": True, "NotRequired": False}.get(wrapped or "", key in required)
        members.append(_Member(key, hint, is_required))
    return _TYPED_DICT, False, members


def _named_tuple_members(cls: type, hints: dict[str, Any]) -> tuple[int, bool, list[_Member]]:
    defaults: dict[str, Any] = getattr(cls, "_field_defaults", {})
    is_plain = _is_generated(cls.__new__)
    members = []
    for name in cls._fields:  # type: ignore[attr-defined]
        has_default = name in defaults
        kind = _DEFAULT if has_default and is_plain else _NO_FALLBACK
        members.append(
            _Member(name, hints.get(name, Any), not has_default, defaults.get(name), kind)
        )
    return _NAMED_TUPLE if is_plain else _CALL, False, members


# -------------------------------------------------------------------------------- writing


# Encoders forget types when they have met too many, and hints take long to look at.
_plain_encodings: weakref.WeakKeyDictionary[type, tuple[Any, Any, Any, None]] = (
    weakref.WeakKeyDictionary()
)


def describe_encoding(cls: type) -> Any:
    """How objects of a class with fields are written.

    Returns:
        ``(names, attributes, tag, function)``: the fields' names in Ion and the attributes they come
        from; ``(name, value)`` of a first field that tells the class, or ``None``; where annotations
        are asked for, and for numpy's classes, a function that gives what is to be written instead,
        else ``None``.
    """
    if cls.__module__.partition(".")[0] == "numpy":
        from ._numpy import native

        return (), (), None, native
    known = _plain_encodings.get(cls)
    if known is not None:
        return known
    attributes, names = _attributes_of(cls)
    tag = _tag_of(cls)
    try:
        hints = _hints_of(cls, {cls.__name__: cls})
    except MemoryError:
        raise
    except Exception:
        hints = _hints_one_by_one(cls)
    wrappers: list[_Wrapper | None] = []
    renamed = list(names)
    for i, attribute in enumerate(attributes):
        hint = _bare(hints.get(attribute, Any))
        field = _field_of(getattr(hint, "__metadata__", ()))
        if field is not None and field.name is not None:
            renamed[i] = sys.intern(field.name)
        wrappers.append(_wrapper_of(hint))
    if not any(wrappers):
        _plain_encodings[cls] = tuple(renamed), attributes, tag, None
        return _plain_encodings[cls]
    function = _annotating(attributes, tuple(renamed), wrappers, tag)
    return tuple(renamed), attributes, tag, function


def _hints_one_by_one(cls: type) -> dict[str, Any]:
    """The hints that can be resolved; of the others, only one that may hold a `Field` matters."""
    import inspect

    hints: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        for name, hint in inspect.get_annotations(base).items():
            alone = type(base.__name__, (), {"__annotations__": {name: hint}})
            alone.__module__ = base.__module__
            try:
                hints |= _hints_of(alone, {cls.__name__: cls})
            except MemoryError:
                raise
            except Exception as error:
                if "Annotated" in str(hint) or "Field" in str(hint):
                    raise TypeError(f"{cls.__qualname__}.{name}: {error}") from error
    return hints


def _tag_of(cls: type) -> tuple[str, str | int] | None:
    """Name and value of the field by which msgspec tells the classes of a union apart."""
    config = getattr(cls, "__struct_config__", None)
    if config is None or config.tag is None:
        return None
    return sys.intern(config.tag_field), config.tag


def _is_closed(cls: type) -> bool:
    """Does the class itself refuse fields that it has not?"""
    config = getattr(cls, "__struct_config__", None)
    return config is not None and bool(config.forbid_unknown_fields)


def _refuse_array_like(cls: type) -> None:
    if cls.__struct_config__.array_like:  # type: ignore[attr-defined]
        raise TypeError(
            f"{cls.__qualname__}: a struct with array_like=True has no place in Ion, "
            "where fields have names"
        )


def _attributes_of(cls: type) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Attributes in order, and their names in Ion before any `Field`."""
    fields = getattr(cls, "__dataclass_fields__", None)
    if fields is not None:
        import dataclasses

        names = tuple(sys.intern(field.name) for field in dataclasses.fields(cls))
        return names, names
    if hasattr(cls, "__struct_fields__"):
        _refuse_array_like(cls)
        encoded = cls.__struct_encode_fields__  # type: ignore[attr-defined]
        return cls.__struct_fields__, tuple(map(sys.intern, encoded))
    if hasattr(cls, "__attrs_attrs__"):
        names = tuple(sys.intern(field.name) for field in cls.__attrs_attrs__)
        return names, names
    names = tuple(cls._fields)  # type: ignore[attr-defined]
    return names, names


# What puts annotations around a value, or parts of it.
_Wrapper = Callable[[Any], Any]


def _wrapper_of(hint: Any) -> _Wrapper | None:
    """For a hint that asks for annotations, at any depth; ``None`` for all others."""
    hint = _bare(hint)
    while hasattr(hint, "__supertype__"):
        hint = hint.__supertype__
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        field = _field_of(hint.__metadata__)
        inner = _wrapper_of(args[0])
        if field is None or field.annotation is None:
            return inner
        return _annotation_wrapper(field.annotation, inner)
    if _is_union(hint):
        return _union_wrapper(args)
    op = _COLLECTIONS.get(origin)
    if op is None or not args:
        return None
    if op == _DICT:
        value = _wrapper_of(args[1])
        return value and _dict_wrapper(value)
    if op == _TUPLE_OF and args[-1] is not Ellipsis:
        return _tuple_wrapper([_wrapper_of(arg) for arg in args])
    item = _wrapper_of(args[0])
    return item and _list_wrapper(item)


def _annotation_wrapper(annotation: str, inner: _Wrapper | None) -> _Wrapper:
    annotations = (annotation,)

    def wrap(value: Any) -> Any:
        if value is None:
            return None
        return Annotated(value if inner is None else inner(value), annotations)

    return wrap


def _union_wrapper(options: tuple[Any, ...]) -> _Wrapper | None:
    """By the class of the value."""
    by_class: dict[Any, _Wrapper] = {}
    for option in options:
        wrapper = _wrapper_of(option)
        if wrapper is not None:
            while typing.get_origin(option) is typing.Annotated:
                option = typing.get_args(option)[0]
            by_class[typing.get_origin(option) or option] = wrapper

    def wrap(value: Any) -> Any:
        wrapper = by_class.get(type(value))
        return value if wrapper is None else wrapper(value)

    return wrap if by_class else None


def _dict_wrapper(inner: _Wrapper) -> _Wrapper:
    def wrap(value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        return {key: inner(item) for key, item in value.items()}

    return wrap


def _list_wrapper(inner: _Wrapper) -> _Wrapper:
    def wrap(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(inner(item) for item in value)
        return list(map(inner, value)) if isinstance(value, Iterable) else value

    return wrap


def _tuple_wrapper(wrappers: list[_Wrapper | None]) -> _Wrapper | None:
    if not any(wrappers):
        return None

    def wrap(value: Any) -> Any:
        if not isinstance(value, tuple) or len(value) != len(wrappers):
            return value
        return tuple(
            item if inner is None else inner(item)
            for inner, item in zip(wrappers, value, strict=True)
        )

    return wrap


def _is_union(hint: Any) -> bool:
    origin = typing.get_origin(hint)
    return origin is typing.Union or getattr(origin, "__name__", "") == "UnionType"


def _annotating(
    attributes: tuple[str, ...],
    names: tuple[str, ...],
    wrappers: list[_Wrapper | None],
    tag: tuple[str, Any] | None,
) -> Callable[[Any], dict[str, Any]]:
    """What makes a dict with annotated values of an object."""
    rows = tuple(zip(attributes, names, wrappers, strict=True))
    first = {} if tag is None else dict([tag])

    def encode(value: Any) -> dict[str, Any]:
        result: dict[str, Any] = dict(first)
        for attribute, name, wrap in rows:
            item = getattr(value, attribute)
            result[name] = item if wrap is None else wrap(item)
        return result

    return encode


class Annotated:
    """A value of any type with annotations, for the writer alone."""

    __slots__ = ("ion_annotations", "value")

    def __init__(self, value: Any, ion_annotations: tuple[str, ...]) -> None:
        self.value = value
        self.ion_annotations = ion_annotations
