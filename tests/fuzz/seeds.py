"""Writes the seed corpus: small documents of the project's own, each with something that the others lack.

    python3 tests/fuzz/seeds.py FOLDER
"""

from __future__ import annotations

import pathlib
import random
import sys

IVM = bytes.fromhex("e00100ea")

TEXTS = (
    "null null.null null.bool null.int null.float null.decimal null.timestamp null.symbol null.string",
    "null.clob null.blob null.list null.sexp null.struct a::null.struct",
    "0 -1 9223372036854775807 -9223372036854775809 18446744073709551616 0xFf -0b101 1_000_000",
    "123456789012345678901234567890123456789012345678901234567890",
    "0e0 -0e0 1.5e-7 1e308 4.9e-324 2.2250738585072011e-308 1e400 nan +inf -inf",
    "0. -0. 1.50 -0d3 1d1000000 123.456d-78 99999999999999999999999.9999999999999999",
    "2007T 2007-02T 2007-02-23 2007-02-23T12:14Z 2007-02-23T12:14:33.0790-08:00 2007-02-23T12:14:33-00:00",
    "0001-01-01T00:00:00.000000000000000000000001+23:59 9999-12-31T23:59:59.999-23:59 2004-02-29T",
    "a 'b c' '' $ion name '+' nan_ nullx $9 'don\\'t' '\\u00e9'",
    '"" "plain" "\\a\\b\\t\\n\\f\\r\\v\\0\\"\\\'\\?\\/\\\\ \\x41 \\u00e9 \\U0001F600 h\xe9 \\\n"',
    "'''long''' '''and \\\nlonger'''\r\n'''with ' and '' in it'''",
    "{{}} {{ aGk= }} {{ aG\n kA }} {{\"clob \\x80\"}} {{'''a''' '''b'''}}",
    "[] () {} [1,[2,(3 {a:4,a:5})],] (+ - -1 a.b <=> 'x'::(y))",
    "{a:1,'b c':2,\"d\":3,'''e''' '''f''':4,$4:5,g:h::i::6}",
    "a::b::c::1 'x y'::[z::{k:w::null.int}] $0::$0 a:: /* c */ b :: // d\n 2",
    "/* comment *//**/// line\r1//\r\n2/***/3",
    "$ion_1_0 $ion_symbol_table::{symbols:[\"q\",null,\"r\",3]} $10 $11 {$12:$13} $ion_1_0 1",
    "$ion_symbol_table::{imports:[{name:\"t\",version:1,max_id:3},{name:\"none\",version:2,max_id:4}],"
    "symbols:[\"z\"]} $10 $12 $13 $17",
    "$ion_symbol_table::{imports:$ion_symbol_table,symbols:[\"s\"]} $10 "
    "$ion_symbol_table::{symbols:[\"t\"],imports:$ion_symbol_table} $11",
    "$ion_symbol_table::null.struct $ion_symbol_table::{} [$ion_symbol_table::{symbols:[\"n\"]}]",
    "$ion_shared_symbol_table::{name:\"u\",version:3,symbols:[\"a\"]} 1",
    "{name:{name:{name:[(((\"deep\")))]}}}",
    "\ufeff1", "[1", "{a:", "\"open", "'''open", "{{ aGk", "/* open", "a::", "2007-", "1.", "-", "0x", "\\",
)  # fmt: skip

# Without the version marker that each gets.
BINARIES = (
    "0f 1f 2f 3f 4f 5f 6f 7f 8f 9f af bf cf df",
    "10 11 20 2101 31ff 28ffffffffffffffff 38ffffffffffffffff 29010000000000000000 3a00ffffffffffffffffff",
    "40 443fc00000 483ff8000000000000 487ff8000000000001 4880000000000000 48fff0000000000000",
    "50 51c1 52c1 01 53c28001 52c180 5b42ff0102030405060708 09 54017f81 05",
    "63c00fd0 64c00fd082 65c00fd08297 67c00fd082978c8e",
    "68800fd082978c8ea1 6b800fd082978c8ea1c407 6d 6e8f 43c00fd082978c8ea1ca 0102030405",
    "70 7104 7109 720004",
    "80 8161 83e282ac 8e8f 616263646566676869 6a6b6c6d6e6f 84f09f9880",
    "90 9180 a0 a2 00ff ae90 000102030405060708090a0b0c0d0e0f",
    "b0 b22101 b3b12101 be84 21012102 c0 c3710421 01",
    "d0 d3842101 d68421018421 02 de83842101 d183842101 d2 8400",
    "e381842f e4818421 07 e6 838485 86 2101 ee85 81 84 b2 2101 e3 81 84 d0",
    "00 0100 0e83 000000 02ffff 2101 b3 01ff 20 d5 84 01ff 842f",
    "e781 83 d4 87 b2 8171 710a e00100ea 7104 e78183d487b28171 710a",
    "ee95 81 83 de91 86 be8e dd 84 8174 85 2101 88 2103 87 b2 817a 710a 710c 710d",
    "ea8183 d7 86 7103 87 b2 8162 710a ea8183 d7 86 7103 87 b2 8163 710b",
    "e58183d3870f81 e3 8183 df e3 8183 d0 2101",
    "b6 b5 b4 b3 b2 b1 b0 c4 c3 c2 c1 20 d8 84 d6 84 d4 84 d2 84 d0",
    "8f 8e 0f 2e 00 81 ff 2e 0000000081 05",
    "2e", "be", "e0", "e00100", "e00101ea", "e00100ea e00100ea", "b3 2101", "d2 84", "6e 82 c00f", "f0",
)  # fmt: skip


def varuint(value: int) -> bytes:
    groups = [value & 0x7F | 0x80]
    while value := value >> 7:
        groups.append(value & 0x7F)
    return bytes(reversed(groups))


def unit(kind: int, content: bytes) -> bytes:
    if len(content) < 14:
        return bytes([kind << 4 | len(content)]) + content
    return bytes([kind << 4 | 14]) + varuint(len(content)) + content


def grown(rng: random.Random, depth: int) -> bytes:
    """A binary value by chance, sound but for what its scalars hold."""
    choice = rng.randrange(10 if depth else 6)
    if choice < 6:
        kind = rng.choice((2, 3, 5, 6, 7, 8, 9, 10))
        telling = (0x80, 0x81, 0xC1, 0x0F, 0x41, 1)
        return unit(kind, bytes(rng.choice(telling) for _ in range(rng.randrange(9))))
    children = [grown(rng, depth - 1) for _ in range(rng.randrange(5))]
    if choice == 6:
        return unit(13, b"".join(varuint(rng.randrange(4, 12)) + child for child in children))
    if choice == 7 and children:
        return unit(14, b"\x81" + varuint(rng.randrange(4, 12)) + children[0])
    return unit(rng.choice((11, 12)), b"".join(children))


def documents() -> dict[str, bytes]:
    """The corpus: name -> content."""
    rng = random.Random(1)
    found = {f"text-{i:02}": text.encode() for i, text in enumerate(TEXTS)}
    for i, digits in enumerate(BINARIES):
        found[f"binary-{i:02}"] = IVM + bytes.fromhex(digits)
    symbols = unit(14, b"\x81\x83" + unit(13, b"\x87" + unit(11, b"\x81p\x81q")))
    found |= {f"grown-{i:02}": IVM + symbols + b"".join(grown(rng, 4) for _ in range(4)) for i in range(24)}
    found |= {f"bytes-{i:02}": rng.randbytes(40 * (i + 1)) for i in range(8)}
    return found


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in documents().items():
        (folder / name).write_bytes(content)


if __name__ == "__main__":
    main()
