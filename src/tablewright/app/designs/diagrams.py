"""A design as a page shows it: whose item a key is, keys with their parts.

Pure. Elsewhere: attributes with what is said of them (design/description.py), pages (designs.py), running patterns
(patterns.py), raw items (browse.py).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup

from tablewright.design import Design, EntitySpec, Table
from tablewright.design.entity_spec import Guard, KeyAttribute
from tablewright.design.templates import Part, Template, matcher
from tablewright.mapping.receipts import TABLE as RECEIPTS
from tablewright.values import Value


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose item this is."""

    kind: Literal["entity", "guard", "receipt", "stranger"]
    name: str
    shape: EntitySpec | None = None


def owner_of(design: Design | None, table: str, item: Mapping[str, Value]) -> Owner:
    """The entity or guard of an item, by its key. `table` is the design's name."""
    if table == RECEIPTS.name:
        return Owner("receipt", "receipt")
    for shape in design.shapes if design else ():
        if shape.table.name == table and shape.recognises(item):
            return Owner("entity", shape.tag, shape)
    for shape in design.shapes if design else ():
        for guard in shape.guards:
            if guard.table.name == table and _guards(guard, item):
                return Owner("guard", f"{shape.tag}, unique {guard.unique.name}")
    return Owner("stranger", "not in the design")


def _guards(guard: Guard, item: Mapping[str, Value]) -> bool:
    pairs = [(guard.table.pk, guard.pk), (guard.table.sk, guard.sk)]
    for name, template in pairs:
        if name is not None and template is not None:
            text = item.get(name, {}).get("S")
            if text is None or matcher(template).fullmatch(text) is None:
                return False
    return True


def key_words(template: Template) -> Markup:
    """A template with its parts set off from its literals."""
    pieces = (
        Markup("<i>{}</i>").format(str(piece)) if isinstance(piece, Part) else Markup("{}").format(piece)
        for piece in template.pieces
    )
    return Markup('<span class="key">{}</span>').format(Markup("").join(pieces))


def key_cell(key: KeyAttribute | None) -> Markup:
    return key_words(key.template) if key is not None else Markup('<span class="key none">–</span>')


@dataclass(frozen=True, slots=True)
class Diagram:
    """The keys of a table: rows of entities, columns of key attributes."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, str, tuple[Markup, ...]], ...]


def key_diagram(design: Design, table: Table) -> Diagram:
    """The keys of every entity and guard of a table, in the table and in each index."""
    indexes = [index for index in design.indexes if index.table == table]
    columns = [*table.key_names, *(f"{index.name} · {name}" for index in indexes for name in index.key_names)]
    rows = []
    for shape in (shape for shape in design.shapes if shape.table == table):
        cells = [key_cell(key) for key in shape.primary]
        for index in indexes:
            placed = shape.index_keys.get(index.name)
            cells += [key_cell(key) for key in placed] if placed else [key_cell(None)] * len(index.key_names)
        rows.append((shape.tag, shape.tag, tuple(cells)))
    for shape in design.shapes:
        for guard in (guard for guard in shape.guards if guard.table == table):
            cells = [key_words(guard.pk)] + ([key_words(guard.sk)] if guard.sk else [])
            cells += [key_cell(None)] * (len(columns) - len(cells))
            rows.append((f"{shape.tag}: unique {guard.unique.name}", "", tuple(cells)))
    return Diagram(tuple(columns), tuple(rows))
