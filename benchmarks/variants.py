"""The extension built again with one thing done otherwise, and timed in turns with the real one.

Each variant is a copy of the sources with a piece of text replaced; a piece that is not there any more is
an error, so that nobody compares what is the same.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

from . import data

SOURCES = data.ROOT / "src"

Patch = tuple[str, str, str]  # file under src/c/py, what to replace, with what

# All types are in the map of level 2, and every value is looked up there.
_ONE_LEVEL: list[Patch] = [
    (
        "py_encode_walk.c",
        "        if (!has_classes) {\n            return write_other(enc, is_binary, c, value);\n        }\n",
        "",
    ),
    (
        "py_encode_walk.c",
        "    const ionfast_handler common = ionfast_dispatch_common(Py_TYPE(value), has_classes);\n",
        "    const ionfast_type_row *const row = ionfast_encode_met(enc, Py_TYPE(value));\n"
        "    const ionfast_handler common = row->is_ion || row->handler > IONFAST_AS_SYMBOL\n"
        "        ? IONFAST_AS_UNKNOWN : (ionfast_handler)row->handler;\n",
    ),
    (
        "py_encode_walk.c",
        "write_met(enc, is_binary, c, value, ionfast_encode_met(enc, Py_TYPE(value)))",
        "write_met(enc, is_binary, c, value, row)",
    ),
    (
        "py_encode.c",
        "    if (known != IONFAST_AS_UNKNOWN) {\n        *row = ",
        "    if (false) {\n        *row = ",
    ),
    ("py_encode.c", "next == held || dispatch_common(next, &row)", "next == held"),
    (
        "py_dispatch.c",
        "    const int handler = resolve(state, value, &row.fields);\n",
        "    int handler = ionfast_dispatch_known(state, type);\n    if (handler == "
        "IONFAST_AS_UNKNOWN) {\n        handler = resolve(state, value, &row.fields);\n    }\n",
    ),
]

# Level 1 as ever; beyond it nothing is remembered but the fields of classes, which no chain of tests
# finds out each time.
_CHAIN: list[Patch] = [
    (
        "py_encode_walk.c",
        "write_met(enc, is_binary, c, value, ionfast_encode_met(enc, Py_TYPE(value)))",
        "write_other(enc, is_binary, c, value)",
    ),
    (
        "py_encode.c",
        "    if (met->type != NULL) {\n",
        "    if (met->type != NULL && met->fields != NULL) {\n",
    ),
    (
        "py_dispatch.c",
        "    if (known->type != NULL) {\n",
        "    if (known->type != NULL && known->fields == NULL) {\n"
        "        PyObject *none = NULL;\n        *out = *known;\n"
        "        const int again = resolve(state, value, &none);\n"
        "        Py_XDECREF(none);\n        return again < 0 ? -1 : 0;\n    }\n"
        "    if (known->type != NULL) {\n",
    ),
]

_LOCKED: list[Patch] = [
    (
        "py_typed.c",
        '#include "py_typed_error.h"\n',
        '#include "py_typed_error.h"\n#include <pthread.h>\n'
        "static pthread_mutex_t map_lock = PTHREAD_MUTEX_INITIALIZER;\n",
    ),
    (
        "py_typed.c",
        "    const int row = is_binary || t->field.text == NULL\n",
        "    pthread_mutex_lock(&map_lock);\n    const int row = is_binary || t->field.text == NULL\n",
    ),
    (
        "py_typed.c",
        "    if (IONF_UNLIKELY(row < IONFAST_SID_SLOT)) {\n        if (row < 0",
        "    pthread_mutex_unlock(&map_lock);\n"
        "    if (IONF_UNLIKELY(row < IONFAST_SID_SLOT)) {\n        if (row < 0",
    ),
]

# Name, patches and which measurement of `_WORKER` it is compared in.
VARIANTS: dict[str, tuple[list[Patch], tuple[str, ...]]] = {
    "real": ([], ()),
    "one level": (_ONE_LEVEL, ("known", "mixed", "registered", "subclasses", "default")),
    "isinstance chain": (_CHAIN, ("known", "mixed", "registered", "subclasses", "default")),
    "locked map": (_LOCKED, ("typed",)),
}

# Prints the seconds of the processor for each measurement, best of five.
_WORKER = """
import collections, dataclasses, enum, fractions, sys, time
sys.path.insert(0, sys.argv[2])
import ionfast
class Text(str): pass
class Number(int): pass
class Odd:
    def __init__(self, value): self.value = value
