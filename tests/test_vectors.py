"""The public Ion test vectors: good, bad, equivs, non-equivs and equivTimeline.

Run one again alone: pytest tests/test_vectors.py -k 'good/symbolZero.ion'
"""

from __future__ import annotations

import decimal
import io
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import pytest

import ionfast
import model
import vectors
from ionfast.equivalence import ion_equals

MODELS = ("lossless", "ionpy")

ENCODINGS: dict[str, Callable[[Sequence[object]], bytes | str]] = {
    "binary": lambda values: ionfast.dumps_all(values, binary=True),
    "compact": lambda values: ionfast.dumps_all(values, binary=False),
    "pretty": lambda values: ionfast.dumps_all(values, binary=False, indent="  "),
}


def assert_same(left: Sequence[Any], right: Sequence[Any]) -> None:
    """Equal in the Ion data model, as this suite and as the library sees it."""
    as_models = model.of_values(left, order="repeated"), model.of_values(right, order="repeated")
    assert as_models[0] == as_models[1]
    assert len(left) == len(right)
    assert all(map(ion_equals, left, right))


def test_no_vector_is_lost() -> None:
    """The numbers of files, so that a change of the data or of the search is seen."""
    if not vectors.VECTORS.is_dir():
        pytest.skip(vectors.NEEDS_TESTDATA)
    counts = {folder: len(vectors.paths(folder)) for folder in ("good", "bad")}
    assert counts == {"good": 289, "bad": 496}


# ---------------------------------------------------------------------------- good


@vectors.parametrize("good")
def test_good_reads_the_same_from_bytes_and_from_a_file(vector: str) -> None:
    data = vectors.read(vector)
    from_bytes = ionfast.loads_all(data)
    assert_same(from_bytes, ionfast.loads_all(bytearray(data)))
    assert_same(from_bytes, ionfast.load_all(vectors.VECTORS / vector))
    assert_same(from_bytes, list(ionfast.iterload(io.BytesIO(data))))


@pytest.mark.parametrize("value_model", MODELS)
@pytest.mark.parametrize("encoding", ENCODINGS)
@vectors.parametrize("good")
def test_good_survives_two_hops(vector: str, encoding: str, value_model: str) -> None:
    first = ionfast.loads_all(vectors.read(vector), model=value_model)
    second = ionfast.loads_all(ENCODINGS[encoding](first), model=value_model)
    assert_same(first, second)
    third = ionfast.loads_all(ENCODINGS[encoding](second), model=value_model)
    assert_same(first, third)


@vectors.parametrize("good")
def test_good_is_the_same_in_both_lossless_models(vector: str) -> None:
    data = vectors.read(vector)
    lossless, ionpy = (ionfast.loads_all(data, model=value_model) for value_model in MODELS)
    assert model.of_values(lossless) == model.of_values(ionpy)


@vectors.parametrize("good")
def test_good_reads_in_the_plain_model(vector: str) -> None:
    data = vectors.read(vector)
    assert len(ionfast.loads_all(data, model="plain")) == len(ionfast.loads_all(data))


# ----------------------------------------------------------------------------- bad


@vectors.parametrize("bad")
def test_bad_is_an_error_with_an_offset(vector: str) -> None:
    data = vectors.read(vector)
    with pytest.raises(ionfast.IonError) as caught:
        ionfast.loads_all(data)
    assert 0 <= caught.value.offset <= len(data)


@vectors.parametrize("bad")
def test_bad_is_an_error_in_a_file(vector: str) -> None:
    with pytest.raises(ionfast.IonError):
        ionfast.load_all(vectors.VECTORS / vector)


def _text_vectors(folder: str) -> list[str]:
    """The text vectors that a `str` can hold: those that are valid UTF-8."""
    return [n for n in vectors.paths(folder) if n.endswith(".ion") and _is_utf8(vectors.read(n))]


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


@pytest.mark.parametrize("vector", _text_vectors("bad"))
def test_bad_text_is_an_error_as_str(vector: str) -> None:
    with pytest.raises(ionfast.IonError) as caught:
        ionfast.loads_all(vectors.read(vector).decode())
    assert caught.value.offset is not None
    assert caught.value.line >= 1
    assert caught.value.column >= 1


@pytest.mark.parametrize("vector", [n for n in _text_vectors("good") if n not in vectors.NOT_UTF8])
def test_good_text_reads_the_same_as_str(vector: str) -> None:
    data = vectors.read(vector)
    assert_same(ionfast.loads_all(data), ionfast.loads_all(data.decode()))


# --------------------------------------------------- equivs, non-equivs, equivTimeline


def _groups(vector: str) -> list[list[Any]]:
    """The groups of a vector. Embedded documents are read, each to the list of its values."""
    groups = []
    for group in ionfast.loads_all(vectors.read(vector)):
        embeds = "embedded_documents" in getattr(group, "ion_annotations", ())
        groups.append([ionfast.loads_all(str(item)) if embeds else item for item in group])
    assert groups
    return groups


def _equal(left: Any, right: Any) -> tuple[bool, bool]:
    """Whether two members are equal as this suite sees it, and as the library does."""
    by_model = model.of_value(left) == model.of_value(right)
    return by_model, ion_equals(left, right)


def _reencoded(groups: list[list[Any]], encoding: str) -> list[list[Any]]:
    return [
        [_hop(member, encoding) for member in group] if group and isinstance(group[0], list) else
        ionfast.loads_all(ENCODINGS[encoding](group))
        for group in groups
    ]  # fmt: skip


def _hop(member: Any, encoding: str) -> Any:
    (value,) = ionfast.loads_all(ENCODINGS[encoding]([member]))
    return value


@vectors.parametrize("good/equivs")
def test_equivs_are_equal_in_both_orders(vector: str) -> None:
    for group in _groups(vector):
        for left, right in itertools.product(group, repeat=2):
            assert _equal(left, right) == (True, True), (left, right)


@vectors.parametrize("good/non-equivs")
def test_non_equivs_differ_in_both_orders(vector: str) -> None:
    for group in _groups(vector):
        for left, right in itertools.permutations(group, 2):
            assert _equal(left, right) == (False, False), (left, right)


@pytest.mark.parametrize("encoding", ENCODINGS)
@vectors.parametrize("good/non-equivs")
def test_non_equivs_differ_from_reencoded_copies(vector: str, encoding: str) -> None:
    groups = _groups(vector)
    for group, copies in zip(groups, _reencoded(groups, encoding), strict=True):
        for (i, left), (j, right) in itertools.product(enumerate(group), enumerate(copies)):
            assert _equal(left, right) == (i == j, i == j), (left, right)


def _instant(timestamp: Any) -> decimal.Decimal:
    """Minutes' worth of exact seconds since year 1, with an unknown offset taken as UTC."""
    offset = timestamp.utcoffset()
    whole = timestamp.replace(tzinfo=None, microsecond=0) - (offset or timestamp.resolution * 0)
    days = whole.toordinal() * 86400 + whole.hour * 3600 + whole.minute * 60 + whole.second
    with decimal.localcontext() as context:
        context.prec = 1000
        return days + decimal.Decimal(timestamp.fractional_seconds)


@vectors.parametrize("good/timestamp/equivTimeline")
def test_equiv_timeline_is_the_same_instant(vector: str) -> None:
    for group in _groups(vector):
        assert len(set(map(_instant, group))) == 1, group
        for left, right in itertools.product(group, repeat=2):
            assert ion_equals(left, right, timestamps_instants_only=True), (left, right)


# Feeding each good vector in pieces, down to one byte, and each bad one, belongs here: it is asserted
# against the same `ionfast.loads_all(data)` as above.
