"""Arguments that several verbs share: tables, placeholders, conditions, projections, keys.

Must hold: what can be checked without the table is checked before the table is looked up, and what can be checked
without the item before the item is read: that is the service's order of checks.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeVar

from tablewright.engine.api.shapes import COUNTED, Request
from tablewright.engine.catalog import Catalog, Table
from tablewright.engine.errors import (
    ItemMistake,
    Reworded,
    ServiceError,
    invalid,
    invalid_parameter,
    resource_not_found,
)
from tablewright.engine.limits import HASH_KEY_BYTES, PLACEHOLDER_BYTES, PLACEHOLDERS_BYTES, RANGE_KEY_BYTES
from tablewright.engine.vectors.entries import refuse_bad_vectors
from tablewright.expressions import (
    BadExpression,
    Condition,
    Path,
    Placeholders,
    condition,
    expected,
    filter_conditions,
    projection,
)
from tablewright.values import BadValue, Item, Value, WrongJson, admit, admit_item, size_of
from tablewright.values.codec import name_size

_PLACEHOLDER_KEYS = {
    "ExpressionAttributeNames": re.compile(r"#[A-Za-z0-9_]+"),
    "ExpressionAttributeValues": re.compile(r":[A-Za-z0-9_]+"),
}

# Of a character in UTF-8.
_MOST_BYTES = 4
Parsed = TypeVar("Parsed")

INVALID = "One or more parameter values were invalid: "
NO_MATCH = "The provided key element does not match the schema"


def find_table(tables: Catalog, name: str) -> Table:
    """The table of a request for items; one that is still being loaded is not found."""
    table = tables.get(name) or known_table(tables, name)
    if table.status != "ACTIVE":
        raise resource_not_found()
    return table


def known_table(tables: Catalog, name: str) -> Table:
    table = tables.get(name)
    if table is None and name.startswith("arn:"):
        table = tables.get(table_name(name))
        if table is not None and table.arn != name:
            raise resource_not_found()
    if table is None:
        raise resource_not_found()
    return table


def table_name(name: str) -> str:
    """The name in an ARN, or the name itself."""
    return name.rpartition("table/")[2] if name.startswith("arn:") else name


# --- wording ---


def current_text(mistake: BadValue | BadExpression | ServiceError) -> str:
    """The text of a refusal in verbs that the service has reworded in 2026."""
    if isinstance(mistake, BadValue | Reworded):
        return mistake.current
    return mistake.message if isinstance(mistake, ServiceError) else str(mistake)


def counted(parse: Callable[[Request], Parsed], request: Request) -> Parsed:
    """What `parse` returns; its refusals begin with the number of errors, as those of writes of one item do."""
    try:
        return parse(request)
    except (BadValue, BadExpression, ServiceError) as mistake:
        raise invalid(COUNTED + current_text(mistake)) from None


# --- placeholders ---


def refuse_mixing(request: Request, expressions: Sequence[str], legacy: Sequence[str]) -> None:
    if request.keys().isdisjoint(legacy):
        return
    old = [name for name in legacy if request.get(name) is not None]
    if not old:
        return
    new = [name for name in expressions if request.get(name) is not None]
    if new:
        raise invalid(
            "Can not use both expression and non-expression parameters in the same request: "
            f"Non-expression parameters: {{{', '.join(sorted(old))}}} "
            f"Expression parameters: {{{', '.join(sorted(new))}}}"
        )


def placeholders(request: Request, valued: Sequence[str], others: Sequence[str] = ()) -> Placeholders:
    """The names and values of the request's expressions; `valued` are the expressions that may use values."""
    names, values = request.get("ExpressionAttributeNames"), request.get("ExpressionAttributeValues")
    if names is None and values is None:
        return Placeholders(None, None)
    used = _gives(request, valued)
    if names is not None:
        if not used and not _gives(request, others):
            raise invalid("ExpressionAttributeNames can only be specified when using expressions")
        _check_names(names)
    if values is not None:
        if not used:
            verb = "is" if len(valued) == 1 else "are"
            rule = "ExpressionAttributeValues can only be specified when using expressions"
            raise Reworded(f"{rule}: {' and '.join(valued)} {verb} null", rule)
        values = _admit_values(values)
    return Placeholders(names, values)


def _gives(request: Request, members: Sequence[str]) -> bool:
    """Whether one of the members is given."""
    for member in members:  # noqa: SIM110 (making the generator for any() takes longer than this loop)
        if request.get(member) is not None:
            return True
    return False


