"""Item collections: each kind of partition of a table or an index, with a band for every entity it holds. Pure.

Bands are in the order of their sort keys. Dots say which patterns read a band: what one Query returns is what the dots
of one column name. Entities share a partition if their partition keys have the same form, whatever their fields are
called.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup

from tablewright.app.pictures.canvas import (
    LETTER,
    MONO,
    Link,
    Picture,
    hint,
    hue,
    key_text,
    label,
    longest,
    no_links,
    shortened,
)
from tablewright.design import Design, EntitySpec, Index, Plan, Table
from tablewright.design.templates import Part, Template, matcher
from tablewright.english import plural
from tablewright.pages.charts import element, text

_BAND, _HEAD, _GAP, _SIDE, _COLUMN, _LINE = 34, 34, 22, 1, 22, 20
_NAME = 24  # letters
_LEAST = 340  # so that a picture fits a phone where its keys do
# Parts that are the same for several values of a field.
_COARSE = ("s", "hour", "day", "month", "bool", "flag", "when", "unless")


@dataclass(frozen=True, slots=True)
class Band:
    """What a partition holds of one entity, or of the guards of a unique constraint (then `entity` is empty)."""

    name: str
    entity: str
    hue: str
    sort: tuple[Template, ...]
    is_many: bool

    @property
    def count(self) -> str:
        return "many items" if self.is_many else "one item"

    @property
    def key(self) -> str:
        return " / ".join(template.text for template in self.sort)


@dataclass(frozen=True, slots=True)
class Collection:
    """One kind of partition: its key, what it holds, and the patterns that read it."""

    names: tuple[str, ...]
    partition: tuple[Template, ...]
    bands: tuple[Band, ...]
    plans: tuple[Plan, ...]


def collections_of(design: Design, table: Table, index: Index | None = None) -> list[Collection]:
    """The kinds of partitions, in the order of their entities; guards come last."""
    found: dict[tuple[str, ...], tuple[tuple[Template, ...], list[Band]]] = {}
    for partition, band in (
        *_entities(design, table, index),
        *(_guards(design, table) if index is None else ()),
    ):
        form = tuple(matcher(template).pattern for template in partition)
        found.setdefault(form, (partition, []))[1].append(band)
    names = index.pk if index else (table.pk,)
    plans = [plan for plan in design.plans if plan.table == table and plan.index == index]
    return [
        Collection(
            names,
            partition,
            tuple(sorted(bands, key=lambda band: band.key)),
            tuple(
                plan
                for plan in plans
                if {shape.tag for shape in plan.shapes} & {band.entity for band in bands}
            ),
        )
        for partition, bands in found.values()
    ]


def _entities(
    design: Design, table: Table, index: Index | None
) -> Iterator[tuple[tuple[Template, ...], Band]]:
    halves = len(index.pk) if index else 1
    for place, shape in enumerate(shape for shape in design.shapes if shape.table == table):
        keys = shape.primary if index is None else shape.index_keys.get(index.name, ())
        templates = tuple(key.template for key in keys)
        if templates:
            partition, sort = templates[:halves], templates[halves:]
            yield partition, Band(shape.tag, shape.tag, hue(place), sort, _is_many(shape, partition))


def _guards(design: Design, table: Table) -> Iterator[tuple[tuple[Template, ...], Band]]:
    for shape in design.shapes:
        for guard in shape.guards:
            if guard.table == table:
                name = f"{shape.tag}: unique {guard.unique.name}"
                yield (guard.pk,), Band(name, "", "", (guard.sk,) if guard.sk else (), False)


def _is_many(shape: EntitySpec, partition: tuple[Template, ...]) -> bool:
    """True unless the partition has every field that the primary key has."""
    given = {part.field for template in partition for part in template.parts if not _is_coarse(part)}
    return not {field for key in shape.primary for field in key.template.fields} <= given


def _is_coarse(part: Part) -> bool:
    return bool(part.codec.shards) or part.codec.name in _COARSE or part.codec.name.startswith("only.")


# --- as a picture ---


def item_collections(
    design: Design, table: Table, index: Index | None = None, *, name: str, link: Link = no_links
) -> Picture:
    """The collections below each other."""
    found = collections_of(design, table, index)
    where = f"{table.name}, index {index.name}" if index else table.name
    left = round(longest(shortened(band.name, _NAME) for each in found for band in each.bands) * LETTER) + 30
    keys = [*(band.key for each in found for band in each.bands), "no sort key"]
    dots = left + round(longest(keys) * MONO) + 24
    heads = [round(len(_head(each)) * MONO) + 24 for each in found]
    columns = max((len(each.plans) for each in found), default=0) * _COLUMN
    width = max(_LEAST, dots + columns + 78, *heads, 0) + 2 * _SIDE
    parts: list[Markup] = []
    top: float = _SIDE
    for each in found:
        drawn, high = _drawn(each, top, width, left, dots, link)
        parts += drawn
        top += high + _GAP
    about = " ".join(map(_sentence, found)) or "No entity is in it."
    return Picture(
        name, f"Item collections of {where}", about, width, max(top - _GAP + _SIDE, 20), tuple(parts)
    )


def _head(each: Collection) -> str:
    return ", ".join(
        f"{name} = {template.text}" for name, template in zip(each.names, each.partition, strict=True)
    )


def _sentence(each: Collection) -> str:
    holds = ", ".join(f"{band.name} ({band.count})" for band in each.bands)
    read = f" Read by {', '.join(plan.name for plan in each.plans)}." if each.plans else ""
    return f"A partition {_head(each)} holds {holds}.{read}"


def _drawn(
    each: Collection, top: float, width: float, left: float, dots: float, link: Link
) -> tuple[list[Markup], float]:
    legend = list(_legend(each.plans, width))
    lines = 1 + max((line for line, _, _ in legend), default=-1)
    high = _HEAD + _BAND * len(each.bands) + (lines * _LINE + 12 if lines else 0)
    frame = {"x": _SIDE, "y": top, "width": width - 2 * _SIDE, "height": high, "rx": 8}
    parts = [
        element("rect", kind="p-frame", **frame),
        element("path", kind="p-head", d=_rounded(width - 2 * _SIDE, top)),
        _partition(each, top + _HEAD / 2 + 4.5),
    ]
    begin = top + _HEAD
    for place, band in enumerate(each.bands):
        parts += _band(band, begin + place * _BAND, width, left, link)
    for place, plan in enumerate(each.plans):
        parts += _column(place, plan, each.bands, begin, dots + place * _COLUMN)
    for line, x, place in legend:
        plan = each.plans[place]
        y = begin + _BAND * len(each.bands) + line * _LINE + 20
        parts.append(text("p-note", x, y, str(place + 1)))
        parts.append(label(x + 18, y, plan.name, link("patterns", plan.name), "p-name"))
    return parts, high


def _rounded(wide: float, top: float) -> str:
    """The head of a frame: round above, straight below."""
    return f"M{_SIDE} {top + _HEAD:g}v-{_HEAD - 8}q0 -8 8 -8h{wide - 16:g}q8 0 8 8v{_HEAD - 8}z"


def _partition(each: Collection, y: float) -> Markup:
    parts: list[Markup] = []
    for place, (name, template) in enumerate(zip(each.names, each.partition, strict=True)):
        parts.append(Markup("{}").format(f"{', ' if place else ''}{name} = "))
        parts += [
            element("tspan", str(piece), kind="p-part")
            if isinstance(piece, Part)
            else Markup("{}").format(piece)
            for piece in template.pieces
        ]
    return element("text", *parts, kind="p-key", x=12, y=y)


def _band(band: Band, top: float, width: float, left: float, link: Link) -> Iterator[Markup]:
    middle = top + _BAND / 2
    yield element("path", kind="p-line", d=f"M{_SIDE} {top:g}h{width - 2 * _SIDE:g}")
    # A pile of items, or one.
    for shift in (6, 3, 0) if band.is_many else (3,):
        box = {"x": 8, "y": middle - 8 + shift, "width": 10, "height": 10, "rx": 2}
        yield element("rect", kind=f"p-soft {band.hue}" if band.hue else "p-box p-unread", **box)
    name = label(
        26, middle + 4.5, shortened(band.name, _NAME), link("entities", band.entity) if band.entity else ""
    )
    yield element("g", hint(f"{band.name}: {band.count} in a partition"), name)
    for place, template in enumerate(band.sort or (None,)):
        before = sum(len(each.text) + 3 for each in band.sort[:place]) * MONO
        yield key_text(left + before, middle + 4, template)
    yield text("p-note", width - 10, middle + 4, "many" if band.is_many else "one", "end")


def _column(place: int, plan: Plan, bands: tuple[Band, ...], top: float, x: float) -> Iterator[Markup]:
    """The bands that a pattern reads: a dot for each, square where it reads one item."""
    tags = {shape.tag for shape in plan.shapes}
    middles = [top + n * _BAND + _BAND / 2 for n, band in enumerate(bands) if band.entity in tags]
    yield text("p-note", x, top - 12, str(place + 1), "middle")
    words = hint(
        f"{plan.name}: {'one item' if plan.kind == 'get' else plural(len(tags), 'entity', 'entities')}"
    )
    marks = [
        element("rect", kind="p-dot", x=x - 4.5, y=y - 4.5, width=9, height=9, rx=1)
        if plan.kind == "get"
        else element("circle", kind="p-dot", cx=x, cy=y, r=5)
        for y in middles
    ]
    line = element("path", kind="p-edge", d=f"M{x:g} {middles[0]:g}V{middles[-1]:g}")
    yield element("g", words, line, *marks)


def _legend(plans: tuple[Plan, ...], width: float) -> Iterator[tuple[int, float, int]]:
    """Line, place in it, and number of each pattern's name."""
    line, x = 0, 12.0
    for place, plan in enumerate(plans):
        needed = len(plan.name) * LETTER + 40
        if x > 12 and x + needed > width:
            line, x = line + 1, 12.0
        yield line, x, place
        x += needed
