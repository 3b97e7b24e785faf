"""Files and paths: what surrounds ``loads`` and ``dumps``, gzip and zstd included."""

import importlib
import io
import os
from collections.abc import Callable, Iterable, Iterator
from typing import IO, TYPE_CHECKING, Any, Literal, TypeAlias

from ._errors import IonError
from ._ionfast import Reader, dumps, dumps_all, loads, loads_all

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["dump", "dump_all", "iterload", "load", "load_all", "open_source"]

Compression: TypeAlias = Literal["auto"] | None
Source: TypeAlias = str | os.PathLike[str] | IO[bytes] | IO[str]
Target: TypeAlias = str | os.PathLike[str] | IO[bytes] | IO[str]

_MAGIC = {"gzip": b"\x1f\x8b", "zstd": b"\x28\xb5\x2f\xfd"}
_READ_SIZE = 1 << 20
# Little at a time: gzip can grow a thousandfold.
_COMPRESSED_SIZE = 1 << 14


def load(source: Source, *, compression: Compression = "auto", **options: Any) -> Any:
    """Read the one value of a file.

    Args:
        source: A path, or a file object opened for reading, binary or text.
        compression: ``"auto"`` decompresses gzip and zstd, told by their first bytes; ``None``
            reads the bytes as they are.
        options: As for `ionfast.loads`.

    Raises:
        IonError: The content is not Ion, holds no value or more than one, or cannot be
            decompressed.
        OSError: The file cannot be read.

    >>> import io
    >>> load(io.BytesIO(b"{a: 1}"))
    {'a': 1}
    """
    return loads(_read(source, compression), **options)


def load_all(source: Source, *, compression: Compression = "auto", **options: Any) -> list[Any]:
    """Read every value of a file; otherwise as `load`.

    >>> import io
    >>> load_all(io.StringIO("1 2 3"))
    [1, 2, 3]
    """
    return loads_all(_read(source, compression), **options)


def iterload(
    source: "Source | Buffer",
    *,
    compression: Compression = "auto",
    on_oversized: Callable[[int, int], object] | None = None,
    **options: Any,
) -> Iterator[Any]:
    """Iterate over the values of a file, in memory bounded by the largest; otherwise as `load`.

    A file that is opened here is closed after its last value, or with the iterator's ``close()``.

    Args:
        source: As for `load`; or bytes-like data.
        on_oversized: Called with the size and the offset, in bytes, of each value that is larger
            than ``max_value_size``; such a value is passed over in bounded memory, and is not
            checked. What it raises ends the iteration. ``None``: such a value is an `IonError`.

    >>> import io
    >>> sum(iterload(io.StringIO("1 2 3")))
    6
    >>> data = io.StringIO("1 [2, 3, 4, 5, 6] 7")
    >>> list(iterload(data, max_value_size=5, on_oversized=print))
    15 2
    [1, 7]
    """
    if isinstance(source, str):
        from pathlib import Path  # a Reader takes a str for text Ion

        source = Path(source)
    elif source is None or not (
        isinstance(source, os.PathLike) or hasattr(source, "read") or _is_buffer(source)
    ):
        raise _not_a_file(source)
    return _values(Reader(source, compression=compression, on_oversized=on_oversized, **options))


def _values(reader: Reader) -> Iterator[Any]:
    with reader:
        yield from reader


def dump(obj: object, target: Target, **options: Any) -> None:
    """Write one value to a file.

    Args:
        obj: Anything that `ionfast.dumps` takes.
        target: A path, or a file object opened for writing. Text Ion can go to both a text and a
            binary file, where it is UTF-8; binary Ion needs a binary one.
        options: As for `ionfast.dumps`.

    Raises:
        IonError, TypeError: There is no Ion value for `obj`; the file is then left as it was.
        OSError: The file cannot be written.

    >>> import io
    >>> file = io.BytesIO()
    >>> dump([1, 2], file)
    >>> load(io.BytesIO(file.getvalue()))
    [1, 2]
    """
    _write(dumps(obj, **options), target)


