"""The peers, each as a pair of callables for one document, so that all do the same work."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import ionfast

Action = Callable[[], object]


def amazon_ion(c_ext: bool) -> Any:
    """amazon.ion's simpleion with its C extension on or off; None where it is not installed."""
    try:
        from amazon.ion import simpleion
    except ImportError:
        return None
    if c_ext and not getattr(simpleion, "__IS_C_EXTENSION_SUPPORTED", True):
        return None
    return simpleion


def _amazon_loads(data: bytes | str, c_ext: bool) -> Action:
    simpleion = amazon_ion(c_ext)

    def call() -> object:
        simpleion.c_ext = c_ext
        return simpleion.loads(data)

    return call


def _amazon_dumps(value: Any, binary: bool, c_ext: bool) -> Action:
    simpleion = amazon_ion(c_ext)

    def call() -> object:
        simpleion.c_ext = c_ext
        return simpleion.dumps(value, binary=binary)

    return call


def loads_candidates(
    data: bytes | str, json_text: bytes | None, *, pure: bool, model: str = "lossless"
) -> dict[str, Action]:
    """Who can load this document: name -> call."""
    found: dict[str, Action] = {"ionfast": lambda: ionfast.loads(data, model=model)}
    if amazon_ion(True) is not None:
        found["amazon.ion C"] = _amazon_loads(data, True)
        if pure:
            found["amazon.ion pure"] = _amazon_loads(data, False)
    if json_text is not None:
        orjson = _import("orjson")
        if orjson is not None:
            found["orjson"] = lambda: orjson.loads(json_text)
    return found


def dumps_candidates(value: Any, *, binary: bool, pure: bool, is_json: bool) -> dict[str, Action]:
    """Who can dump this value: name -> call."""
    found: dict[str, Action] = {"ionfast": lambda: ionfast.dumps(value, binary=binary)}
    if amazon_ion(True) is not None and is_json:
        found["amazon.ion C"] = _amazon_dumps(value, binary, True)
        if pure:
            found["amazon.ion pure"] = _amazon_dumps(value, binary, False)
    orjson = _import("orjson")
    if orjson is not None and is_json:
        found["orjson"] = lambda: orjson.dumps(value)
    return found


def stream_candidates(data: bytes) -> dict[str, Action]:
    """Who can load a stream of many top-level values: name -> call."""
    found: dict[str, Action] = {"ionfast": lambda: ionfast.loads_all(data)}
    simpleion = amazon_ion(True)
    if simpleion is not None:

        def call() -> object:
            simpleion.c_ext = True
            return simpleion.load(io.BytesIO(data), single_value=False)

        found["amazon.ion C"] = call
    return found


def _import(name: str) -> Any:
    try:
        return __import__(name)
    except ImportError:
        return None