def _check_names(names: Mapping[str, str]) -> None:
    if not names:
        raise invalid("ExpressionAttributeNames must not be empty")
    for key, name in names.items():
        _check_placeholder("ExpressionAttributeNames", key)
        if not name:
            raise invalid(
                f"ExpressionAttributeNames contains invalid value: Empty attribute name for key {key}"
            )
    if len("".join(names)) + len("".join(names.values())) <= PLACEHOLDERS_BYTES // _MOST_BYTES:
        return  # nearly always
    if sum(len(key.encode()) + len(name.encode()) for key, name in names.items()) > PLACEHOLDERS_BYTES:
        raise invalid("ExpressionAttributeNames exceeds max size")


def _admit_values(values: dict[str, Any]) -> Item:
    if not values:
        raise invalid("ExpressionAttributeValues must not be empty")
    try:
        for key in values:
            _check_placeholder("ExpressionAttributeValues", key)
        admitted, total = admit_item(values)
    except (BadValue, WrongJson, ServiceError):
        _refuse_first_value(values)
        raise
    if total > PLACEHOLDERS_BYTES:
        raise invalid("ExpressionAttributeValues exceeds max size")
    return admitted


def _refuse_first_value(values: dict[str, Any]) -> None:
    """Refuse values of which at least one is not valid, with the error of the first."""
    for key, value in values.items():
        _check_placeholder("ExpressionAttributeValues", key)
        try:
            admit(value)
        except BadValue as bad:
            wrapped = f"ExpressionAttributeValues contains invalid value: {bad} for key {key}"
            raise Reworded(wrapped, bad.current) from None


# A program has few placeholders and sends them with every request, so the check is cached.
@lru_cache(maxsize=1024)
def _check_placeholder(member: str, key: str) -> None:
    if not _PLACEHOLDER_KEYS[member].fullmatch(key):
        raise invalid(f'{member} contains invalid key: Syntax error; key: "{key}"')
    if len(key) > PLACEHOLDER_BYTES:
        raise invalid(
            f'{member} contains invalid key: The expression attribute map contains a key that is too long; key: "{key}"'
        )


# --- conditions and projections ---


def write_condition(request: Request, given: Placeholders) -> Condition | None:
    """The condition of a write, in either style."""
    text = request.get("ConditionExpression")
    if text is not None:
        return condition(text, "ConditionExpression", given)
    old = request.get("Expected")
    if old is None and request.get("ConditionalOperator") is None:
        return None
    return expected(admit_conditions(old or {}), request.get("ConditionalOperator"))


def read_filter(request: Request, given: Placeholders, legacy: str) -> Condition | None:
    """The filter of a read, in either style; `legacy` is QueryFilter or ScanFilter."""
    text = request.get("FilterExpression")
    if text is not None:
        return condition(text, "FilterExpression", given)
    old = request.get(legacy)
    if old is None and request.get("ConditionalOperator") is None:
        return None
    return filter_conditions(admit_conditions(old or {}), request.get("ConditionalOperator"))


def admit_conditions(conditions: Mapping[str, Any]) -> dict[str, Any]:
    """Legacy conditions with validated names and values."""
    admitted = {}
    for name, one in conditions.items():
        name_size(name)
        one = {member: content for member, content in one.items() if content is not None}
        if "Value" in one:
            one["Value"] = admit(one["Value"])[0]
        if "AttributeValueList" in one:
            one["AttributeValueList"] = [admit(value)[0] for value in one["AttributeValueList"]]
        admitted[name] = one
    return admitted


def read_paths(request: Request, given: Placeholders) -> tuple[Path, ...] | None:
    """The attributes a read asks for, in either style; None for all."""
    text = request.get("ProjectionExpression")
    if text is not None:
        return projection(text, given)
    names = request.get("AttributesToGet")
    if names is None:
        return None
    for place, name in enumerate(names):
        name_size(name)
        if name in names[:place]:
            raise invalid_parameter(f"Duplicate value in attribute name: {name}")
    return tuple((name,) for name in names)


# The beginning of a path that goes into an attribute.
_NESTED = re.compile(r"([#\w]+)\s*[.\[]")
_EXPRESSIONS = ("ConditionExpression", "UpdateExpression", "FilterExpression", "ProjectionExpression")


@lru_cache(maxsize=1024)
def _nested_names(text: str) -> tuple[str, ...]:
    return tuple(_NESTED.findall(text))


