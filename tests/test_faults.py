r"""Faults that Ion and other binary-format libraries have had, each with an input of our own.

The tables hold (name, input, wanted values as Ion text); a name is the fault. Run one again alone:
pytest tests/test_faults.py -k escaped_newline
"""

from __future__ import annotations

import array
import collections
import copy
import dataclasses
import datetime
import decimal
import enum
import gc
import gzip
import io
import mmap
import multiprocessing
import os
import pathlib
import pickle
import sys
import threading
import uuid
import weakref
import zoneinfo
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any

import pytest

import ionfast
import model
import scenarios
from ionfast import IonPyDict, IonPyList, IonPyNull, IonType, Sexp, Symbol

UTC = datetime.UTC
IVM = "e00100ea"


def table(*rows: tuple[Any, ...]) -> pytest.MarkDecorator:
    """Parametrize over rows of (name, data) or (name, data, wanted)."""
    names = "data, wanted" if len(rows[0]) == 3 else "data"
    values = [row[1:] if len(row) == 3 else row[1] for row in rows]
    return pytest.mark.parametrize(names, values, ids=[row[0] for row in rows])


def binary(digits: str) -> bytes:
    """A binary document: the version marker, then the bytes that the digits spell."""
    return bytes.fromhex(IVM + digits)


# =============================================================================== text syntax


@table(
    ("vertical_tab_and_form_feed_are_whitespace", "7\x0b-8\x0c(9\x0b\x0c a)\x0c", "7 -8 (9 'a')"),
    ("empty_line_comment", "//\n{a:1}//", "{a:1}"),
    ("nothing_but_a_comment", "// nothing here", ""),
    ("nothing_but_a_block_comment", "/**/", ""),
    ("comment_ends_a_number", "(3/*c*/ 1.5//d\n 1999T/*e*/ 0x1F/**/)", "(3 15d-1 1999T 31)"),
    ("star_runs_in_a_block_comment", "/***/4/* ** * /*/", "4"),
    ("operators_beside_identifiers", "(f<=g?!h)", "(f '<=' g '?!' h)"),
    ("operators_beside_numbers", "(a+1 -1 +a -b)", "(a '+' 1 -1 '+' a '-' b)"),
    ("minus_signs_in_a_sexp", "(a -5 --5)", "(a -5 '--' 5)"),
    ("infinity_before_an_operator_is_none", "(+inf+inf -inf.5 +inf/2 +inf/*c*/ +inf::3)",
     "('+' inf +inf '-' inf '.' 5 '+' inf '/' 2 +inf '+' inf::3)"),
    ("dots_are_operators_in_a_sexp", "(a.b ...)", "(a '.' b '...')"),
    ("quoted_digits_as_a_field_name", "{'7':8,\"9\":10}", "{'7':8,'9':10}"),
    ("long_string_field_name", "{'''x'''\n'''y''' : z}", "{xy:z}"),
    ("one_trailing_comma", "[1,] {a:2,}", "[1] {a:2}"),
    ("annotation_across_comments", "p /*c*/ :: // d\n q::3", "p::q::3"),
    ("keyword_prefixed_names", "[nulls,truest,nano,false_]", "[nulls,truest,nano,false_]"),
    ("quoted_keywords_are_symbols", "['null','nan','true']", "['null','nan','true']"),
    ("keyword_ends_before_a_sign", "null.symbol-7 true+inf", "null.symbol -7 true +inf"),
    ("symbol_id_and_more_is_a_name", "$10x $4$ $ion_1_0a", "'$10x' '$4$' '$ion_1_0a'"),
    ("digits_with_underscores", "1_000 0b1_01 0xA_b 1_0.0_1", "1000 5 171 1001d-2"),
)
def test_text_reads(data: str, wanted: str) -> None:
    scenarios.assert_reads(data, wanted)


@table(
    ("operator_after_a_symbol_at_top_level", "word%"),
    ("operator_in_a_list", "[a, +]"),
    ("infinity_before_a_sign", "+inf-3"),
    ("version_marker_with_more_zeros", "$ion_1_000"),
    ("field_name_without_colon", "{lonely}"),
    ("field_name_without_value", "{lonely:}"),
    ("struct_not_closed_after_a_name", "{lonely"),
    ("struct_not_closed_after_a_value", "{a:[1]"),
    ("list_closed_as_a_sexp", "[1)"),
    ("two_commas", "{a:1,,b:2}"),
    ("comma_without_an_element", "[,]"),
    ("comma_in_a_sexp", "(1,2)"),
    ("unquoted_letter_beyond_ascii", "ü"),
    ("unquoted_digit_beyond_ascii", "٣"),
    ("keyword_as_a_field_name", "{null:1}"),
    ("true_as_a_field_name", "{true:1}"),
    ("typed_null_as_an_annotation", "null.int::1"),
    ("number_runs_into_letters", "12monkeys"),
    ("leading_zero", "007"),
    ("underscore_at_the_end", "1_"),
    ("two_underscores", "1__0"),
    ("hex_without_digits", "0x"),
    ("lone_minus", "-"),
    ("plus_before_a_number", "+1"),
    ("block_comment_not_closed", "1 /* 2"),
    ("annotation_without_a_value", "a::"),
    ("annotation_before_a_closing_bracket", "[a::]"),
    ("quoted_string_not_closed", '"abc'),
    ("newline_in_a_short_string", '"a\nb"'),
    ("unknown_null_type", "null.number"),
)
def test_text_is_refused(data: str) -> None:
    error = scenarios.assert_refused(data)
    assert 0 <= error.offset <= len(data.encode())


@table(
    ("escaped_newline_vanishes", '"p\\\r\nq" \'r\\\ns\' "t\\\ru"', '"pq" rs "tu"'),
    ("escaped_cr_stays", "\"1\\r2\" '''3\\r\n4'''", '"1\\r2" "3\\r\\n4"'),
    ("raw_crlf_in_a_long_string_is_lf", "'''a\r\nb\rc'''", '"a\\nb\\nc"'),
    ("surrogate_pair_escape_is_one_character", '"\\uD834\\uDD1E"', '"𝄞"'),
    ("eight_digit_escape", '"\\U0001D11E"', '"𝄞"'),
    (
        "every_escape",
        '"\\a\\b\\t\\n\\f\\r\\v\\0\\?\\/\\\\\\x41"',
        '"\\x07\\x08\\t\\n\\x0c\\r\\x0b\\0?/\\\\A"',
    ),
    ("long_strings_join", "'''x''' /* y */ '''z'''", '"xz"'),
    ("empty_symbol", "'' ['']", "'' ['']"),
    ("clob_with_crlf", "{{'''p\r\nq'''}}", '{{"p\\nq"}}'),
    ("clob_octets_are_not_code_points", '{{"\\xC3\\x80\\xfe"}}', '{{"\\xc3\\x80\\xfe"}}'),
    ("blob_with_spaces", "{{ YW Jj\n }}", "{{YWJj}}"),
)
def test_strings_and_lobs_read(data: str, wanted: str) -> None:
    scenarios.assert_survives(data, wanted)


