"""Many threads, forks, interpreters that end: errors at most, never a crash, and right results.

Each test runs in an interpreter of its own, so that a crash is one failed test.
"""

from __future__ import annotations

import importlib.util
import os
import pathlib
import subprocess
import sys
import textwrap

import pytest

import scenarios

pytestmark = pytest.mark.slow

TESTS = str(pathlib.Path(__file__).parent)
has_test_modules = pytest.mark.skipif(
    importlib.util.find_spec("_testcapi") is None, reason="needs CPython's test modules"
)


def run(code: str) -> str:
    """Run with the entry points at hand and threads that switch often."""
    head = f"""
        import os
        sys.path.insert(0, {TESTS!r})
        import entry_points, ionfast
        sys.setswitchinterval(1e-5)
    """
    return scenarios.run_python(textwrap.dedent(head) + textwrap.dedent(code))


def test_every_entry_point_in_eight_threads() -> None:
    out = run("""
        wanted = {name: entry_points.run(name) for name in entry_points.ALL}
        wrong = []
        def work(seed):
            names = sorted(wanted)
            for i in range(600):
                name = names[(i * 7 + seed * 13) % len(names)]
                result = entry_points.run(name)
                if result != wanted[name]:
                    wrong.append((name, result))
        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
        [each.start() for each in threads]
        [each.join() for each in threads]
        stats = ionfast.pools.stats()
        assert all(pool.get("idle", 0) <= 64 for pool in stats.values()), stats
        print(len(wrong), wrong[:3])
    """)
    assert out == "0 []"


def test_pools_that_are_cleared_and_changed_meanwhile() -> None:
    out = run("""
        wanted = {name: entry_points.run(name) for name in entry_points.GOOD}
        stop = threading.Event()
        wrong = []
        def work(seed):
            names = sorted(wanted)
            for i in range(400):
                name = names[(i * 5 + seed * 11) % len(names)]
                if entry_points.run(name) != wanted[name]:
                    wrong.append(name)
        def change():
            i = 0
            while not stop.is_set():
                i += 1
                ionfast.pools.clear()
                ionfast.pools.configure(max_idle=i % 4, max_object_bytes=1 << (i % 20))
                with ionfast.pools.disabled():
                    ionfast.loads("[a]")
        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
        changer = threading.Thread(target=change)
        [each.start() for each in [*threads, changer]]
        [each.join() for each in threads]
        stop.set()
        changer.join()
        print(wrong)
    """)
    assert out == "[]"


@pytest.mark.parametrize("source", ["STREAM * 20", "TEXT * 20", "ShortFile(STREAM * 5)"])
def test_one_reader_for_all(source: str) -> None:
    """Whatever each thread gets, it is a value or one of the library's errors."""
    out = run(f"""
        from entry_points import STREAM, TEXT, ShortFile
        unexpected = []
        for _ in range(30):
            reader = ionfast.Reader({source})
            def work(number):
                for i in range(150):
                    try:
                        kind = reader.next()
                        if kind is None and reader.depth:
                            reader.step_out()
                        elif (i + number) % 3 == 0:
                            reader.step_in()
                        else:
                            reader.value(), reader.field_name, reader.annotations, reader.offset
                        if i == 140 and number == 3:
                            reader.close()
                    except (ValueError, RuntimeError, TypeError):
                        pass
                    except BaseException as error:
                        unexpected.append(repr(error))
            threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
            [each.start() for each in threads]
            [each.join() for each in threads]
        print(unexpected, loads("[1]"))
    """)
    assert out == "[] [1]"


