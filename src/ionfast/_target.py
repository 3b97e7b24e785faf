"""Where the output of `ionfast.Writer` and `ionfast.transcode` goes."""

import os
from collections.abc import Callable
from typing import Any

__all__ = ["open_target"]


def open_target(
    target: Any, is_binary: bool
) -> tuple[Any, Callable[[Any], Any], Callable[[], None] | None, bool]:
    """The file to write to.

    Args:
        target: A path, or a file object opened for writing.
        is_binary: Binary Ion will be written, which a text file cannot hold.

    Returns:
        The file; its ``write``; what closes it, if it was opened here; and whether it takes
        ``str``.
    """
    write = getattr(target, "write", None)
    if callable(write):
        takes_str = hasattr(target, "encoding")
        if takes_str and is_binary:
            raise TypeError("binary Ion needs a file opened in binary mode")
        return target, write, None, takes_str
    if not isinstance(target, (str, os.PathLike)):
        name = type(target).__qualname__
        raise TypeError(f"a path or a file object is needed, not {name}")
    # Unbuffered, for the data comes in blocks, and a failed write then says what it took.
    file = open(target, "wb", buffering=0)  # noqa: PTH123 - as in _io.py
    return file, file.write, file.close, False
