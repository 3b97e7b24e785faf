"""Timestamp: all that an Ion timestamp says, in a datetime."""

from __future__ import annotations

import copy
import datetime
import gc
import pickle
import sys
import weakref
from collections.abc import Callable
from datetime import UTC, date, timedelta, timezone
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest

import ionfast
from ionfast import IonError, IonPyTimestamp, IonType, Timestamp, TimestampPrecision
from leaks import assert_flat

HOUR = timedelta(hours=1)
MICROSECOND = timedelta(microseconds=1)
YEAR, MONTH, DAY, MINUTE, SECOND = TimestampPrecision

LONG = "0123456789" * 3
TEXTS = [
    "2007T",
    "2007-02T",
    "2007-02-23",
    "2007-02-23T12:14Z",
    "2007-02-23T12:14-00:00",
    "2007-02-23T12:14:33-00:00",
    "2007-02-23T12:14:33Z",
    "2007-02-23T12:14:33.0-00:00",
    "2007-02-23T12:14:33.079-08:00",
    "2007-02-23T12:14:33.079000+05:30",
    "2007-02-23T12:14:33.000+00:07",
    "0001-01-01T00:00:00.000000-00:00",
    "9999-12-31T23:59:59.999999999Z",
    "2007-02-23T12:14:33.9999999999999999999Z",
    "2007-02-23T12:14:33.18446744073709551616Z",
    f"2007-02-23T12:14:33.{LONG}Z",
    f"2007-02-23T12:14:33.{'0' * 25}-23:59",
    "2007-02-23T12:14:33.0000000000000000000000001+23:59",
    f"2007-02-23T12:14:33.{'9' * 2400}Z",
]


def nature(ts: Timestamp) -> tuple[Any, ...]:
    """All of a timestamp: what datetime compares, and what it does not."""
    plain = datetime.datetime(*ts.timetuple()[:6], ts.microsecond, ts.tzinfo, fold=ts.fold)
    digits = ts.fractional_seconds.as_tuple()
    return type(ts), plain, ts.fold, ts.precision, ts.fractional_precision, digits


def text(ts: object) -> str:
    assert type(ts) is Timestamp
    return ts.to_text()


parse = Timestamp.from_text


# ---------------------------------------------------------------------------- text and encodings


@pytest.mark.parametrize("source", TEXTS, ids=lambda source: source[:40])
def test_text_and_both_encodings_keep_everything(source: str) -> None:
    ts = parse(source)
    assert ts.to_text() == source
    assert nature(ionfast.loads(source)) == nature(ts)
    assert nature(ionfast.loads(ionfast.dumps(ts))) == nature(ts)
    assert ionfast.dumps(ts, binary=False).split()[-1] == source


@pytest.mark.parametrize(
    ("source", "precision", "fractional_precision", "seconds", "microsecond"),
    [
        ("2007T", YEAR, 0, "0", 0),
        ("2007-02T", MONTH, 0, "0", 0),
        ("2007-02-23T", DAY, 0, "0", 0),
        ("2007-02-23T12:14Z", MINUTE, 0, "0", 0),
        ("2007-02-23T12:14:33Z", SECOND, 0, "0", 0),
        ("2007-02-23T12:14:33.0Z", SECOND, 1, "0.0", 0),
        ("2007-02-23T12:14:33.079Z", SECOND, 3, "0.079", 79000),
        ("2007-02-23T12:14:33.999999Z", SECOND, 6, "0.999999", 999999),
        ("2007-02-23T12:14:33.9999999Z", SECOND, 6, "0.9999999", 999999),
        ("2007-02-23T12:14:33.0000019Z", SECOND, 6, "0.0000019", 1),
        (f"2007-02-23T12:14:33.{LONG}Z", SECOND, 6, f"0.{LONG}", 12345),
        (f"2007-02-23T12:14:33.{'9' * 60}Z", SECOND, 6, f"0.{'9' * 60}", 999999),
    ],
)
def test_attributes(
    source: str,
    precision: TimestampPrecision,
    fractional_precision: int,
    seconds: str,
    microsecond: int,
) -> None:
    for ts in (parse(source), ionfast.loads(ionfast.dumps(parse(source)))):
        assert ts.precision is precision
        assert ts.fractional_precision == fractional_precision
        assert ts.fractional_seconds.as_tuple() == Decimal(seconds).as_tuple()
        assert ts.microsecond == microsecond


