"""A vector index as the catalog has it, and as it is described.

Must hold: nothing about an index changes after its creation but its status. Its number is one of its table's index
numbers, so its rows are in an SQL table like that of any other index.
Elsewhere: the rules a new one must obey (api/vector_indexes.py), its entries (entries.py), its rows (store.py).
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class VectorIndex:
    """A vector index. `hash` is the attribute that partitions it, if there is one; `filters` its inline filters."""

    number: int
    name: str
    attribute: str
    dimensions: int
    distance: str
    projection: str
    included: tuple[str, ...] = ()
    hash: str | None = None
    filters: tuple[str, ...] = ()
    status: str = "ACTIVE"
    # As of a secondary index (catalog.py): rows up to the first number are in it, rows up to the second are filled in
    # later, rows beyond were written since.
    backfill: tuple[int, int] | None = None
    # The attributes of its SearchSchema.
    schema_names: tuple[str, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        partition = () if self.hash is None else (self.hash,)
        object.__setattr__(self, "schema_names", partition + self.filters)

    def awaits(self, row: int) -> bool:
        return self.backfill is not None and self.backfill[0] < row <= self.backfill[1]

    def is_like(self, other: "VectorIndex") -> bool:
        """Whether the two differ at most in name, number and status."""
        return self._shape() == other._shape()

    def _shape(self) -> tuple[object, ...]:
        fixed = (self.attribute, self.dimensions, self.distance, self.projection, self.hash)
        return (*fixed, sorted(self.included), sorted(self.filters))


def from_fields(fields: dict[str, Any]) -> VectorIndex:
    """The index of the catalog's JSON."""
    fields.pop("schema_names", None)
    for name in ("included", "filters"):
        fields[name] = tuple(fields[name])
    fields["backfill"] = fields["backfill"] and tuple(fields["backfill"])
    return VectorIndex(**fields)


def named(indexes: Iterable[VectorIndex], name: str) -> VectorIndex | None:
    return next((index for index in indexes if index.name == name), None)


def configuration(index: VectorIndex) -> dict[str, Any]:
    """The members that a definition, a description and a backup of an index share."""
    projection: dict[str, Any] = {"ProjectionType": index.projection}
    if index.included:
        projection["NonKeyAttributes"] = list(index.included)
    shown: dict[str, Any] = {"IndexName": index.name, "VectorAttribute": {"AttributeName": index.attribute}}
    if index.schema_names:
        shown["SearchSchema"] = [
            {
                "AttributeName": name,
                "SearchSchemaElementType": "HASH" if name == index.hash else "INLINE_FILTER",
            }
            for name in index.schema_names
        ]
    shown |= {
        "Projection": projection,
        "Dimensions": index.dimensions,
        "DistanceFunction": index.distance,
    }
    return shown


def described(index: VectorIndex, arn: str, items: int, size: int, status: str) -> dict[str, Any]:
    """Its VectorIndexDescription; `status` is the table's, `arn` the table's."""
    shown = configuration(index)
    shown["IndexStatus"] = status if status in ("CREATING", "DELETING") else index.status
    if index.status == "CREATING":
        # In the answer of the request that creates it, filling has not begun.
        shown["Backfilling"] = index.backfill is not None and status != "UPDATING"
    shown |= {"IndexSizeBytes": size, "ItemCount": items, "IndexArn": f"{arn}/index/{index.name}"}
    return shown