@table(
    ("lone_high_surrogate", '"\\uD800"'),
    ("lone_low_surrogate", "'\\uDFFF'"),
    ("high_surrogate_then_a_letter", '"\\uD800A"'),
    ("surrogates_split_over_long_strings", "'''\\uD834''' '''\\uDD1E'''"),
    ("escape_beyond_unicode", '"\\U00110000"'),
    ("unknown_escape", '"\\q"'),
    ("unicode_escape_in_a_clob", '{{"\\u0041"}}'),
    ("letter_beyond_ascii_in_a_clob", '{{"é"}}'),
    ("blob_with_another_alphabet", "{{ YW_j }}"),
    ("blob_without_padding", "{{ YWJjZA }}"),
    ("blob_with_too_much_padding", "{{ YWJj==== }}"),
    ("blob_with_padding_inside", "{{ YQ==YQ== }}"),
    ("comment_in_a_blob", "{{ YWJj /* c */ }}"),
    ("control_character_in_a_string", '"\x01"'),
)
def test_strings_and_lobs_are_refused(data: str) -> None:
    scenarios.assert_refused(data)


# =============================================================================== numbers


@table(
    ("negative_radix", "-0b11 -0xAB_CD -0x0", "-3 -43981 0"),
    ("int_beyond_64_bits", "18446744073709551616 -9223372036854775809",
     "0x10000000000000000 -0x8000000000000001"),
    ("int_of_many_digits", "9" * 90, "9" * 90),
    ("decimal_of_many_digits", "3." + "0" * 40 + " 1.5d-300", "3" + "0" * 40 + "d-40 15d-301"),
    ("decimal_with_more_digits_than_the_context", "123456789012345678901234567890123.75",
     "12345678901234567890123456789012375d-2"),
    ("point_then_exponent", "12.e1 7.d-3 0.d5", "12e1 7d-3 0d5"),
    ("exponent_forms", "1d+2 1D2 1e+2 1E-2", "1d2 1d2 1e2 1e-2"),
    ("e_is_a_float_and_no_exponent_a_decimal", "[1.25e0,1.25,-4e-3]", "[1.25e0,125d-2,-4e-3]"),
    ("negative_zeros", "-0e0 -0. -0.00 -0d3 0", "-0e0 -0d0 -0d-2 -0d3 0"),
    ("trailing_zeros", "1.0 1.00 10d-1", "10d-1 100d-2 10d-1"),
    ("float_extremes", "1.7976931348623157e308 5e-324 nan +inf -inf",
     "1.7976931348623157e308 5e-324 nan +inf -inf"),
    ("float_halfway_rounds_to_even", "9007199254740993e0 0.1e0", "9007199254740992e0 0.1e0"),
    ("decimal_exponent_far_out", "1d999999 1d-999999", "1d999999 1d-999999"),
)  # fmt: skip
def test_numbers_survive(data: str, wanted: str) -> None:
    scenarios.assert_survives(data, wanted)


@table(
    ("float64", "4840091eb851eb851f", "3.14e0"),
    ("float32", "443fc00000", "1.5e0"),
    ("float_zero", "40", "0e0"),
    ("float_minus_zero", "488000000000000000", "-0e0"),
    ("int_padded_with_zeros", "2300002a", "42"),
    ("int_with_a_padded_length", "2e000000812a", "42"),
    ("int_wider_than_64_bits", "29010000000000000000", "18446744073709551616"),
    ("decimal_with_only_an_exponent", "51c3", "0d-3"),
    ("decimal_minus_zero", "52c280", "-0d-2"),
)
def test_binary_numbers_read(data: str, wanted: str) -> None:
    scenarios.assert_survives(binary(data), wanted)


@table(
    ("negative_zero_int", "3100"),
    ("negative_int_of_no_bytes", "30"),
    ("float_of_three_bytes", "43000000"),
    ("bool_of_length_five", "15"),
    ("bool_of_length_fourteen", "1e8100"),
)
def test_binary_numbers_are_refused(data: str) -> None:
    scenarios.assert_refused(binary(data))


def test_an_int_beyond_the_interpreters_digit_limit() -> None:
    digits = "7" * (sys.get_int_max_str_digits() + 700)
    value = ionfast.loads(digits)
    assert value % 10**9 == 777777777
    assert value == (10 ** len(digits) - 1) // 9 * 7
    assert ionfast.dumps(value, binary=False, omit_version_marker=True) == digits
    for encoded in scenarios.encodings([-value]):
        assert ionfast.loads(encoded) == -value


def test_a_decimal_under_a_narrow_context() -> None:
    with decimal.localcontext() as context:
        context.prec, context.Emax, context.traps[decimal.Inexact] = 2, 10, True
        value = ionfast.loads("98765.4321")
        encoded = list(scenarios.encodings([value]))
    assert value == Decimal("98765.4321")
    for data in encoded:
        scenarios.assert_values(ionfast.loads_all(data), "987654321d-4")


# =============================================================================== timestamps


@table(
    ("every_precision", "[2003T,2003-04T,2003-04-05T,2003-04-05T06:07Z,2003-04-05T06:07:08Z]",
     "[2003T,2003-04T,2003-04-05,2003-04-05T06:07Z,2003-04-05T06:07:08Z]"),
    ("fraction_of_many_digits", "[2003-04-05T06:07:08.00000000000123Z,2003-04-05T06:07:08.9999999Z]",
     "[2003-04-05T06:07:08.00000000000123Z,2003-04-05T06:07:08.9999999Z]"),
    ("fraction_of_zeros", "[2003-04-05T06:07:08.000Z,2003-04-05T06:07:08.0Z]",
     "[2003-04-05T06:07:08.000Z,2003-04-05T06:07:08.0Z]"),
    ("unknown_offset_is_not_utc", "[2003-04-05T06:07-00:00,2003-04-05T06:07Z]",
     "[2003-04-05T06:07-00:00,2003-04-05T06:07Z]"),
    ("widest_offsets", "[1970-01-01T00:00-23:59,1970-01-01T00:00+23:59]",
     "[1970-01-01T00:00-23:59,1970-01-01T00:00+23:59]"),
    ("leap_day", "2000-02-29", "2000-02-29"),
    ("offset_over_a_year_boundary", "2003-12-31T23:30:00.5-07:15", "2003-12-31T23:30:00.5-07:15"),
    ("first_and_last_year", "[0001T,9999-12-31T23:59:59Z]", "[0001T,9999-12-31T23:59:59Z]"),
)  # fmt: skip
def test_timestamps_survive(data: str, wanted: str) -> None:
    scenarios.assert_survives(data, wanted)


