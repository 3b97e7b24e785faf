"""Does the work grow with the input, and no faster? Each kind of token at three sizes, each twice the last.

    python benchmarks/limits.py [BYTES [NAME]...]

Prints nanoseconds a byte at the largest size, and how that compares with the smallest: 1.0 is linear, 4.0 is
quadratic. Ends with 1 when something grows by more than ALLOWED. Times are of the process, not of the clock.
"""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Callable

import ionfast

ALLOWED = 2.0
IVM = b"\xe0\x01\x00\xea"


def varuint(value: int) -> bytes:
    groups = [value & 0x7F | 0x80]
    while value := value >> 7:
        groups.append(value & 0x7F)
    return bytes(reversed(groups))


def unit(kind: int, content: bytes) -> bytes:
    return bytes([kind << 4 | 14]) + varuint(len(content)) + content


def table(content: bytes) -> bytes:
    return unit(14, b"\x81\x83" + unit(13, content))


def nested(n: int) -> bytes:
    headers, length = [], 0
    for _ in range(min(n // 4, 200_000)):
        header = bytes([0xB0 | length]) if length < 14 else b"\xbe" + varuint(length)
        headers.append(header)
        length += len(header)
    return IVM + b"".join(reversed(headers))


def names(n: int) -> bytes:
    return b"\x87" + unit(11, b"".join(b"\x85%05x" % (i & 0xFFFFF) for i in range(n // 6)))


INPUTS: dict[str, Callable[[int], str | bytes]] = {
    "int": lambda n: "1" * n,
    "int_hex": lambda n: "0x" + "f" * n,
    "int_binary_digits": lambda n: "0b" + "1" * n,
    "int_underscores": lambda n: "1" + "_1" * (n // 2),
    "decimal": lambda n: "1." + "3" * n,
    "float": lambda n: "1" * n + "e0",
    "float_zeros": lambda n: "0." + "0" * n + "1e" + str(n),
    "timestamp": lambda n: "2003-04-05T06:07:08." + "1" * n + "Z",
    "string": lambda n: '"' + "a" * n + '"',
    "string_escapes": lambda n: '"' + "\\u00e9" * (n // 6) + '"',
    "string_utf8": lambda n: '"' + "\xe9" * (n // 2) + '"',
    "long_strings": lambda n: "'''a'''\n" * (n // 8),
    "symbol": lambda n: "a" * n,
    "symbol_quoted": lambda n: "'" + "a" * n + "'",
    "symbols": lambda n: " ".join(f"a{i}" for i in range(n // 8)),
    "base64": lambda n: "{{" + "aGkA" * (n // 4) + "}}",
    "base64_spaces": lambda n: "{{" + "a G k A " * (n // 8) + "}}",
    "clob": lambda n: '{{"' + "a" * n + '"}}',
    "clob_pieces": lambda n: "{{" + "'''a''' " * (n // 8) + "}}",
    "comment": lambda n: "/*" + "*" * n + "*/ 1",
    "comments": lambda n: "/**/" * (n // 4) + "1",
    "line_comments": lambda n: "//\n" * (n // 3) + "1",
    "white_space": lambda n: " \n" * (n // 2) + "1",
    "annotations": lambda n: "a::" * (n // 3) + "1",
    "lists": lambda n: "[]" * (n // 2),
    "elements": lambda n: "[" + "1," * (n // 2) + "]",
    "operators": lambda n: "(" + "+" * n + ")",
    "fields_repeated": lambda n: "{" + "a:1," * (n // 4) + "}",
    "fields": lambda n: "{" + ",".join(f"a{i}:1" for i in range(n // 10)) + "}",
    "nesting": lambda n: "[" * (n // 2) + "]" * (n // 2),
    "nesting_annotated": lambda n: "[a::" * (n // 5) + "1" + "]" * (n // 5),
    "version_markers": lambda n: "$ion_1_0 " * (n // 9) + "1",
    "table": lambda n: "$ion_symbol_table::{symbols:[" + '"s",' * (n // 4) + "]} $10",
    "table_appends": lambda n: '$ion_symbol_table::{imports:$ion_symbol_table,symbols:["abc"]} ' * (n // 64),
    "table_repeats": lambda n: '$ion_symbol_table::{symbols:["abc"]} $10 ' * (n // 41),
    "table_imports": lambda n: "$ion_symbol_table::{imports:["
    + '{name:"q",version:1,max_id:3},' * (n // 30) + "]} $10",
    "binary_int": lambda n: IVM + unit(2, b"\x7f" * n),
    "binary_decimal": lambda n: IVM + unit(5, b"\xc1" + b"\x7f" * n),
    "binary_string": lambda n: IVM + unit(8, b"a" * n),
    "binary_strings": lambda n: IVM + b"\x83abc" * (n // 4),
    "binary_version_markers": lambda n: IVM * (n // 4) + b"\x21\x01",
    "binary_padding": lambda n: IVM + b"\x00" * n + b"\x21\x01",
    "binary_padding_fields": lambda n: IVM + unit(13, b"\x80\x00" * (n // 2)),
    "binary_annotations": lambda n: IVM + unit(14, varuint(n) + b"\x84" * n + b"\x21\x01"),
    "binary_fields_repeated": lambda n: IVM + unit(13, b"\x84\x21\x01" * (n // 3)),
    "binary_nesting": nested,
    "binary_table": lambda n: IVM + table(names(n)) + b"\x71\x0a",
    "binary_table_appends": lambda n: IVM + (table(b"\x86\x71\x03\x87\xb4\x83abc") + b"\x71\x0a") * (n // 16),
    "binary_table_repeats": lambda n: IVM + (table(b"\x87\xb4\x83abc") + b"\x71\x0a") * (n // 16),
    "binary_tables_after_a_big_one": lambda n: IVM + table(names(n // 2))
    + (table(b"\x87\xb4\x83abc") + b"\x71\x0a" + table(b"\x87\xb4\x83abd") + b"\x71\x0a") * (n // 64),
    "binary_appends_to_a_big_one": lambda n: IVM + table(names(n // 2))
    + (table(b"\x86\x71\x03\x87\xb4\x83abc") + b"\x71\x0a") * (n // 32),
    "binary_markers_after_a_big_one": lambda n: IVM + table(names(n // 2)) + (IVM + b"\x71\x04") * (n // 12),
    "binary_imports": lambda n: IVM
    + table(b"\x86" + unit(11, unit(13, b"\x84\x81q\x85\x21\x01\x88\x24\x7f\xff\xff\xff") * (n // 20))),
}  # fmt: skip


def feed(data: bytes) -> None:
    """In pieces of 97 bytes."""
    reader = ionfast.Reader(max_depth=None)
    for start in range(0, len(data), 97):
        reader.feed(data[start : start + 97])
        while reader.next() is not ionfast.NEED_DATA:
            pass
    reader.end()
    while reader.next() is not None:
        pass


WAYS: dict[str, Callable[[bytes], object]] = {
    "loads_all": lambda data: ionfast.loads_all(data, max_depth=None),
    "iterload": lambda data: sum(1 for _ in ionfast.iterload(io.BytesIO(data), max_depth=None)),
    "feed": feed,
    "to text": lambda data: ionfast.transcode(data, binary=False, max_depth=None),
    "to binary": lambda data: ionfast.transcode(data, max_depth=None),
}


def seconds(way: Callable[[bytes], object], data: bytes) -> float:
    start = time.process_time()
    try:
        way(data)
    except ionfast.IonError:
        pass
    return time.process_time() - start


def main() -> int:
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 500_000
    worst = 0.0
    for name in sys.argv[2:] or INPUTS:
        made = [INPUTS[name](size << i) for i in range(3)]
        inputs = [data.encode() if isinstance(data, str) else data for data in made]
        row = []
        for label, way in WAYS.items():
            each = [seconds(way, data) / len(data) for data in inputs]
            growth = each[-1] / max(each[0], 1e-11)
            row.append(f"{label} {each[-1] * 1e9:7.1f} x{growth:4.2f}")
            if each[-1] * len(inputs[-1]) > 0.05:  # less is noise
                worst = max(worst, growth)
        print(f"{name:32}", " | ".join(row), flush=True)
    return worst > ALLOWED


if __name__ == "__main__":
    sys.exit(main())