def test_offsets() -> None:
    assert parse("2007-02-23T12:14-00:00").tzinfo is None
    assert parse("2007-02-23").tzinfo is None
    assert parse("2007-02-23T12:14Z").tzinfo is UTC
    assert parse("2007-02-23T12:14+00:00").tzinfo is UTC
    west = parse("2007-02-23T12:14-08:00")
    assert west.utcoffset() == -8 * HOUR
    assert parse("2007-02-23T12:14-08:00").tzinfo is west.tzinfo
    assert parse("2007-02-23T12:14+12:34").utcoffset() == timedelta(hours=12, minutes=34)


@pytest.mark.parametrize(
    ("source", "offset"),
    [
        ("", 0),
        ("2007", 4),
        ("2007-13T", 5),
        ("2007-02-30T", 8),
        ("2007-02-23T12:14", 16),
        ("2007-02-23T12:14:33.Z", 20),
        ("2007T ", 5),
        ("2007T\0", 5),
        ("2007Té", 5),
        ("x", 0),
        ("0000T", 0),
    ],
)
def test_bad_text(source: str, offset: int) -> None:
    with pytest.raises(IonError, match="invalid timestamp") as caught:
        parse(source)
    assert caught.value.offset == offset
    assert (caught.value.line, caught.value.column) == (1, offset + 1)


def test_from_text_takes_only_str() -> None:
    with pytest.raises(TypeError, match="needs a str, not bytes"):
        parse(b"2007T")  # type: ignore[arg-type]
    with pytest.raises(UnicodeEncodeError):
        parse("2007T\ud800")


