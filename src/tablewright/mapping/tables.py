"""A design's tables as CreateTable requests, and making them where they are missing, with TTL and recovery."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from tablewright.client import Call, CallRefused
from tablewright.client.retries import Retries
from tablewright.design import Design, EntitySpec, Environment, Index, Table, VectorIndex
from tablewright.design.environments import Provisioned
from tablewright.design.table_spec import key_types, projection
from tablewright.design.vectors import letter_of
from tablewright.design.vectors import projection as searched_projection
from tablewright.mapping.errors import TableDiffers

# A CreateTable request, and the table's TTL attribute.
TableRequest: TypeAlias = tuple[dict[str, Any], str | None]
# The service prepares backups of a table that was just made, for up to a minute.
_OF_VECTORS = ("VectorAttribute", "Dimensions", "DistanceFunction", "SearchSchema")
_NOT_YET, _RECOVERY_TRIES = "ContinuousBackupsUnavailableException", 60


def create_table(design: Design, table: Table, environment: Environment | None = None) -> dict[str, Any]:
    """The CreateTable request of a table, with its stream from the beginning: changes before it would be in none."""
    shapes = [shape for shape in design.shapes if shape.table == table]
    indexes = [index for index in design.indexes if index.table == table]
    searched = [index for index in design.vectors if index.table == table]
    request: dict[str, Any] = {
        "TableName": environment.physical(table.name) if environment else table.name,
        "KeySchema": _schema((table.pk,), (table.sk,) if table.sk else ()),
        "AttributeDefinitions": [
            {"AttributeName": name, "AttributeType": letter}
            for name, letter in (
                key_types(table, indexes, shapes) | _searched_types(searched, shapes)
            ).items()
        ],
        **_capacity(table, environment),
    }
    local = [_index(index, shapes, None) for index in indexes if index.local]
    other = [_index(index, shapes, environment) for index in indexes if not index.local]
    if local:
        request["LocalSecondaryIndexes"] = local
    if other:
        request["GlobalSecondaryIndexes"] = other
    if searched:
        request["VectorIndexes"] = [vector_index(index, shapes) for index in searched]
    if table.stream:
        request["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": table.stream}
    if environment and environment.deletion_protection:
        request["DeletionProtectionEnabled"] = True
    if environment and environment.tags:
        request["Tags"] = [{"Key": key, "Value": value} for key, value in environment.tags.items()]
    return request


def table_requests(design: Design, environment: Environment | None) -> list[TableRequest]:
    """The requests of all tables of a design."""
    return [(create_table(design, table, environment), table.ttl) for table in design.tables.values()]


def _capacity(table: Table, environment: Environment | None) -> dict[str, Any]:
    capacity = environment.capacity_of(table.name) if environment is not None else None
    if not isinstance(capacity, Provisioned):
        return {"BillingMode": "PAY_PER_REQUEST"}
    units = {"ReadCapacityUnits": capacity.read, "WriteCapacityUnits": capacity.write}
    return {"BillingMode": "PROVISIONED", "ProvisionedThroughput": units}


def _schema(hashes: Iterable[str], ranges: Iterable[str]) -> list[dict[str, str]]:
    halves = (("HASH", hashes), ("RANGE", ranges))
    return [{"AttributeName": name, "KeyType": kind} for kind, names in halves for name in names]


def _index(index: Index, shapes: Sequence[EntitySpec], environment: Environment | None) -> dict[str, Any]:
    kind, listed = projection(index, shapes)
    described: dict[str, Any] = {
        "IndexName": index.name,
        "KeySchema": _schema(index.pk, index.sk),
        "Projection": {"ProjectionType": kind, **({"NonKeyAttributes": listed} if listed else {})},
    }
    units = _capacity(index.table, environment).get("ProvisionedThroughput")
    return described | ({"ProvisionedThroughput": units} if units else {})


def _searched_types(indexes: Sequence[VectorIndex], shapes: Sequence[EntitySpec]) -> dict[str, str]:
    return {name: letter_of(shapes, name) for index in indexes for name in index.searched}


def vector_index(index: VectorIndex, shapes: Sequence[EntitySpec]) -> dict[str, Any]:
    """A vector index as CreateTable and UpdateTable take it."""
    kind, listed = searched_projection(index, shapes)
    described: dict[str, Any] = {
        "IndexName": index.name,
        "VectorAttribute": {"AttributeName": index.of},
        "Projection": {"ProjectionType": kind, **({"NonKeyAttributes": listed} if listed else {})},
        "Dimensions": index.dimensions,
        "DistanceFunction": index.distance,
    }
    if index.searched:
        described["SearchSchema"] = [
            {
                "AttributeName": name,
                "SearchSchemaElementType": "HASH" if name == index.partition else "INLINE_FILTER",
            }
            for name in index.searched
        ]
    return described


def make_tables(
    call: Call,
    requests: Iterable[TableRequest],
    *,
    retries: Retries | None = None,
    notify: Callable[[str], None] = lambda name: None,
    recovery_days: int = 0,
) -> None:
    """Create the tables that are missing, with their TTL; TableDiffers if one is there with another key or index.

    With `recovery_days`, all of them can be had back as they were at any moment of so many days.
    """
    retries = retries or Retries()
    for request, ttl in requests:
        name = request["TableName"]
        try:
            call("CreateTable", request)
            notify(name)
        except CallRefused as refusal:
            if refusal.name != "ResourceInUseException":
                raise
        described = await_active(call, name, retries)
        _refuse_other(request, described)
        if ttl is not None:
            _set_ttl(call, name, ttl)
        if recovery_days:
            _set_recovery(call, name, recovery_days, retries)


def _set_recovery(call: Call, name: str, days: int, retries: Retries) -> None:
    """Enable point-in-time recovery if it is off. An existing recovery period is left as it is."""
    told = call("DescribeContinuousBackups", {"TableName": name})["ContinuousBackupsDescription"]
    if told.get("PointInTimeRecoveryDescription", {}).get("PointInTimeRecoveryStatus") == "ENABLED":
        return
    setting = {"PointInTimeRecoveryEnabled": True, "RecoveryPeriodInDays": days}
    for tried in range(_RECOVERY_TRIES):
        try:
            call("UpdateContinuousBackups", {"TableName": name, "PointInTimeRecoverySpecification": setting})
            return
        except CallRefused as refusal:
            if refusal.name != _NOT_YET or tried == _RECOVERY_TRIES - 1:
                raise
            retries.sleep(1)


def _set_ttl(call: Call, name: str, ttl: str) -> None:
    told = call("DescribeTimeToLive", {"TableName": name})["TimeToLiveDescription"]
    if told["TimeToLiveStatus"] == "DISABLED":
        setting = {"Enabled": True, "AttributeName": ttl}
        try:
            call("UpdateTimeToLive", {"TableName": name, "TimeToLiveSpecification": setting})
        except CallRefused:
            # Another process that started at the same time may have set it.
            told = call("DescribeTimeToLive", {"TableName": name})["TimeToLiveDescription"]
            if told.get("AttributeName") != ttl:
                raise
    elif told.get("AttributeName") != ttl:
        raise TableDiffers(name, f"the TTL attribute {told.get('AttributeName')}")


def await_active(call: Call, name: str, retries: Retries) -> dict[str, Any]:
    while True:
        described: dict[str, Any] = call("DescribeTable", {"TableName": name})["Table"]
        if described["TableStatus"] == "ACTIVE":
            return described
        retries.sleep(0.2)


def _refuse_other(request: dict[str, Any], described: dict[str, Any]) -> None:
    table = request["TableName"]
    if _sorted(request["KeySchema"]) != _sorted(described["KeySchema"]):
        raise TableDiffers(table, "another key")
    letters = {one["AttributeName"]: one["AttributeType"] for one in described["AttributeDefinitions"]}
    for one in request["AttributeDefinitions"]:
        letter = letters.get(one["AttributeName"], one["AttributeType"])
        if letter != one["AttributeType"]:
            raise TableDiffers(table, f"the key attribute {one['AttributeName']} of type {letter}")
    for kind in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes"):
        have = {index["IndexName"]: index for index in described.get(kind, ())}
        for wanted in request.get(kind, ()):
            _refuse_other_index(table, wanted, have.get(wanted["IndexName"]))
    searched = {index["IndexName"]: index for index in described.get("VectorIndexes", ())}
    for wanted in request.get("VectorIndexes", ()):
        have_vector = searched.get(wanted["IndexName"])
        if have_vector is None:
            raise TableDiffers(table, f"no vector index {wanted['IndexName']}")
        if any(have_vector.get(member) != wanted.get(member) for member in _OF_VECTORS) or _carried(
            wanted["Projection"]
        ) != _carried(have_vector["Projection"]):
            raise TableDiffers(table, f"another vector index {wanted['IndexName']}")


def _refuse_other_index(table: str, wanted: dict[str, Any], have: dict[str, Any] | None) -> None:
    name = wanted["IndexName"]
    if have is None:
        raise TableDiffers(table, f"no index {name}")
    if _sorted(wanted["KeySchema"]) != _sorted(have["KeySchema"]):
        raise TableDiffers(table, f"another key of index {name}")
    if _carried(wanted["Projection"]) != _carried(have["Projection"]):
        raise TableDiffers(table, f"other attributes in index {name}")


def _carried(projection: dict[str, Any]) -> tuple[str, frozenset[str]]:
    return projection["ProjectionType"], frozenset(projection.get("NonKeyAttributes", ()))


def _sorted(schema: list[dict[str, str]]) -> list[tuple[str, str]]:
    # The order counts among several attributes of one half, so only the halves are put in order.
    return sorted(((key["KeyType"], key["AttributeName"]) for key in schema), key=lambda pair: pair[0])
