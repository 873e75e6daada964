"""`tablewright db tables`: list the tables with their sizes."""

import argparse
from typing import Any

from tablewright.cli.format import as_table, count, size
from tablewright.cli.output import print_result
from tablewright.cli.target import Target, add_target_options, with_target
from tablewright.client import pages

EXAMPLES = """tablewright db tables --data ./data
tablewright db tables --endpoint http://127.0.0.1:8000 --json"""


def arguments(parser: argparse.ArgumentParser) -> None:
    add_target_options(parser, json="print a JSON list")


@with_target
def run(given: argparse.Namespace, target: Target) -> int:
    names = [name for page in pages(target.call, "ListTables", {}) for name in page["TableNames"]]
    found = [_summary(target.describe_table(name)) for name in names]
    head = ("table", "status", "items", "size", "indexes", "billing", "stream", "protected")
    text = as_table(head, [_row(one) for one in found]) if found else f"no tables in {target.name}"
    print_result(given, found, text)
    return 0


def _summary(table: dict[str, Any]) -> dict[str, Any]:
    stream = table.get("StreamSpecification") or {}
    indexes = [*table.get("LocalSecondaryIndexes", ()), *table.get("GlobalSecondaryIndexes", ())]
    return {
        "name": table["TableName"],
        "status": table["TableStatus"],
        "items": table["ItemCount"],
        "bytes": table["TableSizeBytes"],
        "indexes": [index["IndexName"] for index in indexes],
        "billing": table.get("BillingModeSummary", {}).get("BillingMode", "PROVISIONED"),
        "stream": stream.get("StreamViewType") if stream.get("StreamEnabled") else None,
        "deletion_protection": table.get("DeletionProtectionEnabled", False),
    }


def _row(one: dict[str, Any]) -> list[str]:
    return [
        one["name"],
        one["status"],
        count(one["items"]),
        size(one["bytes"]),
        str(len(one["indexes"])),
        "on demand" if one["billing"] == "PAY_PER_REQUEST" else "provisioned",
        one["stream"] or "-",
        "yes" if one["deletion_protection"] else "no",
    ]
