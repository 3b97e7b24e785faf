"""The pools of the module state: reuse across calls, caps, and what a call asks of the allocator."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator

import pytest

import ionfast
import scenarios
from ionfast import pools

VALUE = {"id": 7, "name": "plum", "tags": ["a", "b"], "price": 1.5}
BINARY = ionfast.dumps(VALUE)
TEXT = ionfast.dumps(VALUE, binary=False).encode()
IMPORT = (
    '$ion_symbol_table::{imports:[{name:"largeTable",version:1,max_id:%d}],symbols:["key"]}'
    " {$%d:$12,$13:$14}"
)


@pytest.fixture(autouse=True)
def _default_pools() -> Iterator[None]:
    pools.clear()
    pools.configure()
    yield
    pools.clear()
    pools.configure()


def spent(count: int = 100, **calls: object) -> dict[str, int]:
    """What each call asks of the core's allocator in `count` rounds, once it is warm."""
    result = {}
    for name, call in calls.items():
        assert callable(call)
        for _ in range(3):
            call()
        before = pools.stats()["heap"]["allocs"]
        for _ in range(count):
            call()
        result[name] = pools.stats()["heap"]["allocs"] - before
    return result


def test_small_messages_allocate_nothing_in_the_steady_state() -> None:
    assert spent(
        loads_binary=lambda: ionfast.loads(BINARY),
        loads_text=lambda: ionfast.loads(TEXT),
        loads_plain=lambda: ionfast.loads(BINARY, model="plain"),
        loads_all=lambda: ionfast.loads_all(BINARY + BINARY),
        dumps_binary=lambda: ionfast.dumps(VALUE),
        dumps_text=lambda: ionfast.dumps(VALUE, binary=False),
    ) == dict.fromkeys(
        ("loads_binary", "loads_text", "loads_plain", "loads_all", "dumps_binary", "dumps_text"), 0
    )


def read_one(reader: ionfast.Reader) -> object:
    reader.next()
    value = reader.value()
    assert reader.next() is None
    reader.close()
    return value


def read_whole() -> object:
    return read_one(ionfast.Reader(BINARY))


def read_fed() -> object:
    reader = ionfast.Reader()
    reader.feed(BINARY)
    reader.end()
    return read_one(reader)


def test_readers_allocate_nothing_in_the_steady_state() -> None:
    assert read_whole() == read_fed() == VALUE
    assert spent(whole=read_whole, fed=read_fed) == {"whole": 0, "fed": 0}
    with pools.disabled():
        assert min(spent(whole=read_whole, fed=read_fed).values()) >= 100


@scenarios.needs_gil
@pytest.mark.parametrize("source", [BINARY, None], ids=["whole", "fed"])
def test_the_memory_of_a_reader_waits_for_the_next(source: bytes | None) -> None:
    for _ in range(3):
        places = {id(ionfast.Reader(source)) for _ in range(3)}
    assert len(places) == 1
    two = [ionfast.Reader(source), ionfast.Reader(source)]
    assert id(two[0]) in places
    assert id(two[1]) not in places
    del two
    pools.clear()  # the memory that waits goes too, and the next is made anew
    with pools.disabled():
        assert [ionfast.Reader(source).depth for _ in range(3)] == [0, 0, 0]


def test_clear_frees_the_reader_that_waits() -> None:
    def blocks() -> int:
        ionfast.Reader(BINARY)
        pools.clear()
        return sys.getallocatedblocks()

    blocks()
    first = blocks()
    for _ in range(50):
        last = blocks()
    assert last - first < 10


def test_readers_of_a_subclass_have_memory_of_their_own() -> None:
    class Mine(ionfast.Reader):
        pass

    ionfast.Reader(BINARY)
    mine = Mine(BINARY)
    mine.note = mine  # type: ignore[attr-defined]
    assert mine.next() is ionfast.IonType.STRUCT
    assert ionfast.Reader(BINARY).next() is ionfast.IonType.STRUCT
    del mine
    gc.collect()


def test_an_error_costs_no_decoder() -> None:
    def fail() -> None:
        with pytest.raises(ionfast.IonError):
            ionfast.loads(BINARY[:-1])

    assert spent(fail=fail) == {"fail": 0}
    assert pools.stats()["decoders"]["idle"] == 1


def test_one_decoder_serves_both_encodings_and_all_calls() -> None:
    ionfast.loads(BINARY)
    before = pools.stats()["decoders"]
    for _ in range(10):
        ionfast.loads(BINARY)
        ionfast.loads(TEXT)
        list(ionfast.Reader(TEXT))
    after = pools.stats()["decoders"]
    assert after["hits"] - before["hits"] == after["takes"] - before["takes"] == 30
    assert after["misses"] == before["misses"]
    assert after["idle"] == 1


def test_text_takes_a_string_decoder_and_gives_it_back() -> None:
    ionfast.loads('"a\\nb"')
    before = pools.stats()["string_decoders"]
    assert before["idle"] == 1
    ionfast.loads('"c\\nd"')
    after = pools.stats()["string_decoders"]
    assert (after["hits"] - before["hits"], after["misses"] - before["misses"]) == (1, 0)


