"""UpdateContributorInsights, DescribeContributorInsights and ListContributorInsights.

The service takes seconds for a change; `settled` waits for it.
"""

from __future__ import annotations

import time
from typing import Any

import pytest
from tests.conformance.talk import COMP_TABLE, Answered, Json, NewTable, Refused

ALL_KEYS, THROTTLED = "ACCESSED_AND_THROTTLED_KEYS", "THROTTLED_KEYS"


def update(answered: Answered, table: str, action: str, **others: Any) -> Json:
    asked = {"TableName": table, "ContributorInsightsAction": action, **others}
    return answered("UpdateContributorInsights", asked)


def settled(answered: Answered, table: str, **index: str) -> Json:
    for _ in range(60):
        told = answered("DescribeContributorInsights", {"TableName": table, **index})
        if not told["ContributorInsightsStatus"].endswith("ING"):
            return told
        time.sleep(0.5)
    raise AssertionError(told)


def listed(answered: Answered, **asked: Any) -> list[Json]:
    found: list[Json] = answered("ListContributorInsights", asked)["ContributorInsightsSummaries"]
    return found


def kinds(told: Json, name: str) -> list[str]:
    """The kinds of the rules, whose names end with the resource and the time."""
    before, after = "DynamoDBContributorInsights-", f"-{name}-"
    return [rule.removeprefix(before).partition(after)[0] for rule in told["ContributorInsightsRuleList"]]


def test_a_new_table_has_none(answered: Answered, new_table: NewTable) -> None:
    table = new_table()
    told = answered("DescribeContributorInsights", {"TableName": table})
    assert told == {"TableName": table, "ContributorInsightsStatus": "DISABLED"}
    assert listed(answered, TableName=table) == []
    assert update(answered, table, "DISABLE") == told


def test_they_are_enabled_and_disabled(answered: Answered, new_table: NewTable) -> None:
    table = new_table()
    told = update(answered, table, "ENABLE")
    expected = {"TableName": table, "ContributorInsightsMode": ALL_KEYS}
    assert told == {**expected, "ContributorInsightsStatus": "ENABLING"}
    enabled = settled(answered, table)
    assert enabled["ContributorInsightsStatus"] == "ENABLED"
    assert kinds(enabled, table) == ["PKC", "PKT"]
    assert listed(answered, TableName=table) == [{**expected, "ContributorInsightsStatus": "ENABLED"}]
    told = update(answered, table, "DISABLE", ContributorInsightsMode=THROTTLED)
    assert told == {**expected, "ContributorInsightsStatus": "DISABLING"}
    disabled = settled(answered, table)
    assert disabled.pop("LastUpdateDateTime") >= enabled["LastUpdateDateTime"]
    assert disabled == {**expected, "ContributorInsightsStatus": "DISABLED"}
    assert listed(answered, TableName=table) == []


def test_a_sort_key_has_rules_of_its_own_and_an_index_is_apart(
    answered: Answered, new_table: NewTable
) -> None:
    table = new_table(**COMP_TABLE)
    update(answered, table, "ENABLE", IndexName="gsi1")
    assert sorted(kinds(settled(answered, table, IndexName="gsi1"), f"{table}-gsi1")) == [
        "PKC", "PKT", "SKC", "SKT",
    ]  # fmt: skip
    assert settled(answered, table)["ContributorInsightsStatus"] == "DISABLED"
    update(answered, table, "ENABLE", IndexName="gsik")
    assert kinds(settled(answered, table, IndexName="gsik"), f"{table}-gsik") == ["PKC", "PKT"]
    assert {one["IndexName"] for one in listed(answered, TableName=table)} == {"gsi1", "gsik"}


def test_another_mode_keeps_the_names_of_the_rules_that_stay(answered: Answered, new_table: NewTable) -> None:
    table = new_table()
    update(answered, table, "ENABLE")
    first = settled(answered, table)["ContributorInsightsRuleList"]
    assert update(answered, table, "ENABLE")["ContributorInsightsStatus"] == "ENABLED"
    told = update(answered, table, "ENABLE", ContributorInsightsMode=THROTTLED)
    assert (told["ContributorInsightsStatus"], told["ContributorInsightsMode"]) == ("ENABLING", THROTTLED)
    assert settled(answered, table)["ContributorInsightsRuleList"] == first[1:]
    update(answered, table, "ENABLE")
    assert settled(answered, table)["ContributorInsightsMode"] == ALL_KEYS


def test_the_table_is_listed_before_its_indexes_a_page_at_a_time(
    answered: Answered, new_table: NewTable
) -> None:
    table = new_table(**COMP_TABLE)
    for index in ({}, {"IndexName": "gsi1"}, {"IndexName": "gsik"}):
        update(answered, table, "ENABLE", **index)
        settled(answered, table, **index)
    found: list[str | None] = []
    token: Json = {}
    for _ in range(4):
        told = answered("ListContributorInsights", {"TableName": table, "MaxResults": 1, **token})
        found += [one.get("IndexName") for one in told["ContributorInsightsSummaries"]]
        if "NextToken" not in told:
            break
        token = {"NextToken": told["NextToken"]}
    assert found == [None, "gsi1", "gsik"]
    assert {
        "TableName": table,
        "ContributorInsightsStatus": "ENABLED",
        "ContributorInsightsMode": ALL_KEYS,
    } in (listed(answered))


def test_an_index_that_was_dropped_is_not_listed(answered: Answered, new_table: NewTable) -> None:
    table = new_table(**COMP_TABLE)
    update(answered, table, "ENABLE", IndexName="gsik")
    settled(answered, table, IndexName="gsik")
    change = [{"Delete": {"IndexName": "gsik"}}]
    answered("UpdateTable", {"TableName": table, "GlobalSecondaryIndexUpdates": change})
    for _ in range(100):
        told = answered("DescribeTable", {"TableName": table})["Table"]["GlobalSecondaryIndexes"]
        if all(one["IndexName"] != "gsik" for one in told):
            break
        time.sleep(0.5)
    assert listed(answered, TableName=table) == []


@pytest.mark.parametrize("verb", ["UpdateContributorInsights", "DescribeContributorInsights"])
@pytest.mark.parametrize("index", ["lsi1", "never-made"])
def test_what_is_not_a_global_index_is_not_found(
    refused: Refused, comp_table: str, verb: str, index: str
) -> None:
    asked = {"TableName": comp_table, "IndexName": index, "ContributorInsightsAction": "ENABLE"}
    words = f"Requested resource not found: Index: {index} not found for table: {comp_table}"
    assert refused(verb, asked) == ("ResourceNotFoundException", words)


@pytest.mark.parametrize(
    "verb", ["UpdateContributorInsights", "DescribeContributorInsights", "ListContributorInsights"]
)
def test_a_table_that_does_not_exist_has_none(refused: Refused, verb: str) -> None:
    asked = {"TableName": "conf-never-made", "ContributorInsightsAction": "ENABLE"}
    words = "Requested resource not found: Table: conf-never-made not found"
    assert refused(verb, asked) == ("ResourceNotFoundException", words)


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("ContributorInsightsAction", "PAUSE"),
        ("ContributorInsightsMode", "RULES"),
        ("ContributorInsightsAction", None),
    ],
)
def test_an_unknown_action_or_mode_is_refused(
    refused: Refused, hash_table: str, member: str, value: str | None
) -> None:
    asked = {"TableName": hash_table, "ContributorInsightsAction": "ENABLE", member: value}
    code, message = refused("UpdateContributorInsights", asked)
    assert (code, member[1:] in message) == ("ValidationException", True)
