"""Timing side by side: rounds of all candidates in turn, so that a slow moment of the machine hits all."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

Candidate = Callable[[], object]
Clock = Callable[[], float]


@dataclass(frozen=True)
class Timing:
    """Seconds of one call."""

    best: float
    median: float
    calls: int


def _repeat(function: Candidate, calls: int, clock: Clock = time.perf_counter) -> float:
    begin = clock()
    for _ in range(calls):
        function()
    return (clock() - begin) / calls


def _calls_for(seconds: float, once: float) -> int:
    return max(1, int(seconds / max(once, 1e-9)))


def interleave(
    candidates: Mapping[str, Candidate],
    *,
    rounds: int = 9,
    round_seconds: float = 0.02,
    budget_seconds: float = 8.0,
    clock: Clock = time.perf_counter,
) -> dict[str, Timing]:
    """Time each candidate in `rounds` turns of about `round_seconds`; slow ones get fewer turns.

    `budget_seconds` bounds what one candidate may use in all; its first call counts. With
    `time.process_time` as `clock` the machine's other work counts less.
    """
    samples: dict[str, list[float]] = {}
    calls: dict[str, int] = {}
    for name, function in candidates.items():
        once = _repeat(function, 1, clock)
        samples[name] = [once] if once > budget_seconds / 3 else []
        calls[name] = _calls_for(round_seconds, once)
    for _ in range(rounds):
        for name, function in candidates.items():
            if sum(samples[name]) * calls[name] > budget_seconds:
                continue
            gc.collect()
            samples[name].append(_repeat(function, calls[name], clock))
    return {
        name: Timing(min(times), statistics.median(times), calls[name])
        for name, times in samples.items()
    }
