"""The serialization libraries to compare with: each a pair of dumps and loads for one Python value."""

from __future__ import annotations

import io
import json
import marshal
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .peers import amazon_ion

Dump = Callable[[Any], Any]
Load = Callable[[Any], Any]

# Those whose dumps and loads are of the same kind as ours; the goals are against these.
FAST = ("orjson", "msgspec", "ormsgpack", "marshal", "pickle")


@dataclass(frozen=True)
class Format:
    """One library. `wrap` turns the value into what it wants, before the clock runs."""

    name: str
    dumps: Dump
    loads: Load
    wrap: Callable[[Any], Any] = lambda value: value


def _module(name: str) -> Any:
    try:
        return __import__(name, fromlist=["_"])
    except ImportError:
        return None


# Avro has no values without a schema: this one says "JSON".
_AVRO_JSON = {
    "type": "record",
    "name": "Value",
    "fields": [
        {
            "name": "v",
            "type": [
                "null",
                "boolean",
                "long",
                "double",
                "string",
                {"type": "array", "items": "Value"},
                {"type": "map", "values": "Value"},
            ],
        }
    ],
}


def _avro_wrap(value: Any) -> Any:
    if isinstance(value, list):
        return {"v": [_avro_wrap(item) for item in value]}
    if isinstance(value, dict):
        return {"v": {key: _avro_wrap(item) for key, item in value.items()}}
    return {"v": value}


def _avro(fastavro: Any) -> Format:
    schema = fastavro.parse_schema(_AVRO_JSON)

    def dumps(value: Any) -> bytes:
        out = io.BytesIO()
        fastavro.schemaless_writer(out, schema, value)
        return out.getvalue()

    def loads(data: bytes) -> Any:
        return fastavro.schemaless_reader(io.BytesIO(data), schema, schema)

    return Format("fastavro", dumps, loads, _avro_wrap)


def _amazon(simpleion: Any, binary: bool) -> Format:
    def dumps(value: Any) -> Any:
        simpleion.c_ext = True
        return simpleion.dumps(value, binary=binary)

    def loads(data: Any) -> Any:
        simpleion.c_ext = True
        return simpleion.loads(data)

    return Format("amazon.ion C", dumps, loads)


def all_formats(binary: bool) -> list[Format]:
    """Every library that is installed; amazon.ion in the encoding asked for."""
    found = []
    if orjson := _module("orjson"):
        found.append(Format("orjson", orjson.dumps, orjson.loads))
    if msgpack := _module("msgspec.msgpack"):
        found.append(Format("msgspec", msgpack.encode, msgpack.decode))
    if ormsgpack := _module("ormsgpack"):
        found.append(Format("ormsgpack", ormsgpack.packb, ormsgpack.unpackb))
    if cbor2 := _module("cbor2"):
        found.append(Format("cbor2", cbor2.dumps, cbor2.loads))
    if fastavro := _module("fastavro"):
        found.append(_avro(fastavro))
    found.append(Format("marshal", marshal.dumps, marshal.loads))
    found.append(Format("pickle", lambda value: pickle.dumps(value, -1), pickle.loads))
    found.append(Format("json", lambda value: json.dumps(value).encode(), json.loads))
    if (simpleion := amazon_ion(True)) is not None:
        found.append(_amazon(simpleion, binary))
    return found
