"""How one value becomes a part of a key."""

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum
from uuid import UUID

import pytest

from tablewright.design import KeyPartUnusable, normalised
from tablewright.design.key_codecs import UnknownCodec, codec, escape, milliseconds, shard_name

NOON = datetime(2026, 1, 31, 12, 5, 6, 123456, tzinfo=UTC)


class Colour(Enum):
    RED = "red"


def written(name: str, value: object) -> str | None:
    return codec(name).encode(value)


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("", "Berlin", "Berlin"),
        ("", date(2026, 1, 31), "2026-01-31"),
        ("", Colour.RED, "red"),
        ("", UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        ("lower", " Ana@X.org ", "ana@x.org"),
        ("upper", " de ", "DE"),
        ("4", 42, "0042"),
        ("8.2", Decimal("19.9"), "00000019.90"),
        ("8.2", 7, "00000007.00"),
        ("us", NOON, "2026-01-31T12:05:06.123456Z"),
        ("ms", NOON, "2026-01-31T12:05:06.123Z"),
        ("s", NOON, "2026-01-31T12:05:06Z"),
        ("hour", NOON, "2026-01-31T12"),
        ("day", NOON, "2026-01-31"),
        ("month", NOON, "2026-01"),
        ("bool", True, "true"),
        ("bool", False, "false"),
        ("flag", True, "1"),
        ("flag", False, None),
        ("when", True, ""),
        ("when", False, None),
        ("unless", False, ""),
        ("unless", True, None),
        ("only.OPEN", "OPEN", "OPEN"),
        ("only.OPEN", "DONE", None),
        ("only.red.blue", Colour.RED, "red"),
    ],
)
def test_a_value_is_written_as_its_codec_says(name: str, value: object, text: str | None) -> None:
    assert written(name, value) == text


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("", ""),
        ("", 5),
        ("", NOON),
        ("lower", "   "),
        ("lower", 5),
        ("4", 10_000),
        ("4", -1),
        ("4", True),
        ("4", "12"),
        ("8.2", Decimal("1.234")),
        ("8.2", Decimal("-1")),
        ("8.2", Decimal("NaN")),
        ("8.2", Decimal("1E+8")),
        ("8.2", Decimal("1E+99999")),
        ("8.2", True),
        ("8.2", "1"),
        ("ms", datetime(2026, 1, 31)),
        ("ms", date(2026, 1, 31)),
        ("day", datetime(999, 1, 1, tzinfo=UTC)),
        ("bool", 1),
        ("flag", None),
        ("when", 1),
        ("unless", "no"),
        ("hash", 5),
    ],
)
def test_what_cannot_stand_in_a_key_is_refused(name: str, value: object) -> None:
    with pytest.raises(KeyPartUnusable):
        written(name, value)


@pytest.mark.parametrize(
    "name",
    ["ns", "0", "39", "²", "٣", "hash.7", "hash.65", "shard.1", "shard.1001", "shard", "only.", "only.A..B"],
)
def test_a_way_of_writing_that_does_not_exist_is_refused(name: str) -> None:
    with pytest.raises(UnknownCodec):
        codec(name)


def test_a_number_too_long_to_be_printed_is_refused_like_any_other() -> None:
    with pytest.raises(KeyPartUnusable):
        written("4", 10**5000)


def test_the_delimiter_never_comes_out_of_a_part() -> None:
    assert written("", "a#b") == "a%23b"


def test_text_that_looks_escaped_differs_from_what_was_escaped() -> None:
    assert escape("a%23b") != escape("a#b")


def test_spellings_of_one_address_are_one_text() -> None:
    decomposed = "JOSE\u0301@x.org"
    assert normalised(decomposed) == normalised("jos\u00e9@X.ORG\n") == "jos\u00e9@x.org"


def test_upper_case_of_what_is_in_upper_case_already_is_itself() -> None:
    # upper() takes this letter apart into three code points, of which two are composed again.
    once = written("upper", "\u0390")
    assert once is not None
    assert written("upper", once) == once


def test_all_digits_of_a_long_decimal_are_kept() -> None:
    long = Decimal("12345678901234567890123456789.12")
    assert written("30.2", long) == "012345678901234567890123456789.12"


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("us", ("2026-01-31T08:05:09.000000Z", "2026-01-31T08:05:09.000007Z")),
        ("ms", ("2026-01-31T08:05:09.000Z", "2026-01-31T08:05:09.000Z")),
        ("s", ("2026-01-31T08:05:09Z",) * 2),
        ("hour", ("2026-01-31T08",) * 2),
        ("day", ("2026-01-31",) * 2),
        ("month", ("2026-01",) * 2),
    ],
)
def test_a_time_has_its_width_with_and_without_microseconds(name: str, texts: tuple[str, str]) -> None:
    moment = datetime(2026, 1, 31, 8, 5, 9, tzinfo=UTC)
    assert (written(name, moment), written(name, moment.replace(microsecond=7))) == texts


def test_a_time_is_written_in_utc_whatever_its_zone() -> None:
    there = NOON.astimezone(timezone(timedelta(hours=-7)))
    assert written("ms", there) == written("ms", NOON) == milliseconds(there)


def test_a_digest_is_the_same_in_every_process() -> None:
    assert written("hash.8", "ana") == "24d4b96f"
    assert written("hash", "ana") == "24d4b96f58da6d4a8512313bbd02a28e"
    assert written("shard.8", "ana") == "2"


def test_a_shard_is_one_of_as_many_as_its_template_says() -> None:
    shards = {written("shard.12", f"id-{n}") for n in range(400)}
    assert shards == {shard_name(n, 12) for n in range(12)}
    assert shard_name(3, 12) == "03"


def test_a_uuid_falls_into_the_shard_of_its_text() -> None:
    assert written("shard.8", UUID(int=7)) == written("shard.8", str(UUID(int=7)))
