"""Strings of binary Ion that are not UTF-8: refused with their place, however they are read."""

from __future__ import annotations

from typing import Any

import pytest

import ionfast


def _binary_string(text: bytes) -> bytes:
    return b"\x8e" + bytes([len(text) >> 7, len(text) & 127 | 128]) + text


@pytest.mark.parametrize("model", ["lossless", "plain", "ionpy"])
@pytest.mark.parametrize("annotation", [b"", b"\xee\x87\x81\x84"])
@pytest.mark.parametrize("length", [3, 60, 511, 512, 513, 900])
def test_binary_strings_that_are_no_utf8(length: int, annotation: bytes, model: Any) -> None:
    for before in ("", "é", "雪", "😀", "a雪b"):
        good = (before + "x" * length).encode()
        for bad in (b"\x80", b"\xe9\x9b", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\xaf"):
            text = good + bad
            value = _binary_string(text)
            if annotation:
                size = len(value) + 2
                value = bytes([0xEE, size >> 7, size & 127 | 128, 0x81, 0x84]) + value
            head = b"\xe0\x01\x00\xea\x20"
            data = head + value
            place = len(data) - len(bad)
            for read in (
                ionfast.loads_all,
                lambda data, **options: list(ionfast.iterload(data, **options)),
                lambda data, **options: list(ionfast.Reader(data, **options)),
            ):
                with pytest.raises(ionfast.IonError, match="valid UTF-8 in a string") as caught:
                    read(data, model=model)
                assert caught.value.offset == place
            reader = ionfast.Reader(data, model=model)
            assert next(reader) == 0
            for _ in range(2):
                with pytest.raises(ionfast.IonError):
                    next(reader)
            assert ionfast.loads_all(head + _binary_string(good), model=model) == [0, good.decode()]
