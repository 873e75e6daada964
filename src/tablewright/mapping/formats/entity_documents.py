"""The entities of an imported table, as parts of a design file. Pure.

A source that says what is in a table gives each entity; otherwise there is one, whose keys are its own attributes. An
entity stands in every index whose key attributes it has; the first one in those that no entity has.
Must hold: every attribute that the table names is declared: keys, what indexes carry, and what items expire by.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from tablewright.design.deployment import label
from tablewright.design.templates import BadTemplate, parse
from tablewright.mapping.deploy.states import IndexState, Key, TableState
from tablewright.mapping.formats.imported_tables import ImportedAttribute, ImportedEntity, ImportedTable

_TYPES: Mapping[str, Any] = {
    "S": "string",
    "N": "decimal",
    "B": "binary",
    "BOOL": "boolean",
    "SS": {"set": "string"},
    "NS": {"set": "decimal"},
    "BS": {"set": "binary"},
    "L": {"list": "json"},
    "M": {"map": "json"},
}
TIME, DATE = "ISO 8601", "ISO 8601 date (YYYY-MM-DD)"
_FORMATS = {TIME: "time", DATE: "date"}
# What a part of a key with a codec is: `{at:ms}` is a time, `{number:6}` a whole number.
_OF_CODECS: Mapping[type, str] = {datetime: "time", bool: "boolean", int: "integer", Decimal: "decimal"}


def entity_documents(table: ImportedTable, tags: set[str]) -> Iterator[dict[str, Any]]:
    """The entities of a table; `tags` are those in use, and grow."""
    given = table.entities or (ImportedEntity(table.state.name, "", "", None, ()),)
    first, *rest = given
    first = ImportedEntity(first.tag, first.about, first.pk, first.sk, _all_attributes(table, first, rest))
    for entity in (first, *rest):
        yield _entity(table.state, entity, _unused(label(entity.tag).strip("_") or "item", tags))


def hides_expired(state: TableState) -> bool:
    """True if reads of the table and of each index can tell what has expired."""
    return state.ttl is not None and all(
        kind == "ALL" or state.ttl in names or state.ttl in index.types
        for index in state.indexes.values()
        for kind, names in [index.carried]
    )


def _all_attributes(
    table: ImportedTable, first: ImportedEntity, rest: Sequence[ImportedEntity]
) -> tuple[ImportedAttribute, ...]:
    """The attributes of the first entity: its own, and those that the table names and no other entity has."""
    state = table.state
    own = {each.name: each for each in (*first.attributes, *table.attributes)}
    elsewhere = {each.name for entity in rest for each in entity.attributes} | {name for name, _ in state.key}
    for name, letter in state.all_types.items():
        if name not in elsewhere or any(name in index.types for index in _unclaimed(state, first, rest)):
            own.setdefault(name, ImportedAttribute(name, letter))
    for index in state.indexes.values():
        for name in sorted(index.carried[1]):
            if name not in elsewhere:
                own.setdefault(name, ImportedAttribute(name, ""))
    for vector in state.vectors.values():
        own.setdefault(vector.of, ImportedAttribute(vector.of, ""))
    if state.ttl and hides_expired(state) and state.ttl not in elsewhere:
        own.setdefault(state.ttl, ImportedAttribute(state.ttl, "N"))
    return tuple(own.values())


def _unclaimed(state: TableState, first: ImportedEntity, rest: Sequence[ImportedEntity]) -> list[IndexState]:
    return [
        index
        for index in state.indexes.values()
        if not any(_has_keys(state, entity, index) for entity in (first, *rest))
    ]


def _has_keys(state: TableState, entity: ImportedEntity, index: IndexState) -> bool:
    names = {each.name for each in entity.attributes} | {name for name, _ in state.key}
    return names.issuperset(name for name, _ in index.key)


def _entity(state: TableState, entity: ImportedEntity, tag: str) -> dict[str, Any]:
    pk, sk = halves(state.key)
    attributes = {each.name: each for each in entity.attributes}
    own = _own_keys({pk[0]: entity.pk, **({sk[0]: entity.sk} if sk else {})}, attributes)
    # Keys that no template makes are fields.
    for name, text in own.items():
        if text is None:
            attributes[name] = ImportedAttribute(name, state.types[name], required=True)
        else:
            attributes.pop(name, None)
    if state.ttl and not hides_expired(state):
        attributes.pop(state.ttl, None)
    vectors = dict.fromkeys(index.of for index in state.vectors.values() if index.of in attributes)
    fields = dict(zip(attributes, _fields(attributes), strict=True))
    keys = {name: text if text is not None else f"{{{fields[name]}}}" for name, text in own.items()}
    made: dict[str, Any] = {"tag": tag, **({"about": entity.about} if entity.about else {})}
    parts = _part_types(text for text in own.values() if text is not None)
    made["fields"] = {
        field: _expiry(name, field) if name == state.ttl
        else _vector(name, field) if name in vectors
        else _field(attributes[name], field, is_key=own.get(name, "") is None, parts=parts)
        for name, field in fields.items()
    }  # fmt: skip
    made |= {"pk": keys[pk[0]], **({"sk": keys[sk[0]]} if sk else {})}
    indexes = {
        each.name: _places(each, keys, fields)
        for each in state.indexes.values()
        if _has_keys(state, entity, each)
    }
    made |= {"indexes": indexes} if indexes else {}
    return made | ({"expires": fields[state.ttl]} if state.ttl in fields else {})


def halves(key: Key) -> tuple[list[str], list[str]]:
    """The names of the partition key, and those of the sort key."""
    return [name for name, kind in key if kind == "HASH"], [name for name, kind in key if kind == "RANGE"]


def one_or_more(names: Sequence[str]) -> str | list[str]:
    return names[0] if len(names) == 1 else list(names)


def _places(index: IndexState, keys: Mapping[str, str], fields: Mapping[str, str]) -> dict[str, Any]:
    def texts(names: Sequence[str]) -> str | list[str]:
        return one_or_more([keys.get(name) or f"{{{fields[name]}}}" for name in names])

    pk, sk = halves(index.key)
    return {"pk": texts(pk), **({"sk": texts(sk)} if sk else {})}


# --- keys ---


def _own_keys(texts: Mapping[str, str | None], attributes: Iterable[str]) -> dict[str, str | None]:
    """The template of each key attribute; None if it is stored as it is: a field, which other templates may name."""
    as_stored = {name for name, text in texts.items() if not text or text == f"{{{identifier(name)}}}"}
    known = {identifier(name) for name in (*attributes, *as_stored) if name in as_stored or name not in texts}
    return {
        name: None if name in as_stored or not _is_template_of(text or "", known) else text
        for name, text in texts.items()
    }


def _is_template_of(text: str, known: set[str]) -> bool:
    """True if a text can be read as a template, and its parts are fields."""
    try:
        return set(parse(text).fields) <= known
    except BadTemplate:
        return False


def _part_types(texts: Iterable[str]) -> dict[str, str]:
    """The fields in templates with the type that their codecs take; empty for those that take texts."""
    found: dict[str, str] = {}
    for part in (part for text in texts for part in parse(text).parts):
        found[part.field] = found.get(part.field) or _OF_CODECS.get(part.codec.takes[0], "")
    return found


# --- fields ---


def _fields(names: Iterable[str]) -> list[str]:
    used: set[str] = set()
    return [_unused(identifier(name), used) for name in names]


def identifier(name: str) -> str:
    """A field for an attribute: `userId` is `user_id`."""
    found = label(name).strip("_")
    ascii_only = "".join(letter if letter.isascii() else "_" for letter in found)
    return ascii_only if ascii_only[:1].isalpha() else f"a_{ascii_only}"


def _unused(name: str, used: set[str]) -> str:
    found, count = name, 1
    while found in used:
        count += 1
        found = f"{name}_{count}"
    used.add(found)
    return found


def _field(attribute: ImportedAttribute, field: str, *, is_key: bool, parts: Mapping[str, str]) -> Any:
    kind: Any = parts.get(field) or _FORMATS.get(attribute.format) or _TYPES.get(attribute.letter, "json")
    if kind == "time" and parts.get(field) == "":
        kind = "string"  # a time without a width cannot be a part of a key
    if attribute.choices and not is_key:
        kind = {"choice": list(attribute.choices)}
    if not (attribute.required or is_key or field in parts) and kind != "json":
        kind = f"{kind}?" if isinstance(kind, str) else {**kind, "optional": True}
    return _stored(kind, attribute.name, field, attribute.about)


def _expiry(name: str, field: str) -> Any:
    """The attribute that items expire by: seconds since 1970, or absent."""
    return _stored("integer?", name, field)


def _vector(name: str, field: str) -> Any:
    return _stored("vector?", name, field)


def _stored(kind: Any, name: str, field: str, about: str = "") -> Any:
    more = {"stored": name} if name != field else {}
    more |= {"about": about} if about else {}
    return {"type": kind, **more} if more else kind
