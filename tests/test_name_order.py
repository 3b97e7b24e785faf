"""Field names of text are guessed by the order in which they came before: nothing else changes."""

from __future__ import annotations

import io
import random
from collections.abc import Callable
from typing import Any

import pytest

import ionfast

WORDS = [
    f"{stem}{'x' * (i % 23)}{i}" for i, stem in enumerate(["id", "name", "k", "_a", "$b"] * 700)
]
ODD = ["", "null", "true", "a b", 'q"', "$10", "10", "é", "nan", "\n", "x" * 65, "a:b"]


def written(name: str, form: int) -> str:
    """The name as it may stand: an identifier, in double or in single quotes, with white space behind."""
    inside = name.replace('"', '\\"').replace("\n", "\\n")
    plain = f"'{inside}'" if name in ODD else name
    return [f"{plain}:", f"'{inside}':", f'"{inside}":', f'"{inside}" :', f"{plain}/**/: "][form]


def text_of(names: list[str], forms: Callable[[], int]) -> str:
    """A list of structs of up to nine fields with these names in order, each value its name's place."""
    structs = []
    for start in range(0, len(names), 9):
        fields = [
            f"{written(n, forms())}{start + i}" for i, n in enumerate(names[start : start + 9])
        ]
        structs.append("{" + ",".join(fields) + "}")
    return "[" + ",".join(structs) + "]"


def pairs_of(values: list[Any]) -> list[Any]:
    """All fields in order, repeated names too."""
    return [
        pair
        for value in values
        for pair in (
            value.iter_all_items() if isinstance(value, ionfast.IonPyDict) else value.items()
        )
    ]


@pytest.mark.parametrize("seed", range(12))
def test_names_in_changing_orders(seed: int) -> None:
    """Loops with a step out of line, and more names than the cache has room for."""
    rnd = random.Random(seed)
    words = rnd.sample(WORDS, rnd.choice([3, 12, 40, 3000])) + ODD
    loop = rnd.choices(words, k=30)
    for _ in range(20):
        names = [n if rnd.random() < 0.9 else rnd.choice(words) for n in loop * 3]
        text = text_of(names, lambda: rnd.choice([0, 0, 0, 1, 2, 3, 4]))
        expected = list(zip(names, range(len(names)), strict=True))
        assert pairs_of(ionfast.loads(text)) == expected
        reader = ionfast.Reader(text)
        assert pairs_of(next(iter(reader))) == expected


def test_values_that_use_the_names_slots_too() -> None:
    """Symbols and annotations share the cache of names, and may push the guessed one out of it."""
    for _ in range(3):
        for word in WORDS:
            text = f"[{{first:{word}::1,second:'{word}'}},{{first:1,second:2,third:3                  }}]"
            first, second = ionfast.loads(text)
            assert list(first) == ["first", "second"]
            assert first["second"] == word
            assert first["first"].ion_annotations == (word,)
            assert second == {"first": 1, "second": 2, "third": 3}


def test_a_guess_outlives_neither_an_error_nor_its_call() -> None:
    good = "{alpha:1,beta:2,gamma:3,delta:[1,2,3,4,5,6,7,8,9]}"
    for bad in (
        "{alpha:1,beta",
        "{alpha:1,beta:",
        "{alpha:1,beta::2         }",
        "{alpha:1 beta:2         }",
    ):
        for _ in range(3):
            assert list(ionfast.loads(good)) == ["alpha", "beta", "gamma", "delta"]
            with pytest.raises(ionfast.IonError):
                ionfast.loads(bad)
            assert ionfast.loads("{beta:1,alpha:2         }") == {"beta": 1, "alpha": 2}


def test_guesses_with_pieces_of_any_size() -> None:
    text = b"{alpha:1,beta:2,gamma:{alpha:1,beta:2,alphabet:3,alpha:[]}}" * 4
    expected = ionfast.loads_all(text)
    assert list(expected[0]["gamma"].iter_all_items())[3] == ("alpha", [])
    for size in range(1, 70):
        assert list(ionfast.Reader(Pieces(text, size))) == expected


class Pieces(io.BytesIO):
    """A file that gives `piece` bytes at a time."""

    def __init__(self, data: bytes, piece: int) -> None:
        super().__init__(data)
        self.piece = piece

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(self.piece)
