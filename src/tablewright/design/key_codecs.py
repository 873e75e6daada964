"""The parts of a key: how one value becomes text that sorts rightly and cannot run into its neighbour.

`{city}` text, escaped; `{email:lower}` normalised; `{n:12}` digits of fixed width; `{price:8.2}` a decimal of
fixed width; `{at:ms}` `{at:us}` `{at:s}` UTC times of fixed width, `{at:day}` `{at:month}` `{at:hour}` their
beginnings; `{on}` a date; `{active:bool}` true or false; `{urgent:flag}` there or not; `{status:only.OPEN}` there
for one value; `{open:when}` `{gone:unless}` write nothing, and are there only while that is so; `{phone:hash}` a
digest; `{id:shard.8}` one of eight, by a digest that is the same everywhere.

Must hold: '#' never comes out of a part, so segments cannot merge; two different values of one part differ as
text (but for what normalising, hashing and sharding say they do).
"""

import hashlib
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal, localcontext
from enum import Enum
from functools import cache
from typing import TypeAlias
from uuid import UUID

from tablewright.design.errors import KeyPartUnusable, KeyTextUnusable

DELIMITER = "#"
# Sorts directly behind the delimiter: the end of everything that begins with a whole part.
BEHIND_DELIMITER = chr(ord(DELIMITER) + 1)
TEXT = f"[^{DELIMITER}]+"
# How much of a time's ISO form with microseconds is written, what ends it, and the pattern.
_TIMES = {
    "us": (26, "Z", r"(?a:\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z)"),
    "s": (19, "Z", r"(?a:\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)"),
    "hour": (13, "", r"(?a:\d{4}-\d\d-\d\dT\d\d)"),
    "day": (10, "", r"(?a:\d{4}-\d\d-\d\d)"),
    "month": (7, "", r"(?a:\d{4}-\d\d)"),
}

Encoder: TypeAlias = Callable[[object], str | None]


@dataclass(frozen=True, slots=True)
class Codec:
    """How a part is written. `takes` are the types it can be given; `fixed` says its width never varies."""

    name: str
    takes: tuple[type, ...]
    encode: Encoder
    pattern: str
    fixed: bool = False
    sparse: bool = False
    shards: int = 0


class UnknownCodec(ValueError):
    """A template asks for a way of writing that does not exist."""


@cache
def codec(name: str) -> Codec:
    """The codec a template names; the empty name is for what needs none: text, dates, enums, UUIDs."""
    if name in _NAMED:
        return _NAMED[name]
    if name in _TIMES:
        width, end, pattern = _TIMES[name]
        return Codec(name, (datetime,), lambda value: _moment(value, width) + end, pattern, fixed=True)
    if re.fullmatch("[0-9]+", name) and 0 < int(name) <= 38:
        return Codec(name, (int,), lambda value: _digits(value, int(name)), f"[0-9]{{{name}}}", fixed=True)
    if found := re.fullmatch(r"([0-9]+)\.([0-9]+)", name):
        whole, places = int(found[1]), int(found[2])
        pattern = rf"[0-9]{{{whole}}}\.[0-9]{{{places}}}"
        return Codec(name, (Decimal, int), lambda value: _decimal(value, whole, places), pattern, fixed=True)
    if found := re.fullmatch(r"hash(?:\.(\d+))?", name):
        length = int(found[1] or 32)
        if 8 <= length <= 64:
            pattern = f"[0-9a-f]{{{length}}}"
            return Codec(name, (str,), lambda value: _digest(value)[:length], pattern, fixed=True)
    if (found := re.fullmatch(r"shard\.(\d+)", name)) and 2 <= int(found[1]) <= 1000:
        return _shard(name, int(found[1]))
    if name.startswith("only.") and all(name.split(".")[1:]):
        wanted = {text: escape(text) for text in sorted(name.split(".")[1:])}
        pattern = "|".join(map(re.escape, wanted.values()))
        return Codec(name, (str, Enum), lambda value: wanted.get(_text(value)), f"(?:{pattern})", sparse=True)
    raise UnknownCodec(name)


def escape(text: str) -> str:
    """Text without the delimiter. The percent sign goes too, so that no text looks like an escaped one."""
    if "%" in text or DELIMITER in text:
        return text.replace("%", "%25").replace(DELIMITER, "%23")
    return text


def _plain(value: object) -> str:
    if type(value) is str:
        text = value
    elif isinstance(value, Enum):
        return _plain(value.value)
    elif isinstance(value, datetime):
        raise KeyPartUnusable("a time needs a width in a key, such as {at:ms}")
    elif isinstance(value, str | date | UUID):
        text = str(value)
    else:
        raise KeyPartUnusable(f"{type(value).__name__} cannot be written into a key as text")
    if not text:
        why = "an empty text cannot be a part of a key: leave the whole key out, or name a value"
        raise KeyTextUnusable(why, text)
    return escape(text)