# ---------------------------------------------------------------------------- the constructor


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (Timestamp(2020), "2020-01-01T00:00:00-00:00"),
        (Timestamp(2020, 1, 2, precision=DAY), "2020-01-02"),
        (Timestamp(2020, 1, 2, precision=2), "2020-01-02"),
        (Timestamp(2020, 5, 6, precision=YEAR), "2020T"),
        (Timestamp(2020, 1, 2, 3, 4, 5, 6), "2020-01-02T03:04:05.000006-00:00"),
        (Timestamp(2020, 1, 2, 3, 4, 5, 0), "2020-01-02T03:04:05.000000-00:00"),
        (Timestamp(2020, 1, 2, 3, 4, 5, None, UTC), "2020-01-02T03:04:05Z"),
        (
            Timestamp(2020, microsecond=79000, fractional_precision=3),
            "2020-01-01T00:00:00.079-00:00",
        ),
        (Timestamp(2020, microsecond=0, fractional_precision=0), "2020-01-01T00:00:00-00:00"),
        (Timestamp(2020, fractional_seconds=Decimal("0.10")), "2020-01-01T00:00:00.10-00:00"),
        (Timestamp(2020, fractional_seconds=Decimal("-0.0")), "2020-01-01T00:00:00.0-00:00"),
        (Timestamp(2020, fractional_seconds=Decimal("0E+5")), "2020-01-01T00:00:00-00:00"),
        (
            Timestamp(2020, 1, 1, 0, 0, 0, 123456, UTC, SECOND, 6, Decimal("0.123456789")),
            "2020-01-01T00:00:00.123456789Z",
        ),
        (
            Timestamp(2020, 1, 1, tzinfo=UTC, precision=MINUTE, fold=1),
            "2020-01-01T00:00Z",
        ),
    ],
)
def test_constructor(made: Timestamp, expected: str) -> None:
    assert made.to_text() == expected
    assert nature(eval(repr(made))) == nature(made)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"fractional_precision": 3}, "needs microsecond"),
        ({"fractional_precision": 1, "fractional_seconds": Decimal("0.5")}, "needs microsecond"),
        ({"fractional_precision": 7, "microsecond": 0}, r"0\.\.6, not 7"),
        ({"fractional_precision": -1, "microsecond": 0}, r"0\.\.6, not -1"),
        ({"fractional_precision": 3, "microsecond": 1}, "microsecond 1 cannot be expressed in 3"),
        ({"fractional_precision": 0, "microsecond": 1}, "microsecond 1 cannot be expressed in 0"),
        ({"fractional_seconds": Decimal(1)}, "below 1, not 1"),
        ({"fractional_seconds": Decimal("1.0")}, "below 1, not 1.0"),
        ({"fractional_seconds": Decimal("-0.1")}, "at least 0 and below 1, not -0.1"),
        ({"fractional_seconds": Decimal("1E+30")}, "below 1"),
        ({"fractional_seconds": Decimal("1" + "0" * 30 + "E-30")}, "below 1"),
        ({"fractional_seconds": Decimal("NaN")}, "no such decimal"),
        ({"fractional_seconds": Decimal("0.5"), "microsecond": 1}, "give one of them"),
        (
            {
                "fractional_seconds": Decimal("0.5"),
                "microsecond": 500000,
                "fractional_precision": 2,
            },
            "fractional_precision is 2, but fractional_seconds 0.5 has a precision of 1",
        ),
        ({"microsecond": -1}, r"0\.\.999999"),
        ({"microsecond": 1000000}, r"0\.\.999999"),
        ({"microsecond": 10**30}, r"0\.\.999999"),
        ({"precision": 5}, "not 5"),
        ({"precision": -1}, "not -1"),
        ({"month": 13}, "month"),
        ({"hour": 24}, "hour"),
        ({"fold": 2}, "fold"),
    ],
    ids=repr,
)
def test_values_that_contradict(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Timestamp(2020, **arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        {"microsecond": "1"},
        {"microsecond": 1.5},
        {"tzinfo": 3},
        {"precision": "x"},
        {"fractional_seconds": 0.5},
        {"fractional_precision": 1.0, "microsecond": 0},
        {"year": 1},
        {"month": 1.0},
        {"unknown": 1},
    ],
    ids=repr,
)
def test_arguments_of_the_wrong_type(arguments: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        Timestamp(2020, **arguments)


# ---------------------------------------------------------------------------- as a datetime


@pytest.mark.parametrize("source", TEXTS, ids=lambda source: source[:40])
def test_equals_and_hashes_as_a_datetime(source: str) -> None:
    ts = parse(source)
    plain = datetime.datetime(*ts.timetuple()[:6], ts.microsecond, ts.tzinfo)
    assert ts == plain
    assert hash(ts) == hash(plain)
    assert ts.isoformat() == plain.isoformat()
    assert str(ts) == str(plain)
    assert not ts < plain
    assert isinstance(ts, datetime.datetime)


@pytest.mark.parametrize(
    ("source", "delta", "expected"),
    [
        # The precision stays while it can say the result, and grows where it cannot.
        ("2007T", timedelta(days=365), "2008T"),
        ("2007T", timedelta(days=31), "2007-02T"),
        ("2007T", timedelta(days=1), "2007-01-02"),
        ("2007-03-01", timedelta(days=31), "2007-04-01"),
        ("2007-03-01", HOUR, "2007-03-01T01:00-00:00"),
        ("2007-03-01T10:00Z", timedelta(seconds=5), "2007-03-01T10:00:05Z"),
        ("2007-03-01T10:00Z", timedelta(milliseconds=5), "2007-03-01T10:00:00.005Z"),
        ("2007-03-01T10:00:00.50Z", HOUR, "2007-03-01T11:00:00.50Z"),
        ("2007-03-01T10:00:00.5Z", timedelta(milliseconds=500), "2007-03-01T10:00:01.0Z"),
        ("2007-03-01T10:00:00.5Z", 5 * MICROSECOND, "2007-03-01T10:00:00.500005Z"),
        # Digits beyond the sixth are carried along.
        ("2007-03-01T10:00:00.123456789Z", HOUR, "2007-03-01T11:00:00.123456789Z"),
        ("2007-03-01T10:00:00.999999789Z", MICROSECOND, "2007-03-01T10:00:01.000000789Z"),
        (f"2007-03-01T10:00:00.{LONG}Z", MICROSECOND, f"2007-03-01T10:00:00.012346{LONG[6:]}Z"),
        (f"2007-03-01T10:00:00.999999{LONG}Z", MICROSECOND, f"2007-03-01T10:00:01.000000{LONG}Z"),
    ],
)
def test_adding_a_timedelta(source: str, delta: timedelta, expected: str) -> None:
    ts = parse(source)
    assert text(ts + delta) == expected
    assert text(delta + ts) == expected
    assert text(ts - -delta) == expected


def test_differences_are_timedeltas() -> None:
    ts = parse("2007-02-23T12:14:33.5Z")
    plain = datetime.datetime(2007, 2, 23, tzinfo=UTC)
    for difference in (ts - ts, ts - plain, plain - ts):
        assert type(difference) is timedelta
    assert ts - plain == timedelta(hours=12, minutes=14, seconds=33.5)


def test_arithmetic_refuses_what_datetime_refuses() -> None:
    ts = parse("2007T")
    for wrong in (
        lambda: ts + 1,
        lambda: 1 + ts,
        lambda: ts + ts,
        lambda: 1 - ts,
        lambda: HOUR - ts,
    ):
        with pytest.raises(TypeError):
            wrong()  # type: ignore[no-untyped-call]
    with pytest.raises(OverflowError):
        ts + timedelta(days=10**7)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "2007-02-23T12:14:33.079123456-08:00"),
        ({"year": 2008}, "2008-02-23T12:14:33.079123456-08:00"),
        ({"tzinfo": UTC}, "2007-02-23T12:14:33.079123456Z"),
        ({"tzinfo": None}, "2007-02-23T12:14:33.079123456-00:00"),
        ({"second": 1}, "2007-02-23T12:14:01.079123456-08:00"),
        ({"microsecond": 0}, "2007-02-23T12:14:33.000000-08:00"),
        ({"microsecond": 120000, "fractional_precision": 2}, "2007-02-23T12:14:33.12-08:00"),
        ({"fractional_seconds": Decimal("0.5")}, "2007-02-23T12:14:33.5-08:00"),
        ({"precision": DAY}, "2007-02-23"),
        ({"precision": MINUTE}, "2007-02-23T12:14-08:00"),
    ],
    ids=repr,
)
def test_replace(changes: dict[str, Any], expected: str) -> None:
    ts = parse("2007-02-23T12:14:33.079123456-08:00")
    assert text(ts.replace(**changes)) == expected
    if sys.version_info >= (3, 13):
        assert text(copy.replace(ts, **changes)) == expected


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"year": 2008}, "2008T"),
        ({"tzinfo": UTC}, "2007T"),
        ({"month": 5}, "2007-05T"),
        ({"day": 5}, "2007-01-05"),
        ({"hour": 5}, "2007-01-01T05:00-00:00"),
        ({"second": 5}, "2007-01-01T00:00:05-00:00"),
        ({"microsecond": 5}, "2007-01-01T00:00:00.000005-00:00"),
    ],
    ids=repr,
)
def test_replacing_a_field_states_it(changes: dict[str, Any], expected: str) -> None:
    assert text(parse("2007T").replace(**changes)) == expected