def dump_all(values: Iterable[object], target: Target, **options: Any) -> None:
    """Write a stream of top-level values to a file; otherwise as `dump`.

    >>> import io
    >>> file = io.BytesIO()
    >>> dump_all([1, "two"], file)
    >>> load_all(io.BytesIO(file.getvalue()))
    [1, 'two']
    """
    _write(dumps_all(values, **options), target)


def _open(path: str | os.PathLike[str], mode: Literal["rb", "wb"]) -> IO[bytes]:
    return open(path, mode)  # noqa: PTH123 - pathlib takes as long to import as all of ionfast


def _check_compression(compression: object) -> None:
    if compression not in ("auto", None):
        raise ValueError(f"compression is 'auto' or None, not {compression!r}")


def _not_a_file(source: object) -> TypeError:
    name = type(source).__qualname__
    return TypeError(
        f"a path or a file object is needed, not {name} (loads() takes the data itself)"
    )


# ---- reading ----


def _is_buffer(source: object) -> bool:
    try:
        memoryview(source).release()  # type: ignore[arg-type]
    except TypeError:
        return False
    return True


def _read(source: Source, compression: Compression) -> Any:
    """All of a source: ``str`` from a text file, else bytes, decompressed."""
    _check_compression(compression)
    data = _read_raw(source)
    if compression is None or isinstance(data, str):
        return data
    kind = _compression_of(data)
    return data if kind is None else _Decompressed(kind, data, None).read()


def _read_raw(source: Source) -> Any:
    if isinstance(source, (str, os.PathLike)):
        with _open(source, "rb") as file:
            return file.read()
    if not hasattr(source, "read"):
        raise _not_a_file(source)
    data = source.read()
    if not isinstance(data, (str, bytes, bytearray, memoryview)):
        raise TypeError(f"read() gave {type(data).__qualname__}, not bytes or str")
    return data


def open_source(
    source: Any, compression: Compression
) -> tuple[Callable[[int], Any], Callable[[], None] | None]:
    """What `ionfast.Reader` reads a path, a file object or compressed bytes with.

    Returns:
        ``read(size)``, decompressing; and what closes the file, if it was opened here.
    """
    _check_compression(compression)
    close = None
    if isinstance(source, os.PathLike):
        file = _open(source, "rb")
        read, close = file.read, file.close
    elif hasattr(source, "read"):
        read = source.read
    elif _is_buffer(source):
        read = io.BytesIO(source).read
    else:
        raise TypeError(
            f"bytes, str, a path or a file object is needed, not {type(source).__qualname__}"
        )
    return (read if compression is None else _Sniffed(read).read), close


class _Sniffed:
    """A stream that may turn out to be compressed, at the first read."""

    def __init__(self, read: Callable[[int], Any]) -> None:
        self._raw_read = read
        self._read: Callable[[int], Any] | None = None
        self._head = b""

    def read(self, size: int) -> Any:
        """At most `size` bytes, or what the stream gives instead of bytes."""
        if self._read is not None:
            return self._read(size)
        while True:
            data = self._raw_read(max(size - len(self._head), 1))
            if not isinstance(data, (bytes, bytearray, memoryview)):
                return data  # text; or nothing yet, from a stream that does not wait
            self._head += data
            if len(data) == 0 or not self._could_be_magic():
                return self._begin(size)

    def _could_be_magic(self) -> bool:
        return any(m.startswith(self._head) and m != self._head for m in _MAGIC.values())

    def _begin(self, size: int) -> bytes:
        kind = _compression_of(self._head)
        if kind is None:
            self._read = self._raw_read
            return self._head
        self._read = _Decompressed(kind, self._head, self._raw_read).read
        decompressed: bytes = self._read(size)
        return decompressed