@table(
    ("year_precision", "63c00fd3", "2003T"),
    ("zero_fraction_with_a_positive_exponent", "69800fd3848586878882", "2003-04-05T06:07:08Z"),
    ("second_precision", "68800fd38485868788", "2003-04-05T06:07:08Z"),
    ("fraction_exponent_alone", "69800fd38485868788c3", "2003-04-05T06:07:08.000Z"),
)
def test_binary_timestamps_read(data: str, wanted: str) -> None:
    scenarios.assert_reads(binary(data), wanted)


@table(
    ("fraction_of_one", "6a800fd38485868788c10a"),
    ("negative_fraction", "6a800fd38485868788c181"),
    ("no_bytes", "60"),
    ("offset_alone", "61c0"),
    ("month_thirteen", "64800fd38d"),
    ("day_thirty_one_of_april", "65800fd3849f"),
    ("hour_without_minute", "66800fd3848586"),
    ("hour_twenty_four", "67800fd384859880"),
    ("year_with_an_offset_of_days", "65006ac00fd3"),
)
def test_binary_timestamps_are_refused(data: str) -> None:
    scenarios.assert_refused(binary(data))


@table(
    ("leap_second", "1990-12-31T23:59:60Z"),
    ("offset_of_a_day", "1990-12-31T23:59-24:00"),
    ("offset_of_sixty_minutes", "1990-12-31T23:59+01:60"),
    ("no_such_day", "1900-02-29"),
    ("month_zero", "1990-00T"),
    ("year_zero", "0000T"),
    ("time_without_an_offset", "1990-12-31T23:59"),
    ("hour_without_minutes", "1990-12-31T23Z"),
    ("empty_fraction", "1990-12-31T23:59:59.Z"),
    ("year_alone", "1990-"),
)
def test_timestamps_are_refused(data: str) -> None:
    scenarios.assert_refused(data)


def test_a_local_time_beyond_the_last_utc_year() -> None:
    text = "9999-12-31T20:00:00.5-08:00"
    (value,) = ionfast.loads_all(text)
    assert (value.year, value.hour, value.microsecond) == (9999, 20, 500_000)
    scenarios.assert_values(ionfast.loads_all(ionfast.dumps(value, binary=False)), text)
    try:
        encoded = ionfast.dumps(value, binary=True)
    except ionfast.IonError:
        return  # UTC year 10000 is beyond what Ion can say: a clear error
    scenarios.assert_values(ionfast.loads_all(encoded), text)


@table(
    ("midnight_keeps_its_seconds", datetime.datetime(2003, 4, 5, tzinfo=UTC),
     "2003-04-05T00:00:00.000000Z"),
    ("naive_is_an_unknown_offset", datetime.datetime(2003, 4, 5, 6, 7, 8, 90),
     "2003-04-05T06:07:08.000090-00:00"),
    ("a_date_has_day_precision", datetime.date(2003, 4, 5), "2003-04-05"),
    ("fold_tells_which_offset", [
        datetime.datetime(2021, 10, 31, 2, 30, tzinfo=zoneinfo.ZoneInfo("Europe/Paris"), fold=fold)
        for fold in (0, 1)],
     "[2021-10-31T02:30:00.000000+02:00,2021-10-31T02:30:00.000000+01:00]"),
)  # fmt: skip
def test_datetimes_are_written(data: object, wanted: str) -> None:
    scenarios.assert_dumps(data, wanted)


def test_an_offset_with_seconds_is_refused() -> None:
    zone = datetime.timezone(datetime.timedelta(hours=1, seconds=13))
    scenarios.assert_not_dumped(datetime.datetime(1900, 1, 1, tzinfo=zone))


# =============================================================================== binary


@table(
    ("ordered_struct", "d186 8421 09 85 2103", "{name:9,version:3}"),
    ("symbol_zero_everywhere", "70 7100 b270 70 e4818071 00 d3802107", "$0 $0 [$0,$0] $0::$0 {$0:7}"),
    ("symbol_id_in_ten_bytes", "7a00000000000000000005", "version"),
    ("pads_and_markers_between_values", "2107 00 0200 00 e00100ea 00 2108 00", "7 8"),
    ("pad_in_a_struct", "d3 84 01ff", "{}"),
    ("pad_in_a_list", "b5 00 2101 01 ff", "[1]"),
    ("lobs_side_by_side", "b7 9168 a26968 9162", '[{{"h"}},{{aWg=}},{{"b"}}]'),
    ("typed_nulls", "1f2f3f4f5f6f7f8f9fafbfcfdf",
     "null.bool null.int null.int null.float null.decimal null.timestamp null.symbol null.string "
     "null.clob null.blob null.list null.sexp null.struct"),
    ("repeated_field_names_keep_their_order", "d9 84 2101 85 2102 84 2103", "{name:1,version:2,name:3}"),
)  # fmt: skip
def test_binary_reads(data: str, wanted: str) -> None:
    scenarios.assert_survives(binary(data), wanted)


@table(
    ("reserved_type", "f0"),
    ("reserved_type_after_a_value", "2105 ff"),
    ("annotation_of_length_fifteen", "ef"),
    ("annotation_of_length_two", "e281 80"),
    ("ordered_struct_without_fields", "d180"),
    ("annotated_pad", "e38185 00"),
    ("no_annotations_in_a_wrapper", "e3802107"),
    ("annotation_on_an_annotation", "e68185e3818411"),
    ("wrapper_longer_than_its_value", "e58185 2107 11"),
    ("wrapper_shorter_than_its_value", "e38184 2207 08"),
    ("string_cut_short", "8668656c6c6f"),
    ("struct_cut_after_a_field_name", "d684"),
    ("child_longer_than_its_parent", "b3 84616263"),
    ("struct_field_name_cut", "d101"),
    ("pad_longer_than_its_struct", "d384 05ff"),
    ("length_cut", "8e"),
    ("unknown_symbol_id", "710a"),
    ("marker_inside_a_list", "b4 e00100ea"),
    ("invalid_utf8_surrogate", "83edb080"),
    ("invalid_utf8_overlong", "82c0af"),
    ("invalid_utf8_beyond_unicode", "84f4908080"),
    ("invalid_utf8_cut", "82e282"),
    ("invalid_utf8_in_a_symbol_table", "e88183 d5 87 b3 82c328 710a"),
)
def test_binary_is_refused(data: str) -> None:
    error = scenarios.assert_refused(binary(data))
    assert error.line is None
    assert 0 <= error.offset <= len(binary(data))


