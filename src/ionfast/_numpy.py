"""numpy's scalars and arrays as Python values, when numpy is there; nothing here imports it early."""

from __future__ import annotations

from typing import Any

__all__ = ["native"]


def native(value: Any) -> Any:
    """What a numpy scalar or array is written as: numbers, strings, lists of them.

    Raises:
        TypeError: A dtype that Ion has nothing for, as complex numbers.
        ValueError: A time that is not a whole number of microseconds, or that datetime cannot hold.
    """
    import numpy as np

    if not isinstance(value, (np.generic, np.ndarray)):
        raise TypeError(f"{type(value).__qualname__} cannot be written as Ion")
    kind = value.dtype.kind
    if kind in "biuSUO":
        return value.tolist()
    if kind == "f":
        if value.dtype.itemsize > 8:
            raise TypeError("numpy.longdouble cannot be written as Ion without loss")
        return value.tolist()
    if kind == "M":
        return _moments(np, value)
    raise TypeError(f"numpy dtype {value.dtype} cannot be written as Ion")


def _moments(np: Any, value: Any) -> Any:
    """datetime64 in whole microseconds, as datetimes; days as dates."""
    unit = np.datetime_data(value.dtype)[0]
    if unit in ("Y", "M", "W", "D"):
        return _checked(value.astype("M8[D]"), value)
    micro = value.astype("M8[us]")
    if unit in ("ns", "ps", "fs", "as") and not np.array_equal(
        micro.astype(value.dtype), value, equal_nan=True
    ):
        raise ValueError(f"datetime64 in {unit} that are no whole microseconds")
    return _checked(micro, value)


def _checked(moments: Any, value: Any) -> Any:
    result = moments.tolist()
    if _has_int(result):
        raise ValueError(f"{value.dtype} that datetime cannot hold")
    return result


def _has_int(value: Any) -> bool:
    if isinstance(value, list):
        return any(map(_has_int, value))
    return isinstance(value, int)