def test_replacing_the_number_of_digits() -> None:
    ts = parse("2007-02-23T12:14:33.0790Z")
    assert text(ts.replace(fractional_precision=3)) == "2007-02-23T12:14:33.079Z"
    assert text(ts.replace(fractional_precision=6)) == "2007-02-23T12:14:33.079000Z"
    with pytest.raises(ValueError, match="cannot be expressed in 2"):
        ts.replace(fractional_precision=2)
    with pytest.raises(ValueError, match="beyond the sixth"):
        parse("2007-02-23T12:14:33.0790000Z").replace(fractional_precision=3)


def test_astimezone() -> None:
    ts = parse("2007-02-23T20:14:33.079123456-08:00")
    assert text(ts.astimezone(UTC)) == "2007-02-24T04:14:33.079123456Z"
    assert text(ts.astimezone(ZoneInfo("Asia/Tokyo"))) == "2007-02-24T13:14:33.079123456+09:00"
    assert text(parse("2007-02-23T12:14Z").astimezone(timezone(HOUR))) == "2007-02-23T13:14+01:00"
    assert ts.astimezone() == ts
    assert ts.astimezone(ts.tzinfo) is ts
    with pytest.raises(TypeError):
        ts.astimezone(5)  # type: ignore[arg-type]


def test_ambiguous_local_times() -> None:
    zone = ZoneInfo("America/New_York")
    first = Timestamp(2024, 11, 3, 1, 30, tzinfo=zone, precision=MINUTE)
    second = first.replace(fold=1)
    assert text(first) == "2024-11-03T01:30-04:00"
    assert text(second) == "2024-11-03T01:30-05:00"
    assert text(parse("2024-11-03T06:30:00.5Z").astimezone(zone)) == "2024-11-03T01:30:00.5-05:00"
    for copied in (copy.copy(second), pickle.loads(pickle.dumps(second)), eval(repr_of(second))):
        assert nature(copied) == nature(second)


