import builtins
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, tzinfo
from decimal import Decimal
from os import PathLike
from types import GenericAlias
from typing import (
    IO,
    Any,
    ClassVar,
    Generic,
    Literal,
    Self,
    SupportsIndex,
    TypeAlias,
    TypeVar,
    final,
    overload,
)

from typing_extensions import Buffer, disjoint_base

from ._symbols import Symbol, SymbolToken
from ._types import IonType, NeedData, TimestampPrecision

_Model: TypeAlias = Literal["lossless", "plain", "ionpy"]
_Import: TypeAlias = (
    SharedSymbolTable | str | tuple[str, int | None] | tuple[str, int | None, int | None]
)
_T = TypeVar("_T")
_T_co = TypeVar("_T_co", covariant=True)

@overload
def loads(
    data: Buffer | str,
    *,
    type: builtins.type[_T],
    codec: CodecBase | None = None,
    forbid_unknown: bool = False,
    model: _Model = "lossless",
    catalog: Catalog | None = None,
    max_depth: int | None = 1000,
    max_value_size: int | None = None,
) -> _T: ...
@overload
def loads(
    data: Buffer | str,
    *,
    type: Any = None,
    codec: CodecBase | None = None,
    forbid_unknown: bool = False,
    model: _Model = "lossless",
    catalog: Catalog | None = None,
    max_depth: int | None = 1000,
    max_value_size: int | None = None,
) -> Any: ...
@overload
def loads_all(
    data: Buffer | str,
    *,
    type: builtins.type[_T],
    codec: CodecBase | None = None,
    forbid_unknown: bool = False,
    model: _Model = "lossless",
    catalog: Catalog | None = None,
    max_depth: int | None = 1000,
    max_value_size: int | None = None,
) -> list[_T]: ...
@overload
def loads_all(
    data: Buffer | str,
    *,
    type: Any = None,
    codec: CodecBase | None = None,
    forbid_unknown: bool = False,
    model: _Model = "lossless",
    catalog: Catalog | None = None,
    max_depth: int | None = 1000,
    max_value_size: int | None = None,
) -> list[Any]: ...

@final
class Decoder(Generic[_T_co]):
    @overload
    def __new__(
        cls,
        type: builtins.type[_T_co],
        *,
        forbid_unknown: bool = False,
        codec: CodecBase | None = None,
        model: _Model = "lossless",
        catalog: Catalog | None = None,
        max_depth: int | None = 1000,
        max_value_size: int | None = None,
    ) -> Self: ...
    @overload
    def __new__(
        cls,
        type: Any,
        *,
        forbid_unknown: bool = False,
        codec: CodecBase | None = None,
        model: _Model = "lossless",
        catalog: Catalog | None = None,
        max_depth: int | None = 1000,
        max_value_size: int | None = None,
    ) -> Decoder[Any]: ...
    def loads(self, data: Buffer | str, /) -> _T_co: ...
    def loads_all(self, data: Buffer | str, /) -> list[_T_co]: ...
    def __class_getitem__(cls, item: Any, /) -> GenericAlias: ...
    @property
    def type(self) -> Any: ...

@disjoint_base
class CodecBase:
    def __new__(cls, *args: Any, **kwargs: Any) -> Self: ...
    def _set_entry(
        self,
        type: builtins.type,
        entry: tuple[tuple[str, ...] | None, Callable[[Any], Any] | None],
        /,
    ) -> None: ...

@overload
def dumps(
    obj: object,
    *,
    binary: Literal[True] = True,
    indent: int | str | None = None,
    imports: Iterable[_Import] = (),
    catalog: Catalog | None = None,
    default: Callable[[Any], Any] | None = None,
    tuple_as_sexp: bool = False,
    omit_version_marker: bool = False,
    max_depth: int | None = 1000,
    codec: CodecBase | None = None,
) -> bytes: ...
@overload
def dumps(
    obj: object,
    *,
    binary: Literal[False],
    indent: int | str | None = None,
    imports: Iterable[_Import] = (),
    catalog: Catalog | None = None,
    default: Callable[[Any], Any] | None = None,
    tuple_as_sexp: bool = False,
    omit_version_marker: bool = False,
    max_depth: int | None = 1000,
    codec: CodecBase | None = None,
) -> str: ...
@overload
def dumps(
    obj: object,
    *,
    binary: bool,
    indent: int | str | None = None,
    imports: Iterable[_Import] = (),
    catalog: Catalog | None = None,
    default: Callable[[Any], Any] | None = None,
    tuple_as_sexp: bool = False,
    omit_version_marker: bool = False,
    max_depth: int | None = 1000,
    codec: CodecBase | None = None,
) -> bytes | str: ...
@overload
def dumps_all(
    values: Iterable[object],
    *,
    binary: Literal[True] = True,
    indent: int | str | None = None,
    imports: Iterable[_Import] = (),
    catalog: Catalog | None = None,
    default: Callable[[Any], Any] | None = None,
    tuple_as_sexp: bool = False,
    omit_version_marker: bool = False,
    max_depth: int | None = 1000,
    codec: CodecBase | None = None,
) -> bytes: ...
@overload
def dumps_all(
    values: Iterable[object],
    *,
    binary: Literal[False],
    indent: int | str | None = None,
    imports: Iterable[_Import] = (),
    catalog: Catalog | None = None,
    default: Callable[[Any], Any] | None = None,
    tuple_as_sexp: bool = False,
    omit_version_marker: bool = False,
    max_depth: int | None = 1000,
    codec: CodecBase | None = None,
) -> str: ...
@overload
def dumps_all(
    values: Iterable[object],
    *,
    binary: bool,
    indent: int | str | None = None,
    imports: Iterable[_Import] = (),
    catalog: Catalog | None = None,
    default: Callable[[Any], Any] | None = None,
    tuple_as_sexp: bool = False,
    omit_version_marker: bool = False,
    max_depth: int | None = 1000,
    codec: CodecBase | None = None,
) -> bytes | str: ...

