"""Tables: schema, indexes and settings; how they are stored and how they are described.

A Table is a value; changing one makes another. The catalog is a map from name to Table that is replaced as
a whole when a change to it commits, so a reader never sees half of one.
Elsewhere: the rules a new table must obey (api/table_definitions.py).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from dataclasses import fields as fields_of
from typing import Any, NamedTuple, TypeAlias

import orjson

from tablewright.engine.api.replica_description import described_replicas
from tablewright.engine.key_encoders import KeyEncoder, KeyPart, key_encoder
from tablewright.engine.limits import (
    HASH_KEY_BYTES,
    RANGE_KEY_BYTES,
    RECOVERY_DAYS,
    WARM_READ_UNITS,
    WARM_WRITE_UNITS,
)
from tablewright.engine.metrics.names import CONSUMED_READ, CONSUMED_WRITE, MetricKey
from tablewright.engine.replication.group import Group, StampTable, group_from
from tablewright.engine.storage.rows import RowReader, collections_name, index_name, table_name
from tablewright.engine.vectors import definition as vector_definition
from tablewright.engine.vectors.definition import VectorIndex
from tablewright.values import WrongJson
from tablewright.values.codec import NOT_UTF8

Catalog: TypeAlias = Mapping[str, "Table"]


@dataclass(frozen=True, slots=True)
class KeySchema:
    """Names of the key attributes. Tables and local indexes have one of each at most; global indexes up to four."""

    hash: tuple[str, ...]
    range: tuple[str, ...] = ()
    names: tuple[str, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", self.hash + self.range)

    def elements(self) -> list[dict[str, str]]:
        return [{"AttributeName": name, "KeyType": "HASH"} for name in self.hash] + [
            {"AttributeName": name, "KeyType": "RANGE"} for name in self.range
        ]


@dataclass(frozen=True, slots=True)
class Throughput:
    """Provisioned units, and what the service remembers about their changes."""

    read: int = 0
    write: int = 0
    increased: float | None = None
    decreased: float | None = None
    decreases_today: int = 0


@dataclass(frozen=True, slots=True)
class Index:
    """A secondary index. `number` names it in the store; a dropped index's number is not used again."""

    number: int
    name: str
    schema: KeySchema
    local: bool
    projection: str
    included: tuple[str, ...] = ()
    status: str = "ACTIVE"
    # While an index is created on a table that has items: rows up to the first number are in it, rows from
    # there to the second are filled in later and ignored by writes, rows beyond were written since.
    backfill: tuple[int, int] | None = None
    throughput: Throughput = Throughput()
    on_demand: Mapping[str, int] | None = None
    warm: Mapping[str, int] | None = None

    def awaits(self, row: int) -> bool:
        return self.backfill is not None and self.backfill[0] < row <= self.backfill[1]


@dataclass(frozen=True, slots=True)
class IndexKey:
    """One key attribute of one index, as a write must respect it."""

    index: str
    attribute: str
    type: str
    most_bytes: int