def repr_of(ts: Timestamp) -> str:
    return repr(ts).replace("zoneinfo.ZoneInfo(key=", "ZoneInfo(")


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: Timestamp.fromtimestamp(0, UTC), "1970-01-01T00:00:00.000000Z"),
        (lambda: Timestamp.fromisoformat("2020-01-02"), "2020-01-02T00:00:00.000000-00:00"),
        (
            lambda: Timestamp.combine(date(2020, 1, 2), datetime.time(3, 4, 5)),
            "2020-01-02T03:04:05.000000-00:00",
        ),
        (lambda: Timestamp.strptime("2020", "%Y"), "2020-01-01T00:00:00.000000-00:00"),
    ],
)
def test_constructors_of_datetime(make: Callable[[], Timestamp], expected: str) -> None:
    made = make()
    assert text(made) == expected
    assert made.precision is SECOND
    assert made.fractional_precision == 6
    assert made.fractional_seconds.as_tuple() == Decimal("0.000000").as_tuple()
    assert text(made + timedelta(0)) == expected
    assert nature(pickle.loads(pickle.dumps(made))) == nature(made)


def test_now() -> None:
    now = Timestamp.now(UTC)
    assert type(now) is Timestamp
    assert now.fractional_seconds == Decimal(now.microsecond).scaleb(-6)


def test_adjust_from_utc_fields() -> None:
    zone = timezone(HOUR)
    seconds = Decimal("0.123456789")
    adjust = Timestamp.adjust_from_utc_fields
    moved = adjust(2020, 1, 1, 0, 0, 0, None, zone, precision=SECOND, fractional_seconds=seconds)
    assert text(moved) == "2020-01-01T01:00:00.123456789+01:00"
    assert text(adjust(2020, 1, 1, precision=DAY)) == "2020-01-01"


# ---------------------------------------------------------------------------- pickle and copy