@final
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
    def __replace__(self, /, **changes: Any) -> Self: ...
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
        codec: CodecBase | None = None,
        max_value_size: int | None = None,
        compression: Literal["auto"] | None = "auto",
        on_oversized: Callable[[int, int], object] | None = None,
    ) -> Self: ...
    def __iter__(self) -> Self: ...
    def __next__(self) -> Any: ...
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

@disjoint_base
class Writer:
    def __new__(
        cls,
        target: str | PathLike[str] | IO[bytes] | IO[str] | None = None,
        *,
        binary: bool = True,
        indent: int | str | None = None,
        imports: Iterable[_Import] = (),
        catalog: Catalog | None = None,
        preallocate: Literal[0, 1, 2] = 1,
        auto_flush: bool | int = True,
        default: Callable[[Any], Any] | None = None,
        tuple_as_sexp: bool = False,
        omit_version_marker: bool = False,
        max_depth: int | None = 1000,
        codec: CodecBase | None = None,
    ) -> Self: ...
    def write(
        self,
        value: object,
        /,
        field_name: str | SymbolToken | None = None,
        annotations: Iterable[str | SymbolToken] | None = (),
    ) -> None: ...
    def write_null(
        self,
        type: IonType,
        /,
        field_name: str | SymbolToken | None = None,
        annotations: Iterable[str | SymbolToken] | None = (),
    ) -> None: ...
    def write_symbol(
        self,
        name: str | SymbolToken,
        /,
        field_name: str | SymbolToken | None = None,
        annotations: Iterable[str | SymbolToken] | None = (),
    ) -> None: ...
    def write_clob(
        self,
        data: Buffer,
        /,
        field_name: str | SymbolToken | None = None,
        annotations: Iterable[str | SymbolToken] | None = (),
    ) -> None: ...
    def step_in(
        self,
        type: IonType,
        /,
        field_name: str | SymbolToken | None = None,
        annotations: Iterable[str | SymbolToken] | None = (),
    ) -> None: ...
    def step_out(self) -> None: ...
    def flush(self) -> None: ...
    def finish(self) -> None: ...
    def getvalue(self) -> Any: ...
    def close(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *args: object) -> None: ...
    @property
    def depth(self) -> int: ...
    @property
    def closed(self) -> bool: ...

@overload
def transcode(
    source: Buffer | str | PathLike[str] | IO[bytes] | IO[str],
    target: None = None,
    /,
    *,
    binary: Literal[True] = True,
    indent: int | str | None = None,
    imports: Iterable[_Import] = (),
    catalog: Catalog | None = None,
    omit_version_marker: bool = False,
    compression: Literal["auto"] | None = "auto",
    max_depth: int | None = 1000,
    max_value_size: int | None = None,
    auto_flush: bool | int = True,
) -> bytes: ...
@overload
def transcode(
    source: Buffer | str | PathLike[str] | IO[bytes] | IO[str],
    target: None = None,
    /,
    *,
    binary: Literal[False],
    indent: int | str | None = None,
    imports: Iterable[_Import] = (),
    catalog: Catalog | None = None,
    omit_version_marker: bool = False,
    compression: Literal["auto"] | None = "auto",
    max_depth: int | None = 1000,
    max_value_size: int | None = None,
    auto_flush: bool | int = True,
) -> str: ...
@overload
def transcode(
    source: Buffer | str | PathLike[str] | IO[bytes] | IO[str],
    target: None = None,
    /,
    *,
    binary: bool,
    indent: int | str | None = None,
    imports: Iterable[_Import] = (),
    catalog: Catalog | None = None,
    omit_version_marker: bool = False,
    compression: Literal["auto"] | None = "auto",
    max_depth: int | None = 1000,
    max_value_size: int | None = None,
    auto_flush: bool | int = True,
) -> bytes | str: ...
@overload
def transcode(
    source: Buffer | str | PathLike[str] | IO[bytes] | IO[str],
    target: str | PathLike[str] | IO[bytes] | IO[str],
    /,
    *,
    binary: bool = True,
    indent: int | str | None = None,
    imports: Iterable[_Import] = (),
    catalog: Catalog | None = None,
    omit_version_marker: bool = False,
    compression: Literal["auto"] | None = "auto",
    max_depth: int | None = 1000,
    max_value_size: int | None = None,
    auto_flush: bool | int = True,
) -> int: ...
def _bind(mapping: Mapping[str, object], /) -> None: ...
def _pool_stats() -> dict[str, dict[str, int]]: ...
def _pool_configure(
    *, max_idle: int = 16, max_object_bytes: int = ..., max_bytes: int = ...
) -> None: ...
def _pool_clear() -> None: ...
def _pool_disable(flag: bool, /) -> None: ...
