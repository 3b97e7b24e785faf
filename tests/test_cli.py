"""``python -m ionfast cat``: what it shows, its messages and its exit status."""

from __future__ import annotations

import gzip
import io
import json
import os
import pathlib
import subprocess
import sys
from typing import Any

import pytest

import ionfast
from ionfast.__main__ import main, to_json

Capture = pytest.CaptureFixture[bytes]

DOCUMENT = b"""
{data: annot::{foo: null.string, bar: (2 + 2)}, time: 1969-07-20T20:18Z}
"""


@pytest.fixture
def document(tmp_path: pathlib.Path) -> pathlib.Path:
    path = tmp_path / "document.ion"
    path.write_bytes(DOCUMENT)
    return path


def run(*arguments: str, stdin: bytes = b"", **options: Any) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "ionfast", *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, check=False, **options)


# ---- the forms of output ----


def test_text_is_the_default(document: pathlib.Path, capfdbinary: Capture) -> None:
    assert main(["cat", str(document)]) == 0
    output = capfdbinary.readouterr().out
    assert output.count(b"\n") > 3
    assert b"  " in output
    assert b"$ion_1_0" not in output
    assert ionfast.loads(output) == ionfast.loads(DOCUMENT)


def test_compact_is_a_line(document: pathlib.Path, capfdbinary: Capture) -> None:
    assert main(["cat", "--to", "compact", str(document)]) == 0
    output = capfdbinary.readouterr().out
    assert output.count(b"\n") == 1
    assert output.endswith(b"\n")
    assert ionfast.loads(output) == ionfast.loads(DOCUMENT)


def test_binary(document: pathlib.Path, capfdbinary: Capture) -> None:
    assert main(["cat", "--to", "binary", str(document)]) == 0
    output = capfdbinary.readouterr().out
    assert output.startswith(b"\xe0\x01\x00\xea")
    assert ionfast.loads(output) == ionfast.loads(DOCUMENT)


def test_json_as_in_the_cookbook(document: pathlib.Path, capfdbinary: Capture) -> None:
    assert main(["cat", "--to", "json", str(document)]) == 0
    assert capfdbinary.readouterr().out == (
        b'{"data":{"foo":null,"bar":[2,"+",2]},"time":"1969-07-20T20:18Z"}\n'
    )


def test_json_is_a_line_for_each_value(capfdbinary: Capture, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "stream.ion"
    path.write_bytes(ionfast.dumps_all([1, "two", [3]]))
    assert main(["cat", "--to", "json", str(path)]) == 0
    assert capfdbinary.readouterr().out == b'1\n"two"\n[3]\n'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("null", "null"),
        ("null.struct", "null"),
        ("a::null.int", "null"),
        ("true", "true"),
        ("a::false", "false"),
        ("-123", "-123"),
        ("1" + "0" * 5000, "1" + "0" * 5000),
        ("1.50", "1.50"),
        ("-0.00", "-0.00"),
        ("12d300", "1.2E+301"),
        ("1e0", "1.0"),
        ("a::-25e-1", "-2.5"),
        ("1e300", "1e+300"),
        ("nan", "null"),
        ("+inf", "null"),
        ("-inf", "null"),
        ("2007T", '"2007T"'),
        ("2007-02-23", '"2007-02-23"'),
        ("'::'::2007-02-23T12:14:33.0790-08:00", '"2007-02-23T12:14:33.0790-08:00"'),
        ("'a b'", '"a b"'),
        ("x::a", '"a"'),
        ("$0", '"$0"'),
        (r'"q\"\\\n\u00e9"', r'"q\"\\\n\u00e9"'),
        (r'{{"a\x7f\xff\n\""}}', r'"a\u007f\u00ff\n\""'),
        ("{{aGVsbG8/}}", '"aGVsbG8/"'),
        ("x::{{AP8=}}", '"AP8="'),
        ("[]", "[]"),
        ("{}", "{}"),
        ("x::(1 [] {} ())", "[1,[],{},[]]"),
        ("{a: 1, $0: 2, 'b c': [null]}", '{"a":1,"$0":2,"b c":[null]}'),
        ("{a: 1, b: 2, a: 3}", '{"a":3,"b":2}'),
    ],
)
def test_json_of(text: str, expected: str) -> None:
    assert to_json(ionfast.loads(text)) == expected
    if len(expected) < 4000:
        json.loads(expected)


def test_json_of_deep_nesting() -> None:
    value: Any = 1
    for _ in range(20_000):
        value = {"a": [value]}
    output = to_json(value)
    assert output == '{"a":[' * 20_000 + "1" + "]}" * 20_000
    while value != 1:  # freed step by step: Python's own way is recursive before 3.12
        (value,) = value.pop("a")


# ---- input ----


