"""Decimals that repeat share one object: the same values as ever, in bounded memory."""

from __future__ import annotations

import gc
import random
import sys
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

import ionfast
import scenarios
from ionfast import pools

# Which objects are one depends on the decoder that a call gets.
pytestmark = pytest.mark.thread_unsafe

# What equals and is not the same, and what is too long to be kept.
TEXTS = [
    *("1.", "1.0", "1.00", "10d-1", "-1.", "1d1", "1d63", "1d64", "1d-64", "1d-65", "1d1000"),
    *("0.", "-0.", "0.0", "-0.00", "0d3", "-0d3", "0d-64", "0d-65", "0d-320", "256.", "25.6"),
    *("4294967295.", "4294967296.", "-4294967295.", "72057594037927937.", "9999999999999999999."),
    *("10000000000000000000.", "1d128", "1d-192", "1d320", "123456789012345678901234567890.5"),
]


@pytest.fixture(autouse=True)
def _fresh_decoder() -> Iterator[None]:
    pools.clear()
    yield
    pools.clear()


def both(values: list[Decimal]) -> list[bytes]:
    """The list in binary and in text."""
    return [ionfast.dumps(values), ionfast.dumps(values, binary=False).encode()]


def same(values: list[Any], expected: list[Decimal]) -> bool:
    """Down to exponents and signs, which `==` does not tell apart."""
    return list(map(Decimal.as_tuple, values)) == list(map(Decimal.as_tuple, expected))


def test_each_is_itself_however_often_it_comes() -> None:
    expected = [Decimal(text.replace("d", "e")) for text in TEXTS]
    for seed in range(40):
        order = random.Random(seed).choices(range(len(TEXTS)), k=200)
        values = [expected[i] for i in order]
        for data in both(values):
            assert same(ionfast.loads(data), values)
        text = "[" + ",".join(TEXTS[i] for i in order) + "]"
        assert same(ionfast.loads(text), values)


def test_the_third_is_the_second_also_in_the_next_input() -> None:
    for encoded in both([Decimal("5.00")]):
        values = [ionfast.loads(encoded)[0] for _ in range(4)]
        assert all(value.as_tuple() == Decimal("5.00").as_tuple() for value in values)
        assert values[1] is values[2] is values[3]
        pools.clear()


def test_those_that_come_once_take_nothing_away() -> None:
    """Four times as many as there are slots, and a known one among them."""
    known = ionfast.loads("[7.,7.,7.]")[2]
    assert ionfast.loads("7.") is known
    ionfast.loads("[" + ",".join(f"{i}.5" for i in range(200)) + "]")
    assert ionfast.loads("7.") is known


def test_long_runs_without_a_repeat_and_then_with() -> None:
    """Points run out, a pause goes by, and all is as it was: some of it over the pause's end."""
    once = [Decimal(i).scaleb(-2) for i in range(20_000)]
    repeated = [Decimal(i % 7) for i in range(20_000)]
    for values in (once, repeated, once + repeated, repeated + once, once):
        for data in both(values):
            assert same(ionfast.loads(data), values)
    values = ionfast.loads(both(repeated)[1])
    assert len(set(map(id, values[-100:]))) == 7


def test_annotated_ones_and_those_of_ionpy_are_their_own() -> None:
    """They can be given attributes."""
    for data in ("[a::1.,a::1.,a::1.,a::1.]", "[1.,1.,1.,1.]"):
        values = ionfast.loads(data, model="ionpy")
        assert len(set(map(id, values))) == 4
        values[3].ion_annotations = ("b",)
        assert values[2].ion_annotations == (() if data[1] == "1" else ("a",))
    values = ionfast.loads("[a::1.,a::1.,a::1.,a::1.]")
    assert len(set(map(id, values))) == 4


@pytest.mark.skipif(not scenarios.HAS_GIL, reason="references are counted otherwise")
def test_the_pool_gives_them_back() -> None:
    value = ionfast.loads("[3.25,3.25,3.25]")[2]
    assert ionfast.loads("3.25") is value
    assert pools.stats()["decoders"]["idle_bytes"] > 256 * (24 + 100)
    kept = sys.getrefcount(value)
    pools.clear()
    assert sys.getrefcount(value) == kept - 1
    assert value == Decimal("3.25")


def test_memory_is_bounded() -> None:
    """A quarter of a million different ones twice over keep no more than there are slots."""
    values = [Decimal(i).scaleb(-3) for i in range(250_000) for _ in range(2)]
    data = ionfast.dumps(values)
    ionfast.loads(data)
    gc.collect()
    before = sys.getallocatedblocks()
    assert same(ionfast.loads(data), values)
    gc.collect()
    assert sys.getallocatedblocks() - before < 600


def test_contexts_change_nothing() -> None:
    import decimal

    with decimal.localcontext() as context:
        context.prec = 1
        context.Emax = 2
        context.traps[decimal.Inexact] = True
        values = ionfast.loads("[123.45,123.45,123.45,1d50,1d50,1d50]")
    assert same(values, [Decimal("123.45")] * 3 + [Decimal("1e50")] * 3)
