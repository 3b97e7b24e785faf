"""Files and paths: ``load``, ``dump`` and their like, compression included."""

from __future__ import annotations

import gzip
import io
import pathlib
import sys
import tempfile
from typing import Any, ClassVar

import pytest

import ionfast
from ionfast import IonError, dump, dump_all, iterload, load, load_all
from ionfast._io import open_source

# One skippable frame would do as well; this one holds "[1, 2]", uncompressed.
ZSTD = bytes.fromhex("28b52ffd2006310000") + b"[1, 2]"


# ---- reading ----


def test_load_from_paths_and_files(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.ion"
    for data in (b"[1, 2]", ionfast.dumps([1, 2]), gzip.compress(b"[1, 2]")):
        path.write_bytes(data)
        assert load(path) == load(str(path)) == load(io.BytesIO(data)) == [1, 2]
        with path.open("rb", buffering=0) as file:
            assert load(file) == [1, 2]
    assert load(io.StringIO("[1, 2]")) == [1, 2]


def test_options_are_those_of_loads() -> None:
    assert load(io.StringIO("a::1"), model="plain") == 1
    with pytest.raises(TypeError):
        load(io.StringIO("1"), nonsense=True)


def test_streams_of_values() -> None:
    assert load_all(io.BytesIO(b"1 2 3")) == [1, 2, 3]
    assert load_all(io.BytesIO(b"")) == []
    values = iterload(io.StringIO("1 2"))
    assert (next(values), next(values), next(values, "end")) == (1, 2, "end")
    with pytest.raises(IonError):
        load(io.BytesIO(b"1 2"))


@pytest.mark.parametrize("function", [load, load_all, iterload])
def test_a_missing_file_is_an_os_error(function: Any, tmp_path: pathlib.Path) -> None:
    for path in (tmp_path / "missing.ion", str(tmp_path / "missing.ion")):
        with pytest.raises(FileNotFoundError):
            function(path)


def test_iterating_reads_no_more_than_it_must(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.ion"
    data = b'"0123456789" ' * 100_000
    path.write_bytes(data)
    with path.open("rb") as file:
        values = iterload(file)
        assert next(values) == "0123456789"
        assert 0 < file.tell() < len(data) / 2
    for source in (path, str(path), io.BytesIO(gzip.compress(data))):
        assert sum(1 for _ in iterload(source)) == 100_000


def test_closing_the_iterator_closes_the_file(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.ion"
    path.write_bytes(b"1 2 3")
    values = iterload(path)
    assert next(values) == 1
    values.close()  # type: ignore[attr-defined]
    assert list(values) == []


@pytest.mark.parametrize("error", [KeyError("mine"), KeyboardInterrupt(), StopIteration()])
def test_an_error_of_read_comes_out(error: BaseException) -> None:
    class File:
        def read(self) -> bytes:
            raise error

    for function in (load, load_all):
        with pytest.raises(type(error)) as info:
            function(File())  # type: ignore[operator]
        assert info.value is error


@pytest.mark.parametrize("error", [KeyError("mine"), KeyboardInterrupt()])
def test_an_error_of_read_comes_out_of_the_iterator(error: BaseException) -> None:
    class File:
        calls = 0

        def read(self, size: int) -> bytes:
            self.calls += 1
            if self.calls > 1:
                raise error
            return b"1 2 "

    values = iterload(File())  # type: ignore[arg-type]
    assert next(values) == 1
    with pytest.raises(type(error)) as info:
        list(values)
    assert info.value is error


@pytest.mark.parametrize("result", [None, 5, ["a"]])
def test_read_must_give_data(result: Any) -> None:
    class File:
        def read(self) -> Any:
            return result

    with pytest.raises(TypeError, match=f"read\\(\\) gave {type(result).__name__}, not bytes"):
        load(File())  # type: ignore[arg-type]


@pytest.mark.parametrize("view", [bytearray, memoryview])
def test_read_may_give_any_bytes(view: Any) -> None:
    class File:
        def __init__(self, data: bytes) -> None:
            self.data = data

        def read(self) -> Any:
            return view(self.data)

    assert load(File(b"[1]")) == [1]  # type: ignore[arg-type]
    assert load(File(gzip.compress(b"[1]"))) == [1]  # type: ignore[arg-type]


@pytest.mark.parametrize("function", [load, load_all])
def test_data_is_not_a_file(function: Any) -> None:
    with pytest.raises(TypeError, match=r"not bytes \(loads\(\) takes the data itself\)"):
        function(b"[1]")


# ---- compression ----


def test_gzip_of_several_members() -> None:
    data = gzip.compress(b"1 ") + gzip.compress(ionfast.dumps(2)[4:] and b"2 ") + b"\0" * 10
    assert load_all(io.BytesIO(data)) == [1, 2]


@pytest.mark.parametrize(
    ("length", "offsets"),
    [(2, {0}), (9, {0}), (12, {0, 1}), (-1, {6})],
    ids=["2", "9", "12", "-1"],
)
def test_truncated_gzip(length: int, offsets: set[int]) -> None:
    with pytest.raises(IonError, match="gzip data cannot be decompressed: truncated") as info:
        load(io.BytesIO(gzip.compress(b"[1, 2]")[:length]))
    assert info.value.offset in offsets  # the end of the content that there was


def test_damaged_gzip() -> None:
    data = bytearray(gzip.compress(b"[1, 2]"))
    data[-8] ^= 1
    with pytest.raises(
        IonError, match=r"gzip data cannot be decompressed: .*incorrect data check"
    ):
        load(io.BytesIO(data))
    data[10:-8] = b"\xff" * (len(data) - 18)
    with pytest.raises(IonError, match=r"gzip data cannot be decompressed: .*invalid"):
        load(io.BytesIO(data))


def test_compression_can_be_left_alone() -> None:
    with pytest.raises(IonError):
        load(io.BytesIO(gzip.compress(b"1")), compression=None)
    assert load(io.BytesIO(b"1"), compression=None) == 1
    with pytest.raises(ValueError, match="compression is 'auto' or None, not 'gzip'"):
        load(io.BytesIO(b"1"), compression="gzip")  # type: ignore[arg-type]


@pytest.mark.parametrize("package", ["compression.zstd", "pyzstd", "zstandard"])
def test_zstd(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip(package)
    for other in {"compression.zstd", "pyzstd", "zstandard"} - {package}:
        monkeypatch.setitem(sys.modules, other, None)
    assert load(io.BytesIO(ZSTD)) == [1, 2]
    assert load_all(io.BytesIO(ZSTD + ZSTD)) == [[1, 2], [1, 2]]
    with pytest.raises(IonError, match="zstd data cannot be decompressed: truncated"):
        load(io.BytesIO(ZSTD[:-1]))
    with pytest.raises(IonError, match="zstd data cannot be decompressed"):
        load(io.BytesIO(ZSTD[:6] + b"\xff" * 10))


def test_zstd_without_a_package_says_what_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("compression.zstd", "pyzstd", "zstandard"):
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(IonError, match=r"needs Python 3\.14, or the package zstandard or pyzstd"):
        load(io.BytesIO(ZSTD))


# ---- writing ----


def test_dump_to_paths_and_files(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.ion"
    for target in (path, str(path)):
        dump([1, "é"], target)
        assert path.read_bytes() == ionfast.dumps([1, "é"])
        dump([1, "é"], target, binary=False)
        assert path.read_bytes() == ionfast.dumps([1, "é"], binary=False).encode()
    with path.open("wb", buffering=0) as raw:
        dump_all([1, 2], raw)
    assert load_all(path) == [1, 2]


@pytest.mark.parametrize("mode", ["memory", "wrapped"])
def test_text_files_take_text_only(mode: str) -> None:
    with io.StringIO() if mode == "memory" else tempfile.NamedTemporaryFile("w+") as file:
        dump([1], file, binary=False, omit_version_marker=True)
        file.seek(0)
        assert load(file) == [1]
        with pytest.raises(TypeError, match="binary Ion needs a file opened in binary mode"):
            dump([1], file)


def test_a_file_that_takes_a_little_at_a_time() -> None:
    class Narrow(io.RawIOBase):
        def __init__(self) -> None:
            self.data = b""

        def writable(self) -> bool:
            return True

        def write(self, data: Any) -> int:
            self.data += bytes(data[:3])
            return min(len(data), 3)

    file = Narrow()
    dump(list(range(100)), file)  # type: ignore[arg-type]
    assert ionfast.loads(file.data) == list(range(100))


def test_what_cannot_be_written_leaves_the_file_alone(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.ion"
    path.write_bytes(b"1")
    with pytest.raises(TypeError):
        dump([object()], path)
    assert path.read_bytes() == b"1"


def test_a_target_must_be_a_file() -> None:
    with pytest.raises(TypeError, match="a path or a file object is needed, not int"):
        dump([1], 5)  # type: ignore[arg-type]


# ---- what a Reader reads with ----


def read_through(source: Any, size: int, compression: Any = "auto") -> bytes:
    read, close = open_source(source, compression)
    parts = []
    while part := read(size):
        assert len(part) <= max(size, 4)
        parts.append(bytes(part))
    assert read(size) == b""
    if close is not None:
        close()
    return b"".join(parts)


@pytest.mark.parametrize("size", [1, 3, 7, 65536])
@pytest.mark.parametrize("packed", [False, True])
def test_streams_are_decompressed_as_they_are_read(
    size: int, packed: bool, tmp_path: pathlib.Path
) -> None:
    content = b"[1, 2, 3] " * 1000
    data = gzip.compress(content[:4000]) + gzip.compress(content[4000:]) + b"\0" * 9
    data = data if packed else content
    path = tmp_path / "a"
    path.write_bytes(data)
    assert read_through(path, size) == content
    assert read_through(io.BytesIO(data), size) == content
    assert read_through(bytearray(data), size) == content
    assert read_through(path, size, None) == data


@pytest.mark.parametrize("data", [b"", b"\x1f", b"(\xb5", b"\x1e\x8b12345", b"(\xb5/1"])
def test_what_only_begins_like_compressed_data(data: bytes) -> None:
    assert read_through(io.BytesIO(data), 2) == data
    assert read_through(io.BytesIO(data), 100) == data


def test_a_truncated_stream_gives_what_there_is_then_an_error() -> None:
    read, _ = open_source(io.BytesIO(gzip.compress(b"[1, 2]" * 100)[:-1]), "auto")
    assert read(600) == b"[1, 2]" * 100
    with pytest.raises(IonError, match="gzip data cannot be decompressed: truncated"):
        read(600)


def test_a_small_input_that_grows_is_handed_out_in_pieces() -> None:
    read, _ = open_source(io.BytesIO(gzip.compress(b" " * 10_000_000)), "auto")
    assert read(10) == b" " * 10


def test_a_path_is_closed_by_what_comes_with_it(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"1")
    read, close = open_source(path, "auto")
    assert close is not None
    close()
    with pytest.raises(ValueError, match="closed file"):
        read(1)
    assert open_source(io.BytesIO(), "auto")[1] is None


def test_what_read_gives_besides_bytes_is_passed_on() -> None:
    class File:
        results: ClassVar = [None, b"\x1f", None, b"\x8b", 5, "text"]

        def read(self, size: int) -> Any:
            return self.results.pop(0)

    read, _ = open_source(File(), "auto")
    assert [read(10), read(10)] == [None, None]
    read, _ = open_source(io.StringIO("text"), "auto")
    assert (read(3), read(3)) == ("tex", "t")


def test_a_reader_needs_a_source() -> None:
    with pytest.raises(TypeError, match="a path or a file object is needed, not int"):
        open_source(5, "auto")
    with pytest.raises(ValueError, match="compression is 'auto' or None"):
        open_source(io.BytesIO(), "bzip2")  # type: ignore[arg-type]
