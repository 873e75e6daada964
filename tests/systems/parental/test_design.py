"""The tables as they are asked for: the document's names, keys, indexes, streams, times and capacities (A.0, PC-38)."""

from __future__ import annotations

from typing import Any

import pytest

from tablewright import testing
from tablewright.client import embedded
from tablewright.mapping import Db, create_table
from tablewright.systems.parental.design import PARENTAL

# Table: keys, indexes with theirs, the attribute that ends an item, whether there is a stream.
TABLES: dict[str, tuple[tuple[str, ...], dict[str, tuple[str, ...]], str | None, bool]] = {
    "ParentalPolicies": (
        ("childPhoneNumber", "policyId"), {"ParentEmailIndex": ("parentEmail", "createdAt")}, None, True,
    ),
    "ApplicationRegistry": (("appName",), {}, None, True),
    "EnforcementHistory": (
        ("childPhoneNumber", "timestamp"), {"StatusTimestampIndex": ("statusKey", "timestamp")}, "ttl", False,
    ),
    "BlockedRequestMetrics": (
        ("childPhoneNumber", "dateApp"), {"ParentEmailDateIndex": ("parentEmail", "date")}, "ttl", False,
    ),
    "FTDRuleMapping": (
        ("childPhoneNumber", "ruleId"),
        {"DeviceIndex": ("ftdDeviceId", "lastVerified"), "PrivateIPIndex": ("livePrivateIP", "createdAt")},
        "ttl",
        True,
    ),
    "SubscriberSessions": (
        ("childPhoneNumber", "sessionId"), {"PrivateIPIndex": ("livePrivateIP", "startedAt")}, "ttl", True,
    ),
    "ChildProfiles": (("childPhoneNumber",), {"FamilyIndex": ("familyId", "childPhoneNumber")}, None, True),
    "IngestReceipts": (("batchId",), {}, "ttl", False),
}  # fmt: skip


def _keys(schema: list[dict[str, str]]) -> tuple[str, ...]:
    return tuple(key["AttributeName"] for key in schema)


@pytest.mark.parametrize("name", TABLES)
def test_pc_1_to_36_a_table_is_the_one_of_the_resolved_design(name: str) -> None:
    keys, indexes, ttl, streams = TABLES[name]
    asked = create_table(PARENTAL, PARENTAL.tables[name])
    assert _keys(asked["KeySchema"]) == keys
    found = {one["IndexName"]: _keys(one["KeySchema"]) for one in asked.get("GlobalSecondaryIndexes", ())}
    assert found == indexes
    assert PARENTAL.tables[name].ttl == ttl
    assert ("StreamSpecification" in asked) is streams
    assert asked["BillingMode"] == "PAY_PER_REQUEST"


@pytest.mark.parametrize(
    ("name", "units"),
    [
        ("ParentalPolicies", (10, 5)),
        ("ApplicationRegistry", (5, 1)),
        ("FTDRuleMapping", (20, 20)),
        ("EnforcementHistory", None),
        ("BlockedRequestMetrics", None),
    ],
)
def test_pc_38_in_production_each_table_has_the_capacity_of_the_plan_and_so_have_its_indexes(
    name: str, units: tuple[int, int] | None
) -> None:
    asked = create_table(PARENTAL, PARENTAL.tables[name], PARENTAL.environments["prod"])
    told: list[dict[str, Any]] = [asked, *asked.get("GlobalSecondaryIndexes", ())]
    given = [
        tuple(one["ProvisionedThroughput"].values()) if "ProvisionedThroughput" in one else None
        for one in told
    ]
    assert set(given) == {units}


def test_the_tables_of_every_environment_can_be_made() -> None:
    for environment in PARENTAL.environments.values():
        with testing.engine() as engine:
            Db(embedded(engine), PARENTAL, environment=environment).create_tables()
            assert len(engine.call("ListTables", {})["TableNames"]) == len(PARENTAL.tables) + 1
