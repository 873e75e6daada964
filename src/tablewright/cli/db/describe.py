"""`tablewright db describe TABLE`: one table with all its settings."""

import argparse
from collections.abc import Mapping
from typing import Any

from tablewright.cli.format import as_pairs, as_table, count, moment, size
from tablewright.cli.output import print_result
from tablewright.cli.target import Target, add_target_options, with_target
from tablewright.client import CallRefused

EXAMPLES = """tablewright db describe pets --data ./data
tablewright db describe pets --region eu-west-1 --json"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("table", metavar="TABLE", help="the table name")
    add_target_options(parser, json="print a JSON object with DynamoDB's field names")


@with_target
def run(given: argparse.Namespace, target: Target) -> int:
    found = _describe_all(target, given.table)
    text = as_pairs(_facts(found))
    if indexes := _indexes(found["Table"]):
        head = ("index", "kind", "key", "projects", "status", "items", "size")
        text += f"\n\n{as_table(head, indexes)}"
    print_result(given, found, text)
    return 0


def _describe_all(target: Target, name: str) -> dict[str, Any]:
    """All descriptions of a table; None for those that the endpoint does not support or allow."""
    table = target.describe_table(name)
    return {
        "Table": table,
        "TimeToLiveDescription": _if_allowed(target, "DescribeTimeToLive", {"TableName": name}),
        "ContinuousBackupsDescription": _if_allowed(target, "DescribeContinuousBackups", {"TableName": name}),
        "Tags": _if_allowed(target, "ListTagsOfResource", {"ResourceArn": table["TableArn"]}),
    }


def _if_allowed(target: Target, verb: str, request: Mapping[str, Any]) -> Any:
    try:
        answer = target.call(verb, request)
    except CallRefused as refusal:
        if refusal.is_retryable:
            raise
        return None
    return next((answer[name] for name in answer if name != "NextToken"), None)


def _facts(found: Mapping[str, Any]) -> list[tuple[str, str]]:
    table = found["Table"]
    stream = table.get("StreamSpecification") or {}
    facts = [
        ("table", table["TableName"]),
        ("status", table["TableStatus"]),
        ("key", _key(table["KeySchema"], table["AttributeDefinitions"])),
        ("items", count(table["ItemCount"])),
        ("size", size(table["TableSizeBytes"])),
        ("created", moment(table.get("CreationDateTime"))),
        ("billing", _billing(table)),
        ("class", table.get("TableClassSummary", {}).get("TableClass", "STANDARD")),
        ("stream", stream["StreamViewType"] if stream.get("StreamEnabled") else "off"),
        ("time to live", _ttl(found["TimeToLiveDescription"])),
        ("recovery", _recovery(found["ContinuousBackupsDescription"])),
        ("deletion", "refused" if table.get("DeletionProtectionEnabled") else "allowed"),
        *(
            (f"replica {one['RegionName']}", one.get("ReplicaStatus", "-"))
            for one in table.get("Replicas", ())
        ),
    ]
    if found["Tags"]:
        facts.append(("tags", ", ".join(f"{tag['Key']}={tag['Value']}" for tag in found["Tags"])))
    return [*facts, ("arn", table["TableArn"])]


def _key(schema: list[dict[str, str]], definitions: list[dict[str, str]]) -> str:
    kinds = {one["AttributeName"]: one["AttributeType"] for one in definitions}
    return ", ".join(
        f"{one['AttributeName']} ({kinds.get(one['AttributeName'], '?')}, {one['KeyType'].lower()})"
        for one in schema
    )


def _billing(table: Mapping[str, Any]) -> str:
    if table.get("BillingModeSummary", {}).get("BillingMode") == "PAY_PER_REQUEST":
        return "on demand"
    units = table.get("ProvisionedThroughput", {})
    return f"provisioned: {units.get('ReadCapacityUnits', 0)} read, {units.get('WriteCapacityUnits', 0)} write units"


def _ttl(description: Mapping[str, Any] | None) -> str:
    if description is None:
        return "unknown"
    status = description.get("TimeToLiveStatus", "DISABLED")
    return "off" if status == "DISABLED" else f"{description.get('AttributeName', '-')} ({status.lower()})"


def _recovery(description: Mapping[str, Any] | None) -> str:
    if description is None:
        return "unknown"
    found = description.get("PointInTimeRecoveryDescription", {})
    if found.get("PointInTimeRecoveryStatus") != "ENABLED":
        return "off"
    first, last = found.get("EarliestRestorableDateTime"), found.get("LatestRestorableDateTime")
    days = found.get("RecoveryPeriodInDays", 35)
    return f"{days} days, from {moment(first)} to {moment(last)}"


def _indexes(table: Mapping[str, Any]) -> list[list[str]]:
    rows = []
    for kind in ("Local", "Global"):
        for index in table.get(f"{kind}SecondaryIndexes", ()):
            projection = index.get("Projection", {})
            projected = [projection.get("ProjectionType", "-"), *projection.get("NonKeyAttributes", ())]
            key = _key(index["KeySchema"], table["AttributeDefinitions"])
            items, bytes_ = count(index.get("ItemCount", 0)), size(index.get("IndexSizeBytes", 0))
            status = index.get("IndexStatus", "ACTIVE")
            rows.append([index["IndexName"], kind.lower(), key, ", ".join(projected), status, items, bytes_])
    return [*rows, *map(_vector_index, table.get("VectorIndexes", ()))]


def _vector_index(index: Mapping[str, Any]) -> list[str]:
    searched = [
        f"{one['AttributeName']} ({one['SearchSchemaElementType'].lower()})"
        for one in index.get("SearchSchema", ())
    ]
    vector = (
        f"{index['VectorAttribute']['AttributeName']} ({index['Dimensions']}, {index['DistanceFunction']})"
    )
    projection = index["Projection"]
    projected = [projection["ProjectionType"], *projection.get("NonKeyAttributes", ())]
    items, bytes_ = count(index.get("ItemCount", 0)), size(index.get("IndexSizeBytes", 0))
    key, status = ", ".join([vector, *searched]), index.get("IndexStatus", "ACTIVE")
    return [index["IndexName"], "vector", key, ", ".join(projected), status, items, bytes_]