def normalised(text: str) -> str:
    """One spelling for what people spell in several ways: trimmed, composed (NFC), lower case."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text.strip()).lower())


def _lower(value: object) -> str:
    return _plain(normalised(_text(value)))


def _upper(value: object) -> str:
    # Composed again behind upper(), which takes some letters apart: what is normalised must stay as it is.
    upper = unicodedata.normalize("NFC", _text(value).strip()).upper()
    return _plain(unicodedata.normalize("NFC", upper))


def _text(value: object) -> str:
    if isinstance(value, Enum):
        value = value.value
    if not isinstance(value, str):
        raise KeyPartUnusable(f"{type(value).__name__} is not text")
    return value


def _digits(value: object, width: int) -> str:
    if not isinstance(value, int) or isinstance(value, bool):
        raise KeyPartUnusable(f"{type(value).__name__} is not a whole number")
    if value < 0:
        raise KeyPartUnusable(f"{value} is negative: text sorts it wrongly; add an offset")
    if value >= 10**width:
        raise KeyPartUnusable(f"a number does not fit into {width} digits")
    return f"{value:0{width}d}"


def _decimal(value: object, whole: int, places: int) -> str:
    if not isinstance(value, Decimal | int) or isinstance(value, bool):
        raise KeyPartUnusable(f"{type(value).__name__} is not a decimal number")
    number = Decimal(value)
    if not number.is_finite() or number < 0:
        raise KeyPartUnusable(f"{number} cannot be a part of a key: it must be finite and not negative")
    if number and number.adjusted() >= whole:
        raise KeyPartUnusable(f"{number} does not fit into {whole} digits before the point")
    # The usual context keeps 28 digits and rounds the rest away: two prices would share a key.
    with localcontext(prec=whole + places + len(number.as_tuple().digits)):
        scaled = number.scaleb(places)
    if scaled != scaled.to_integral_value():
        raise KeyPartUnusable(f"{number} has more than {places} decimal places")
    digits = f"{int(scaled):0{whole + places}d}"
    return f"{digits[:whole]}.{digits[whole:]}"


def utc(value: object) -> datetime:
    if not isinstance(value, datetime):
        raise KeyPartUnusable(f"{type(value).__name__} is not a time")
    if value.tzinfo is None:
        raise KeyPartUnusable(
            f"the time {value.isoformat()} has no time zone; give it one, such as datetime(..., tzinfo=UTC)"
        )
    if value.tzinfo is not UTC:
        try:
            value = value.astimezone(UTC)
        except OverflowError:  # in the last hours of 9999, or the first of year 1
            raise KeyPartUnusable("in UTC the time is outside of the years 1 to 9999") from None
    if value.year < 1000:
        raise KeyPartUnusable("times before the year 1000 have no fixed width")
    return value


def _moment(value: object, width: int) -> str:
    """The beginning of the ISO form of a time in UTC: 2026-01-31T08:15:00.123456."""
    # Times are in every item: isoformat takes half the time of strftime, and a third less without `timespec`; but then
    # it leaves out the microseconds of a whole second.
    moment = utc(value)
    return (moment.isoformat() if moment.microsecond else moment.isoformat(timespec="microseconds"))[:width]


def milliseconds(value: object) -> str:
    """The stored form of every time: 2026-01-31T08:15:00.123Z."""
    return _moment(value, 23) + "Z"


def microseconds(value: object) -> str:
    """The stored form of a time that a key needs finer: 2026-01-31T08:15:00.123456Z."""
    return _moment(value, 26) + "Z"


def _truth(value: object) -> bool:
    if not isinstance(value, bool):
        raise KeyPartUnusable(f"{type(value).__name__} is not true or false")
    return value


def _digest(value: object) -> str:
    return hashlib.sha256(_text(value).encode()).hexdigest()


def shard_name(number: int, shards: int) -> str:
    return f"{number:0{len(str(shards - 1))}d}"


def _shard(name: str, shards: int) -> Codec:
    def encode(value: object) -> str:
        text = value if isinstance(value, str) else _plain(value)
        digest = hashlib.sha256(text.encode()).digest()
        return shard_name(int.from_bytes(digest[:8], "big") % shards, shards)

    pattern = f"[0-9]{{{len(shard_name(0, shards))}}}"
    return Codec(name, (str, UUID, Enum), encode, pattern, fixed=True, shards=shards)


_NAMED = {
    "": Codec("", (str, date, Enum, UUID), _plain, TEXT),
    "lower": Codec("lower", (str, Enum), _lower, TEXT),
    "upper": Codec("upper", (str, Enum), _upper, TEXT),
    "ms": Codec("ms", (datetime,), milliseconds, r"(?a:\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)", fixed=True),
    "bool": Codec("bool", (bool,), lambda value: "true" if _truth(value) else "false", "(?:true|false)"),
    "flag": Codec(
        "flag", (bool,), lambda value: "1" if _truth(value) else None, "1", fixed=True, sparse=True
    ),
    # They write nothing: a key that others know by heart can be sparse without a mark in it.
    "when": Codec("when", (bool,), lambda value: "" if _truth(value) else None, "", fixed=True, sparse=True),
    "unless": Codec(
        "unless", (bool,), lambda value: None if _truth(value) else "", "", fixed=True, sparse=True
    ),
}