@table(
    ("bytes_that_are_no_ion", bytes.fromhex("f3899ac210ff01ef")),
    ("version_marker_cut", b"\xe0\x01\x00"),
    ("text_with_invalid_utf8", b'"ab\xc3"'),
    ("comment_with_invalid_utf8", b"1 //\xff"),
)
def test_bytes_are_refused(data: bytes) -> None:
    scenarios.assert_refused(data)


@table(
    ("binary", bytes.fromhex("e00101ea6f")), ("text", b"$ion_1_1 1"), ("far_version", b"$ion_3_7")
)
def test_another_ion_version_is_told_in_the_error(data: bytes) -> None:
    error = scenarios.assert_refused(data)
    assert "version" in str(error) or "1.1" in str(error)


# =========================================================================== symbol tables


@table(
    ("append_keeps_earlier_ids",
     '$ion_symbol_table::{symbols:["x","y"]} $11 '
     '$ion_symbol_table::{symbols:["z"],imports:$ion_symbol_table} $10 $12', "y x z"),
    ("a_new_table_replaces", '$ion_symbol_table::{symbols:["x"]} $10 '
     '$ion_symbol_table::{symbols:["y"]} $10', "x y"),
    ("field_names_are_told_by_text",
     '$ion_symbol_table::{symbols:["imports","symbols"]} $ion_symbol_table::{$11:["w"]} $10', "w"),
    ("lookalike_markers_do_nothing",
     "$ion_symbol_table::{symbols:[\"r\"]} $2 '$ion_1_0' $10", "r"),
    ("a_marker_resets_the_table", '$ion_symbol_table::{symbols:["r"]} $10 $ion_1_0 7', "r 7"),
    ("a_marker_below_top_level_is_a_symbol", "($ion_1_0) x::$ion_1_0", "('$ion_1_0') x::'$ion_1_0'"),
    ("missing_import_reserves_its_ids",
     '$ion_symbol_table::{imports:[{name:"gone",version:3,max_id:5}],symbols:["s"]} $15', "s"),
    ("gaps_keep_their_ids", '$ion_symbol_table::{symbols:["g",null,7,"h"]} [$10,$11,$12,$13]',
     '$ion_symbol_table::{symbols:[null]} [g,$10,$10,h]'),
    ("only_the_first_annotation_counts",
     'u::$ion_symbol_table::{symbols:["v"]} $ion_symbol_table::u::{symbols:["v"]} $10',
     'u::$ion_symbol_table::{symbols:["v"]} v'),
    ("null_is_empty", '$ion_symbol_table::null.struct 8', "8"),
    ("fields_by_symbol_id", '$3::{$7:["w"]} $10', "w"),
    ("a_list_so_annotated_is_data", '$ion_symbol_table::["v"]', '$ion_symbol_table::["v"]'),
    ("nested_it_is_data", '[$ion_symbol_table::{symbols:["v"]}]',
     '[$ion_symbol_table::{symbols:["v"]}]'),
)  # fmt: skip
def test_symbol_tables_read(data: str, wanted: str) -> None:
    scenarios.assert_reads(data, wanted)


@table(
    ("two_imports_fields", "$ion_symbol_table::{imports:[],imports:[]} 1"),
    ("two_symbols_fields", "$ion_symbol_table::{symbols:[],symbols:[]} 1"),
    ("missing_import_without_a_size", '$ion_symbol_table::{imports:[{name:"gone",version:2}]} 1'),
    ("id_beyond_the_table", '$ion_symbol_table::{symbols:["x"]} $11'),
    (
        "id_after_a_null_table",
        '$ion_symbol_table::{symbols:["x"]} $ion_symbol_table::null.struct $10',
    ),
    ("id_after_a_marker", '$ion_symbol_table::{symbols:["x"]} $ion_1_0 $10'),
    ("id_beyond_64_bits", "$99999999999999999999999"),
    ("id_out_of_range_in_an_ignored_field", "$ion_symbol_table::{other:$10} 1"),
    ("ignored_fields_must_be_ion", "$ion_symbol_table::{other:[1 2]} 1"),
)
def test_symbol_tables_are_refused(data: str) -> None:
    scenarios.assert_refused(data)


def test_a_huge_import_costs_nothing() -> None:
    text = (
        '$ion_symbol_table::{imports:[{name:"big",version:1,max_id:3000000000}],symbols:["after"]}'
    )
    data = text + " $3000000010"
    assert ionfast.loads(data) == "after"
    if not scenarios.SANITIZED:
        assert scenarios.peak_bytes(lambda: ionfast.loads(data)) < 100_000


def test_unknown_symbols_of_imports_survive() -> None:
    text = '$ion_symbol_table::{imports:[{name:"away",version:1,max_id:4}]} [$11,$12::{$13:$0}]'
    values = ionfast.loads_all(text)
    assert values[0][0].location == ("away", 2)
    for encoded in scenarios.encodings(values):
        again = ionfast.loads_all(encoded)
        assert model.of_values(again) == model.of_values(values)


def test_shared_tables_come_from_the_catalog() -> None:
    catalog = ionfast.Catalog()
    catalog.register(ionfast.SharedSymbolTable("fruit", 1, ["apple"]))
    catalog.register(ionfast.SharedSymbolTable("fruit", 2, ["apple", "plum"]))
    header = '$ion_symbol_table::{imports:[{name:"fruit",version:%d,max_id:%d}]} '
    assert ionfast.loads(header % (2, 2) + "[$10,$11]", catalog=catalog) == ["apple", "plum"]
    # Version 7 is not there: the greatest one stands in, padded to max_id.
    value = ionfast.loads(header % (7, 3) + "[$11,$12]", catalog=catalog)
    assert value[0] == "plum"
    assert (value[1].text, value[1].location) == (None, ("fruit", 3))
    # max_id cuts version 2 to its first symbol.
    scenarios.assert_refused(header % (2, 1) + "$11")


# =================================================================================== values