def test_plain_text_takes_no_string_decoder() -> None:
    """Where nothing is unescaped or joined, none is needed."""
    plain = '{name:"plum",weight:4.50,ids:[1,-2,3e0],"it":{is:null}}'
    ionfast.loads(plain)  # its depth is new to the decoder
    before = pools.stats()["string_decoders"]
    for _ in range(3):
        ionfast.loads(plain)
    assert pools.stats()["string_decoders"] == before
    for text in ('{a:"\\n"}', "{a:{{aGk=}}}", "{a:b::1}", "{a:1_000}"):
        taken = pools.stats()["string_decoders"]["takes"]
        ionfast.loads(text)
        stats = pools.stats()["string_decoders"]
        assert (stats["takes"], stats["gives"]) == (taken + 1, taken + 1)


def test_going_back_takes_no_second_string_decoder() -> None:
    """Where a struct's tag stands behind what has escapes."""
    msgspec = pytest.importorskip("msgspec")
    cat, dog = (msgspec.defstruct(name, [("name", str)], tag=True) for name in ("Cat", "Dog"))
    text = '[{name:"\\x61",type:Cat},{name:"\\x62",type:Dog}]'
    pets = ionfast.Decoder(list[cat | dog])  # type: ignore[valid-type]
    assert pets.loads(text) == [cat("a"), dog("b")]
    before = pools.stats()["string_decoders"]
    assert pets.loads(text) == [cat("a"), dog("b")]
    after = pools.stats()["string_decoders"]
    assert after["takes"] - before["takes"] == after["gives"] - before["gives"] == 1
    assert after["misses"] == before["misses"]


def test_blocks_without_pools_may_overlap() -> None:
    """As they do in two threads."""
    first, second = pools.disabled(), pools.disabled()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    ionfast.loads("1")
    hits = pools.stats()["decoders"]["hits"]
    ionfast.loads("1")
    assert pools.stats()["decoders"]["hits"] == hits
    second.__exit__(None, None, None)
    ionfast.loads("1")
    ionfast.loads("1")
    assert pools.stats()["decoders"]["hits"] > hits


def test_disabled_makes_and_frees_each_time() -> None:
    with pools.disabled():
        before = pools.stats()
        for _ in range(5):
            ionfast.loads(BINARY)
        after = pools.stats()
        assert after["decoders"]["misses"] - before["decoders"]["misses"] == 5
        assert after["decoders"]["drops"] - before["decoders"]["drops"] == 5
        assert after["heap"]["live_bytes"] <= before["heap"]["live_bytes"]
    ionfast.loads(BINARY)
    assert pools.stats()["decoders"]["idle"] == 1


def test_a_giant_input_is_not_kept() -> None:
    deep = b"[" * 200_000 + b"]" * 200_000
    ionfast.loads(deep, max_depth=None)
    stats = pools.stats()["decoders"]
    assert stats["idle_bytes"] <= 4 << 20
    pools.configure(max_object_bytes=1 << 10)
    ionfast.loads(BINARY)
    assert pools.stats()["decoders"]["idle"] == 0


def test_clear_gives_everything_back() -> None:
    gc.collect()  # readers that other tests have left
    before = pools.stats()["heap"]["live_bytes"]
    ionfast.loads(TEXT)
    ionfast.dumps(VALUE)
    pools.clear()
    stats = pools.stats()
    assert stats["heap"]["live_bytes"] <= before
    assert all(stats[name]["idle"] == 0 for name in stats if name != "heap")


@pytest.mark.parametrize("bad", [{"max_idle": -1}, {"max_idle": 65}, {"max_bytes": -1}])
def test_caps_must_make_sense(bad: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="max_idle"):
        pools.configure(**bad)


def test_a_large_import_costs_as_a_small_one() -> None:
    """Bytes asked of the allocator, from a cold start, for max_id 10 and 1,000,000."""
    asked = []
    for max_id in (10, 1_000_000):
        data = IMPORT % (max_id, max_id + 10)
        pools.clear()
        before = pools.stats()["heap"]["total_bytes"]
        ionfast.loads(data)
        asked.append(pools.stats()["heap"]["total_bytes"] - before)
    assert asked[0] == asked[1]


@pytest.mark.parametrize("binary", [True, False])
def test_a_table_of_many_names_is_held_once(binary: bool) -> None:
    """Held once it has been read: each name, and not twice the length of it. Binary or text."""
    names = [f"field_{i}" for i in range(100_000)]
    table = "$ion_symbol_table::{symbols:[" + ",".join(f'"{name}"' for name in names) + "]} $10"
    data = ionfast.dumps(dict.fromkeys(names, 0)) if binary else table
    gc.collect()
    pools.clear()
    before = pools.stats()["heap"]["live_bytes"]
    with ionfast.Reader(data) as reader:
        reader.next()
        held = pools.stats()["heap"]["live_bytes"] - before
    assert held < sum(len(name) + 1 + 4 for name in names) + 100_000