class _Decompressed:
    """The content of compressed data of one or more frames, made as it is read.

    Args:
        kind: A key of `_MAGIC`.
        head: The compressed data, or its beginning.
        read: Reads what follows; ``None`` when nothing does.
    """

    def __init__(self, kind: str, head: bytes, read: Callable[[int], Any] | None) -> None:
        self._kind = kind
        self._make_frame = _frame_maker(kind)
        self._frame: Any = None
        self._input = head
        self._raw_read = read
        self._made = 0  # bytes of the content so far
        self._output = memoryview(b"")
        self._is_ended = False
        self._failure: IonError | None = None

    def read(self, size: int = -1) -> bytes:
        """At most `size` bytes, none at the end; all that is left when `size` is negative."""
        if size < 0:
            return b"".join(iter(lambda: self.read(_READ_SIZE), b""))
        while not self._output and not self._is_ended:
            self._output = memoryview(self._more())
        result, self._output = self._output[:size], self._output[size:]
        return bytes(result)

    def _more(self) -> bytes:
        if self._failure is not None:
            raise self._failure  # what follows damaged data means nothing
        data, self._input = self._input, b""
        if not data and self._raw_read is not None:
            data = self._raw_read(_COMPRESSED_SIZE)
        if self._frame is None and self._kind == "gzip":
            data = bytes(data).lstrip(b"\0")  # padding between members, and after the last
        if not data:
            return self._end()
        try:
            return self._decompress(data)
        except MemoryError:
            raise
        except Exception as error:  # each package has a class of its own
            raise self._error(str(error)) from error

    def _decompress(self, data: bytes) -> bytes:
        frame = self._frame or self._make_frame()
        output: bytes = frame.decompress(data)
        self._made += len(output)
        self._frame = None if frame.eof else frame
        if frame.eof:
            self._input = frame.unused_data
        return output

    def _end(self) -> bytes:
        if self._frame is not None:
            raise self._error("truncated")
        self._is_ended = True
        return b""

    def _error(self, reason: str) -> IonError:
        self._failure = IonError(
            f"offset {self._made}: the {self._kind} data cannot be decompressed: {reason}",
            offset=self._made,
        )
        return self._failure


def _compression_of(data: bytes | bytearray | memoryview) -> str | None:
    """How data with this beginning is compressed."""
    head = bytes(memoryview(data)[:4])
    for kind, magic in _MAGIC.items():
        if head.startswith(magic):
            return kind
    return None


def _frame_maker(kind: str) -> Callable[[], Any]:
    """What makes an object that decompresses one frame."""
    if kind == "gzip":
        zlib: Any = importlib.import_module("zlib")
        return lambda: zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)  # 16: a gzip header
    for name in ("compression.zstd", "pyzstd", "zstandard"):
        try:
            module: Any = importlib.import_module(name)
        except ImportError:
            continue
        if name == "zstandard":
            return lambda: module.ZstdDecompressor().decompressobj()
        factory: Callable[[], Any] = module.ZstdDecompressor
        return factory
    raise IonError(
        "the data is compressed with zstd, which needs Python 3.14, or the package zstandard"
        " or pyzstd"
    )


# ---- writing ----


def _write(data: bytes | str, target: Target) -> None:
    if isinstance(target, (str, os.PathLike)):
        with _open(target, "wb") as file:
            _write_all(file, data)
    elif hasattr(target, "write"):
        _write_all(target, data)
    else:
        raise TypeError(f"a path or a file object is needed, not {type(target).__qualname__}")


def _write_all(file: Any, data: bytes | str) -> None:
    if isinstance(file, io.TextIOBase) or hasattr(file, "encoding"):
        if isinstance(data, bytes):
            raise TypeError("binary Ion needs a file opened in binary mode")
        file.write(data)
        return
    left = memoryview(data.encode("utf-8") if isinstance(data, str) else data)
    while left:
        written = file.write(left)
        # An unbuffered file says how much it took; other objects may say nothing.
        left = left[written if isinstance(written, int) else len(left) :]
