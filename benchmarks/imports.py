"""An import costs what is looked up in it: max_id 10 beside max_id 1,000,000, the same two symbols."""

from __future__ import annotations

import time

import ionfast

from .timing import interleave


def stream(max_id: int) -> bytes:
    """A stream whose symbol table imports `max_id` symbols nobody has, and uses two of them."""
    text = (
        '$ion_symbol_table::{imports:[{name:"largeTable",version:1,max_id:%d}],'
        'symbols:["key"]} {$%d:$12,$13:$14}'
    )
    return (text % (max_id, max_id + 10)).encode()


def report(rounds: int = 15) -> None:
    """Print the ratio of the large import to the small one; it should be 1."""
    small, large = stream(10), stream(1_000_000)
    timings = interleave(
        {
            "max_id 10": lambda: ionfast.loads(small, model="plain"),
            "max_id 1,000,000": lambda: ionfast.loads(large, model="plain"),
        },
        rounds=4 * rounds,
        round_seconds=0.002,  # short, so that some rounds have the processor for themselves
        clock=time.process_time,
    )
    ratio = timings["max_id 1,000,000"].best / timings["max_id 10"].best
    cells = [f"{name} {timing.best * 1e9:.0f} ns" for name, timing in timings.items()]
    print(f"{'large import':32} " + ", ".join(cells) + f", ratio {ratio:.3f}", flush=True)
