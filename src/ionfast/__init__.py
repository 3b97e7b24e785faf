"""Amazon Ion for Python: fast, and without loss.

>>> import ionfast
>>> ionfast.loads("{name: \\"plum\\", price: 1.50}")
{'name': 'plum', 'price': Decimal('1.50')}
>>> ionfast.loads(ionfast.dumps([1, None, "two"]))
[1, None, 'two']

`loads` and `dumps` work on data in memory, `load` and `dump` on files; the ``_all`` forms on
streams of any number of values. `iterload` and `Reader` read streams in bounded memory.
`ionfast.equivalence` compares values as Ion does,
`ionfast.pools` measures and tunes. Errors are `IonError`, a ``ValueError``.

Ion specification: https://amazon-ion.github.io/ion-docs/docs/spec.html.
"""

from . import _bignum, _ionfast
from ._codec import Codec
from ._errors import IonError, ValidationError
from ._io import dump, dump_all, iterload, load, load_all, open_source
from ._ionfast import (
    Catalog,
    Decoder,
    Reader,
    SharedSymbolTable,
    Timestamp,
    Writer,
    dumps,
    dumps_all,
    loads,
    loads_all,
    transcode,
)
from ._symbols import ImportLocation, Symbol, SymbolToken
from ._target import open_target
from ._typed import Annotated, Field, describe_encoding, describe_type
from ._types import NEED_DATA, IonType, TimestampPrecision
from ._values import (
    Clob,
    IonPyBool,
    IonPyBytes,
    IonPyDecimal,
    IonPyDict,
    IonPyFloat,
    IonPyInt,
    IonPyList,
    IonPyNull,
    IonPySymbol,
    IonPyText,
    IonPyTimestamp,
    Sexp,
    is_null,
)

__all__ = [
    "NEED_DATA",
    "Catalog",
    "Clob",
    "Codec",
    "Decoder",
    "Field",
    "ImportLocation",
    "IonError",
    "IonPyBool",
    "IonPyBytes",
    "IonPyDecimal",
    "IonPyDict",
    "IonPyFloat",
    "IonPyInt",
    "IonPyList",
    "IonPyNull",
    "IonPySymbol",
    "IonPyText",
    "IonPyTimestamp",
    "IonType",
    "Reader",
    "Sexp",
    "SharedSymbolTable",
    "Symbol",
    "SymbolToken",
    "Timestamp",
    "TimestampPrecision",
    "ValidationError",
    "Writer",
    "dump",
    "dump_all",
    "dumps",
    "dumps_all",
    "is_null",
    "iterload",
    "load",
    "load_all",
    "loads",
    "loads_all",
    "transcode",
]

__version__ = "0.1.0"

# The classes that the C half makes objects of, and what it leaves to Python.
_ionfast._bind(
    {
        "IonType": IonType,
        "NEED_DATA": NEED_DATA,
        "IonError": IonError,
        "ValidationError": ValidationError,
        "Annotated": Annotated,
        "describe_type": describe_type,
        "describe_encoding": describe_encoding,
        "SymbolToken": SymbolToken,
        "ImportLocation": ImportLocation,
        "Symbol": Symbol,
        "Clob": Clob,
        "Sexp": Sexp,
        "IonPyNull": IonPyNull,
        "IonPyBool": IonPyBool,
        "IonPyInt": IonPyInt,
        "IonPyFloat": IonPyFloat,
        "IonPyDecimal": IonPyDecimal,
        "IonPyTimestamp": IonPyTimestamp,
        "IonPyText": IonPyText,
        "IonPySymbol": IonPySymbol,
        "IonPyBytes": IonPyBytes,
        "IonPyList": IonPyList,
        "IonPyDict": IonPyDict,
        "open_source": open_source,
        "open_target": open_target,
        "int_from_digits": _bignum.int_from_digits,
        "int_to_digits": _bignum.int_to_digits,
    }
)

Timestamp._precisions = tuple(TimestampPrecision)

# After the binding: they may be used as soon as they are imported.
from . import equivalence, pools  # noqa: E402

__all__ += ["equivalence", "pools"]