class EntryPlan(NamedTuple):
    """What a write needs for each of its entries in an index: the key's encoder, and what is counted by which name."""

    encode: KeyEncoder
    counted: str
    spent: MetricKey
    # The attributes that an entry may have; None when it has them all.
    carried: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Table:
    """A table. `number` names it in the store and in the journal and is never used again."""

    number: int
    name: str
    uuid: str
    arn: str
    created: float
    schema: KeySchema
    types: Mapping[str, str]
    indexes: tuple[Index, ...] = ()
    # Vector indexes, which only SearchVectors reads (vectors/); their numbers are index numbers as well.
    vectors: tuple[VectorIndex, ...] = ()
    next_index: int = 1
    billing: str = "PROVISIONED"
    on_demand_since: float | None = None
    throughput: Throughput = Throughput()
    on_demand: Mapping[str, int] | None = None
    warm: Mapping[str, int] | None = None
    table_class: str = "STANDARD"
    class_updated: float | None = None
    protected: bool = False
    ttl_attribute: str | None = None
    # While TTL is enabled: the number of the list of what expires, and its backfill as for an index.
    ttl_index: int | None = None
    ttl_backfill: tuple[int, int] | None = None
    # The newest stream there has been, and what it shows; no view when it is disabled.
    stream_label: str | None = None
    stream_view: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    # CREATING while it is filled by a restore or an import; until then only its description can be had.
    status: str = "ACTIVE"
    # Whether its first items came from a restore or an import, of which the journal knows nothing.
    is_filled: bool = False
    # Where its items come from, if it was restored; while it is CREATING, it still is.
    restored: Mapping[str, Any] | None = None
    # Point-in-time recovery while it is enabled: since when (microseconds), and for how many days back.
    recovery_since: int | None = None
    recovery_days: int = RECOVERY_DAYS
    # All its replicas, if it has any (replication/group.py).
    replicas: Group | None = None
    # What was said of autoscaling beside targets and limits, by kind of units and index
    # (throughput/autoscaling_settings.py).
    scaling: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    # The ARN of its KMS key; None for the default, a key that Amazon owns (api/encryption.py).
    encryption: str | None = None
    # Resource policies by the ARN of the table or its stream (api/resource_policies.py), Kinesis destinations, the
    # newest first (api/kinesis_destinations.py), and contributor insights by index, "" for the table
    # (api/contributor_insights.py).
    policies: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    destinations: tuple[Mapping[str, Any], ...] = ()
    insights: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    # Worked out once, because every write asks: the index keys, alphabetically by index; how the key and the entries
    # (by the index's number) are made; and the metrics that a write and a read add to.
    index_keys: tuple[IndexKey, ...] = field(init=False, repr=False, compare=False)
    has_local_indexes: bool = field(init=False, repr=False, compare=False)
    # The key bytes of an item; None if a key attribute is missing or does not fit the table.
    encode_key: KeyEncoder = field(init=False, repr=False, compare=False)
    entry_plans: Mapping[int, EntryPlan] = field(init=False, repr=False, compare=False)
    spent: MetricKey = field(init=False, repr=False, compare=False)
    read_spent: MetricKey = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        keys = tuple(
            IndexKey(index.name, name, self.types[name], limit)
            for index in sorted(self.indexes, key=lambda index: index.name)
            for names, limit in ((index.schema.hash, HASH_KEY_BYTES), (index.schema.range, RANGE_KEY_BYTES))
            for name in names
            # The table's own key attributes are checked already, unless the index allows them less.
            if name not in self.schema.names or (name in self.schema.hash and limit < HASH_KEY_BYTES)
        )
        keys += tuple(
            IndexKey(index.name, index.hash, self.types[index.hash], HASH_KEY_BYTES)
            for index in self.vectors
            if index.hash is not None and index.hash not in self.schema.names
        )
        object.__setattr__(self, "index_keys", keys)
        object.__setattr__(self, "has_local_indexes", any(index.local for index in self.indexes))
        object.__setattr__(self, "encode_key", self._encoder(self.schema))
        object.__setattr__(self, "entry_plans", {index.number: self._plan(index) for index in self.indexes})
        object.__setattr__(self, "spent", (CONSUMED_WRITE, self.name, "", ""))
        object.__setattr__(self, "read_spent", (CONSUMED_READ, self.name, "", ""))

    def _encoder(self, schema: KeySchema) -> KeyEncoder:
        return key_encoder(
            [KeyPart(name, self.types[name], HASH_KEY_BYTES) for name in schema.hash],
            [KeyPart(name, self.types[name], RANGE_KEY_BYTES) for name in schema.range],
        )

    def _plan(self, index: Index) -> EntryPlan:
        counted = index_name(self.number, index.number)
        carried = None
        if index.projection != "ALL":
            carried = tuple(dict.fromkeys(self.schema.names + index.schema.names + index.included))
        spent = CONSUMED_WRITE, self.name, index.name, ""
        return EntryPlan(self._encoder(index.schema), counted, spent, carried)

    def awaits_expiry(self, row: int) -> bool:
        return self.ttl_backfill is not None and self.ttl_backfill[0] < row <= self.ttl_backfill[1]

    @property
    def stream_arn(self) -> str:
        return f"{self.arn}/stream/{self.stream_label}"

    @property
    def stamp_table(self) -> StampTable:
        """The SQL table of the stamps of a table with replicas."""
        assert self.replicas is not None, "only a table with replicas has stamps"
        return StampTable(self.number, self.replicas.stamps)

    def sql_tables(self) -> list[str]:
        """What the table has in the store."""
        numbers = [index.number for index in self.every_index]
        if self.ttl_index is not None:
            numbers.append(self.ttl_index)
        names = [table_name(self.number), *(index_name(self.number, number) for number in numbers)]
        if self.replicas is not None:
            names.append(self.stamp_table.name)
        return [*names, collections_name(self.number)] if self.has_local_indexes else names

    @property
    def every_index(self) -> "tuple[Index | VectorIndex, ...]":
        """Its secondary indexes and its vector indexes."""
        return (*self.indexes, *self.vectors)

    def index(self, name: str) -> Index | None:
        return next((index for index in self.indexes if index.name == name), None)

    def with_index(self, index: Index) -> "Table":
        """The table with `index` in the place of the one of that name, or added."""
        if self.index(index.name) is None:
            return replace(
                self, indexes=(*self.indexes, index), next_index=max(self.next_index, index.number + 1)
            )
        return replace(self, indexes=tuple(index if i.name == index.name else i for i in self.indexes))

    def without_index(self, name: str) -> "Table":
        """The table without that index and without attribute types that are not used any more."""
        kept = tuple(index for index in self.indexes if index.name != name)
        insights = {n: one for n, one in self.insights.items() if n != name}
        return replace(self, indexes=kept, insights=insights).with_used_types()

    def vector(self, name: str) -> VectorIndex | None:
        return vector_definition.named(self.vectors, name)

    def with_vector(self, index: VectorIndex) -> "Table":
        """The table with `index` in the place of the vector index of that name, or added."""
        if self.vector(index.name) is None:
            return replace(
                self, vectors=(*self.vectors, index), next_index=max(self.next_index, index.number + 1)
            )
        return replace(self, vectors=tuple(index if i.name == index.name else i for i in self.vectors))

    def without_vector(self, name: str) -> "Table":
        """The table without that vector index and without attribute types that are not used any more."""
        kept = tuple(index for index in self.vectors if index.name != name)
        return replace(self, vectors=kept).with_used_types()

    def with_used_types(self) -> "Table":
        """The table without the types of attributes that neither its key nor an index has."""
        used = set(self.schema.names).union(*(index.schema.names for index in self.indexes))
        used.update(*(index.schema_names for index in self.vectors))
        return replace(self, types={n: t for n, t in self.types.items() if n in used})


