"""The command line: ``python -m ionfast cat FILE...`` shows Ion as text, JSON or binary.

JSON follows "Down-converting to JSON" in the Ion cookbook
(https://amazon-ion.github.io/ion-docs/guides/cookbook.html): annotations are dropped, nulls of
every type, NaN and infinities become ``null``, timestamps and symbols strings, blobs base64. Of
repeated fields the last stays.
"""

import argparse
import base64
import json
import math
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from . import __version__
from ._bignum import int_to_digits
from ._errors import IonError
from ._io import iterload
from ._ionfast import Timestamp, dumps, dumps_all
from ._symbols import SymbolToken
from ._types import IonType
from ._values import IonPyBool, is_null

__all__ = ["main"]

_EXIT_ERROR = 1
_EXIT_INTERRUPTED = 128 + 2  # as a shell shows SIGINT
_EXIT_BROKEN_PIPE = 128 + 13  # and SIGPIPE


class _Close:
    """The end of a JSON array or object, on the stack of what is still to be written."""

    def __init__(self, text: str) -> None:
        self.text = text


def to_json(value: object) -> str:
    """One value as one line of JSON.

    >>> to_json({"ok": True, "price": Decimal("1.50"), "list": [None, float("nan")]})
    '{"ok":true,"price":1.50,"list":[null,null]}'
    """
    return "".join(_json_parts(value))


def _json_parts(root: object) -> Iterator[str]:
    # Its own stack, since Ion may be nested deeper than Python's calls.
    stack: list[Iterator[tuple[str, Any]]] = [iter([("", root)])]
    closers = [""]
    while stack:
        for prefix, value in stack[-1]:
            yield prefix
            if is_null(value) or not isinstance(value, (list, Mapping)):
                yield _json_scalar(value)
                continue
            is_array = isinstance(value, list)
            yield "[" if is_array else "{"
            stack.append(_elements(value) if is_array else _members(value))
            closers.append("]" if is_array else "}")
            break
        else:
            stack.pop()
            yield closers.pop()


def _elements(values: Any) -> Iterator[tuple[str, Any]]:
    return ((("," if i else ""), value) for i, value in enumerate(values))


def _members(struct: Any) -> Iterator[tuple[str, Any]]:
    return (
        (("," if i else "") + _json_string(_text(name)) + ":", struct[name])
        for i, name in enumerate(struct.keys())
    )


def _json_scalar(value: Any) -> str:
    if is_null(value):
        return "null"
    if isinstance(value, (bool, IonPyBool)):
        return "true" if value else "false"
    if isinstance(value, int):
        return ("-" if value < 0 else "") + int_to_digits(value).decode("ascii")
    if isinstance(value, float):
        return float.__repr__(value) if math.isfinite(value) else "null"
    if isinstance(value, Decimal):
        return str(value)
    return _json_string(_text(value))


def _text(value: Any) -> str:
    """The text of what JSON shows as a string."""
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, SymbolToken):
        return value.text if value.text is not None else f"${value.sid or 0}"
    if isinstance(value, Timestamp):
        return value.to_text()
    if getattr(value, "ion_type", None) is IonType.CLOB:
        return bytes(value).decode("latin-1")
    return base64.b64encode(value).decode("ascii")


def _json_string(text: str) -> str:
    return json.dumps(text)


def _outputs(name: str, form: str) -> Iterator[bytes]:
    """What to write for a file's values, bit by bit: a file may be larger than memory."""
    source = sys.stdin.buffer if name == "-" else name
    if form == "binary":
        yield dumps_all(iterload(source))
        return
    indent = "  " if form == "text" else None
    for value in iterload(source):
        if form == "json":
            text = to_json(value)
        else:
            text = dumps(value, binary=False, indent=indent, omit_version_marker=True)
        yield text.encode("utf-8") + b"\n"


def _cat_file(name: str, form: str) -> int:
    outputs = _outputs(name, form)
    while True:
        try:
            output = next(outputs, None)
        except IonError as error:
            return _complain(name, str(error))
        except OSError as error:
            return _complain(name, error.strerror or str(error))
        except MemoryError:
            return _complain(name, "out of memory")
        if output is None:
            return 0
        sys.stdout.buffer.write(output)


def _cat(names: Sequence[str], form: str) -> int:
    """Write each file's values in `form`; go on after a file that cannot be read."""
    if form == "binary" and sys.stdout.isatty():
        return _complain("standard output", "binary Ion is not written to a terminal")
    status = max([_cat_file(name, form) for name in names])
    sys.stdout.buffer.flush()
    return status


def _complain(name: str, message: str) -> int:
    sys.stdout.buffer.flush()  # what came before it is seen before it
    print(f"ionfast: {name}: {' '.join(message.split())}", file=sys.stderr)
    return _EXIT_ERROR


def _discard_output() -> None:
    """Nothing more can be written: Python's own flush at exit must not complain either."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    os.close(null)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="ionfast", description="Work with Amazon Ion data.")
    parser.add_argument("--version", action="version", version=f"ionfast {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    cat = commands.add_parser("cat", help="show Ion files, text or binary, gzip or zstd")
    cat.add_argument("files", nargs="*", default=["-"], metavar="FILE", help="- is standard input")
    cat.add_argument(
        "--to",
        choices=["text", "compact", "json", "binary"],
        default="text",
        help="pretty text (the default), a line of text or of JSON for each value, or binary",
    )
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; gives the exit status.

    Raises:
        SystemExit: Wrong usage (2), or help (0).
    """
    options = _parser().parse_args(arguments)
    try:
        return _cat(options.files, options.to)
    except BrokenPipeError:
        _discard_output()
        return _EXIT_BROKEN_PIPE
    except OSError as error:  # of standard output: a full disk
        _discard_output()
        return _complain("standard output", error.strerror or str(error))
    except KeyboardInterrupt:
        return _EXIT_INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
