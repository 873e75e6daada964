"""Templates of a design file by their place, and the places of what `build()` finds."""

from collections.abc import Iterator

from tablewright.design.files.document import DesignDocument, EntityDocument, SortDocument, TableDocument
from tablewright.design.files.errors import DesignFileRefused, Problem
from tablewright.design.tables import names
from tablewright.design.templates import BadTemplate, parse


def refuse_templates(document: DesignDocument) -> None:
    """DesignFileRefused with every template that cannot be read."""
    found = []
    for place, text in templates(document):
        try:
            parse(text)
        except BadTemplate as error:
            found.append(Problem(place, str(error)))
    if found:
        raise DesignFileRefused(found)


def templates(document: DesignDocument) -> Iterator[tuple[str, str]]:
    """Every template of a document, with its place."""
    for at, table in enumerate(document.tables):
        for number, entity in enumerate(table.entities):
            yield from _of_entity(entity, f"tables[{at}].entities[{number}]")
    for at, pattern in enumerate(document.patterns):
        for text in names(pattern.pk):
            yield f"patterns[{at}].pk", text
        sorts = pattern.sk if isinstance(pattern.sk, tuple) else [pattern.sk]
        for sort in sorts:
            yield from ((f"patterns[{at}].sk", text) for text in _texts(sort))


def _texts(sort: str | SortDocument | None) -> tuple[str, ...]:
    if not isinstance(sort, SortDocument):
        return names(sort)
    (name,) = sort.model_fields_set
    return names(getattr(sort, name))


def _of_entity(entity: EntityDocument, place: str) -> Iterator[tuple[str, str]]:
    yield f"{place}.pk", entity.pk
    if entity.sk is not None:
        yield f"{place}.sk", entity.sk
    for index, keys in entity.indexes.items():
        yield from ((f"{place}.indexes.{index}.pk", text) for text in names(keys.pk))
        yield from ((f"{place}.indexes.{index}.sk", text) for text in names(keys.sk))
    yield from ((f"{place}.derived.{name}", text) for name, text in entity.derived.items())
    for at, unique in enumerate(entity.unique):
        here = f"{place}.unique[{at}]"
        yield f"{here}.value", unique.value
        if unique.pk:
            yield f"{here}.pk", unique.pk
        yield f"{here}.sk", unique.sk
        yield from ((f"{here}.keep.{name}", text) for name, text in unique.keep.items())


def place_of_finding(document: DesignDocument, where: str) -> str:
    """`tables[0].entities[2].sk`: the place in the document of what a finding names; '' if there is none."""
    name, _, rest = where.removeprefix(f"{document.name}.").partition(".")
    found = _entity_place(document, name, rest)
    reads = [(f"patterns[{at}]", pattern.name) for at, pattern in enumerate(document.patterns)]
    reads += [(f"searches[{at}]", search.name) for at, search in enumerate(document.searches)]
    found = found or next((place for place, known in reads if known == name), "")
    found = found or next(_table_places(document, name, rest), "")
    places = [(f"environments[{at}]", each.name) for at, each in enumerate(document.environments)]
    return found or next((place for place, known in places if known == name), "")


def _table_places(document: DesignDocument, name: str, rest: str) -> Iterator[str]:
    """A table, or an index of it: a finding names an index alone, too."""
    for at, table in enumerate(document.tables):
        named = [(f"indexes[{number}]", index.name) for number, index in enumerate(table.indexes)]
        named += [(f"vectors[{number}]", index.name) for number, index in enumerate(table.vectors)]
        for place, index in named:
            if index == name or (table.name == name and index == rest.partition(".")[0]):
                yield f"tables[{at}].{place}"
    yield from (f"tables[{at}]" for at, table in enumerate(document.tables) if table.name == name)


def _entity_place(document: DesignDocument, tag: str, label: str) -> str:
    for at, table in enumerate(document.tables):
        for number, entity in enumerate(table.entities):
            if entity.tag == tag:
                return f"tables[{at}].entities[{number}]{_part(table, entity, label)}"
    return ""


def _part(table: TableDocument, entity: EntityDocument, label: str) -> str:
    """Which part of an entity a finding is about, if it names a key, an index or a field."""
    first = label.partition(".")[0]
    if first in (table.pk, table.sk):
        return ".pk" if first == table.pk else ".sk"
    for index in table.indexes:
        # A rule names the key attribute; several of one half are joined.
        for half, key in (("pk", names(index.pk)), ("sk", names(index.sk))):
            if index.name in entity.indexes and first == "_and_".join(key):
                return f".indexes.{index.name}.{half}"
    for group, members in (
        ("indexes", entity.indexes), ("derived", entity.derived), ("fields", entity.fields)
    ):  # fmt: skip
        if first in members:
            return f".{group}.{first}"
    return ".unique" if first.startswith("unique ") else ""
