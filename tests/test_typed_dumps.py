"""Writing objects with fields, wherever they keep them, whatever happens to them meanwhile."""

from __future__ import annotations

import dataclasses
import gc
import pickle
import sys
import weakref
from collections.abc import Callable
from typing import Annotated, Any

import pytest

import ionfast
import scenarios
from ionfast import Field
from leaks import assert_flat


@dataclasses.dataclass
class Plain:
    a: Any
    b: Any = "two"
    c: Any = None


@dataclasses.dataclass(slots=True)
class Slots:
    a: Any
    b: Any = "two"
    c: Any = None


@dataclasses.dataclass(slots=True, weakref_slot=True)
class WeakSlots:
    a: Any
    b: Any = "two"
    c: Any = None


@dataclasses.dataclass
class Half(Slots):
    """Slots, and a dict for the rest."""

    d: Any = 4


@dataclasses.dataclass
class Child(Plain):
    d: Any = 4


@dataclasses.dataclass
class Renamed:
    a: Annotated[Any, Field(name="first")]
    b: Annotated[Any, Field(name="b c")] = "two"


@dataclasses.dataclass
class Failing(Exception):  # noqa: N818 - an exception has a dict of another sort
    a: Any
    b: Any = "two"


@dataclasses.dataclass
class Asked:
    a: Any
    b: Any = "two"

    def __getattribute__(self, name: str) -> Any:
        value = super().__getattribute__(name)
        return value * 2 if name == "a" else value


class Borrowed:
    __slots__ = ("b",)


@dataclasses.dataclass
class Foreign:
    """With a slot of another class, which no object of this one has."""

    a: Any
    b: Any = Borrowed.__dict__["b"]


@dataclasses.dataclass
class Empty:
    pass


Opaque = type("Opaque", (), {})

BODIES = [
    (Plain, '{a:1,b:"two",c:null}'),
    (Slots, '{a:1,b:"two",c:null}'),
    (WeakSlots, '{a:1,b:"two",c:null}'),
    (Half, '{a:1,b:"two",c:null,d:4}'),
    (Child, '{a:1,b:"two",c:null,d:4}'),
    (Renamed, "{first:1,'b c':\"two\"}"),
    (Failing, '{a:1,b:"two"}'),
    (Asked, '{a:2,b:"two"}'),
]


def text_of(value: object, **options: Any) -> str:
    """Text without the marker; binary and indented text must hold the same."""
    text = ionfast.dumps(value, binary=False, **options)
    assert ionfast.loads(ionfast.dumps(value, **options)) == ionfast.loads(text)
    assert ionfast.loads(ionfast.dumps(value, binary=False, indent="  ", **options)) == (
        ionfast.loads(text)
    )
    return text.removeprefix("$ion_1_0 ")


@pytest.mark.parametrize(("cls", "body"), BODIES, ids=[cls.__name__ for cls, _ in BODIES])
def test_where_fields_are(cls: Any, body: str) -> None:
    """At the top, as first and later elements, inside each other, before and after the class is known."""
    ionfast.pools.clear()
    assert text_of(cls(1)) == body
    assert text_of([cls(1), cls(1)]) == f"[{body},{body}]"
    assert text_of({"x": cls(1), "y": [cls(1)]}) == f"{{x:{body},y:[{body}]}}"
    if cls is not Asked:
        assert text_of(cls(cls(1))) == body.replace("1", body, 1)


def test_two_fields_of_one_name() -> None:
    made: Any = dataclasses.make_dataclass(
        "Made", [("a", int), ("b", Annotated[int, Field(name="a")])]
    )
    with pytest.raises(TypeError) as caught:
        ionfast.dumps(made(1, 2))
    assert str(caught.value) == "two fields of Made have the same name in Ion"


def test_an_object_without_fields() -> None:
    assert text_of([Empty(), Empty()]) == "[{},{}]"


@dataclasses.dataclass
class HalfResolved:
    """As where a hint is imported for type checkers alone."""

    a: NoSuchName  # type: ignore[name-defined]  # noqa: F821
    b: Annotated[int, Field(name="second", annotation="cm")] = 2


@dataclasses.dataclass
class Unresolved:
    a: Annotated[NoSuchName, Field(name="first")]  # type: ignore[name-defined]  # noqa: F821


CM = Annotated[int, Field(annotation="cm")]


@dataclasses.dataclass
class Deep:
    """Annotations inside of containers, and on values that may be null."""

    row: Annotated[list[CM], Field(name="r", annotation="row")]
    table: dict[str, list[CM | None]]
    pair: tuple[CM, Any, Annotated[str, Field(annotation="s")]]
    either: list[CM] | CM | None = None
    maybe: Annotated[int | None, Field(annotation="maybe")] = None
    names: Annotated[frozenset[Annotated[str, Field(annotation="n")]], "doc"] = frozenset()
    tuples: tuple[CM, ...] = ()