@table(
    ("typed_nulls_beside_values", "{a:null.int,b:null.list} {a:1,b:[null.string]}",
     "{a:null.int,b:null.list} {a:1,b:[null.string]}"),
    ("bool_is_no_int", "[true,1,false,0]", "[true,1,false,0]"),
    ("empty_sexp_is_no_empty_list", "[()] ([])", "[()] ([])"),
    ("sixty_annotations", "".join(f"n{i}::" for i in range(60)) + "x",
     "".join(f"n{i}::" for i in range(60)) + "x"),
    ("repeated_annotations", "a::b::a::1", "a::b::a::1"),
    ("annotated_scalars_in_containers", '{r:[b64::"eA==",n::null.blob,t::2003T]}',
     '{r:[b64::"eA==",n::null.blob,t::2003T]}'),
    ("repeated_fields", "{k:1,k:2,j:3,k:[]}", "{k:1,k:2,j:3,k:[]}"),
    ("empty_containers", "[] () {} '' \"\" {{}} {{\"\"}}", "[] () {} '' \"\" {{}} {{\"\"}}"),
    ("names_that_need_quotes", "{'a b':1,'':2,'+':3,'$10':4,'null':5,'1':6,'é':7}",
     "{'a b':1,'':2,'+':3,'$10':4,'null':5,'1':6,'é':7}"),
    ("symbols_that_look_like_something_else", "['true','nan','2003T','$7','--','a::b',\"\"]",
     "['true','nan','2003T','$7','--','a::b',\"\"]"),
    ("operators_in_a_sexp", "('+' '++' '-' '.' a '//' '/*')", "('+' '++' '-' '.' a '//' '/*')"),
)  # fmt: skip
def test_values_survive(data: str, wanted: str) -> None:
    scenarios.assert_survives(data, wanted)


def test_bools_are_bools() -> None:
    value = ionfast.loads("[true, false, 1]")
    assert value[0] is True
    assert value[1] is False
    assert type(value[2]) is int


@pytest.mark.slow
def test_copies_and_pickles_keep_everything() -> None:
    text = '{d:x::-0.0,t:2003-04T,p:(q),n:null.clob,s:y,c:{{"z"}},r:1,r:2,f:w::{g:0}}'
    (value,) = ionfast.loads_all(text)
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        scenarios.assert_values([pickle.loads(pickle.dumps(value, protocol))], text)
    for twin in (copy.copy(value), copy.deepcopy(value)):
        scenarios.assert_values([twin], text)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        scenarios.assert_values([pool.apply(copy.copy, (value,))], text)


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


class Loud(str):
    def __str__(self) -> str:
        return "WRONG"


class Odd(float):
    def __repr__(self) -> str:
        return "WRONG"


@dataclasses.dataclass
class Point:
    x: int
    y: list[int]


Pair = collections.namedtuple("Pair", "left right")


@table(
    ("tuples_are_lists", ((1, ("a",)),), '[[1,["a"]]]'),
    ("str_subclasses_by_value", {Loud("k"): Loud("v")}, '{k:"v"}'),
    ("enums_by_value", [Colour.RED, Level.HIGH], '["red",3]'),
    ("float_subclasses_by_value", Odd(2.5), "2.5e0"),
    ("floats_always_have_an_exponent", [3.0, 1e22, 1e-7], "[3e0,1e22,1e-7]"),
    ("nan_and_infinities", [float("nan"), float("-inf")], "[nan,-inf]"),
    ("minus_zero_keeps_its_sign", [-0.0, Decimal("-0.0")], "[-0e0,-0d-1]"),
    ("names_with_spaces", {"a name": {"": None}}, "{'a name':{'':null}}"),
    ("dataclasses_are_structs", Point(1, [2]), "{x:1,y:[2]}"),
    ("named_tuples_are_structs", Pair(1, "b"), '{left:1,right:"b"}'),
    ("sets_and_generators", [frozenset([4]), {5}], "[[4],[5]]"),
    ("buffers_are_blobs", [b"a", bytearray(b"b"), memoryview(b"c")], "[{{YQ==}},{{Yg==}},{{Yw==}}]"),
    ("uuids_and_paths", [uuid.UUID(int=7), pathlib.PurePosixPath("/a/b")],
     '["00000000-0000-0000-0000-000000000007","/a/b"]'),
    ("ion_values", [Symbol("s"), Sexp([1]), ionfast.Clob(b"c"), IonPyNull(IonType.SEXP)],
     '[s,(1),{{"c"}},null.sexp]'),
    ("annotated", IonPyList.from_value(IonType.LIST, [1], ["a", "b c"]), "a::'b c'::[1]"),
    ("lossless_ints", [2**64, -(2**63) - 1, 10**50], f"[{2**64},{-2**63 - 1},{10**50}]"),
)  # fmt: skip
def test_python_values_are_written(data: object, wanted: str) -> None:
    scenarios.assert_dumps(data, wanted)


def test_a_generator_is_a_list() -> None:
    for binary_too in (True, False):
        encoded = ionfast.dumps((i * i for i in range(4)), binary=binary_too)
        assert ionfast.loads(encoded) == [0, 1, 4, 9]


def test_a_tuple_is_a_sexp_on_request() -> None:
    encoded = ionfast.dumps([("a", 1)], tuple_as_sexp=True, binary=False)
    scenarios.assert_values(ionfast.loads_all(encoded), '[("a" 1)]')


@table(
    ("decimal_nan", Decimal("NaN")),
    ("decimal_signalling_nan", Decimal("sNaN")),
    ("decimal_infinity", Decimal("-Infinity")),
    ("lone_surrogate_in_a_string", "a\udc00"),
    ("lone_surrogate_in_a_symbol", Symbol("\ud800")),
    ("lone_surrogate_in_a_name", {"\udfff": 1}),
    ("lone_surrogate_in_an_annotation", IonPyList.from_value(IonType.LIST, [], ["\ud800"])),
    ("unknown_type", [1, {"a": object()}]),
    ("int_as_a_name", {1: 2}),
    ("none_as_a_name", {None: 2}),
    ("complex_number", 1j),
)
def test_python_values_are_refused(data: object) -> None:
    scenarios.assert_not_dumped(data)


def test_the_error_tells_the_path_to_the_value() -> None:
    with pytest.raises(TypeError, match="complex") as caught:
        ionfast.dumps({"rows": [1, {"z": 1j}]})
    for part in ("rows", "1", "z"):
        assert part in str(caught.value)