def test_several_files_and_standard_input(document: pathlib.Path) -> None:
    result = run("cat", "--to", "json", str(document), "-", stdin=b"1 2")
    assert (result.returncode, result.stderr) == (0, b"")
    assert result.stdout.splitlines()[1:] == [b"1", b"2"]


def test_standard_input_is_the_default() -> None:
    assert run("cat", "--to", "compact", stdin=b"[1, 2] a").stdout == b"[1,2]\na\n"


def test_gzip(tmp_path: pathlib.Path, capfdbinary: Capture) -> None:
    path = tmp_path / "a.ion.gz"
    path.write_bytes(gzip.compress(b"1 2"))
    assert main(["cat", "--to", "json", str(path)]) == 0
    assert capfdbinary.readouterr().out == b"1\n2\n"


def test_no_values_are_no_output(tmp_path: pathlib.Path, capfdbinary: Capture) -> None:
    path = tmp_path / "empty.ion"
    path.write_bytes(b"")
    for form in ("text", "compact", "json"):
        assert main(["cat", "--to", form, str(path)]) == 0
        assert capfdbinary.readouterr() == (b"", b"")


# ---- what goes wrong ----


def test_an_error_is_one_line_and_the_other_files_follow(
    tmp_path: pathlib.Path, document: pathlib.Path, capfdbinary: Capture
) -> None:
    bad = tmp_path / "bad.ion"
    bad.write_bytes(b"[1, 2\n{]")
    missing = tmp_path / "missing.ion"
    assert main(["cat", "--to", "json", str(bad), str(missing), str(document)]) == 1
    output, errors = capfdbinary.readouterr()
    assert output.startswith(b'{"data"')
    first, second = errors.decode().splitlines()
    assert first.startswith(f"ionfast: {bad}: line 2, column ")
    assert second == f"ionfast: {missing}: No such file or directory"


def test_values_before_an_error_are_written(tmp_path: pathlib.Path, capfdbinary: Capture) -> None:
    path = tmp_path / "bad.ion"
    path.write_bytes(b"1 two [3 }")
    assert main(["cat", str(path)]) == 1
    output, errors = capfdbinary.readouterr()
    assert output == b"1\ntwo\n"
    assert errors.count(b"\n") == 1


@pytest.mark.skipif(not pathlib.Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_is_one_line(document: pathlib.Path) -> None:
    command = [sys.executable, "-m", "ionfast", "cat", str(document)]
    with pathlib.Path("/dev/full").open("wb") as full:
        result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
    assert result.returncode == 1
    assert result.stderr == b"ionfast: standard output: No space left on device\n"


def test_version(capfdbinary: Capture) -> None:
    with pytest.raises(SystemExit) as info:
        main(["--version"])
    assert info.value.code == 0
    assert capfdbinary.readouterr().out.decode() == f"ionfast {ionfast.__version__}\n"


def test_truncated_gzip_is_one_line(tmp_path: pathlib.Path, capfdbinary: Capture) -> None:
    path = tmp_path / "a.ion.gz"
    path.write_bytes(gzip.compress(b"1 2")[:-3])
    assert main(["cat", str(path)]) == 1
    assert capfdbinary.readouterr().err.decode() == (
        f"ionfast: {path}: offset 3: the gzip data cannot be decompressed: truncated\n"
    )


@pytest.mark.parametrize("arguments", [[], ["dog"], ["cat", "--to", "xml"]])
def test_wrong_usage_shows_the_right_one(arguments: list[str], capfdbinary: Capture) -> None:
    with pytest.raises(SystemExit) as info:
        main(arguments)
    assert info.value.code == 2
    assert b"usage: ionfast" in capfdbinary.readouterr().err


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="there are no pseudo-terminals")
def test_binary_is_not_written_to_a_terminal(document: pathlib.Path) -> None:
    controller, terminal = os.openpty()
    try:
        command = [sys.executable, "-m", "ionfast", "cat", "--to", "binary", str(document)]
        result = subprocess.run(command, stdout=terminal, stderr=subprocess.PIPE, check=False)
    finally:
        os.close(terminal)
        os.close(controller)
    assert result.returncode == 1
    assert result.stderr == (
        b"ionfast: standard output: binary Ion is not written to a terminal\n"
    )


@pytest.mark.skipif(os.name != "posix", reason="pipes break otherwise elsewhere")
def test_a_broken_pipe_is_silent(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "large.ion"
    path.write_bytes(b"[" + b"1234567890," * 100_000 + b"]")
    command = [sys.executable, "-m", "ionfast", "cat", str(path), str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_an_interrupt_is_silent(monkeypatch: pytest.MonkeyPatch, capfdbinary: Capture) -> None:
    class Interrupted(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            raise KeyboardInterrupt

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(Interrupted()))
    assert main(["cat"]) == 130
    assert capfdbinary.readouterr() == (b"", b"")