def test_one_writer_for_all() -> None:
    out = run("""
        unexpected = []
        class Slow(io.RawIOBase):
            def writable(self): return True
            def write(self, data):
                threading.Event().wait(1e-5)
                return len(data)
        for target in (None, Slow()) * 10:
            writer = ionfast.Writer(target, auto_flush=64)
            def work(number):
                for i in range(60):
                    try:
                        if (i + number) % 7 == 0:
                            writer.step_in(ionfast.IonType.LIST)
                        elif (i + number) % 5 == 0:
                            writer.step_out()
                        else:
                            writer.write(entry_points.MIXED[i % 7])
                        if i % 20 == 0:
                            writer.flush()
                    except (ValueError, RuntimeError, TypeError):
                        pass
                    except BaseException as error:
                        unexpected.append(repr(error))
            threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
            [each.start() for each in threads]
            [each.join() for each in threads]
            try:
                writer.close()
            except ValueError:
                pass
        print(unexpected, loads(dumps([1])))
    """)
    assert out == "[] [1]"


# Threads that change `shared` for as long as other threads work with it.
MEDDLE = """
        import contextlib, dataclasses, random, time
        stop = threading.Event()
        unexpected = []
        def guard(function, *args):
            try:
                return function(*args)
            except (ValueError, RuntimeError, TypeError, AttributeError, BufferError):
                return None  # the library's errors, and those of objects that change under it
            except BaseException as error:
                unexpected.append(repr(error))
        def run_all(work, meddle, workers=4, meddlers=2):
            def on_and_on(number):
                while not stop.is_set():
                    meddle(number)
            threads = [threading.Thread(target=work, args=(i,)) for i in range(workers)]
            others = [threading.Thread(target=on_and_on, args=(i,)) for i in range(meddlers)]
            [each.start() for each in [*others, *threads]]
            [each.join() for each in threads]
            stop.set()
            [each.join() for each in others]
"""


@pytest.mark.parametrize("options", ["", "binary=False", "binary=False, indent=1"])
def test_values_that_others_change_while_they_are_written(options: str) -> None:
    """Each thread gets the value as it was at some time, or an error of a container that changes."""
    out = run(
        MEDDLE
        + f"""
        @dataclasses.dataclass
        class Plain:
            a: object
            b: object
        @dataclasses.dataclass(slots=True)
        class Slots:
            a: object
            b: object
        inner = [[1.5, 2.5], {{"k": "v" * 50}}, "text" * 20]
        shared = {{"list": list(inner), "plain": Plain(1, [2]), "slots": Slots([1], 2.5)}}
        shared["buffer"] = bytearray(99)
        def work(number):
            for _ in range(400):
                done = guard(lambda: ionfast.dumps(shared, {options}))
                if done is not None:
                    loads(done)
        def meddle(number):
            some = shared["list"]
            some.append([random.random(), random.random()])
            some[0] = [1.5] * random.randrange(6)
            if len(some) > 40:
                del some[3:]
            guard(lambda: some[1].update(k=str(random.random()), more=[1, 2]))
            guard(lambda: some[1].pop("more", None))
            for name in ("plain", "slots"):
                shared[name].a = {{str(number): random.random()}}
                shared[name].b = [random.random()] * 3
            if random.random() < 0.01:
                with contextlib.suppress(AttributeError):
                    del shared["slots"].a
            shared["buffer"][:] = random.randbytes(99)
            shared[f"key{{number}}"] = "long" * 40
            shared.pop(f"key{{number}}", None)
        run_all(work, meddle)
        print(unexpected, loads("[1]"))
    """
    )
    assert out == "[] [1]"


def test_memory_that_others_change_while_it_is_read() -> None:
    out = run(
        MEDDLE
        + """
        text = "[" + '"\u20ac\u20ac\u20ac", {a: "long enough to be seen", b: 1.5}, ' * 300 + "1]"
        shared = bytearray(text.encode())
        def work(number):
            for i in range(60):
                guard(loads, shared if i % 2 else memoryview(shared))
                guard(list, ionfast.Reader(shared))
                guard(ionfast.transcode, shared)
        def meddle(number):
            place = random.randrange(len(shared) - 4)
            kept = shared[place : place + 4]
            shared[place : place + 4] = random.randbytes(4)
            shared[place : place + 4] = kept
        run_all(work, meddle)
        shared[:] = text.encode()
        print(unexpected, len(loads(shared)))
    """
    )
    assert out == "[] 601"


