"""A few thousand documents, read by ionfast and amazon.ion; `python -m tests.differential` does more."""

from __future__ import annotations

import pathlib

import pytest

import ionfast
from differential import canonical, programs, run
from differential.documents import Documents
from differential.expected import Difference, expected


@pytest.mark.slow
@pytest.mark.parametrize("seed", [11, 12])
def test_amazon_ion_differs_only_where_it_is_known_to(seed: int) -> None:
    """Run one again alone: python -m tests.differential --count 1500 --seed 11"""
    pytest.importorskip("amazon.ion.simpleion", reason="amazon.ion is not installed")
    report = run.run(1500, seed, ["c"])
    assert report.agreed["c"][0] > 500
    assert report.agreed["c"][1] > 300
    assert not report.unexpected, [report.smallest[key] for key in report.unexpected]


def test_generated_documents_read_as_they_were_made(tmp_path: pathlib.Path) -> None:
    """Whatever the readers say to each other: the generator knows what it meant."""
    made = [d for d in Documents(13, with_seeds=False).batch(600) if d.wanted is not None]
    reader = programs.ionfast()
    try:
        answers = reader.read([d.data for d in made], tmp_path)
    finally:
        reader.close()
    assert [a.strong for a in answers] == [d.wanted for d in made]
    assert len(made) > 200


def test_a_wrong_value_is_an_unexpected_difference() -> None:
    ours = programs.Answer("+", '[i1,s"a",t2000-01-01T00:00:00.123+00:00]')
    for wrong in (
        '[i2,s"a",t2000-01-01T00:00:00.123+00:00]',
        '[i1,s"a",t2000-01-01T00:00:00+00:00]',
    ):
        found = Difference(b"[1,...]", "c", "values", ours, programs.Answer("+", wrong))
        assert expected(found) is None


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (None, "null.null"),
        (-255, "i-ff"),
        (-0.0, "f8000000000000000"),
        (float("nan"), "fnan"),
        ('a"é\n', 's"a%22%c3%a9%0a"'),
        (b"\x00\xff", "b00ff"),
        ({"b": [True], "a": ionfast.Symbol("x'")}, "{'a':y'x%27','b':[true]}"),
        (ionfast.loads("-0.00"), "d-0^-2"),
        (ionfast.loads("2007-02-23T12:14:33.0790-00:00"), "t2007-02-23T12:14:33.0790-00:00"),
        (ionfast.loads("a::b::(null.clob)"), "'a'::'b'::(null.clob)"),
        (ionfast.loads("$0"), "y$0"),
    ],
)
def test_canonical_text(value: object, wanted: str) -> None:
    from differential.worker import ionfast_reader

    assert ionfast_reader()(bytes(ionfast.dumps(value))) == wanted
    assert not canonical.is_weakened(wanted)
