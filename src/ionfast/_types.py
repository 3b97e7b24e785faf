"""The Ion types and the precisions of a timestamp, as integers, and what a reader waits for.

Ion specification: https://amazon-ion.github.io/ion-docs/docs/spec.html ("The Ion Data Model",
"Timestamps").
"""

from enum import Enum, IntEnum
from typing import Final

__all__ = ["NEED_DATA", "IonType", "NeedData", "TimestampPrecision"]


class IonType(IntEnum):
    """The thirteen types of the Ion data model.

    >>> IonType.SEXP.is_container, IonType.SYMBOL.is_text, IonType.NULL.is_numeric
    (True, True, False)
    """

    NULL = 0
    BOOL = 1
    INT = 2
    FLOAT = 3
    DECIMAL = 4
    TIMESTAMP = 5
    SYMBOL = 6
    STRING = 7
    CLOB = 8
    BLOB = 9
    LIST = 10
    SEXP = 11
    STRUCT = 12

    @property
    def is_numeric(self) -> bool:
        """Is it one of int, float, decimal and timestamp?"""
        return IonType.INT <= self <= IonType.TIMESTAMP

    @property
    def is_text(self) -> bool:
        """Is it symbol or string?"""
        return self in (IonType.SYMBOL, IonType.STRING)

    @property
    def is_lob(self) -> bool:
        """Is it clob or blob?"""
        return self in (IonType.CLOB, IonType.BLOB)

    @property
    def is_container(self) -> bool:
        """Is it list, sexp or struct?"""
        return self >= IonType.LIST


class TimestampPrecision(IntEnum):
    """The last field that a timestamp states.

    Fractions of a second have the precision ``SECOND``; ``Timestamp.fractional_seconds`` holds
    their digits.

    >>> TimestampPrecision.DAY.includes_month, TimestampPrecision.DAY.includes_minute
    (True, False)
    """

    YEAR = 0
    MONTH = 1
    DAY = 2
    MINUTE = 3
    SECOND = 4

    @property
    def includes_month(self) -> bool:
        """Is the month stated?"""
        return self >= TimestampPrecision.MONTH

    @property
    def includes_day(self) -> bool:
        """Is the day stated?"""
        return self >= TimestampPrecision.DAY

    @property
    def includes_minute(self) -> bool:
        """Are the hour and the minute (and so the offset) stated?"""
        return self >= TimestampPrecision.MINUTE

    @property
    def includes_second(self) -> bool:
        """Is the second stated?"""
        return self >= TimestampPrecision.SECOND


class NeedData(Enum):
    """The type of `NEED_DATA`."""

    NEED_DATA = "NEED_DATA"

    def __repr__(self) -> str:
        return "ionfast.NEED_DATA"


# What an incremental reader gives when it has run out: feed it and ask again.
NEED_DATA: Final = NeedData.NEED_DATA
