"""Contributor insights of a table and of its global indexes: Update, Describe and List.

They are stored and described; the engine counts no keys and has no CloudWatch rules (docs/verbs.md). Answers say
ENABLING and DISABLING, as the service's do; the change is complete at once.
Must hold: what was never enabled is not stored; what is disabled is described, with its mode, and not listed.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from tablewright.engine.api.common_members import INDEX_NAME, TABLE_NAME
from tablewright.engine.api.operation import read_verb, write_verb
from tablewright.engine.api.shapes import Answer, Request, Text, Whole
from tablewright.engine.api.tables import named_table, settled_table
from tablewright.engine.catalog import Index, Table
from tablewright.engine.errors import invalid, resource_not_found
from tablewright.engine.limits import LIST_PAGE
from tablewright.engine.transaction import ReadTransaction, WriteTransaction

ALL_KEYS, THROTTLED = "ACCESSED_AND_THROTTLED_KEYS", "THROTTLED_KEYS"


@write_verb(
    "UpdateContributorInsights",
    {
        "TableName": TABLE_NAME,
        "IndexName": INDEX_NAME,
        "ContributorInsightsAction": Text(one_of=("ENABLE", "DISABLE")),
        "ContributorInsightsMode": Text(one_of=(ALL_KEYS, THROTTLED)),
    },
    required=("TableName", "ContributorInsightsAction"),
)
def update_contributor_insights(txn: WriteTransaction, request: Request) -> Answer:
    table = settled_table(txn.tables, request)
    index = _index(table, request.get("IndexName"))
    if index is not None and index.status != "ACTIVE":
        raise invalid(
            "Table or Index is not in a valid state to update Key Access Insights: "
            "IndexStatus must be ACTIVE to enable ContributorInsights."
        )
    name = "" if index is None else index.name
    known = table.insights.get(name)
    is_on = known is not None and known["status"] == "ENABLED"
    if request["ContributorInsightsAction"] == "DISABLE":
        made = None if known is None else {**known, "status": "DISABLED"}
        status = "DISABLING" if is_on else "DISABLED"
    else:
        mode = request.get("ContributorInsightsMode") or ALL_KEYS
        since = known["since"] if known is not None and is_on else txn.position.at // 1000
        made = {"status": "ENABLED", "mode": mode, "since": since}
        status = "ENABLED" if known is not None and is_on and known["mode"] == mode else "ENABLING"
    if made is not None and status.endswith("ING"):
        made = {**made, "at": txn.now_seconds()}
        txn.save_table(replace(table, insights={**table.insights, name: made}))
    return {**_place(table, name), "ContributorInsightsStatus": status, **_mode(made)}


@read_verb(
    "DescribeContributorInsights",
    {"TableName": TABLE_NAME, "IndexName": INDEX_NAME},
    required=("TableName",),
)
def describe_contributor_insights(txn: ReadTransaction, request: Request) -> Answer:
    table = settled_table(txn.tables, request)
    index = _index(table, request.get("IndexName"))
    name = "" if index is None else index.name
    known = table.insights.get(name)
    if known is None:
        return {**_place(table, name), "ContributorInsightsStatus": "DISABLED"}
    rules = {"ContributorInsightsRuleList": _rules(table, index, known)}
    return {
        **_place(table, name),
        **(rules if known["status"] == "ENABLED" else {}),
        "ContributorInsightsStatus": known["status"],
        "LastUpdateDateTime": known["at"],
        **_mode(known),
    }


@read_verb(
    "ListContributorInsights",
    {"TableName": TABLE_NAME, "NextToken": Text(), "MaxResults": Whole(most=LIST_PAGE)},
)
def list_contributor_insights(txn: ReadTransaction, request: Request) -> Answer:
    asked = request.get("TableName")
    tables = txn.tables.values() if asked is None else [named_table(txn.tables, request)]
    most = int(request.get("MaxResults") or 0)
    most = most if most > 0 else LIST_PAGE
    after = _page_start(request.get("NextToken"))
    ordered = sorted(
        (table.name, index, one)
        for table in tables
        for index, one in _enabled(table)
        if (table.name, index) > after
    )
    page = ordered[:most]
    answer: Answer = {
        "ContributorInsightsSummaries": [
            {**_place(txn.tables[name], index), "ContributorInsightsStatus": one["status"], **_mode(one)}
            for name, index, one in page
        ]
    }
    if len(ordered) > most:
        answer["NextToken"] = urlsafe_b64encode("/".join(page[-1][:2]).encode()).decode()
    return answer


def _enabled(table: Table) -> Iterator[tuple[str, Mapping[str, Any]]]:
    return ((index, one) for index, one in table.insights.items() if one["status"] == "ENABLED")


def _page_start(token: str | None) -> tuple[str, str]:
    """The table and index after which a page begins. Names have no slash in them."""
    if token is None:
        return "", ""
    try:
        table, slash, index = urlsafe_b64decode(token).decode().partition("/")
    except ValueError:
        table = slash = index = ""
    if not slash:
        raise invalid("Invalid NextToken: not one that ListContributorInsights has given")
    return table, index


def _index(table: Table, name: str | None) -> Index | None:
    index = None if name is None else table.index(name)
    if name is not None and (index is None or index.local):
        raise resource_not_found(
            f"Requested resource not found: Index: {name} not found for table: {table.name}"
        )
    return index


def _place(table: Table, index: str) -> dict[str, str]:
    return {"TableName": table.name, **({"IndexName": index} if index else {})}


def _mode(insights: Mapping[str, Any] | None) -> dict[str, str]:
    return {} if insights is None else {"ContributorInsightsMode": insights["mode"]}


def _rules(table: Table, index: Index | None, insights: Mapping[str, Any]) -> list[str]:
    """The names of the CloudWatch rules that the service would have: of keys used and of keys throttled."""
    schema = table.schema if index is None else index.schema
    keys = ("PK", "SK") if schema.range else ("PK",)
    kinds = ("C", "T") if insights["mode"] == ALL_KEYS else ("T",)
    named = table.name if index is None else f"{table.name}-{index.name}"
    return [
        f"DynamoDBContributorInsights-{key}{kind}-{named}-{insights['since']}"
        for kind in kinds
        for key in keys
    ]