def test_annotations_inside_of_containers() -> None:
    value = Deep([1, 2], {"k": [3, None]}, (4, 5, "six"))
    text = (
        '{r:row::[cm::1,cm::2],table:{k:[cm::3,null]},pair:[cm::4,5,s::"six"],either:null,'
        "maybe:null,names:[],tuples:[]}"
    )
    assert text_of(value) == text
    full = Deep([], {}, (1, None, "s"), [7], 8, frozenset(["a"]), (9, 10))
    assert text_of(full).endswith(
        'either:[cm::7],maybe:maybe::8,names:[n::"a"],tuples:[cm::9,cm::10]}'
    )
    for each in (value, full, dataclasses.replace(full, either=3)):
        for binary in (True, False):
            assert ionfast.loads(ionfast.dumps(each, binary=binary), type=Deep) == each


def test_values_that_are_not_what_their_hints_say_are_written_as_they_are() -> None:
    value = Deep(1, {2}, [3], "four", "five", 6, 7)  # type: ignore[arg-type]
    assert text_of(value) == (
        '{r:row::1,table:[2],pair:[3],either:"four",maybe:maybe::"five",names:6,tuples:7}'
    )


def test_a_hint_that_cannot_be_resolved_hides_no_other() -> None:
    assert text_of(HalfResolved(1)) == "{a:1,second:cm::2}"
    with pytest.raises(TypeError) as caught:
        ionfast.dumps(Unresolved(1))
    assert str(caught.value) == (
        "Unresolved.a: Unresolved: a type hint cannot be resolved: name 'NoSuchName' is not defined"
    )


def test_reading_fields_makes_no_dict() -> None:
    """In 3.11 and later a dict would cost each object a hundred bytes for good."""
    values = [Plain(i) for i in range(100)]
    ionfast.dumps(values)
    before = sys.getallocatedblocks()
    ionfast.dumps(values)
    assert sys.getallocatedblocks() - before < 50


def with_dict(value: Plain) -> Plain:
    assert value.__dict__
    return value


def given_dict(value: Plain) -> Plain:
    value.__dict__ = {"c": 3, "a": 1, "b": "two"}
    return value


def copied_dict(value: Plain) -> Plain:
    value.__dict__ = dict(value.__dict__)
    return value


def own_dict(value: Plain) -> Plain:
    class Own(dict):  # type: ignore[type-arg]
        pass

    value.__dict__ = Own(value.__dict__)
    return value


def extra(value: Plain) -> Plain:
    value.z = 26  # type: ignore[attr-defined]
    return value


def many_extra(value: Plain) -> Plain:
    """Too many for the keys that a class's objects share."""
    for i in range(100):
        setattr(value, f"extra_{i}", i)
    return value


def default_of_class(value: Plain) -> Plain:
    del value.c
    return value


def set_again(value: Plain) -> Plain:
    del value.a
    value.a = 1
    return value


def emptied_dict(value: Plain) -> Plain:
    value.__dict__.clear()
    value.a, value.c, value.b = 1, None, "two"
    return value


STATES: list[Callable[[Plain], Plain]] = [
    with_dict, given_dict, copied_dict, own_dict, extra, many_extra, default_of_class, set_again,
    emptied_dict, lambda value: pickle.loads(pickle.dumps(value)),
]  # fmt: skip


@pytest.mark.parametrize("change", STATES, ids=lambda change: change.__name__)
def test_objects_whose_attributes_have_been_moved(change: Callable[[Plain], Plain]) -> None:
    wanted = '{a:1,b:"two",c:null}' if change is not given_dict else '{a:1,b:"two",c:3}'
    for _ in range(2):
        assert text_of(change(Plain(1))) == wanted
        values = [Plain(0), change(Plain(1)), Plain(2)]
        assert text_of(values) == f'[{{a:0,b:"two",c:null}},{wanted},{{a:2,b:"two",c:null}}]'


def test_the_first_object_of_a_class_may_lack_attributes() -> None:
    """What is learned from it must not be wrong for the next."""
    made = dataclasses.make_dataclass("Made", [("a", int), ("b", int)])
    odd = made.__new__(made)
    odd.b = 2
    with pytest.raises(AttributeError, match="'a'") as caught:
        ionfast.dumps([odd])
    assert text_of([made(1, 2), made(3, 4)]) == "[{a:1,b:2},{a:3,b:4}]"
    with pytest.raises(AttributeError, match="'a'") as caught:
        ionfast.dumps({"x": [made(1, 2), odd]})
    assert caught.value.__notes__ == ["at $.x[1].a"]


