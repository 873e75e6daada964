"""Facets of a NoSQL Workbench model as entities: templates of their keys, attributes with the types of samples. Pure.

A facet names its keys for people (`customer`, `USER#<id>`, `{user_id}`) and may have sample items. Texts that are the
same in every sample, and words in capitals, are literals of the template; what varies is a field: the attribute that
has the same text in each sample, or one that is called by the alias or by the literal before it.
Must hold: what a sample shows as a number is a number, as an ISO time a time, as an ISO date a date.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tablewright.design.key_codecs import DELIMITER, codec
from tablewright.design.templates import BadTemplate, parse
from tablewright.mapping.formats.entity_documents import DATE, TIME, identifier
from tablewright.mapping.formats.imported_tables import ImportedAttribute, ImportedEntity

Samples = Sequence[Mapping[str, Any]]
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)", re.ASCII)
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_HOLE = re.compile(r"<([^<>]+)>|\$?\{([^{}]+)\}|\[([^\[\]]+)\]")
_LITERAL = re.compile(r"[A-Z][A-Z0-9_]*")


@dataclass(frozen=True, slots=True)
class _Half:
    """A half of the primary key in a facet: the attribute, how people call it, and its texts in the samples."""

    name: str
    alias: str
    texts: tuple[str, ...]


def facet_entities(said: Mapping[str, Any]) -> tuple[list[ImportedEntity], list[str]]:
    """The entities of a table, and notes on what was merged or supplied."""
    known = {each["AttributeName"]: each["AttributeType"] for each in said.get("NonKeyAttributes") or ()}
    facets = said.get("TableFacets") or ()
    table, notes = said["TableName"], list[str]()
    found: dict[tuple[str, str | None], ImportedEntity] = {}
    for facet in facets:
        entity, supplied = _entity(said, facet, known, _samples(said, facet, facets))
        same = found.get((entity.pk, entity.sk))
        if same is None:
            found[entity.pk, entity.sk] = entity
            if supplied:
                notes.append(
                    f"{table}: {entity.tag} has {', '.join(supplied)} in its key; no attribute of the model has it."
                )
            continue
        notes.append(f"{table}: the facet {entity.tag} has the keys of {same.tag}; they are one entity.")
        both = {each.name: each for each in (*entity.attributes, *same.attributes)}
        found[entity.pk, entity.sk] = replace(same, attributes=tuple(both.values()))
    return list(found.values()), notes


def sampled_attributes(known: Mapping[str, str], samples: Samples) -> Iterator[ImportedAttribute]:
    """Each attribute with the type that all samples of it have, or the one that the model names."""
    for name in dict.fromkeys((*known, *(name for item in samples for name in item))):
        values = [item[name] for item in samples if name in item]
        letters = {letter for value in values for letter in value}
        letter = letters.pop() if len(letters) == 1 else known.get(name, "")
        texts = [text for value in values for text in value.values()] if letter == "S" else []
        yield ImportedAttribute(name, letter, format=_format(texts))


def _format(texts: Sequence[Any]) -> str:
    for pattern, name in ((_TIME, TIME), (_DATE, DATE)):
        if texts and all(isinstance(text, str) and pattern.fullmatch(text) for text in texts):
            return name
    return ""


def _samples(
    said: Mapping[str, Any], facet: Mapping[str, Any], facets: Sequence[Mapping[str, Any]]
) -> Samples:
    """The sample items of a facet: its own, or those of the table that fit it and no other."""
    if facet.get("TableData"):
        return list(facet["TableData"])
    keys = {half["AttributeName"] for half in said["KeyAttributes"].values()}
    return [
        item
        for item in said.get("TableData") or ()
        if [each for each in facets if {*item} <= keys | {*(each.get("NonKeyAttributes") or ())}] == [facet]
    ]


def _entity(
    said: Mapping[str, Any], facet: Mapping[str, Any], known: Mapping[str, str], samples: Samples
) -> tuple[ImportedEntity, list[str]]:
    """The entity of a facet, and the fields that only its keys name."""
    keys = {half["AttributeName"] for half in said["KeyAttributes"].values()}
    own = {name: known.get(name, "") for name in facet.get("NonKeyAttributes") or () if name not in keys}
    attributes = [each for each in sampled_attributes(own, samples) if each.name not in keys]
    templates = [
        _template(half, attributes, samples) if letter == "S" else ""
        for half, letter in _halves(said["KeyAttributes"], facet, samples)
    ]
    fields = {identifier(each.name) for each in attributes}
    supplied = [name for name in dict.fromkeys(_fields(templates)) if name not in fields]
    attributes += [ImportedAttribute(name, "S", required=True) for name in supplied]
    pk, *rest = templates
    sk = rest[0] if rest else None
    return ImportedEntity(facet["FacetName"], "", pk, sk, tuple(attributes)), supplied


def _halves(
    key: Mapping[str, Any], facet: Mapping[str, Any], samples: Samples
) -> Iterator[tuple[_Half, str]]:
    aliases = facet.get("KeyAttributeAlias") or {}
    for half in ("PartitionKey", "SortKey"):
        if key.get(half):
            name, letter = key[half]["AttributeName"], key[half]["AttributeType"]
            texts = tuple(str(item[name].get("S", "")) for item in samples if name in item)
            yield _Half(name, aliases.get(f"{half}Alias") or "", texts), letter


def _fields(templates: Iterable[str]) -> Iterator[str]:
    return (field for text in templates if text for field in parse(text).fields)


# --- templates ---


def _template(half: _Half, attributes: Sequence[ImportedAttribute], samples: Samples) -> str:
    """The template of a key attribute; empty if it is stored as it is."""
    made = _of_alias(half) or _of_samples(half, attributes, samples)
    if not made and half.alias and identifier(half.alias) != identifier(half.name):
        made = f"{{{identifier(half.alias)}}}"
    return made


def _of_alias(half: _Half) -> str:
    """The template that an alias is, in our form or another; empty if it is only a name."""
    alias = half.alias
    made = _HOLE.sub(_hole, alias)
    if _HOLE.search(alias):
        return _template_or_none(made)
    if made == alias and DELIMITER in alias:
        made = DELIMITER.join(
            part if not part or _LITERAL.fullmatch(part) else f"{{{identifier(part)}}}"
            for part in alias.split(DELIMITER)
        )
    if made == alias:
        return alias if _is_literal(half) else ""
    return _template_or_none(made)


def _hole(found: re.Match[str]) -> str:
    """`<petId>`, `${petId}`, `[pet id]` and `{pet_id:codec}` in our form."""
    name, colon, way = (found[1] or found[2] or found[3]).partition(":")
    return f"{{{identifier(name)}{colon}{way}}}"


def _template_or_none(text: str) -> str:
    try:
        return parse(text).text
    except BadTemplate:
        return ""


def _is_literal(half: _Half) -> bool:
    """`PROFILE` for a key that is not called so, and that no sample contradicts."""
    return (
        _LITERAL.fullmatch(half.alias) is not None
        and half.alias not in (half.name, half.name.upper())
        and all(text == half.alias for text in half.texts)
    )


def _of_samples(half: _Half, attributes: Sequence[ImportedAttribute], samples: Samples) -> str:
    cut = [text.split(DELIMITER) for text in half.texts]
    if not cut or len({len(parts) for parts in cut}) != 1:
        return ""
    pieces: list[str] = []
    for column in zip(*cut, strict=True):
        is_same = len(set(column)) == 1
        if is_same and (_LITERAL.fullmatch(column[0]) or len(column) > 1):
            pieces.append(column[0])
        else:
            pieces.append(_part(half, column, pieces, attributes, samples))
    # A key without a literal is stored as it is, unless people call it otherwise.
    if len(pieces) == 1 and pieces[0].startswith("{"):
        return ""
    return DELIMITER.join(pieces)


def _part(
    half: _Half,
    column: Sequence[str],
    before: Sequence[str],
    attributes: Sequence[ImportedAttribute],
    samples: Samples,
) -> str:
    """The hole for what varies; a time in the form of a codec is one."""
    here = [item for item in samples if half.name in item]
    for each in attributes:
        if each.letter == "S" and [item.get(each.name, {}).get("S") for item in here] == list(column):
            is_time = all(re.fullmatch(codec("ms").pattern, text) for text in column)
            return f"{{{identifier(each.name)}{':ms' if is_time else ''}}}"
    alias = identifier(half.alias) if half.alias else ""
    if alias and alias != identifier(half.name) and not any("{" in piece for piece in before):
        return f"{{{alias}}}"
    literal = before[-1] if before and "{" not in before[-1] else half.name
    return f"{{{identifier(f'{literal}_id')}}}"
