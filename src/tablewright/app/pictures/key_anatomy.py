"""Key anatomy: every key of an entity in its parts, each in the colour of the field it comes from. Pure.

Below the keys, each field with the way it is written says in words what a pointer shows of a part. With the keyboard a
part is focused, and what a pointer would show stands in the line between the keys and the fields.
"""

import re
from collections.abc import Iterator, Mapping

from markupsafe import Markup

from tablewright.app.pictures.canvas import LETTER, MONO, Picture, hint, hue, longest
from tablewright.design import EntitySpec
from tablewright.design.entity_spec import KeyAttribute
from tablewright.design.key_codecs import Codec
from tablewright.design.templates import Part
from tablewright.pages.charts import element, text

_ROW, _HIGH, _SIDE, _LINE, _TOP = 38, 26, 1, 24, 8
_SAID = 6.6  # the width of a letter of a note
_WORDS: Mapping[str, str] = {
    "": "as it is; “#” is escaped",
    "lower": "trimmed, in lower case",
    "upper": "trimmed, in upper case",
    "us": "UTC time with microseconds, of fixed width",
    "ms": "UTC time with milliseconds, of fixed width",
    "s": "UTC time with seconds, of fixed width",
    "hour": "its hour in UTC",
    "day": "its day in UTC",
    "month": "its month in UTC",
    "bool": "true or false",
    "flag": "there only if it is true",
    "when": "nothing is written; the key is there only if it is true",
    "unless": "nothing is written; the key is there only if it is false",
}


def codec_words(codec: Codec) -> str:
    """How a part is written, for a reader."""
    if codec.name in _WORDS:
        return _WORDS[codec.name]
    if codec.shards:
        return f"one of {codec.shards} shards, by its digest"
    if codec.name.startswith("hash"):
        return "its digest"
    if codec.name.startswith("only."):
        return f"there only if it is {' or '.join(codec.name.split('.')[1:])}"
    if found := re.fullmatch(r"(\d+)\.(\d+)", codec.name):
        return f"{found[1]} digits and {found[2]} decimal places"
    return f"{codec.name} digits, with zeroes in front"


def key_anatomy(shape: EntitySpec, *, name: str) -> Picture:
    """The keys of an entity: of its table, then of each index."""
    keys = [("table", key) for key in shape.primary]
    keys += [(index, key) for index, each in shape.index_keys.items() for key in each]
    parts = [part for _, key in keys for part in key.template.parts]
    hues = {field: hue(place) for place, field in enumerate(dict.fromkeys(part.field for part in parts))}
    first = round(longest(where for where, _ in keys) * LETTER) + 16
    left = first + round(longest(key.name for _, key in keys) * MONO) + 18
    drawn: list[Markup] = []
    width = 340.0
    before = ""
    for place, (where, key) in enumerate(keys):
        top = _TOP + place * _ROW
        if where != before:
            drawn += [text("p-note", _SIDE, top + 17, where)]
            if place:
                drawn.append(element("path", kind="p-line", d=f"M{_SIDE} {top - 6}h2000"))
        drawn.append(text("p-key", first, top + 17, key.name))
        boxes, end = _strip(key, left, top, hues, said_at=_TOP + len(keys) * _ROW + 8)
        drawn += boxes
        width, before = max(width, end + _SIDE), where
    begin = _TOP + len(keys) * _ROW + 24
    words = list(dict.fromkeys((part.field, str(part), codec_words(part.codec)) for part in parts))
    column = round(longest(text for _, text, _ in words) * MONO) + 34
    width = max(width, column + round(longest(said for _, _, said in words) * _SAID) + 8)
    width = max(
        width, longest(_part_words(piece) for _, key in keys for piece in key.template.pieces) * _SAID + 8
    )
    for place, (field, part, said) in enumerate(words):
        drawn += _field(hues[field], part, said, begin + place * _LINE, column)
    about = " ".join(_sentence(where, key) for where, key in keys)
    height = begin + len(words) * _LINE + 2
    return Picture(name, f"Keys of {shape.tag}", about, width, height, tuple(drawn))


def _part_words(piece: Part | str) -> str:
    return f"{piece.field}: {codec_words(piece.codec)}" if isinstance(piece, Part) else f"always {piece}"


def _strip(
    key: KeyAttribute, x: float, top: float, hues: Mapping[str, str], *, said_at: float
) -> tuple[list[Markup], float]:
    """The pieces of a key side by side, and where they end. A piece that is focused is explained at `said_at`."""
    drawn = []
    for piece in key.template.pieces:
        wide = len(str(piece)) * MONO + 12
        kind = f"p-soft {hues[piece.field]}" if isinstance(piece, Part) else "p-box"
        said = _part_words(piece)
        box = element("rect", kind=kind, x=x, y=top, width=wide, height=_HIGH, rx=4)
        words = text("p-key", x + wide / 2, top + 17, str(piece), "middle")
        shown = element("text", said, kind="p-said", x=_SIDE, y=said_at, aria_hidden="true")
        named = {"tabindex": 0, "role": "img", "aria_label": f"{key.name}, {piece}: {said}"}
        drawn.append(element("g", hint(said), box, words, shown, **named))
        x += wide + 3
    return drawn, x


def _field(kind: str, part: str, said: str, top: float, column: float) -> Iterator[Markup]:
    yield element("rect", kind=f"p-soft {kind}", x=_SIDE, y=top, width=14, height=14, rx=3)
    yield text("p-key", 24, top + 11.5, part)
    yield text("p-note", column, top + 11.5, said)


def _sentence(where: str, key: KeyAttribute) -> str:
    fields = ", ".join(key.template.fields)
    made = f"is made of {fields}" if fields else "is always the same"
    return (
        f"{key.name} of the {'table' if where == 'table' else f'index {where}'}: {key.template.text}, {made}."
    )