def to_json(table: Table) -> bytes:
    # Without what is worked out again when it is read.
    given = {field.name: getattr(table, field.name) for field in fields_of(table) if field.init}
    try:
        return orjson.dumps(given)
    except orjson.JSONEncodeError:
        raise WrongJson(NOT_UTF8) from None


def from_json(number: int, body: bytes) -> Table:
    fields = orjson.loads(body)
    fields["number"] = number
    fields["schema"] = _schema(fields["schema"])
    fields["throughput"] = Throughput(**fields["throughput"])
    fields["indexes"] = tuple(_index(index) for index in fields["indexes"])
    fields["vectors"] = tuple(map(vector_definition.from_fields, fields.get("vectors", ())))
    fields["ttl_backfill"] = fields.get("ttl_backfill") and tuple(fields["ttl_backfill"])
    fields["replicas"] = group_from(fields.get("replicas"))
    fields["destinations"] = tuple(fields.get("destinations", ()))
    return Table(**fields)


def load(rows: RowReader) -> dict[str, Table]:
    tables = [from_json(number, body) for number, _, body in rows.tables()]
    return {table.name: table for table in tables}


def _index(fields: dict[str, Any]) -> Index:
    fields["schema"] = _schema(fields["schema"])
    fields["throughput"] = Throughput(**fields["throughput"])
    fields["included"] = tuple(fields["included"])
    fields["backfill"] = fields["backfill"] and tuple(fields["backfill"])
    return Index(**fields)


def _schema(fields: dict[str, Any]) -> KeySchema:
    return KeySchema(tuple(fields["hash"]), tuple(fields["range"]))