def refuse_nested_keys(table: Table, request: Request, paths: Callable[[], Iterable[Path]]) -> None:
    """A key attribute is a text, a number or a binary: no path of an expression can go into it."""
    # Most expressions have no path that goes into a key, and then there is nothing to check.
    aliases = request.get("ExpressionAttributeNames") or {}
    texts = [text for member in _EXPRESSIONS if (text := request.get(member)) is not None]
    if not any(aliases.get(name, name) in table.types for text in texts for name in _nested_names(text)):
        return
    for path in paths():
        name = path[0]
        if len(path) > 1 and name in table.types:
            kind = "Key" if name in table.schema.names else "IndexKey"
            raise invalid(
                "Key attributes must be scalars; list random access '[]' and map lookup '.' "
                f"are not allowed: {kind}: {name}"
            )


# --- keys ---


def admit_key(key: Item) -> Item:
    return admit_item(key)[0]


def key_bytes(table: Table, key: Item) -> bytes:
    """The key bytes of this Key; it must have the schema's attributes and no others."""
    names = table.schema.names
    if len(key) != len(names):
        raise ItemMistake(NO_MATCH)
    place = table.encode_key(key)
    if place is not None:
        return place
    for name in names:
        if name not in key or table.types[name] not in key[name]:
            raise ItemMistake(NO_MATCH)
    raise _bad_key_value(table, key)


def put_key_bytes(table: Table, item: Item) -> bytes:
    """The key bytes of a whole item; it must have the key attributes."""
    place = table.encode_key(item)
    if place is not None:
        return place
    for name in table.schema.names:
        value = item.get(name)
        if value is None:
            raise ItemMistake(f"{INVALID}Missing the key {name} in the item")
        wanted = table.types[name]
        if wanted not in value:
            actual = next(iter(value))
            raise ItemMistake(f"{INVALID}Type mismatch for key {name} expected: {wanted} actual: {actual}")
    raise _bad_key_value(table, item)


def _bad_key_value(table: Table, item: Item) -> ServiceError:
    """The error for key attributes that are present and of the right type, but empty or too long."""
    names = table.schema.names
    for name in names:
        if not item[name][table.types[name]]:
            return invalid(
                "One or more parameter values are not valid. The AttributeValue for a key attribute "
                f"cannot contain an empty {empty_kind(item[name])} value. Key: {name}"
            )
    return _long_key(HASH_KEY_BYTES if size_of(item[names[0]]) > HASH_KEY_BYTES else RANGE_KEY_BYTES)


def _long_key(most_bytes: int) -> ServiceError:
    if most_bytes == HASH_KEY_BYTES:
        return invalid_parameter(
            f"Size of hashkey has exceeded the maximum size limit of{HASH_KEY_BYTES} bytes"
        )
    return invalid_parameter(
        f"Aggregated size of all range keys has exceeded the size limit of {RANGE_KEY_BYTES} bytes"
    )


def empty_kind(value: Value) -> str | None:
    """`string` or `binary` for an empty one."""
    if value.get("S") == "":
        return "string"
    return "binary" if value.get("B") == "" else None


def refuse_bad_index_keys(table: Table, old: Item | None, new: Item, by_update: bool) -> None:
    """Refuse index keys and vectors that do not fit their index. For an update, only those it changes are checked."""
    for key in table.index_keys:
        value = new.get(key.attribute)
        if value is None or (by_update and old is not None and old.get(key.attribute) == value):
            continue
        content = value.get(key.type)
        if content is None:
            raise ItemMistake(
                f"{INVALID}Type mismatch for Index Key {key.attribute} Expected: {key.type} "
                f"Actual: {next(iter(value))} IndexName: {key.index}"
            )
        if not content:
            raise _empty_index_key(empty_kind(value), key.index, key.attribute, by_update)
        if len(content) * 4 > key.most_bytes and size_of(value) > key.most_bytes:
            raise _long_key(key.most_bytes)
    if table.vectors:
        refuse_bad_vectors(table, old if by_update else None, new)


def _empty_index_key(kind: str | None, index: str, attribute: str, by_update: bool) -> ServiceError:
    rule = f"The AttributeValue for a key attribute cannot contain an empty {kind} value."
    if by_update:
        return invalid(
            "One or more parameter values are not valid. The update expression attempted to update a "
            f"secondary index key to a value that is not supported. {rule}"
        )
    return invalid(
        "One or more parameter values are not valid. A value specified for a secondary index key is not "
        f"supported. {rule} IndexName: {index}, IndexKey: {attribute}"
    )
