"""Key templates: `VISIT#{kind}#{code}` is text with typed parts, cut into segments by '#'.

Must hold: a template renders two different tuples of values to two different texts. That rests on three things:
parts never contain '#', so the number of segments is the template's; a segment has at most one part of varying
width; parts of fixed width are of fixed width. The first is held by key_codecs.py, the second by check/keys.py.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from tablewright.design.errors import KeyPartUnusable, KeyTextUnusable
from tablewright.design.key_codecs import DELIMITER, Codec, UnknownCodec, codec

_HOLE = re.compile(r"\{([^{}]*)\}")
_INSIDE = re.compile(r"([A-Za-z_]\w*)(?::([\w.\-]+))?")


class BadTemplate(ValueError):
    """A template that cannot be read; `why` and `fix` go into the finding."""

    def __init__(self, text: str, why: str, fix: str) -> None:
        self.text, self.why, self.fix = text, why, fix
        super().__init__(f"the template '{text}' {why}. Fix: {fix}")


@dataclass(frozen=True, slots=True)
class Part:
    """A hole in a template: which field, written how."""

    field: str
    codec: Codec

    def __str__(self) -> str:
        return f"{{{self.field}:{self.codec.name}}}" if self.codec.name else f"{{{self.field}}}"


@dataclass(frozen=True)
class Template:
    """Literals and parts, in order."""

    text: str
    pieces: tuple[str | Part, ...]

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        return tuple(piece for piece in self.pieces if isinstance(piece, Part))

    @cached_property
    def fields(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(part.field for part in self.parts))

    @property
    def segments(self) -> tuple[tuple[str | Part, ...], ...]:
        """The pieces between delimiters."""
        found: list[list[str | Part]] = [[]]
        for piece in self.pieces:
            if isinstance(piece, Part):
                found[-1].append(piece)
                continue
            first, *rest = piece.split(DELIMITER)
            found[-1].append(first)
            found.extend([text] for text in rest)
        return tuple(tuple(piece for piece in segment if piece != "") for segment in found)

    @property
    def head(self) -> str:
        """The literal it begins with."""
        return _head(self.pieces)

    @property
    def only_field(self) -> str | None:
        """The field, if the template is nothing but `{field}`."""
        if len(self.pieces) == 1 and isinstance(self.pieces[0], Part) and not self.pieces[0].codec.name:
            return self.pieces[0].field
        return None

    def render(self, values: Mapping[str, object]) -> str | None:
        """The key; None if a part is absent, so that the item stays out of a sparse index."""
        texts = []
        for piece in self.pieces:
            if isinstance(piece, str):
                texts.append(piece)
                continue
            value = values[piece.field]
            if value is None:
                return None
            try:
                text = piece.codec.encode(value)
            except KeyPartUnusable as error:
                why = f"'{piece.field}' in the key '{self.text}': {error}"
                if isinstance(error, KeyTextUnusable):
                    # The value as it was given: what is only blank is empty once it is trimmed.
                    raise KeyTextUnusable(why, str(value)) from None
                raise KeyPartUnusable(why) from None
            if text is None:
                return None
            texts.append(text)
        return "".join(texts)


# Bounded: an uploaded design file has templates that are never read again.
@lru_cache(16_384)
def parse(text: str) -> Template:
    """Read a template; BadTemplate says what is wrong with it."""
    pieces: list[str | Part] = []
    end = 0
    for hole in _HOLE.finditer(text):
        _add_literal(pieces, text, text[end : hole.start()])
        pieces.append(_part(text, hole[1]))
        end = hole.end()
    _add_literal(pieces, text, text[end:])
    if not pieces:
        raise BadTemplate(text, "is empty", "write at least one literal or part")
    return Template(text, tuple(pieces))


def _add_literal(pieces: list[str | Part], whole: str, literal: str) -> None:
    if "{" in literal or "}" in literal:
        raise BadTemplate(whole, "has a brace without its partner", "write parts as {field} or {field:codec}")
    if "%" in literal:
        raise BadTemplate(whole, "has a '%', which is kept for escaping", "use another character")
    if literal:
        pieces.append(literal)


def _part(whole: str, inside: str) -> Part:
    found = _INSIDE.fullmatch(inside)
    if found is None:
        raise BadTemplate(whole, f"has an unreadable part {{{inside}}}", "write {field} or {field:codec}")
    try:
        return Part(found[1], codec(found[2] or ""))
    except UnknownCodec:
        known = "lower, upper, ms, us, s, hour, day, month, bool, flag, when, unless, hash, shard.N, only.V, 12, 8.2"
        why = f"asks for '{found[2]}', which is not a codec"
        raise BadTemplate(whole, why, f"use one of {known}") from None


def matcher(template: Template) -> re.Pattern[str]:
    """What the template can render to, as a pattern for a whole key."""
    patterns = (re.escape(each) if isinstance(each, str) else each.codec.pattern for each in template.pieces)
    return re.compile("".join(patterns), re.DOTALL)


def may_meet(one: Template, other: Template, *, other_is_prefix: bool = False) -> bool:
    """Whether some key fits both templates; with `other_is_prefix`, whether some key of `one` begins with `other`.

    Errs on the side of yes: only a provable difference is a no.
    """
    mine, theirs = one.segments, other.segments
    if other_is_prefix:
        whole, last = theirs[:-1], theirs[-1]
        if len(mine) < len(theirs):
            return False
        return all(map(_segments_may_meet, mine[: len(whole)], whole)) and _may_begin(mine[len(whole)], last)
    return len(mine) == len(theirs) and all(map(_segments_may_meet, mine, theirs))


def _segments_may_meet(one: tuple[str | Part, ...], other: tuple[str | Part, ...]) -> bool:
    # A literal meets what it fits; two of them meet if they are equal.
    for literal, against in ((_literal(one), other), (_literal(other), one)):
        if literal is not None:
            return matcher(Template("", against)).fullmatch(literal) is not None
    # Two open segments: literals at their ends tell them apart.
    ends = [(_head(one), _head(other), str.startswith), (_tail(one), _tail(other), str.endswith)]
    return all(same(a, b) or same(b, a) for a, b, same in ends)


def _may_begin(segment: tuple[str | Part, ...], prefix: tuple[str | Part, ...]) -> bool:
    if not prefix:
        return True
    wanted, here = _literal(prefix), _literal(segment)
    if wanted is not None and here is not None:
        return here.startswith(wanted)
    head, other = _head(segment), _head(prefix)
    return head.startswith(other) or other.startswith(head)


def _literal(segment: tuple[str | Part, ...]) -> str | None:
    return "".join(map(str, segment)) if all(isinstance(piece, str) for piece in segment) else None


def _head(segment: tuple[str | Part, ...]) -> str:
    return segment[0] if segment and isinstance(segment[0], str) else ""


def _tail(segment: tuple[str | Part, ...]) -> str:
    return segment[-1] if segment and isinstance(segment[-1], str) else ""
