from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, tzinfo
from decimal import Decimal
from os import PathLike
from typing import (
    IO,
    Any,
    ClassVar,
    Literal,
    Self,
    SupportsIndex,
    TypeAlias,
    final,
    overload,
)

from typing_extensions import Buffer, disjoint_base

from ._symbols import Symbol, SymbolToken
from ._types import IonType, NeedData, TimestampPrecision

_Model: TypeAlias = Literal["lossless", "plain", "ionpy"]

def loads(
    data: Buffer | str,
    *,
    model: _Model = "lossless",
    catalog: Catalog | None = None,
    max_depth: int | None = 1000,
    max_value_size: int | None = None,
) -> Any: ...
def loads_all(
    data: Buffer | str,
    *,
    model: _Model = "lossless",
    catalog: Catalog | None = None,
    max_depth: int | None = 1000,
    max_value_size: int | None = None,
) -> list[Any]: ...
@overload
def dumps(
    obj: object,
    *,
    binary: Literal[True] = True,
    indent: int | str | None = None,
    imports: Sequence[SharedSymbolTable] = (),
    default: Callable[[Any], Any] | None = None,
    tuple_as_sexp: bool = False,
    omit_version_marker: bool = False,
    max_depth: int | None = 1000,
) -> bytes: ...
@overload
def dumps(
    obj: object,
    *,
    binary: Literal[False],
    indent: int | str | None = None,
    imports: Sequence[SharedSymbolTable] = (),
    default: Callable[[Any], Any] | None = None,
    tuple_as_sexp: bool = False,
    omit_version_marker: bool = False,
    max_depth: int | None = 1000,
) -> str: ...
@overload
def dumps(
    obj: object,
    *,
    binary: bool,
    indent: int | str | None = None,
    imports: Sequence[SharedSymbolTable] = (),
    default: Callable[[Any], Any] | None = None,
    tuple_as_sexp: bool = False,
    omit_version_marker: bool = False,
    max_depth: int | None = 1000,
) -> bytes | str: ...
@overload
def dumps_all(
    values: Iterable[object],
    *,
    binary: Literal[True] = True,
    indent: int | str | None = None,
    imports: Sequence[SharedSymbolTable] = (),
    default: Callable[[Any], Any] | None = None,
    tuple_as_sexp: bool = False,
    omit_version_marker: bool = False,
    max_depth: int | None = 1000,
) -> bytes: ...
@overload
def dumps_all(
    values: Iterable[object],
    *,
    binary: Literal[False],
    indent: int | str | None = None,
    imports: Sequence[SharedSymbolTable] = (),
    default: Callable[[Any], Any] | None = None,
    tuple_as_sexp: bool = False,
    omit_version_marker: bool = False,
    max_depth: int | None = 1000,
) -> str: ...
@overload
def dumps_all(
    values: Iterable[object],
    *,
    binary: bool,
    indent: int | str | None = None,
    imports: Sequence[SharedSymbolTable] = (),
    default: Callable[[Any], Any] | None = None,
    tuple_as_sexp: bool = False,
    omit_version_marker: bool = False,
    max_depth: int | None = 1000,
) -> bytes | str: ...

@final
@disjoint_base
class SharedSymbolTable:
    @property
    def name(self) -> str: ...
    @property
    def version(self) -> int: ...
    @property
    def max_id(self) -> int: ...
    @property
    def symbols(self) -> tuple[str | None, ...]: ...
    def __new__(cls, name: str, version: int, symbols: Iterable[str | None] = ()) -> Self: ...
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@disjoint_base
class Catalog:
    def __new__(cls, tables: Iterable[SharedSymbolTable] = ()) -> Self: ...
    def register(self, table: SharedSymbolTable, /) -> None: ...
    def get(self, name: str, version: int | None = None) -> SharedSymbolTable | None: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[SharedSymbolTable]: ...

@disjoint_base
class Timestamp(datetime):
    _precisions: ClassVar[Sequence[int]]

    @property
    def precision(self) -> TimestampPrecision: ...
    @property
    def fractional_precision(self) -> int: ...
    @property
    def fractional_seconds(self) -> Decimal: ...
    def __new__(
        cls,
        year: int,
        month: int = 1,
        day: int = 1,
        hour: int = 0,
        minute: int = 0,
        second: int = 0,
        microsecond: int | None = None,
        tzinfo: tzinfo | None = None,
        precision: int | None = None,
        fractional_precision: int | None = None,
        fractional_seconds: Decimal | None = None,
        fold: int = 0,
    ) -> Self: ...
    @classmethod
    def from_text(cls, text: str, /) -> Self: ...
    def to_text(self) -> str: ...
    def astimezone(self, tz: tzinfo | None = None) -> Self: ...
    def replace(
        self,
        year: SupportsIndex = ...,
        month: SupportsIndex = ...,
        day: SupportsIndex = ...,
        hour: SupportsIndex = ...,
        minute: SupportsIndex = ...,
        second: SupportsIndex = ...,
        microsecond: SupportsIndex = ...,
        tzinfo: tzinfo | None = ...,
        *,
        fold: int = ...,
        precision: int | None = ...,
        fractional_precision: int | None = ...,
        fractional_seconds: Decimal | None = ...,
    ) -> Self: ...
    @classmethod
    def adjust_from_utc_fields(cls, *args: Any, **kwargs: Any) -> Self: ...

@disjoint_base
class Reader:
    def __new__(
        cls,
        source: Buffer | str | PathLike[str] | IO[bytes] | IO[str] | None = None,
        *,
        model: _Model = "lossless",
        catalog: Catalog | None = None,
        max_depth: int | None = 1000,
        max_value_size: int | None = None,
        compression: Literal["auto"] | None = "auto",
    ) -> Self: ...
    def next(self) -> IonType | NeedData | None: ...
    def step_in(self) -> None: ...
    def step_out(self) -> None: ...
    def value(self) -> Any: ...
    def feed(self, chunk: Buffer | str, /) -> None: ...
    def end(self) -> None: ...
    def close(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *args: object) -> None: ...
    @property
    def type(self) -> IonType | None: ...
    @property
    def field_name(self) -> str | SymbolToken | None: ...
    @property
    def annotations(self) -> tuple[Symbol | SymbolToken, ...]: ...
    @property
    def field_symbol(self) -> SymbolToken | None: ...
    @property
    def annotation_symbols(self) -> tuple[SymbolToken, ...]: ...
    @property
    def is_null(self) -> bool: ...
    @property
    def depth(self) -> int: ...
    @property
    def offset(self) -> int: ...
    @property
    def closed(self) -> bool: ...

def _bind(mapping: Mapping[str, object], /) -> None: ...
def _pool_stats() -> dict[str, dict[str, int]]: ...
def _pool_configure(
    *, max_idle: int = 16, max_object_bytes: int = ..., max_bytes: int = ...
) -> None: ...
def _pool_clear() -> None: ...
def _pool_disable(flag: bool, /) -> bool: ...