def test_a_struct_that_would_vanish_is_refused() -> None:
    table_like = IonPyDict.from_value(IonType.STRUCT, {"symbols": ["a"]}, ["$ion_symbol_table"])
    scenarios.assert_not_dumped(table_like)
    scenarios.assert_dumps([table_like], '[$ion_symbol_table::{symbols:["a"]}]')


def test_a_top_level_marker_lookalike_does_not_vanish_silently() -> None:
    """`$ion_1_0` as a symbol at top level is a system value: it cannot be written as data."""
    for encoded_in_binary in (True, False):
        with pytest.raises(ionfast.IonError):
            ionfast.dumps(Symbol("$ion_1_0"), binary=encoded_in_binary)


# ==================================================================================== input


def test_one_value_is_asked_for() -> None:
    for data in ("3 4", binary("21032104"), b"a b"):
        with pytest.raises(ionfast.IonError):
            ionfast.loads(data)
    for data in ("", " // c", binary("")):
        with pytest.raises(ionfast.IonError, match="no value"):
            ionfast.loads(data)


def test_any_contiguous_buffer_is_read() -> None:
    data = b"{a:[7]}"
    with mmap.mmap(-1, len(data)) as mapped:
        mapped.write(data)
        for buffer in (data, bytearray(data), memoryview(b"..." + data)[3:], mapped,
                       array.array("b", data)):  # fmt: skip
            assert ionfast.loads(buffer) == {"a": [7]}


def test_a_buffer_is_released_after_the_read() -> None:
    for data in (b"[1]", b"[1"):
        buffer = bytearray(data)
        try:
            ionfast.loads(buffer)
        except ionfast.IonError:
            pass
        buffer.extend(b"x")


def test_a_text_cut_into_reads_is_the_same() -> None:
    text = "/* " + "1.5 " * 5000 + "*/ [" + ",".join(f'"–{i}"' for i in range(2000)) + "] "
    wanted = ionfast.loads(text)
    for data in (text, text.encode()):
        for file in scenarios.files(data):
            assert list(ionfast.iterload(file)) == [wanted]


def test_files_that_misbehave() -> None:
    scenarios.assert_read_errors_come_out()


def test_a_gzip_file_is_read_by_its_magic(tmp_path: pathlib.Path) -> None:
    data = ionfast.dumps([1, "é"], binary=True)
    (tmp_path / "a.bin").write_bytes(gzip.compress(data))
    with (tmp_path / "a.bin").open("rb") as file:
        assert ionfast.load(file) == [1, "é"]


def test_dump_writes_what_dumps_gives() -> None:
    as_bytes, as_text = io.BytesIO(), io.StringIO()
    ionfast.dump({"a": [1]}, as_bytes)
    ionfast.dump({"a": [1]}, as_text, binary=False)
    assert as_bytes.getvalue() == ionfast.dumps({"a": [1]})
    assert as_text.getvalue() == ionfast.dumps({"a": [1]}, binary=False)


@pytest.mark.parametrize("limit", [0, 1, 2, 3, 10])
def test_the_depth_limit_is_exact(limit: int) -> None:
    for depth in range(12):
        for data in ("[" * depth + "]" * depth if depth else "0", nested(depth)):
            if depth <= limit:
                ionfast.loads(data, max_depth=limit)
            else:
                with pytest.raises(ionfast.IonError, match=r"deep|depth|nest"):
                    ionfast.loads(data, max_depth=limit)


def nested(depth: int) -> bytes:
    """Binary lists, one in the other; below 14 levels each length fits its type byte."""
    lists = b"".join(bytes([0xB0 + length]) for length in range(depth - 1, -1, -1))
    return binary("") + (lists or b"\x20")


def test_the_value_size_limit() -> None:
    text = '["' + "x" * 1000 + '"]'
    encoded = ionfast.dumps(ionfast.loads(text), binary=True)
    for data in (text, encoded):
        assert len(ionfast.loads(data, max_value_size=2000)[0]) == 1000
        with pytest.raises(ionfast.IonError, match=r"size|large|long|limit"):
            ionfast.loads(data, max_value_size=500)


# ================================================================================ robustness


@pytest.mark.slow
@pytest.mark.parametrize(
    "expression",
    ['b"[" * 150_000 + b"]" * 150_000', '"(" * 150_000', 'b"{z:" * 150_000', '"z::" * 150_000',
     'b"[{y:(" * 60_000'],
)  # fmt: skip
def test_deep_input_never_crashes(expression: str) -> None:
    scenarios.assert_deep_is_safe(expression)


@pytest.mark.slow
@pytest.mark.parametrize("wrap", ["[deep]", "(deep,)", "{'k': deep}", "[{'k': (deep,)}]"])
def test_deep_values_never_crash_dumps(wrap: str) -> None:
    scenarios.assert_deep_dump_is_safe(f"""
        deep = 1
        for _ in range(70_000):
            deep = {wrap}
    """)


def test_a_container_that_holds_itself_is_refused() -> None:
    loop: list[Any] = [1]
    loop.append({"again": loop})
    scenarios.assert_not_dumped(loop)


@scenarios.not_sanitized
@pytest.mark.parametrize("code", [0x2, 0x5, 0x8, 0x9, 0xA, 0xB, 0xD, 0xE])
@pytest.mark.parametrize("length", ["0f7f7f7fff", "3f7f7f7f7f7f7f7fff", "7f7f7f7f7f7f7f7f7f7fff"])
def test_a_huge_declared_length_costs_nothing(code: int, length: str) -> None:
    data = binary(f"{code:x}e{length}6162")
    assert scenarios.peak_bytes(lambda: scenarios.assert_refused(data)) < 100_000
    fails = scenarios.swallow(lambda: ionfast.load(io.BytesIO(data)), ionfast.IonError)
    assert scenarios.peak_bytes(fails) < 1_000_000


@scenarios.not_sanitized
@pytest.mark.slow
@table(
    ("text_error", "{a:[x::1.5,(b 2003T {{aGk=}})],c:'''d''',}}"),
    ("binary_error", ionfast.dumps([{"k": [Decimal("1.5"), b"x", Symbol("s")]}]) + b"\xf0"),
    ("text_value", "{a:[x::1.5,(b 2003T {{aGk=}})],c:'''d''',n:null.int}"),
    ("binary_value", ionfast.dumps([{"k": [Decimal("1.5"), b"x", Symbol("s"), 2**80]}])),
)
def test_reading_leaks_nothing(data: bytes | str) -> None:
    def read() -> None:
        try:
            ionfast.loads(data)
        except ionfast.IonError:
            pass

    scenarios.assert_no_leak(read)


