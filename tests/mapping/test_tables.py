"""Tables: made where they are missing, left alone where they are right, refused where they are others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from pydantic import BaseModel
from tests.mapping.shop import order, orders, shop
from tests.mapping.talk import Shop, everything

from tablewright import Engine, testing
from tablewright.client import CallRefused, Retries, embedded
from tablewright.design import Design, Environment, Keys, OnDemand, Provisioned
from tablewright.mapping import Db, TableDiffers, create_table, tables


class Pet(BaseModel):
    name: str
    kind: str = "dog"
    age: int = 0


def pet_key(name: str) -> None: ...


def pets(
    pk: str = "name",
    *,
    kind: str = "kind",
    project: Any = "ALL",
    ttl: str | None = None,
    index: str = "ByKind",
) -> Design:
    design = Design("pets")
    table = design.table("pets", pk=pk, ttl=ttl)
    by_kind = table.gsi(index, pk=kind, project=project)
    template = "{kind}" if kind == "kind" else "{age}" if kind == "age" else "KIND#{kind}"
    table.entity(Pet, pet_key, tag="pet", pk="{name}", on={by_kind: Keys(template)})
    return design.build()


def test_making_tables_twice_is_making_them_once(at: Shop) -> None:
    at.db.write(orders.create(order(1)))
    before = everything(at)
    told: list[str] = []
    at.again().create_tables(told.append)
    assert told == []
    assert everything(at) == before


def test_who_makes_tables_is_told_their_names() -> None:
    told: list[str] = []
    with testing.engine() as engine:
        Db(
            embedded(engine), shop, environment=Environment("dev", "x", table_name="{env}-{table}")
        ).create_tables(told.append)
        assert told == ["dev-shop", "dev-products", "dev-readings", "dev-accounts", "dev-receipts"]
        assert set(engine.call("ListTables", {})["TableNames"]) == set(told)


def test_time_to_live_is_switched_on(ours: Shop) -> None:
    assert ours.engine is not None
    for table, attribute in (("shop", "ttl"), ("receipts", "expires")):
        told = ours.engine.call("DescribeTimeToLive", {"TableName": table})["TimeToLiveDescription"]
        assert told["TimeToLiveStatus"] in ("ENABLED", "ENABLING")
        assert told["AttributeName"] == attribute


@pytest.fixture
def engine() -> Any:
    with testing.engine() as opened:
        Db(embedded(opened), pets()).create_tables()
        yield opened


@pytest.mark.parametrize(
    ("other", "what"),
    [
        (lambda: pets(pk="nickname"), "another key"),
        (lambda: pets(kind="kindKey"), "another key of index ByKind"),
        (lambda: pets(index="ByOther"), "no index ByOther"),
        (lambda: pets(project=("age",)), "other attributes in index ByKind"),
        (lambda: pets(project="KEYS_ONLY"), "other attributes in index ByKind"),
    ],
)
def test_a_table_that_is_another_is_refused(engine: Engine, other: Any, what: str) -> None:
    with pytest.raises(TableDiffers, match=f"the table pets exists with {what}; migrate it") as refused:
        Db(embedded(engine), other()).create_tables()
    assert refused.value.table == "pets"


def test_a_key_of_another_type_is_refused() -> None:
    with testing.engine() as engine:
        Db(embedded(engine), pets(kind="age")).create_tables()
        request = create_table(pets(kind="age"), pets(kind="age").tables["pets"])
        assert {"AttributeName": "age", "AttributeType": "N"} in request["AttributeDefinitions"]
        engine.call("DeleteTable", {"TableName": "pets"})
        texts = [{**one, "AttributeType": "S"} for one in request["AttributeDefinitions"]]
        engine.call("CreateTable", {**request, "AttributeDefinitions": texts})
        with pytest.raises(TableDiffers, match="the key attribute age of type S"):
            Db(embedded(engine), pets(kind="age")).create_tables()


def test_another_time_to_live_is_refused(engine: Engine) -> None:
    Db(embedded(engine), pets(ttl="ttl")).create_tables()
    with pytest.raises(TableDiffers, match="the TTL attribute ttl"):
        Db(embedded(engine), pets(ttl="other")).create_tables()


def test_what_the_store_has_more_is_left_alone(engine: Engine) -> None:
    design = Design("pets")
    table = design.table("pets", pk="name")
    table.entity(Pet, pet_key, tag="pet", pk="{name}")
    Db(embedded(engine), design.build()).create_tables()


def test_a_request_is_what_the_design_says() -> None:
    request = create_table(shop, shop.tables["shop"])
    assert [index["IndexName"] for index in request["GlobalSecondaryIndexes"]] == ["GSI1", "GSI2"]
    assert [index["IndexName"] for index in request["LocalSecondaryIndexes"]] == ["ByTotal"]
    carried = request["GlobalSecondaryIndexes"][1]["Projection"]
    # What hides sessions goes along though nobody listed it.
    assert carried == {
        "ProjectionType": "INCLUDE",
        "NonKeyAttributes": ["id", "placed", "total", "token", "ttl", "ended"],
    }
    assert request["BillingMode"] == "PAY_PER_REQUEST"
    several = create_table(shop, shop.tables["products"])["GlobalSecondaryIndexes"][0]["KeySchema"]
    assert [(key["AttributeName"], key["KeyType"]) for key in several] == [
        ("category", "HASH"),
        ("brandName", "HASH"),
        ("unitPrice", "RANGE"),
        ("sku", "RANGE"),
    ]


def test_an_environment_gives_capacity_protection_and_tags() -> None:
    place = Environment(
        "prod",
        "x",
        capacity=Provisioned(5, 7),
        deletion_protection=True,
        tags={"a": "b"},
        table_name="p-{table}",
    )
    request = create_table(shop, shop.tables["accounts"], place)
    units = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 7}
    assert request["TableName"] == "p-accounts"
    assert request["ProvisionedThroughput"] == units
    assert {str(index["ProvisionedThroughput"]) for index in request["GlobalSecondaryIndexes"]} == {
        str(units)
    }
    assert request["DeletionProtectionEnabled"] is True
    assert request["Tags"] == [{"Key": "a", "Value": "b"}]
    with testing.engine() as engine:
        engine.call("CreateTable", request)
        engine.settle()


def test_an_environment_gives_recovery_to_any_moment_of_so_many_days() -> None:
    with testing.engine() as engine:
        db = Db(embedded(engine), pets(), environment=Environment("prod", region="eu-west-1", pitr_days=7))
        db.create_tables()
        db.create_tables()
        told = [
            engine.call("DescribeContinuousBackups", {"TableName": name})["ContinuousBackupsDescription"]
            for name in ("pets", "receipts")
        ]
        assert [one["PointInTimeRecoveryDescription"].get("RecoveryPeriodInDays") for one in told] == [
            7,
            None,
        ]


def test_a_table_that_was_just_made_is_asked_for_recovery_until_the_service_is_ready() -> None:
    tried = list[str]()

    def call(verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
        tried.append(verb)
        if tried.count("UpdateContinuousBackups") in (1, 2) and verb == "UpdateContinuousBackups":
            raise CallRefused("ContinuousBackupsUnavailableException", "not yet")
        return {"ContinuousBackupsDescription": {"ContinuousBackupsStatus": "ENABLED"}}

    tables._set_recovery(call, "pets", 7, Retries(sleep=lambda seconds: None))
    assert tried.count("UpdateContinuousBackups") == 3


def test_a_table_may_have_another_capacity_than_the_rest_of_its_environment() -> None:
    place = Environment(
        "prod", "x", capacity=Provisioned(5, 7), of_tables={"accounts": Provisioned(1, 2), "shop": OnDemand()}
    )
    accounts, main, goods = (
        create_table(shop, shop.tables[name], place) for name in ("accounts", "shop", "products")
    )
    few = {"ReadCapacityUnits": 1, "WriteCapacityUnits": 2}
    assert [accounts["ProvisionedThroughput"], *_units(accounts)] == [few] * 4
    assert (main["BillingMode"], _units(main)) == ("PAY_PER_REQUEST", [None] * len(_units(main)))
    assert goods["ProvisionedThroughput"] == {"ReadCapacityUnits": 5, "WriteCapacityUnits": 7}


def _units(request: dict[str, Any]) -> list[Any]:
    return [index.get("ProvisionedThroughput") for index in request["GlobalSecondaryIndexes"]]


def test_a_stream_of_the_design_is_there_from_the_tables_beginning() -> None:
    design = Design("streams")
    table = design.table("streams", pk="name", stream="NEW_AND_OLD_IMAGES")
    table.entity(Pet, pet_key, tag="pet", pk="{name}")
    quiet = design.table("quiet", pk="name")
    quiet.entity(Pet, pet_key, tag="quiet", pk="{name}")
    design.build()
    assert "StreamSpecification" not in create_table(design, design.tables["quiet"])
    asked = create_table(design, design.tables["streams"])
    assert asked["StreamSpecification"] == {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
    with testing.engine() as engine:
        Db(embedded(engine), design).create_tables()
        told = engine.call("DescribeTable", {"TableName": "streams"})["Table"]
    assert told["StreamSpecification"] == asked["StreamSpecification"]
