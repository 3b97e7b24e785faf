"""All references that each entry point leaves behind, by a debug build's sys.gettotalrefcount().

Run by debug_leaks.sh. The count takes in what belongs to no class of the library: strings, tuples, ints.
"""

from __future__ import annotations

import gc
import sys

import entry_points

WARM_UP = 30
CALLS = 100
ROUNDS = 6


def total() -> int:
    gc.collect()
    return sys.gettotalrefcount()  # type: ignore[attr-defined, no-any-return]


def growth(name: str) -> list[int]:
    """References that each of some rounds of calls leaves behind: a leak grows in every one."""
    for _ in range(WARM_UP):
        entry_points.run(name)
    rounds = []
    for _ in range(ROUNDS):
        before = total()
        for _ in range(CALLS):
            entry_points.run(name)
        rounds.append(total() - before)
    return rounds


def main(names: list[str]) -> int:
    leaks = 0
    for name in names:
        rounds = growth(name)
        is_leak = min(rounds) >= CALLS // 2
        leaks += is_leak
        print(f"{name:24} {rounds}{'  LEAK' if is_leak else ''}", flush=True)
    print(f"{len(names)} entry points, {leaks} leaks")
    return 1 if leaks else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or sorted(entry_points.ALL)))