@scenarios.not_sanitized
@pytest.mark.slow
@pytest.mark.parametrize("last", [object(), "\ud800", Decimal("NaN"), 7])
def test_writing_leaks_nothing(last: object) -> None:
    value = [{"k": [Symbol("s"), 2**80, 1.5, datetime.datetime(2003, 4, 5)]}, last]

    def write() -> None:
        try:
            ionfast.dumps(value)
        except (TypeError, ValueError):
            pass

    scenarios.assert_no_leak(write)


class Meddler(datetime.tzinfo):
    """A time zone that changes the containers while they are written."""

    def __init__(self, *containers: Any) -> None:
        self.containers = containers

    def utcoffset(self, moment: datetime.datetime | None) -> datetime.timedelta:
        for container in self.containers:
            container.clear()
        return datetime.timedelta(minutes=-30)

    def dst(self, moment: datetime.datetime | None) -> None:
        return None


@pytest.mark.parametrize("encoded_in_binary", [True, False])
def test_containers_changed_while_they_are_written(encoded_in_binary: bool) -> None:
    items: list[Any] = []
    fields: dict[str, Any] = {}
    moment = datetime.datetime(2003, 4, 5, tzinfo=Meddler(items, fields))
    items += [moment, fields, *([object()] * 200)]
    fields.update(first=moment, **{f"f{i}": [i] for i in range(200)})
    for value in (items, fields, [items, fields]):
        try:
            ionfast.loads(ionfast.dumps(value, binary=encoded_in_binary))
        except (ValueError, TypeError, RuntimeError):
            pass


class Failing(datetime.tzinfo):
    """A time zone that raises."""

    def utcoffset(self, moment: datetime.datetime | None) -> datetime.timedelta:
        raise LookupError("no such zone")


def test_what_a_callback_raises_comes_out_of_dumps() -> None:
    def fails(value: object) -> object:
        raise LookupError("mine")

    def gives_itself(value: object) -> object:
        return value

    for encoded_in_binary in (True, False):
        with pytest.raises(LookupError, match="no such zone"):
            ionfast.dumps(
                datetime.datetime(2003, 4, 5, tzinfo=Failing()), binary=encoded_in_binary
            )
        with pytest.raises(LookupError, match="mine"):
            ionfast.dumps([object()], binary=encoded_in_binary, default=fails)
        with pytest.raises((TypeError, ValueError, RecursionError)):
            ionfast.dumps([object()], binary=encoded_in_binary, default=gives_itself)
        encoded = ionfast.dumps([1j], binary=encoded_in_binary, default=str)
        assert ionfast.loads(encoded) == ["1j"]


@pytest.mark.parametrize("character", ["\0", "\x7f", "\x85", '"', "ß", "漢", "🙂"])
def test_strings_near_powers_of_two_are_written_whole(character: str) -> None:
    for power in range(14):
        for length in range(max(0, (1 << power) - 2), (1 << power) + 3):
            value = [character * length, Symbol(character * length)]
            for encoded_in_binary in (True, False):
                assert ionfast.loads(ionfast.dumps(value, binary=encoded_in_binary)) == value


def test_garbage_collection_inside_the_calls() -> None:
    text = "[" + ",".join(f"{{p:({i} z::{i}.5),q:2003T}}" for i in range(500)) + "]"
    thresholds = gc.get_threshold()
    gc.set_threshold(1, 1, 1)
    try:
        value = ionfast.loads(text)
        again = ionfast.loads(ionfast.dumps(value))
    finally:
        gc.set_threshold(*thresholds)
    assert gc.isenabled()
    assert gc.is_tracked(value)
    assert gc.is_tracked(value[3]["p"])
    assert value == again


def test_a_disabled_collector_stays_disabled() -> None:
    gc.disable()
    try:
        ionfast.loads("[[1], {a:2}]")
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_threads_share_nothing() -> None:
    data = [
        ionfast.dumps([{"n": i, f"name{i}": Symbol(f"s{j}")} for j in range(50)]) for i in range(4)
    ]
    wanted = [ionfast.loads(each) for each in data]

    def work(number: int) -> bool:
        value = ionfast.loads(data[number % 4])
        again = ionfast.loads(ionfast.dumps(value, binary=number % 3 == 0))
        return bool(value == wanted[number % 4] == again)

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(work, range(400)))


def test_a_dict_changed_by_another_thread() -> None:
    shared: dict[str, Any] = {str(i): [i] for i in range(50)}
    stop = threading.Event()

    def change() -> None:
        while not stop.is_set():
            shared.pop("7", None)
            shared["7"] = [0]

    changer = threading.Thread(target=change)
    changer.start()
    try:
        for _ in range(200):
            try:
                assert 49 <= len(ionfast.loads(ionfast.dumps(shared))) <= 50
            except RuntimeError:
                pass
    finally:
        stop.set()
        changer.join()


@pytest.mark.slow
def test_subinterpreters_work() -> None:
    out = scenarios.run_python("""
        import _testcapi
        code = "import ionfast; assert ionfast.loads(ionfast.dumps([1, {'a': 2.5}])) == [1, {'a': 2.5}]"
        print([_testcapi.run_in_subinterp(code) for _ in range(3)], loads("[4]"))
    """)
    assert out == "[0, 0, 0] [4]"


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="signals as POSIX has them")
def test_an_interrupt_ends_a_long_read() -> None:
    out = scenarios.run_python("""
        big = "[" + "7654321," * 10_000_000 + "1]"
        value = None
        signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        try:
            value = loads(big)
        except KeyboardInterrupt:
            print("interrupted", value, loads("[1]"))
    """)
    assert out == "interrupted None [1]"


@pytest.mark.slow
@scenarios.not_sanitized
@pytest.mark.parametrize(
    "call",
    [
        "loads('{a:[x::1.5,(b 2003T {{aGk=}})],c:d,n:null.int}')",
        "loads(dumps_of_that)",
        "loads('[1,')",
        "dumps([{'k': [1.5, decimal.Decimal('1.5'), 2**80, 'é', b'x', datetime.date(2003, 4, 5)]}])",
        "dumps([{'k': [1.5, 'é']}], binary=False, indent='  ')",
    ],
)
def test_any_allocation_may_fail(call: str) -> None:
    out = scenarios.run_python(f"""
        import _testcapi
        dumps_of_that = dumps([{{'k': [1.5, decimal.Decimal('1.5'), 'é', b'x']}}])
        def attempt():
            try:
                {call}
            except (IonError, MemoryError):
                pass
        attempt()
        for n in range(1, 300):
            _testcapi.set_nomemory(n, n + 1)
            try:
                attempt()
            except MemoryError:
                pass
            finally:
                _testcapi.remove_mem_hooks()
        attempt()
        print("done")
    """)
    assert out == "done"