def test_one_decoder_and_one_plan_for_all() -> None:
    """What a plan learns of one stream's symbol IDs is not taken for another's."""
    out = run("""
        import dataclasses
        @dataclasses.dataclass
        class Point:
            x: int
            y: int
            name: str = ""
        names = [f"n{i}" for i in range(40)]
        def document(number):  # the same names under other IDs for each
            mixed = {name: 0 for name in names[number:] + names[:number]}
            points = [{"x": i, "y": -i, "name": "p" * number} for i in range(30)]
            return ionfast.dumps({"first": mixed, "points": points})
        documents = [document(number) for number in range(8)]
        wanted = [[Point(i, -i, "p" * number) for i in range(30)] for number in range(8)]
        @dataclasses.dataclass
        class Whole:
            points: list[Point]
        decoder = ionfast.Decoder(Whole)
        codec = ionfast.Codec()
        codec.add(Point, annotation="point")
        wrong = []
        def work(number):
            for i in range(120):
                which = (number + i) % 8
                if i % 3 == 0:
                    done = decoder.loads(documents[which])
                elif i % 3 == 1:
                    done = loads(documents[which], type=Whole)
                else:
                    done = loads(documents[which], type=Whole, codec=codec)
                if done.points != wanted[which]:
                    wrong.append((number, i))
        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        [each.start() for each in threads]
        [each.join() for each in threads]
        print(wrong)
    """)
    assert out == "[]"


def test_one_codec_that_others_register_with() -> None:
    """A registration holds for every call that begins after it."""
    out = run(
        MEDDLE
        + """
        kinds = [type(f"Kind{i}", (), {"a": i}) for i in range(12)]
        codec = ionfast.Codec()
        wrong = []
        def work(number):
            for i in range(150):
                kind = type(f"Mine{number}", (), {})
                name, same = f"mine{number}-{i}", lambda value: i
                codec.add(kind, annotation=name, encode=same, decode=same)
                made = codec.dumps([kind(), 1], binary=i % 2 == 0)
                text = codec.dumps(kind(), binary=False)
                if codec.loads(made) != [i, 1] or text != f"$ion_1_0 '{name}'::{i}":
                    wrong.append((number, i))
        def meddle(number):
            kind = random.choice(kinds)
            guard(lambda: codec.add(kind, annotation=kind.__name__, encode=lambda value: value.a))
            done = guard(lambda: codec.dumps([kind(), kind()], binary=False))
            if done != f"$ion_1_0 [{kind.__name__}::{kind.a},{kind.__name__}::{kind.a}]":
                wrong.append(done)
        run_all(work, meddle)
        print(wrong[:3], unexpected)
    """
    )
    assert out == "[] []"


def test_one_catalog_that_others_register_with() -> None:
    out = run(
        MEDDLE
        + """
        catalog = ionfast.Catalog([ionfast.SharedSymbolTable("t", 1, ["a"])])
        text = '$ion_symbol_table::{imports:[{name:"t",version:1,max_id:1}]} [$10]'
        wrong = []
        def work(number):
            for i in range(200):
                table = ionfast.SharedSymbolTable(f"n{i}", number + 1, ["x"])
                catalog.register(table)
                if loads(text, catalog=catalog) != ["a"] or catalog.get(f"n{i}", number + 1) != table:
                    wrong.append((number, i))
        def meddle(number):
            catalog.register(ionfast.SharedSymbolTable("t", 1, ["a"]))
            len(catalog), list(catalog), repr(catalog), "t" in catalog, catalog.get("n0")
        run_all(work, meddle)
        print(wrong, len(catalog), unexpected)
    """
    )
    assert out == "[] 801 []"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_fork_with_live_pools_and_readers() -> None:
    out = run("""
        import warnings
        warnings.simplefilter("ignore", DeprecationWarning)
        wanted = {name: entry_points.run(name) for name in entry_points.ALL}
        reader = ionfast.Reader(entry_points.STREAM)
        reader.next()
        stop = threading.Event()
        def work():
            while not stop.is_set():
                for name in ("loads_text", "dumps", "reader_feed", "writer_binary"):
                    entry_points.run(name)
        threads = [threading.Thread(target=work) for _ in range(3)]
        [each.start() for each in threads]
        codes = []
        for _ in range(10):
            child = os.fork()
            if child == 0:
                same = all(entry_points.run(name) == wanted[name] for name in wanted)
                reader.value()
                os._exit(0 if same and reader.next() is not None else 1)
            codes.append(os.waitpid(child, 0)[1])
        stop.set()
        [each.join() for each in threads]
        print(codes)
    """)
    assert out == str([0] * 10)


