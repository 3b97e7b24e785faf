"""Where the output of `ionfast.Writer` and `ionfast.transcode` goes."""

import os
import stat
from collections.abc import Callable
from typing import Any

__all__ = ["open_target"]


def open_target(
    target: Any, is_binary: bool, source: Any = None
) -> tuple[Any, Callable[[Any], Any], Callable[[], None] | None, bool]:
    """The file to write to.

    Args:
        target: A path, or a file object opened for writing.
        is_binary: Binary Ion will be written, which a text file cannot hold.
        source: What is read at the same time, if anything: opening its file would empty it.

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
    if source is not None and _is_file_of(source, target):
        raise ValueError(f"the target is the file that is being read: {target!r}")
    # Unbuffered, for the data comes in blocks, and a failed write then says what it took.
    file = open(target, "wb", buffering=0)  # noqa: PTH123 - as in _io.py
    return file, file.write, file.close, False


def _is_file_of(source: Any, path: str | os.PathLike[str]) -> bool:
    """Does the source, a path, a file object or data, read the regular file at this path?"""
    if not isinstance(source, os.PathLike) and not hasattr(source, "fileno"):
        return False
    try:
        read = os.stat(source if isinstance(source, os.PathLike) else source.fileno())  # noqa: PTH116
        written = os.stat(path)  # noqa: PTH116
    except (OSError, ValueError, TypeError):  # no such file yet, or no file of the system's
        return False
    return os.path.samestat(read, written) and stat.S_ISREG(read.st_mode)