def describe(table: Table, rows: RowReader, status: str | None = None) -> dict[str, Any]:
    """The TableDescription of a table; `status` where it is to be shown as changing."""
    items, size = rows.counts(table_name(table.number))
    if status is None and table.status == "ACTIVE":
        status = "ACTIVE" if all(index.status == "ACTIVE" for index in table.indexes) else "UPDATING"
    status = status or table.status
    shown: dict[str, Any] = {
        "AttributeDefinitions": [{"AttributeName": n, "AttributeType": t} for n, t in table.types.items()],
        "TableName": table.name,
        "KeySchema": table.schema.elements(),
        "TableStatus": status,
        "CreationDateTime": table.created,
        "ProvisionedThroughput": _described_throughput(table.throughput),
        "TableSizeBytes": size,
        "ItemCount": items,
        "TableArn": table.arn,
        "TableId": table.uuid,
        "DeletionProtectionEnabled": table.protected,
        "WarmThroughput": _described_warm(table, table, status),
    }
    if table.on_demand_since is not None:
        shown["BillingModeSummary"] = {
            "BillingMode": table.billing,
            "LastUpdateToPayPerRequestDateTime": table.on_demand_since,
        }
    if table.class_updated is not None or table.table_class != "STANDARD":
        shown["TableClassSummary"] = {"TableClass": table.table_class}
        if table.class_updated is not None:
            shown["TableClassSummary"]["LastUpdateDateTime"] = table.class_updated
    if table.on_demand is not None:
        shown["OnDemandThroughput"] = dict(table.on_demand)
    if table.encryption is not None:
        shown["SSEDescription"] = described_encryption(table.encryption)
    if table.stream_view is not None:
        shown["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": table.stream_view}
    if table.stream_label is not None:
        shown["LatestStreamLabel"] = table.stream_label
        shown["LatestStreamArn"] = table.stream_arn
    if table.restored is not None:
        shown["RestoreSummary"] = {**table.restored, "RestoreInProgress": table.status == "CREATING"}
    if table.replicas is not None:
        shown |= described_replicas(table.replicas, table.arn, [i.name for i in table.indexes if not i.local])
    local = [_described_index(table, index, rows, status) for index in table.indexes if index.local]
    if local:
        shown["LocalSecondaryIndexes"] = local
    other = [_described_index(table, index, rows, status) for index in table.indexes if not index.local]
    if other:
        shown["GlobalSecondaryIndexes"] = other
    if table.vectors:
        shown["VectorIndexes"] = [_described_vector(table, index, rows, status) for index in table.vectors]
    return shown


def described_encryption(key: str) -> dict[str, str]:
    return {"Status": "ENABLED", "SSEType": "KMS", "KMSMasterKeyArn": key}


def _described_vector(table: Table, index: VectorIndex, rows: RowReader, status: str) -> dict[str, Any]:
    items, size = rows.counts(index_name(table.number, index.number))
    return vector_definition.described(index, table.arn, items, size, status)


def _described_index(table: Table, index: Index, rows: RowReader, status: str) -> dict[str, Any]:
    items, size = rows.counts(index_name(table.number, index.number))
    projection: dict[str, Any] = {"ProjectionType": index.projection}
    if index.included:
        projection["NonKeyAttributes"] = list(index.included)
    shown: dict[str, Any] = {
        "IndexName": index.name,
        "KeySchema": index.schema.elements(),
        "Projection": projection,
        "IndexSizeBytes": size,
        "ItemCount": items,
        "IndexArn": f"{table.arn}/index/{index.name}",
    }
    if index.local:
        return shown
    shown["IndexStatus"] = status if status in ("CREATING", "DELETING") else index.status
    if index.status == "CREATING":
        shown["Backfilling"] = index.backfill is not None
    shown["ProvisionedThroughput"] = _described_throughput(index.throughput)
    shown["WarmThroughput"] = _described_warm(table, index, shown["IndexStatus"])
    if index.on_demand is not None:
        shown["OnDemandThroughput"] = dict(index.on_demand)
    return shown


def _described_throughput(throughput: Throughput) -> dict[str, Any]:
    shown: dict[str, Any] = {}
    if throughput.increased is not None:
        shown["LastIncreaseDateTime"] = throughput.increased
    if throughput.decreased is not None:
        shown["LastDecreaseDateTime"] = throughput.decreased
    shown["NumberOfDecreasesToday"] = throughput.decreases_today
    shown["ReadCapacityUnits"] = throughput.read
    shown["WriteCapacityUnits"] = throughput.write
    return shown


def warm_units(table: Table, owner: Table | Index) -> dict[str, int]:
    """What a table or index can take at once: as asked for, else on-demand's start or the provisioned units."""
    if owner.warm is not None:
        return dict(owner.warm)
    if table.billing == "PAY_PER_REQUEST":
        return {"ReadUnitsPerSecond": WARM_READ_UNITS, "WriteUnitsPerSecond": WARM_WRITE_UNITS}
    return {"ReadUnitsPerSecond": owner.throughput.read, "WriteUnitsPerSecond": owner.throughput.write}


def _described_warm(table: Table, owner: Table | Index, status: str) -> dict[str, Any]:
    return {**warm_units(table, owner), "Status": "ACTIVE" if status == "ACTIVE" else "UPDATING"}