class Noted(Timestamp):
    """A subclass with an instance dictionary and a constructor of its own."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Noted:
        self = super().__new__(cls, *args, **kwargs)
        self.notes = ["new"]
        return self

    notes: list[str]


@pytest.mark.parametrize("source", TEXTS, ids=lambda source: source[:40])
def test_copies_keep_everything(source: str) -> None:
    ts = parse(source)
    copies = [pickle.loads(pickle.dumps(ts, p)) for p in range(pickle.HIGHEST_PROTOCOL + 1)]
    for each in [*copies, copy.copy(ts), copy.deepcopy(ts), eval(repr(ts))]:
        assert nature(each) == nature(ts)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_subclass_keeps_its_attributes(protocol: int) -> None:
    ts = Noted(2020, 1, 2, precision=DAY)
    ts.notes.append("more")
    again = pickle.loads(pickle.dumps(ts, protocol))
    assert nature(again) == nature(ts)
    assert again.notes == ["new", "more"]
    deep = copy.deepcopy(ts)
    assert deep.notes == ts.notes
    assert deep.notes is not ts.notes


def test_a_subclass_stays_one() -> None:
    ts = Noted.from_text("2007-02-23T12:14:33.079123456Z")
    for each in (ts, ts + HOUR, ts.replace(year=2000), ts.astimezone(timezone(HOUR))):
        assert type(each) is Noted
        assert each.fractional_seconds == Decimal("0.079123456")


def test_annotated_timestamps() -> None:
    ts = ionfast.loads("seen::2007-02-23T12:14:33.079123456-08:00")
    assert type(ts) is IonPyTimestamp
    assert ts.ion_type is IonType.TIMESTAMP
    assert ts.to_text() == "2007-02-23T12:14:33.079123456-08:00"
    assert ts.precision is SECOND
    for each in (copy.copy(ts), copy.deepcopy(ts), pickle.loads(pickle.dumps(ts))):
        assert nature(each) == nature(ts)
        assert each.ion_annotations == ("seen",)


# ---------------------------------------------------------------------------- datetimes and dates


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (date(2020, 1, 2), "2020-01-02"),
        (datetime.datetime(2020, 1, 2, 3, 4, 5), "2020-01-02T03:04:05.000000-00:00"),
        (datetime.datetime(2020, 1, 2, 3, 4, 5, 6, UTC), "2020-01-02T03:04:05.000006Z"),
        (
            datetime.datetime(2020, 1, 2, tzinfo=timezone(-HOUR * 8)),
            "2020-01-02T00:00:00.000000-08:00",
        ),
        (
            datetime.datetime(2024, 7, 2, tzinfo=ZoneInfo("Europe/Berlin")),
            "2024-07-02T00:00:00.000000+02:00",
        ),
    ],
)
def test_plain_dates_and_datetimes(value: date, expected: str) -> None:
    """A datetime is written to the microsecond, a zero one too, as amazon.ion does."""
    assert ionfast.dumps(value, binary=False).split()[-1] == expected
    assert text(ionfast.loads(ionfast.dumps(value))) == expected


class Zone(datetime.tzinfo):
    """Gives, or raises, whatever it was made with."""

    def __init__(self, offset: object = None) -> None:
        self.offset = offset

    def utcoffset(self, moment: datetime.datetime | None) -> Any:
        if isinstance(self.offset, BaseException):
            raise self.offset
        return self.offset

    def dst(self, moment: datetime.datetime | None) -> timedelta | None:
        return None

    def tzname(self, moment: datetime.datetime | None) -> str | None:
        return None


class LyingDatetime(datetime.datetime):
    """Its utcoffset() is not checked by datetime."""

    offset: object = None

    def utcoffset(self) -> Any:
        return self.offset


@pytest.mark.parametrize("cls", [datetime.datetime, Timestamp])
@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize(
    ("offset", "error", "message"),
    [
        (KeyError("mine"), KeyError, "mine"),
        (KeyboardInterrupt("mine"), KeyboardInterrupt, "mine"),
        (timedelta(hours=24), ValueError, "strictly between"),
        (timedelta(hours=-24), ValueError, "strictly between"),
        (timedelta(seconds=30), ValueError, "0:00:30 .* not a whole number of minutes"),
        (timedelta(seconds=-30), ValueError, "not a whole number of minutes"),
        (MICROSECOND, ValueError, "not a whole number of minutes"),
        (5, TypeError, "None or timedelta"),
    ],
    ids=repr,
)
def test_odd_offsets(
    cls: type[datetime.datetime],
    binary: bool,
    offset: object,
    error: type[BaseException],
    message: str,
) -> None:
    value = cls(2020, 1, 2, tzinfo=Zone(offset))
    with pytest.raises(error, match=message):
        ionfast.dumps([value], binary=binary)


@pytest.mark.parametrize(
    ("offset", "error", "message"),
    [
        ("1h", TypeError, "None or a timedelta, not str"),
        (timedelta(days=2), ValueError, "not less than a day"),
        (timedelta(days=-1), ValueError, "not less than a day"),
    ],
    ids=repr,
)
def test_a_subclass_that_lies_about_its_offset(
    offset: object, error: type[Exception], message: str
) -> None:
    value = LyingDatetime(2020, 1, 2, tzinfo=timezone(HOUR))
    value.offset = offset
    with pytest.raises(error, match=message):
        ionfast.dumps(value)


def test_offsets_that_are_asked_of_the_object() -> None:
    assert text(ionfast.loads(ionfast.dumps(Timestamp(2020, tzinfo=Zone(None))))).endswith(
        "-00:00"
    )
    assert text(Timestamp(2020, tzinfo=Zone(timedelta(minutes=7)))).endswith("+00:07")
    value = LyingDatetime(2020, 1, 2, tzinfo=timezone(HOUR))
    value.offset = 3 * HOUR
    assert text(ionfast.loads(ionfast.dumps(value))).endswith("+03:00")


# ---------------------------------------------------------------------------- leaks


def test_nothing_is_left_behind() -> None:
    ts = parse(f"2007-02-23T12:14:33.{LONG}+05:31")
    values = [parse(source) for source in TEXTS]

    def everything() -> None:
        assert ionfast.loads(ionfast.dumps(values)) == values
        moved = (ts + MICROSECOND).astimezone(UTC)
        assert moved.fractional_seconds > ts.fractional_seconds
        assert moved.precision is SECOND
        repr(moved)
        hash(moved)
        ts.replace(fractional_seconds=Decimal("0.1234567"))
        copy.deepcopy(Noted(2020, tzinfo=UTC))
        copy.copy(ts)
        for wrong in ({"month": 13}, {"microsecond": 4}, {"fractional_precision": 1}):
            with pytest.raises(ValueError, match=" "):
                Timestamp(2020, fractional_seconds=Decimal("0." + "1" * 30), **wrong)
        with pytest.raises(IonError):
            parse("2007-02-30T")

    assert_flat(everything, Timestamp, Noted, IonPyTimestamp)


def test_a_timestamp_in_a_cycle_is_collected() -> None:
    zone = Zone()
    ts = Timestamp(2020, tzinfo=zone)
    zone.offset = ts
    watch = weakref.ref(zone)
    del zone, ts
    gc.collect()
    assert watch() is None
