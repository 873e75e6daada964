"""The acceptance scenarios CP-S11 and CP-S13: prices restored from the past, and backups every hour for 90 days."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from threading import Event
from time import monotonic
from typing import Any

import pytest
from tests.client.ways import WAYS
from tests.engine.stepped_engine import SteppedEngine
from tests.systems.portal.talk import ADMIN, SECRET, Place
from tests.targets import skip_elsewhere

from tablewright.app.alarms.declared import alarms_of
from tablewright.app.alarms.design import alarm_design
from tablewright.app.alarms.evaluation import State, evaluate, range_of
from tablewright.app.alarms.published import PublishedMetrics
from tablewright.app.copies.backups import backup_job, backup_name
from tablewright.app.design import app_design
from tablewright.app.schedule import Schedule
from tablewright.client import Call, CallRefused, embedded, pages
from tablewright.client.comparison import differences
from tablewright.design import Environment
from tablewright.mapping import Db
from tablewright.systems.portal import tallies
from tablewright.systems.portal.design import PORTAL, products_by_active
from tablewright.systems.portal.model import Product
from tablewright.systems.portal.orders.checkout import Line
from tablewright.systems.portal.portal import Portal, open_portal
from tablewright.testing import Clock


@pytest.fixture(params=list(WAYS))
def way(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_cp_s11_prices_that_a_script_zeroed_are_restored_compared_and_switched_to(
    at: Place, record_property: Callable[[str, object], None]
) -> None:
    skip_elsewhere("recovery goes by the clock of the endpoint, which cannot be moved")
    assert at.engine is not None
    prod, before = PORTAL.environments["prod"], datetime(2030, 6, 15, 12, 29, 59, tzinfo=UTC)
    portal = _opened(at, prod)  # recovery is on, as the environment says
    products = [at.product("299.99"), at.product("99.50", name="Starter")]
    at.clock.move(before - at.clock.now())  # 14:29:59 in Johannesburg
    products.append(at.product("0.10", name="One page"))
    at.clock.move(timedelta(seconds=1))
    _zero_prices(at, products)
    assert {product.price for product in _on_sale(portal)} == {0}
    at.clock.move(timedelta(minutes=6))  # the latest moment that can be restored is five minutes ago

    begun = monotonic()
    at.call(
        "RestoreTableToPointInTime",
        {"SourceTableName": "products", "TargetTableName": "restored", "RestoreDateTime": before.timestamp()},
    )
    at.engine.settle()
    report = list(differences(at.call, "restored", "products"))
    assert sorted(
        (one.kind, one.attributes, one.key["PK"]["S"], one.key["SK"]["S"]) for one in report
    ) == sorted(("changed", ("price",), f"PRODUCT#{product.id}", "METADATA") for product in products)
    portal = _opened(at, replace(prod, renamed={"products": "restored"}))
    took = monotonic() - begun
    record_property("seconds to restore", took)
    assert took < 3600
    assert sorted(product.price for product in _on_sale(portal)) == [
        Decimal("0.10"),
        Decimal("99.50"),
        Decimal("299.99"),
    ]

    at.call("DeleteTable", {"TableName": "products"})  # after verification; writes continue
    order = portal.checkout.place("customer@example.com", [Line(products[0].id)])
    portal.catalogue.change_product(products[0].id, {"price": Decimal("349.99")}, ADMIN)
    steps = [(step.old_price, step.new_price) for step in portal.catalogue.prices(products[0].id)]
    assert order.total == Decimal("299.99")
    assert steps == [(None, Decimal("299.99")), (Decimal("299.99"), Decimal("349.99"))]
    # A restore brings back neither the stream nor recovery: opening the portal did.
    table = at.call("DescribeTable", {"TableName": "restored"})["Table"]
    assert table["StreamSpecification"] == {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
    recovery = at.call("DescribeContinuousBackups", {"TableName": "restored"})["ContinuousBackupsDescription"]
    assert recovery["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"] == "ENABLED"


def _opened(at: Place, environment: Environment) -> Portal:
    """The portal on the tables that an environment names, with what makes and follows them, as at a start."""
    db = Db(at.call, PORTAL, world=at.clock.world(), secret=SECRET, environment=environment)
    db.create_tables()
    portal = open_portal(db, at.clock.world(), SECRET, at.portal.issue)
    tallies.consumer_of(portal.repository, "products").create_tables()
    return portal


def _on_sale(portal: Portal) -> list[Product]:
    return list(portal.repository.db.all(products_by_active(active=True)))


def _zero_prices(at: Place, products: list[Product]) -> None:
    """What the portal would refuse, done to its table."""
    for product in products:
        key = {"PK": {"S": f"PRODUCT#{product.id}"}, "SK": {"S": "METADATA"}}
        zero = {"UpdateExpression": "SET price = :zero", "ExpressionAttributeValues": {":zero": {"N": "0"}}}
        at.call("UpdateItem", {"TableName": "products", "Key": key, **zero})


def test_cp_s13_a_backup_that_fails_raises_an_alarm_and_ninety_days_keep_2160_points(
    clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    skip_elsewhere("ninety days of backups go by the clock of the endpoint, which cannot be moved")
    # Without threads of its own, or it would look through all backups after each.
    with SteppedEngine.stepped(world=clock.world()) as engine:
        call, is_full = embedded(engine), Event()
        portal = Db(
            _refusing(call, is_full), PORTAL, world=clock.world(), environment=PORTAL.environments["prod"]
        )
        assert portal.environment is not None
        own = Db(call, app_design, alarm_design, world=clock.world())
        portal.create_tables()
        own.create_tables()
        published = PublishedMetrics(own, clock.world())
        schedule = Schedule(own, clock.world(), published.record_all)
        (failed,) = [
            each
            for each in alarms_of(
                "portal", "Portal", [PORTAL], portal.environment.backups, [], portal.physical
            )
            if each.name == "failed-backups"
        ]
        state: State = "INSUFFICIENT_DATA"

        def alarm_state() -> State:
            """What the alarm on failed backups says a minute after a run."""
            nonlocal state
            published.flush()
            now = clock.now() - HOUR + timedelta(minutes=1)
            points = published.points("portal", failed.alarm.metric, *range_of(failed.alarm, now))
            state = evaluate(failed.alarm, points, now, state).state
            return state

        schedule.add("portal", backup_job(portal, _refusing(call, is_full)))

        def run() -> list[str]:
            """One hour's turn of the schedule; the points that are there after it."""
            assert schedule.run_due() == ["portal.backups"]
            clock.move(HOUR)
            return _points(call, "tenants")

        (oldest,) = run()
        assert alarm_state() == "OK"
        while engine.job_step():
            pass
        for _ in range(
            90 * 24 - 2
        ):  # points as the job makes them; of one table, it would take minutes otherwise
            call("CreateBackup", {"TableName": "tenants", "BackupName": backup_name(clock.now(), HOUR)})
            clock.move(HOUR)
        is_full.set()
        assert len(run()) == 90 * 24 - 1
        (alarm,) = [record for record in caplog.records if record.levelname == "ERROR"]
        assert (alarm.message, vars(alarm)["system"], vars(alarm)["job"]) == (
            "a job failed",
            "portal",
            "backups",
        )
        assert [due.last and due.last.error for due in schedule.listed()] == ["CallRefused"]
        assert alarm_state() == "ALARM"

        is_full.clear()
        points = run()
        assert (len(points), points[0]) == (2160, oldest)
        assert [due.last and due.last.error for due in schedule.listed()] == [None]
        assert alarm_state() == "OK"
        points = run()
        assert len(points) == 2160
        assert oldest not in points, "it has expired"


HOUR = timedelta(hours=1)


def _refusing(call: Call, is_full: Event) -> Call:
    """A place for backups that may be full."""

    def refusing(verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
        if verb == "CreateBackup" and is_full.is_set():
            raise CallRefused("LimitExceededException", "there are too many backups")
        return call(verb, request)

    return refusing


def _points(call: Call, table: str) -> list[str]:
    found = pages(call, "ListBackups", {"TableName": table})
    return [one["BackupName"] for page in found for one in page["BackupSummaries"]]
