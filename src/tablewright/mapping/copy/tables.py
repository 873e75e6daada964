"""The tables of the target: made as the source describes them, or refused.

A target's stream is off while it is copied into, and switched on at the end: consumers of it would take the copied
items for changes.
Must hold: nothing is written to a table of the target that has items which this copy did not write, unless the caller
says so; a table with another key or other indexes is refused by its name.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tablewright.client import Call, CallRefused, Retries
from tablewright.mapping.consumer.shards import enable_stream
from tablewright.mapping.copy.context import CopyContext
from tablewright.mapping.copy.errors import NoSuchTable, OtherSource, TargetHasItems
from tablewright.mapping.copy.state import TableCopy, TablePair, copies
from tablewright.mapping.tables import await_active, make_tables, table_requests

# The follower needs an item as it was after each change; of a stream without it, items are looked up.
VIEW = "NEW_IMAGE"
_KEPT = ("AttributeDefinitions", "KeySchema")
_OF_INDEXES = {
    "LocalSecondaryIndexes": ("IndexName", "KeySchema", "Projection"),
    "GlobalSecondaryIndexes": ("IndexName", "KeySchema", "Projection"),
    "VectorIndexes": (
        "IndexName", "VectorAttribute", "Projection", "Dimensions", "DistanceFunction", "SearchSchema",
    ),
}  # fmt: skip


def prepare(
    context: CopyContext,
    pairs: Sequence[TablePair],
    *,
    segments: int = 4,
    follow: bool = True,
    into_existing: bool = False,
    notify: Callable[[str], None] = lambda text: None,
) -> list[TableCopy]:
    """The copies of all pairs, begun or found; every refusal comes before the first table is made."""
    for design in context.db.designs:
        make_tables(context.target, table_requests(design, None), retries=Retries(sleep=context.sleep))
    described = {pair: _described(context.source, pair.source) for pair in pairs}
    found = {pair: context.find_copy(pair.target) for pair in pairs}
    for pair, table in described.items():
        _refuse(context, pair, table, found[pair], into_existing=into_existing)
    begun = []
    for pair, table in described.items():
        copy = _begin(context, pair, table, found[pair], segments, follow=follow)
        _make(context, copy, table, notify)
        begun.append(copy)
    return begun


def describe(call: Call, table: str) -> dict[str, Any] | None:
    """The description of a table; None if it does not exist."""
    try:
        return dict(call("DescribeTable", {"TableName": table})["Table"])
    except CallRefused as refusal:
        if refusal.name != "ResourceNotFoundException":
            raise
        return None


def _described(call: Call, table: str) -> dict[str, Any]:
    found = describe(call, table)
    if found is None:
        raise NoSuchTable(table)
    return found


def identity(described: Mapping[str, Any]) -> str:
    return str(described.get("TableId") or described["TableArn"])


def table_request(call: Call, described: Mapping[str, Any], name: str) -> tuple[dict[str, Any], str | None]:
    """The CreateTable request of a table like the one described, without its stream; and its TTL attribute."""
    request: dict[str, Any] = {"TableName": name, **{member: described[member] for member in _KEPT}}
    units = described.get("ProvisionedThroughput") or {}
    is_provisioned = bool(units.get("WriteCapacityUnits"))
    request["BillingMode"] = "PROVISIONED" if is_provisioned else "PAY_PER_REQUEST"
    if is_provisioned:
        request["ProvisionedThroughput"] = _units(units)
    for kind, members in _OF_INDEXES.items():
        if described.get(kind):
            request[kind] = [_index(index, members, is_provisioned) for index in described[kind]]
    if described.get("DeletionProtectionEnabled"):
        request["DeletionProtectionEnabled"] = True
    told = call("ListTagsOfResource", {"ResourceArn": described["TableArn"]}).get("Tags")
    if told:
        request["Tags"] = told
    return request, ttl_of(call, described["TableName"])


def ttl_of(call: Call, table: str) -> str | None:
    """The attribute with the time to live, if it is on."""
    told = call("DescribeTimeToLive", {"TableName": table})["TimeToLiveDescription"]
    return told.get("AttributeName") if told["TimeToLiveStatus"] in ("ENABLED", "ENABLING") else None


def view_of(described: Mapping[str, Any]) -> str | None:
    """The view of a table's stream; None if it is off."""
    told = described.get("StreamSpecification") or {}
    return told.get("StreamViewType") if told.get("StreamEnabled") else None