def test_wrong_calls_are_type_errors() -> None:
    for call in (
        lambda: ionfast.loads(),
        lambda: ionfast.loads(3),
        lambda: ionfast.loads(None),
        lambda: ionfast.loads("1", unheard_of=1),
        lambda: ionfast.loads("1", "2"),
        lambda: ionfast.loads("1", model="lossless", catalog=7),
        lambda: ionfast.dumps(),
        lambda: ionfast.dumps(1, 2),
        lambda: ionfast.dumps(1, unheard_of=1),
        lambda: ionfast.dumps(1, imports=[7]),
    ):
        with pytest.raises(TypeError):
            call()
    with pytest.raises((TypeError, ValueError)):
        ionfast.loads("1", model="no such model")


def test_options_are_not_kept() -> None:
    option = int("98765")
    before = sys.getrefcount(option)
    for _ in range(5000):
        ionfast.loads("1", max_depth=option, max_value_size=option)
    assert sys.getrefcount(option) == before


# ------------------------------------------------------------------- choices of docs/ion-choices.md


def test_a_byte_order_mark_is_refused() -> None:
    for data in (b"\xef\xbb\xbf1", "\ufeff1"):
        with pytest.raises(ionfast.IonError) as caught:
            ionfast.loads(data)
        assert caught.value.offset == 0


def test_underscores_in_an_exponent() -> None:
    assert ionfast.loads("1e0_2") == 100.0
    assert ionfast.loads("1d-1_0").as_tuple().exponent == -10
    for text in ("1e_2", "1e2_", "1d1__0"):
        scenarios.assert_refused(text)


def test_a_float_too_large_is_infinite() -> None:
    assert ionfast.loads("[1e400, -1e400, 1e-400]") == [float("inf"), float("-inf"), 0.0]


def test_floats_are_eight_bytes_and_every_nan_is_one() -> None:
    marker = b"\xe0\x01\x00\xea"
    assert ionfast.dumps(1.5) == marker + b"\x48\x3f\xf8" + b"\x00" * 6
    assert ionfast.dumps(0.0) == marker + b"\x40"
    assert ionfast.dumps(-0.0) == marker + b"\x48\x80" + b"\x00" * 7
    signalling = ionfast.loads(marker + b"\x48\x7f\xf0" + b"\x00" * 5 + b"\x01")
    assert ionfast.dumps(signalling) == marker + b"\x48\x7f\xf8" + b"\x00" * 6


def test_bits_under_base64_padding_are_dropped() -> None:
    assert ionfast.loads("{{/w==}}") == ionfast.loads("{{/x==}}") == b"\xff"


def test_a_second_value_is_told_with_its_place() -> None:
    for data, offset in ((ionfast.dumps_all([1, 2]), 6), ("1 2", 2), ("[1] [2", 4)):
        for options in ({}, {"type": object}):
            with pytest.raises(ionfast.IonError, match="second value") as caught:
                ionfast.loads(data, **options)
            assert caught.value.offset == offset


# ------------------------------------------------------------------- where the two lexers of text meet


@table(
    ("comment_before_a_value_in_a_sexp", "(/*c*/ / //c\n +)", "('/' '+')"),
    ("comment_before_a_value_in_a_list", "[/*c*/ x::1, //c\n 2]", "[x::1, 2]"),
    ("comment_between_field_and_value", "{a:/*c*/ x::1, b: //c\n y}", "{a:x::1, b:y}"),
    ("comment_between_annotation_and_value", "[x:: /*c*/ y :: //c\n 1]", "[x::y::1]"),
    ("escape_behind_a_lob", '{a:{{AQ==}}, b:"\\n", c:null.int}', "{c:null.int, b:'''\\n''', a:{{AQ==}}}"),
)  # fmt: skip
def test_text_that_needs_a_second_look(data: str, wanted: str) -> None:
    for model_name in ("lossless", "ionpy"):
        assert ionfast.equivalence.ion_equals(
            ionfast.loads(data, model=model_name), ionfast.loads(wanted, model=model_name)
        )


def test_an_annotated_struct_keeps_its_repeated_names() -> None:
    for data in ("[x::{a:1, b:2, a:3}]", ionfast.transcode("[x::{a:1, b:2, a:3}]")):
        for model_name in ("lossless", "ionpy"):
            (struct,) = ionfast.loads(data, model=model_name)
            assert struct.all_items() == [("a", 1), ("b", 2), ("a", 3)]
            assert struct.ion_annotations == (Symbol("x"),)


def test_what_annotations_share_can_be_assigned_apart() -> None:
    for data in ("[x::1, x::[2], x::{a:3}]", ionfast.transcode("[x::1, x::[2], x::{a:3}]")):
        values = ionfast.loads(data)
        values[0].ion_annotations = (Symbol("y"),)
        assert [value.ion_annotations[0].text for value in values] == ["y", "x", "x"]
        assert [vars(value) for value in values[1:]] == [{"ion_annotations": (Symbol("x"),)}] * 2
        assert ionfast.loads("x::4").ion_annotations == (Symbol("x"),)


def test_names_of_one_letter_are_told_apart() -> None:
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
    text = "{" + ", ".join(f"{letter}: {{{letter}:'{letter}'}}" for letter in letters) + "}"
    wanted = {letter: {letter: Symbol(letter)} for letter in letters}
    assert ionfast.loads(text) == ionfast.loads(ionfast.transcode(text)) == wanted
    assert ionfast.loads('{"":1, a:2}') == {"": 1, "a": 2}
    short = {"ab": 1, "a": 2, "abc": 3, "abx": 4, "xbc": 5, "xb": 6, "b": 7}
    assert ionfast.loads("{ab:1, a:2, abc:3, abx:4, xbc:5, xb:6, b:7}") == short


@pytest.mark.parametrize(
    "text", ["1.5", "1", "2.5e0", "x", '"x"', "{{AQ==}}", "[1]", "{a:1}", "2024T"]
)
def test_values_that_refer_to_themselves_are_collected(text: str) -> None:
    for data, model_name in ((f"a::{text}", "lossless"), (text, "ionpy"), (f"a::{text}", "ionpy")):
        value = ionfast.loads(data, model=model_name)
        witness = set()
        seen = weakref.ref(witness)
        value.me = (value, witness)
        del value, witness
        gc.collect()
        assert seen() is None, (data, model_name)
