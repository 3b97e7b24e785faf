"""What type checkers make of typed reading; never run, only checked."""

import dataclasses
from decimal import Decimal
from typing import Annotated, Any, NamedTuple, TypedDict, assert_type

import ionfast


@dataclasses.dataclass
class Order:
    id: int
    total: Annotated[Decimal, ionfast.Field(name="sum")]


class Point(NamedTuple):
    x: int


class Movie(TypedDict):
    title: str


data = b""

assert_type(ionfast.loads(data, type=Order), Order)
assert_type(ionfast.loads(data, type=list[Order]), list[Order])
assert_type(ionfast.loads(data, type=dict[str, Point]), dict[str, Point])
assert_type(ionfast.loads(data, type=Movie), Movie)
assert_type(ionfast.loads_all(data, type=Order, forbid_unknown=True), list[Order])

decoder = ionfast.Decoder(Order)
assert_type(decoder, ionfast.Decoder[Order])
assert_type(decoder.loads(data), Order)
assert_type(decoder.loads_all("1"), list[Order])

value: Any = ionfast.loads(data)
codec = ionfast.Codec()
assert_type(codec.add(Order, annotation="order"), type[Order])
assert_type(ionfast.dumps(Order(1, Decimal(2)), codec=codec), bytes)
assert_type(ionfast.dumps(1, binary=False, codec=codec), str)

try:
    ionfast.loads("a", type=int)
except ionfast.ValidationError as error:
    assert_type((error.path, error.expected, error.found), tuple[str, str, str])
    assert_type(error.offset, int | None)