class Status(enum.Enum):
    NEW = "new"
@dataclasses.dataclass(slots=True)
class Point:
    x: int
    y: int
    z: int
known = [{"id": i, "name": "n" * (i % 30), "ratio": i / 7, "tags": ["a", "b"], "ok": True,
          "none": None} for i in range(3000)]
codec = ionfast.Codec()
codec.add(fractions.Fraction, encode=lambda value: value.numerator)
codec.add(Odd, encode=lambda odd: odd.value)
mixed = [{"id": i, "name": Text("n"), "n": Number(i), "o": Odd(i), "s": Status.NEW,
          "tags": ("a", "b"), "when": None, "ratio": i / 7, "plain": "text", "deep": [1, 2, 3, 4]}
         for i in range(2000)]
fractions_ = [fractions.Fraction(i, 7) for i in range(5000)]
subclasses = [Text("text") if i % 2 else Number(i) for i in range(20000)]
odds = [Odd(i) for i in range(5000)]
points = ionfast.dumps([Point(i, i, i) for i in range(20000)])
decoder = ionfast.Decoder(list[Point])
work = {
    "known": lambda: ionfast.dumps(known),
    "mixed": lambda: codec.dumps(mixed),
    "registered": lambda: codec.dumps(fractions_),
    "subclasses": lambda: ionfast.dumps(subclasses),
    "default": lambda: ionfast.dumps(odds, default=lambda odd: odd.value),
    "typed": lambda: decoder.loads(points),
}
for name in sys.argv[1].split(","):
    best = 9.0
    for _ in range(5):
        begin = time.process_time()
        work[name]()
        best = min(best, time.process_time() - begin)
    print(name, best)
"""


def _build(folder: Path, patches: list[Patch]) -> None:
    shutil.copytree(SOURCES, folder / "src")
    for name, old, new in patches:
        path = folder / "src" / "c" / "py" / name
        text = path.read_text(encoding="utf-8")
        if text.count(old) != 1:
            raise RuntimeError(f"{name} has no longer what the variant replaces: {old!r}")
        path.write_text(text.replace(old, new), encoding="utf-8")
    shutil.copytree(folder / "src" / "ionfast", folder / "ionfast")
    c = folder / "src" / "c"
    command = [os.environ.get("CC", "cc"), "-std=gnu11", "-O3", "-fPIC", "-shared"]
    command += ["-fvisibility=hidden", f"-I{sysconfig.get_paths()['include']}"]
    command += [f"-I{c / 'core'}", f"-I{c / 'py'}", "-o", str(folder / "ionfast" / "_ionfast.so")]
    command += [str(path) for level in ("core", "py") for path in sorted((c / level).glob("*.c"))]
    subprocess.run(command, check=True)


def _measure(folder: Path, names: tuple[str, ...]) -> dict[str, float]:
    command = [sys.executable, "-c", _WORKER, ",".join(names), str(folder)]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\n")
    return {name: float(value) for name, value in (line.split() for line in lines if line)}


def report(rounds: int = 9) -> None:
    """Print how long each variant takes as a multiple of the real extension, best of all rounds."""
    measured = tuple(dict.fromkeys(name for _, names in VARIANTS.values() for name in names))
    best: dict[tuple[str, str], float] = {}
    with tempfile.TemporaryDirectory() as temporary:
        folders = {name: Path(temporary) / name.replace(" ", "-") for name in VARIANTS}
        for name, (patches, _) in VARIANTS.items():
            folders[name].mkdir()
            _build(folders[name], patches)
        for _ in range(rounds):
            for name, (_, names) in VARIANTS.items():
                for what, seconds in _measure(folders[name], names or measured).items():
                    best[name, what] = min(seconds, best.get((name, what), seconds))
    for what in measured:
        others = [
            f"{name} x{best[name, what] / best['real', what]:.2f}"
            for name, (_, names) in VARIANTS.items()
            if what in names
        ]
        print(f"dispatch {what:12} {best['real', what] * 1e3:8.3f} ms | {' | '.join(others)}")
