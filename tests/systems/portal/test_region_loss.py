"""The acceptance scenario CP-S12, and the drill of CP-X12: the region of the portal is lost, and another takes over."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from tests.cli.command import here
from tests.systems.portal.talk import SECRET, Place
from tests.targets import skip_elsewhere

from tablewright.app.drill import run_drill
from tablewright.client import CallRefused, embedded
from tablewright.edge import Issuer
from tablewright.engine import Regions, verify_store
from tablewright.engine.metrics.replica_status import statuses
from tablewright.engine.replication.failover import failover, rejoin, unreplicated
from tablewright.engine.verify.region_items import compare
from tablewright.mapping import Db
from tablewright.systems.portal.design import PORTAL
from tablewright.systems.portal.orders.checkout import Checkout
from tablewright.systems.portal.portal import open_portal
from tablewright.testing import Clock

AF, EU = "af-south-1", "eu-west-1"
MINUTES = timedelta(minutes=15)


@pytest.fixture
def regions(tmp_path: Path, clock: Clock) -> Iterator[Regions]:
    """The portal's tables in Cape Town, where they are written, and in Ireland."""
    skip_elsewhere("it cuts off and mends one of two regions of this process")
    with Regions.open(
        tmp_path / "store", home=AF, also=[EU], period=None, durability="relaxed", world=clock.world()
    ) as made:
        Db(embedded(made[AF]), PORTAL, world=clock.world(), secret=SECRET).create_tables()
        for table in tables(made):
            create = {"Create": {"RegionName": EU}}
            made[AF].call("UpdateTable", {"TableName": table, "ReplicaUpdates": [create]})
        made.settle()
        failover(made, AF)
        made.settle()
        yield made
        assert made.verify() == []
    assert verify_store(tmp_path / "store") == []


def tables(regions: Regions) -> list[str]:
    names: list[str] = regions[AF].call("ListTables", {})["TableNames"]
    return names


def portal_in(regions: Regions, region: str, clock: Clock, issuer: Issuer) -> Place:
    call = embedded(regions[region])
    db = Db(call, PORTAL, world=clock.world(), secret=SECRET)
    return Place(
        open_portal(db, clock.world(), SECRET, lambda *_: ""), db, call, clock, issuer, regions[region]
    )


def owners(place: Place) -> Counter[str]:
    """How many tenants have each e-mail address."""
    return Counter(item["email"]["S"].lower() for item in place.roots())


def test_cp_s12_a_lost_region_is_fenced_and_the_other_sells_within_fifteen_minutes(
    regions: Regions, clock: Clock, issuer: Issuer
) -> None:
    cape, dublin = (portal_in(regions, region, clock, issuer) for region in (AF, EU))
    product = cape.product()
    cape.order(product, "known@example.com")
    regions.settle()

    # The region is cut off; it still takes an order of a new customer and one of a known one.
    regions.cut(AF)
    lost_at = clock.now()
    lost = [cape.order(product, "new@example.com"), cape.order(product, "known@example.com")]
    with pytest.raises(CallRefused, match=f"its writer is {AF}"):
        dublin.order(product, "early@example.com")

    # Fail-over: writes to af-south-1 are refused, eu-west-1 is promoted.
    clock.move(timedelta(minutes=5))
    done = failover(regions, EU)
    assert {one.table for one in done} == set(tables(regions))
    with pytest.raises(CallRefused, match=f"its writer is {EU}"):
        cape.order(product, "late@example.com")
    order = dublin.order(product, "New@Example.com")
    assert order.placed_at - lost_at < MINUTES

    # The old primary returns: it stays fenced, and what was not replicated is reported.
    regions.mend(AF)
    regions.settle()
    with pytest.raises(CallRefused, match="takes no writes"):
        cape.order(product, "late@example.com")
    listed = unreplicated(regions, AF)
    keys = {(one.key["PK"]["S"], one.key["SK"]["S"]) for one in listed if isinstance(one.key, dict)}
    assert {(f"TENANT#{one.tenant_id}", f"ORDER#{one.order_id}") for one in lost} <= keys
    assert ("EMAIL#new@example.com", "UNIQUE") in keys
    assert {one.region for one in listed} == {AF}

    # It rejoins: both regions are the same, and no address has two tenants.
    rejoin(regions, AF)
    regions.settle()
    assert [compare(regions[AF], regions[EU], table).different for table in tables(regions)] == [[]] * len(
        tables(regions)
    )
    assert owners(cape) == owners(dublin) == {"known@example.com": 1, "new@example.com": 1}
    assert cape.guards() == dublin.guards()
    assert cape.guards()["new@example.com"] == order.tenant_id
    assert all(one.unreplicated is None for one in statuses(regions.engines))


def test_cp_s12_the_returned_region_can_take_over_again(
    regions: Regions, clock: Clock, issuer: Issuer
) -> None:
    cape, dublin = (portal_in(regions, region, clock, issuer) for region in (AF, EU))
    product = cape.product()
    regions.settle()
    regions.cut(AF)
    cape.order(product, "one@example.com")
    failover(regions, EU, lost=[AF])
    dublin.order(product, "one@example.com")
    regions.mend(AF)
    regions.settle()
    rejoin(regions, AF)
    regions.settle()
    failover(regions, AF)
    cape.order(product, "One@example.com")
    regions.settle()
    assert owners(cape) == owners(dublin) == {"one@example.com": 1}


def test_cp_x12_the_drill_measures_rto_and_rpo_and_proves_that_no_address_is_given_twice(
    tmp_path: Path,
) -> None:
    said: list[str] = []
    report = run_drill(tmp_path, orders=12, workers=3, say=said.append)
    assert report.findings == []
    assert report.is_passed
    assert min(report.orders_replicated, report.orders_unreplicated, report.orders_after) >= 12
    assert report.rto_seconds > 0
    assert report.rpo_seconds > 0
    assert report.rpo_writes == len(report.unreplicated) > 0
    assert report.addresses > 0
    assert len(said) == 4


def test_cp_x12_a_drill_whose_orders_fail_ends_with_the_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def place(*_: object) -> None:
        raise ZeroDivisionError("an order that fails")

    monkeypatch.setattr(Checkout, "place", place)
    with pytest.raises(ZeroDivisionError):
        run_drill(orders=3, workers=2)


def test_cp_x12_the_drill_is_one_command_with_an_evidence_report() -> None:
    ran = here("dr", "drill", "--orders", "6", "--workers", "2", "--json")
    assert ran.code == 0, ran.out
    report = json.loads(ran.out)
    assert (report["old_region"], report["new_region"], report["findings"]) == (AF, EU, [])
    assert report["rpo_writes"] == len(report["unreplicated"])
    assert "is lost with" in ran.err
