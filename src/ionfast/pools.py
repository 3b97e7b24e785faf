"""The pools of decoders, encoders and buffers that make readers and writers almost free.

Each interpreter has one set of pools, which `ionfast.loads`, `ionfast.dumps` and the stream
classes share. They are bounded: what is idle has a cap in number and in bytes, so that one giant
input is not kept for ever. Nothing here needs to be called; it is for measuring and for tuning.

>>> import ionfast
>>> from ionfast import pools
>>> before = pools.stats()["decoders"]["takes"]
>>> ionfast.loads("[1, 2]")
[1, 2]
>>> pools.stats()["decoders"]["takes"] > before
True
"""

from collections.abc import Iterator
from contextlib import contextmanager

from ._ionfast import _pool_clear, _pool_configure, _pool_disable, _pool_stats

__all__ = ["clear", "configure", "disabled", "stats"]

_DEFAULT_MAX_IDLE = 16
_DEFAULT_MAX_OBJECT_BYTES = 4 << 20
_DEFAULT_MAX_BYTES = 16 << 20


def stats() -> dict[str, dict[str, int]]:
    """Counts of each pool, and of the memory that the C core has asked for.

    Returns:
        For each of ``decoders``, ``string_decoders``, ``buffers`` and ``encoders``: ``takes``,
        of them ``hits`` (reused) and ``misses`` (made anew); ``gives``, of them ``drops`` (not
        kept); ``idle`` objects and their ``idle_bytes``. For ``heap``: ``allocs``, ``frees``,
        ``live_bytes``, and ``total_bytes`` ever asked for.

    >>> sorted(stats())
    ['buffers', 'decoders', 'encoders', 'heap', 'string_decoders']
    """
    return _pool_stats()


def configure(
    *,
    max_idle: int = _DEFAULT_MAX_IDLE,
    max_object_bytes: int = _DEFAULT_MAX_OBJECT_BYTES,
    max_bytes: int = _DEFAULT_MAX_BYTES,
) -> None:
    """Set the caps of every pool; what is left out goes back to its default.

    Args:
        max_idle: Idle objects to keep.
        max_object_bytes: An object that holds more is not kept.
        max_bytes: What all idle objects of a pool may hold.

    Raises:
        ValueError: A cap is negative, or `max_idle` is too large.

    >>> configure(max_bytes=1 << 20)
    >>> configure()
    """
    _pool_configure(max_idle=max_idle, max_object_bytes=max_object_bytes, max_bytes=max_bytes)


def clear() -> None:
    """Free every idle object.

    >>> clear()
    >>> stats()["decoders"]["idle"]
    0
    """
    _pool_clear()


@contextmanager
def disabled() -> Iterator[None]:
    """Pool nothing inside the ``with`` block, in this interpreter: to compare with and without.

    Blocks nest, and may overlap in different threads; the setting is the interpreter's, not the
    thread's.

    >>> import ionfast
    >>> with disabled():
    ...     before = stats()["decoders"]["hits"]
    ...     values = [ionfast.loads("1") for _ in range(3)]
    ...     stats()["decoders"]["hits"] - before
    0
    """
    _pool_disable(True)
    try:
        yield
    finally:
        _pool_disable(False)