@pytest.mark.parametrize(
    "kind", ["Reader(entry_points.STREAM)", "Reader('[1, {a: [')", "Writer(io.BytesIO())"]
)
def test_shutdown_with_what_is_still_open(kind: str) -> None:
    """In a module, in a cycle, in a thread that runs on, and used by an exit function."""
    out = run(f"""
        import atexit
        from ionfast import Reader, Writer
        opened = {kind}
        class Node: pass
        node = Node()
        node.me, node.it = node, {kind}
        sys.kept_for_ever = {kind}
        iterator = ionfast.iterload(entry_points.ShortFile(entry_points.STREAM))
        next(iterator)
        atexit.register(lambda: print(loads("[2]")))
        def run_on():
            while True:
                entry_points.run("loads_text")
        threading.Thread(target=run_on, daemon=True).start()
        print(type(opened).__name__ in ("Reader", "Writer"))
    """)
    assert out == "True\n[2]"


ONE_AFTER_ANOTHER = f"""
import sys
sys.path.insert(0, {TESTS!r})
import entry_points, ionfast
for name in entry_points.ALL:
    entry_points.run(name)
kept = [ionfast.Reader("[1]"), ionfast.Writer(), ionfast.loads("x::[1.5]")]
"""

SIDE_BY_SIDE = f"""
import sys
sys.path.insert(0, {TESTS!r})
import entry_points
wanted = {{name: entry_points.run(name) for name in entry_points.ALL}}
for _ in range(5):
    for name in wanted:
        assert entry_points.run(name) == wanted[name], name
"""


@has_test_modules
def test_subinterpreters_one_after_another() -> None:
    out = run(f"""
        import _testcapi
        code = {ONE_AFTER_ANOTHER!r}
        codes = [_testcapi.run_in_subinterp(code) for _ in range(3)]
        print(codes, loads("[1.5]"))
    """)
    assert out == "[0, 0, 0] [Decimal('1.5')]"


@pytest.mark.skipif(
    importlib.util.find_spec("_interpreters") is None, reason="own-GIL interpreters are of 3.13"
)
def test_interpreters_with_a_gil_of_their_own() -> None:
    """Side by side, each with its own pools."""
    out = run(f"""
        import _interpreters
        code = {SIDE_BY_SIDE!r}
        failures = []
        def work():
            interpreter = _interpreters.create("isolated")
            for _ in range(2):
                error = _interpreters.exec(interpreter, code)
                if error is not None:
                    failures.append(error.formatted)
            _interpreters.destroy(interpreter)
        threads = [threading.Thread(target=work) for _ in range(4)]
        [each.start() for each in threads]
        [each.join() for each in threads]
        print(failures)
    """)
    assert out == "[]"


@pytest.mark.skipif(
    not hasattr(sys, "_is_gil_enabled"), reason="whether there is a GIL can be asked from 3.13 on"
)
def test_importing_leaves_the_gil_as_it_was() -> None:
    """On; or off in a free-threaded build, which turns it on for modules that do not say they need none."""
    code = (
        "import sys; before = sys._is_gil_enabled(); import ionfast; "
        "print(before == sys._is_gil_enabled())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"