def test_a_slot_of_another_class() -> None:
    value = Foreign.__new__(Foreign)
    value.a = 1
    with pytest.raises(TypeError, match="doesn't apply to a 'Foreign' object"):
        ionfast.dumps(value)


@pytest.mark.parametrize("cls", [Plain, Slots])
@pytest.mark.parametrize("binary", [True, False])
def test_attributes_set_by_a_hook_are_written_when_their_turn_comes(
    cls: Any, binary: bool
) -> None:
    def hook(found: object) -> str:
        value.a, value.b, value.c = "late", "new", [3]
        return "hook"

    value = cls(Opaque(), "two", Opaque())
    data = ionfast.dumps([value], binary=binary, default=hook)
    assert ionfast.loads(data) == [{"a": "hook", "b": "new", "c": [3]}]


@pytest.mark.parametrize("cls", [Plain, Slots])
@pytest.mark.parametrize("binary", [True, False])
def test_a_hook_that_takes_everything_away(cls: Any, binary: bool) -> None:
    def delete(found: object) -> str:
        del value.b, value.c
        gc.collect()
        return "gone"

    value = cls(Opaque(), ["b"] * 3, ["c"])
    if cls is Plain:  # the class has a default
        assert ionfast.loads(ionfast.dumps([value], binary=binary, default=delete)) == [
            {"a": "gone", "b": "two", "c": None}
        ]
        return
    with pytest.raises(AttributeError) as caught:
        ionfast.dumps([value], binary=binary, default=delete)
    assert caught.value.__notes__ == ["at $[0].b"]


@pytest.mark.parametrize("cls", [Plain, Slots])
@pytest.mark.parametrize("binary", [True, False])
def test_a_hook_that_changes_the_class_of_what_is_written(cls: Any, binary: bool) -> None:
    """Fields are then asked for by name."""
    other: Any = dataclasses.make_dataclass(
        "Other", [("a", Any), ("b", Any), ("c", Any)], slots=cls is Slots
    )

    def change(found: object) -> str:
        value.__class__ = other
        return "changed"

    value = cls(Opaque(), [1], [2])
    data = ionfast.dumps([value, value], binary=binary, default=change)
    assert ionfast.loads(data)[0] == {"a": "changed", "b": [1], "c": [2]}


@scenarios.classes_die
@pytest.mark.parametrize("binary", [True, False])
def test_a_hook_that_drops_the_object_and_its_class(binary: bool) -> None:
    made: Any = dataclasses.make_dataclass("Made", [("a", Any), ("b", Any)])
    values = [made(Opaque(), ["b"]), made(1, 2)]
    ref = weakref.ref(made)

    def drop(found: object) -> str:
        nonlocal made
        values.clear()
        made = None
        ionfast.pools.clear()
        gc.collect()
        return "dropped"

    data = ionfast.dumps(values, binary=binary, default=drop)
    assert ionfast.loads(data) == [{"a": "dropped", "b": ["b"]}]
    ionfast.pools.clear()
    gc.collect()
    assert ref() is None


@pytest.mark.parametrize("cls", [Plain, Slots])
@pytest.mark.parametrize("binary", [True, False])
def test_deep_objects_need_no_c_stack(cls: Any, binary: bool) -> None:
    value = None
    for _ in range(50_000):
        value = cls(value)
    with pytest.raises(ionfast.IonError, match="deep"):
        ionfast.dumps(value, binary=binary)
    assert len(ionfast.dumps(value, binary=binary, max_depth=None)) > 400_000
    while value is not None:  # bit by bit, for the interpreter's own sake
        value = value.a


@pytest.mark.parametrize("cls", [Plain, Slots, Half, Renamed, Failing])
def test_nothing_is_left_behind(cls: Any) -> None:
    assert_flat(lambda: ionfast.dumps([cls(1), {"x": cls("s")}, cls([cls(1.5)])]), cls)

    def fail() -> None:
        with pytest.raises(TypeError):
            ionfast.dumps([cls(1), cls([cls(Opaque())])], binary=False)

    assert_flat(fail, cls, Opaque)


@pytest.mark.parametrize("binary", [True, False])
def test_subclasses_of_what_ion_has(binary: bool) -> None:
    """Met and not yet met, among values of the exact types."""

    class Text(str):
        pass

    class Number(int):
        pass

    class Ratio(float):
        pass

    values = [
        Text("a"),
        "b",
        Text("é\u4e2d"),
        Number(-7),
        Number(2**100),
        8,
        Ratio(1.5),
        Text('"\n'),
    ]
    ionfast.pools.clear()
    for _ in range(2):
        again = ionfast.loads(ionfast.dumps([*values, {"k": Text("v")}], binary=binary))
        assert again == [*values, {"k": "v"}]
