"""The same comparisons for pytest-benchmark: `python -m pytest benchmarks --benchmark-group-by=group`."""

from __future__ import annotations

from typing import Any

import pytest

import ionfast

from . import data, peers

PEERS = ("ionfast", "orjson", "amazon.ion C", "amazon.ion pure")


def _measure(benchmark: Any, peer: str, candidates: dict[str, peers.Action]) -> None:
    if peer not in candidates:
        pytest.skip(f"{peer} is not installed or cannot do this")
    if peer == "amazon.ion pure":
        benchmark.pedantic(candidates[peer], rounds=1)
    else:
        benchmark(candidates[peer])


def _value(name: str) -> Any:
    if data.corpus_json(name) is None:
        pytest.skip(f"corpus {name} is not in {data.testdata()}")
    return data.document(name)


@pytest.mark.parametrize("peer", PEERS)
@pytest.mark.parametrize("binary", [True, False], ids=["binary", "text"])
@pytest.mark.parametrize("name", data.CORPORA)
def test_loads(benchmark: Any, name: str, binary: bool, peer: str) -> None:
    benchmark.group = f"loads {'binary' if binary else 'text'} {name}"
    encoded = ionfast.dumps(_value(name), binary=binary)
    _measure(
        benchmark, peer, peers.loads_candidates(encoded, data.corpus_json(name), pure=True)
    )


@pytest.mark.parametrize("peer", PEERS)
@pytest.mark.parametrize("binary", [True, False], ids=["binary", "text"])
@pytest.mark.parametrize("name", data.CORPORA)
def test_dumps(benchmark: Any, name: str, binary: bool, peer: str) -> None:
    benchmark.group = f"dumps {'binary' if binary else 'text'} {name}"
    value = _value(name)
    _measure(
        benchmark, peer, peers.dumps_candidates(value, binary=binary, pure=True, is_json=True)
    )


@pytest.mark.parametrize("peer", ("ionfast", "amazon.ion C"))
@pytest.mark.parametrize("name", data.EXAMPLES)
def test_examples(benchmark: Any, name: str, peer: str) -> None:
    benchmark.group = f"loads_all {name}"
    encoded = data.example(name)
    if encoded is None:
        pytest.skip("run `python examples/make_examples.py` first")
    _measure(benchmark, peer, peers.stream_candidates(encoded))