def disable_stream(context: CopyContext, call: Call, table: str) -> None:
    call("UpdateTable", {"TableName": table, "StreamSpecification": {"StreamEnabled": False}})
    await_active(call, table, Retries(sleep=context.sleep))


def _index(index: Mapping[str, Any], members: Sequence[str], is_provisioned: bool) -> dict[str, Any]:
    made = {member: index[member] for member in members if index.get(member) is not None}
    units = index.get("ProvisionedThroughput")
    return made | ({"ProvisionedThroughput": _units(units)} if is_provisioned and units else {})


def _units(told: Mapping[str, Any]) -> dict[str, Any]:
    return {name: told[name] for name in ("ReadCapacityUnits", "WriteCapacityUnits")}


def _refuse(
    context: CopyContext,
    pair: TablePair,
    described: Mapping[str, Any],
    copy: TableCopy | None,
    *,
    into_existing: bool,
) -> None:
    if describe(context.target, pair.target) is None:
        return
    if copy is not None and copy.phase != "finished":
        if copy.source_id != identity(described):
            raise OtherSource(pair.target, copy.source)
        return
    # Checks the key and the indexes of the table that exists; makes nothing.
    make_tables(context.target, [(table_request(context.source, described, pair.target)[0], None)])
    if not into_existing and context.target("Scan", {"TableName": pair.target, "Limit": 1})["Items"]:
        raise TargetHasItems(pair.target)


def _begin(
    context: CopyContext,
    pair: TablePair,
    described: Mapping[str, Any],
    copy: TableCopy | None,
    segments: int,
    *,
    follow: bool,
) -> TableCopy:
    """The state of a copy: as found, or a new epoch where the target's table is missing or was finished.

    Written before anything is made or switched on, so that a run that was cut off knows what to undo in the end.
    """
    there = describe(context.target, pair.target)
    is_under_way = copy is not None and copy.phase != "finished"
    if copy is not None and is_under_way and there is not None:
        return copy
    view = view_of(described)
    if copy is not None and is_under_way and copy.added_stream:
        view = None
    fresh = TableCopy(
        table=pair.target,
        source=pair.source,
        source_id=identity(described),
        epoch=copy.epoch + 1 if copy is not None else 1,
        segments=segments,
        follows=follow,
        added_stream=follow and view is None,
        stream=view or (view_of(there) if there is not None else None),
        began=context.world.now(),
    )
    if copy is None:
        return context.db.get_or_create(copies.create(fresh))[0]
    context.db.write(copies.change(copy, fresh))
    return fresh.model_copy(update={"version": copy.version + 1})


def _make(
    context: CopyContext, copy: TableCopy, described: Mapping[str, Any], notify: Callable[[str], None]
) -> None:
    """The target's table, its stream switched off, and the source's stream; done once, however often called."""
    retries = Retries(sleep=context.sleep)
    request = table_request(context.source, described, copy.table)
    make_tables(
        context.target,
        [request],
        retries=retries,
        notify=lambda name: notify(f"created {name} in the target"),
    )
    there = describe(context.target, copy.table)
    if there is not None and view_of(there) is not None:
        notify(f"the stream of {copy.table} in the target is off until the copy is finished")
        disable_stream(context, context.target, copy.table)
    if copy.added_stream and view_of(described) is None:
        notify(f"{copy.source} has no stream; it gets one until the copy is finished")
        enable_stream(context.source, copy.source, VIEW, retries)
