"""The rules for definitions of vector indexes, checked in the service's order and with its messages.

Elsewhere: lengths, enums and required members (the shapes); defined indexes (vectors/definition.py).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from tablewright.engine.api import table_definitions as definitions
from tablewright.engine.api.common_members import INDEX_NAME
from tablewright.engine.api.shapes import ListOf, Request, Struct, Text, Whole
from tablewright.engine.catalog import Index, Table
from tablewright.engine.errors import (
    ServiceError,
    invalid,
    invalid_parameter,
    limit_exceeded,
    resource_in_use,
    resource_not_found,
)
from tablewright.engine.limits import VECTOR_DIMENSIONS, VECTOR_FILTERS, VECTOR_INDEXES
from tablewright.engine.transaction import WriteTransaction
from tablewright.engine.vectors.definition import VectorIndex

VECTOR_INDEX = Struct(
    "VectorIndex",
    {
        "IndexName": INDEX_NAME,
        "VectorAttribute": Struct(
            "VectorAttributeDefinition", {"AttributeName": Text(1, 255)}, required=("AttributeName",)
        ),
        "SearchSchema": ListOf(
            Struct(
                "SearchSchemaElement",
                {
                    "AttributeName": Text(most=65535),
                    "SearchSchemaElementType": Text(one_of=("HASH", "INLINE_FILTER")),
                },
                required=("AttributeName", "SearchSchemaElementType"),
            ),
            least=1,
        ),
        "Projection": definitions.PROJECTION,
        "Dimensions": Whole(least=1, java="Long"),
        "DistanceFunction": Text(one_of=("DOT_PRODUCT", "COSINE", "EUCLIDEAN")),
    },
    required=("IndexName", "VectorAttribute", "Projection", "Dimensions", "DistanceFunction"),
)
VECTOR_INDEX_UPDATE = Struct(
    "VectorIndexUpdate",
    {
        "Create": replace(VECTOR_INDEX, name="CreateVectorIndexAction"),
        "Delete": Struct("DeleteVectorIndexAction", {"IndexName": INDEX_NAME}, required=("IndexName",)),
    },
)
ONLY_ONE = "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table"


def schema_names(asked: Iterable[Request] | None) -> list[str]:
    """The attributes in the SearchSchema of requested indexes."""
    return [element["AttributeName"] for index in asked or () for element in index.get("SearchSchema") or ()]


def vector_indexes(
    asked: Sequence[Request] | None, first_number: int, types: Mapping[str, str], mode: str
) -> list[VectorIndex]:
    """The requested indexes of a new table."""
    if asked is None:
        return []
    if not asked:
        raise invalid_parameter("List of VectorIndexes is empty")
    refuse_provisioned(mode)
    made = [vector_index(one, number, types) for number, one in enumerate(asked, first_number)]
    refuse_many(made)
    refuse_different_dimensions(made)
    return made


def refuse_many(indexes: Sequence[VectorIndex]) -> None:
    if len(indexes) > VECTOR_INDEXES:
        raise invalid_parameter(f"VectorIndex count exceeds the per-table limit of {VECTOR_INDEXES}")


def refuse_provisioned(mode: str) -> None:
    if mode != "PAY_PER_REQUEST":
        raise invalid_parameter("Vector indexes are only supported for PAY_PER_REQUEST tables")


def refuse_different_dimensions(indexes: Iterable[VectorIndex]) -> None:
    known: dict[str, int] = {}
    for index in indexes:
        if known.setdefault(index.attribute, index.dimensions) != index.dimensions:
            raise invalid_parameter(
                f"Conflicting attribute definition for '{index.attribute}'. All VectorIndexes on the same vector "
                "attribute must use the same dimensions."
            )


def refuse_defined(vectors: Iterable[str], types: Mapping[str, str]) -> None:
    """Refuse a type for an attribute that a vector index has as its vector."""
    for attribute in vectors:
        if attribute in types:
            raise invalid_parameter(
                f"Conflicting attribute definition for '{attribute}'. An attribute cannot be defined in "
                "AttributeDefinitions when used as a VectorAttribute."
            )


def vector_index(asked: Request, number: int, types: Mapping[str, str]) -> VectorIndex:
    """One requested index; `types` are the attribute definitions of the request."""
    dimensions = int(asked["Dimensions"])
    if dimensions > VECTOR_DIMENSIONS:
        raise invalid_parameter(f"Number of dimensions must be between 1 and {VECTOR_DIMENSIONS} inclusive.")
    attribute = asked["VectorAttribute"]["AttributeName"]
    refuse_defined([attribute], types)
    partition, filters = _search_schema(asked.get("SearchSchema") or (), types)
    kind, included = definitions.projection(asked["Projection"])
    return VectorIndex(
        number,
        asked["IndexName"],
        attribute,
        dimensions,
        asked["DistanceFunction"],
        kind,
        included,
        partition,
        filters,
    )


def _search_schema(
    elements: Sequence[Request], types: Mapping[str, str]
) -> tuple[str | None, tuple[str, ...]]:
    names = [one["AttributeName"] for one in elements]
    if any(name not in types for name in names):
        raise invalid_parameter("One element in SearchSchema is not defined in attribute definitions")
    if len(set(names)) < len(names):
        raise invalid_parameter("SearchSchema contains a duplicate AttributeName")
    by_kind: dict[str, list[str]] = {"HASH": [], "INLINE_FILTER": []}
    for one in elements:
        by_kind[one["SearchSchemaElementType"]].append(one["AttributeName"])
    for kind, most in (("HASH", 1), ("INLINE_FILTER", VECTOR_FILTERS)):
        if len(by_kind[kind]) > most:
            raise invalid_parameter(
                f"Value '{len(by_kind[kind])}' at 'SearchSchema' failed to satisfy constraint: "
                f"Member must have {kind} count less than or equal to {most}"
            )
    return next(iter(by_kind["HASH"]), None), tuple(by_kind["INLINE_FILTER"])


def refuse_same_names(indexes: Sequence[Index], vectors: Sequence[VectorIndex]) -> None:
    """Names are unique over all kinds of indexes."""
    names = {index.name for index in indexes}
    for index in vectors:
        if index.name in names:
            raise invalid_parameter(f"Duplicate index name: {index.name}")
        names.add(index.name)


# --- UpdateTable ---


def actions_of(asked: Sequence[Request] | None) -> list[tuple[str, Request]]:
    """The requested actions: Create or Delete, and of what."""
    actions = []
    for one in asked or ():
        given = [(kind, one[kind]) for kind in ("Create", "Delete") if one.get(kind) is not None]
        if len(given) != 1:
            raise invalid_parameter(
                "One of VectorIndexUpdate.Create, VectorIndexUpdate.Delete must not be null"
            )
        actions += given
    names = [one["IndexName"] for _, one in actions]
    for place, name in enumerate(names):
        if name in names[:place]:
            raise invalid_parameter(
                f"Only one vector index update per index is allowed simultaneously. Index: {name}"
            )
    return actions


def refuse_second_vector(table: Table, actions: Sequence[tuple[str, Request]], others: int) -> None:
    """Only one index is created at a time; `others` is how many secondary indexes the request creates or deletes.

    An index that is being created can be deleted: that is how its creation is cancelled.
    """
    deleted = {asked["IndexName"] for kind, asked in actions if kind == "Delete"}
    created = len(actions) - len(deleted)
    busy = [index.name for index in table.every_index if index.status != "ACTIVE"]
    if created + others > 1 or (actions and any(name not in deleted for name in busy)):
        raise limit_exceeded(ONLY_ONE)


def with_new_vector(txn: WriteTransaction, table: Table, asked: Request, request: Request) -> Table:
    """The table with a requested index; items that exist already are filled in later."""
    name = asked["IndexName"]
    if table.index(name) is not None or table.vector(name) is not None:
        raise invalid("Attempting to create an index which already exists")
    refuse_provisioned(table.billing)
    # Attributes of a SearchSchema are defined in the request itself, even if the table has them already.
    given = definitions.attribute_types(request.get("AttributeDefinitions"))
    for attribute, kind in given.items():
        if table.types.get(attribute, kind) != kind:
            raise changed_type(attribute)
    refuse_defined([index.attribute for index in table.vectors], given)
    index = vector_index(asked, table.next_index, given)
    _refuse_key(table, index)
    if len(table.vectors) >= VECTOR_INDEXES:
        raise limit_exceeded(
            f"Subscriber limit exceeded: Number of vector secondary indexes exceeds per-table limit of {VECTOR_INDEXES}"
        )
    refuse_different_dimensions([*table.vectors, index])
    index = replace(index, status="CREATING", backfill=(0, txn.rows.last_row(table.number)))
    types = {**table.types, **{attribute: given[attribute] for attribute in index.schema_names}}
    return replace(table, types=types).with_vector(index)


def changed_type(attribute: str) -> ServiceError:
    return invalid_parameter(f"Attempting to change the type of key attribute {attribute}")


def _refuse_key(table: Table, index: VectorIndex) -> None:
    name = index.attribute
    if name in table.schema.names:
        kind = "HASH" if name in table.schema.hash else "RANGE"
        raise invalid_parameter(
            "Attributes cannot be redefined. Please check that your attribute has the same type as previously defined. "
            f"Existing schema: Schema:[SchemaElement: key{{{name}:{table.types[name]}:{kind}}}] "
            f"New schema: VectorIndexSchema:[VectorAttribute: key{{{name}:L:{index.dimensions}}}]"
        )
    refuse_defined([name], table.types)


def refuse_named_while_created(table: Table, actions: Sequence[tuple[str, Request]]) -> None:
    """Refuse to create an index whose name one has that is still being created."""
    for kind, asked in actions:
        there = table.vector(asked["IndexName"])
        if kind == "Create" and there is not None and there.status == "CREATING":
            raise resource_in_use(
                "Attempt to change a resource which is still in use: Index is being created.  "
                f"Table: {table.name} Index: {there.name}"
            )


def named_vector(table: Table, asked: Request) -> VectorIndex:
    index = table.vector(asked["IndexName"])
    if index is None:
        raise resource_not_found()
    return index
