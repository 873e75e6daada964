"""What a design costs: each part with figures computed by hand, and how they stand to what was stated."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.design.costed import HERE, MILLION, Pet, by_name, line, pet_key, pets

from tablewright.app.systems import SYSTEMS
from tablewright.design import Backups, Budget, Design, Environment, Expires, Load, Provisioned, Retention
from tablewright.design.cost import EstimateUnknown, Options, ScheduleUnreadable, cost_of
from tablewright.design.cost.calls import RECEIPTS, calls_of
from tablewright.design.cost.schedules import times_a_day
from tablewright.design.prices import PRICES, RegionHasNoPrices, book_of
from tablewright.mapping.receipts import RECEIPT_LIFETIME, TABLE

ONCE = Load(per_month=MILLION, item_bytes=1500)


# --- what lies there ---


def test_what_is_never_deleted_grows_and_each_index_holds_it_once_more() -> None:
    report = cost_of(pets({"create": Load(per_month=100_000, item_bytes=900)}), HERE)
    # 100 000 x 12 x (900 + 100) bytes, twice: 2.4 GB x $0.25
    assert report.by_part["storage"] == Decimal("0.6")
    assert line(report, "pet", "storage").how == (
        "100 000 new a month x 12 months (never deleted) = 1 200 000 items x (900 + 100 bytes) "
        "in the table and in ByKind = 2.4 GB x $0.25 per GB and month = $0.60"
    )


def test_what_is_kept_for_a_while_is_there_for_that_while() -> None:
    week = Retention(timedelta(days=6), "a week")
    made = {"create": Load(per_month=100_000, item_bytes=900)}
    report = cost_of(pets(made, index=False, retention=week), HERE)
    assert line(report, "pet", "storage").quantity == Decimal("0.02")  # a fifth of a month
    years = Retention(timedelta(days=3650), "tax law")
    report = cost_of(pets(made, index=False, retention=years), HERE)
    assert line(report, "pet", "storage").quantity == Decimal("1.2"), (
        "twelve months have passed, not ten years"
    )


def test_of_puts_the_share_that_is_new_is_kept() -> None:
    put = Load(per_month=100_000, item_bytes=900, changes=(), new=0.1)
    report = cost_of(pets({"put": put}, index=False), HERE)
    assert line(report, "pet", "storage").quantity == Decimal("0.12")
    report = cost_of(pets({"put": replace(put, new=None)}, index=False), HERE)
    assert line(report, "pet", "storage").assumed == ("each put makes an item that was not there",)


def test_a_batch_is_as_many_writes_as_it_has_items() -> None:
    one, batch = Load(per_month=2500, item_bytes=900), Load(per_month=100, items=25, item_bytes=900)
    assert cost_of(pets({"create": one}), HERE).total == cost_of(pets({"create": batch}), HERE).total


def test_an_entity_of_which_nobody_says_how_many_there_are_is_named_and_not_guessed() -> None:
    report = cost_of(pets({"update": ONCE}), HERE)
    assert line(report, "pet", "storage").how == "how many are made is not said: not counted"
    assert report.by_part["storage"] == 0


def test_receipts_are_kept_for_a_month_in_a_table_of_their_own_that_is_paid_by_the_request() -> None:
    assert (RECEIPTS, timedelta(days=30)) == (TABLE.name, RECEIPT_LIFETIME)
    there = replace(HERE, capacity=Provisioned(1, 1), pitr_days=1)
    report = cost_of(pets({"create": Load(per_month=MILLION, once=True)}, index=False), there)
    own = report.most_expensive(table=RECEIPTS)
    # 2 units each, and 1 000 000 x (250 + 100) bytes
    assert {each.part: each.amount for each in own} == {
        "writes": Decimal("1.25"),
        "storage": Decimal("0.0875"),
    }


def test_recovery_and_backups_are_of_the_table_without_its_indexes() -> None:
    there = replace(
        HERE, pitr_days=35, backups=Backups("cron(0 3 * * ? *)", 30, "vault", copy_to="eu-west-1")
    )
    report = cost_of(pets({"create": Load(per_month=100_000, item_bytes=900)}), there)
    assert report.by_part["recovery"] == Decimal("0.24")  # 1.2 GB x $0.20
    assert line(report, "backups").amount == Decimal("3.6")  # 30 points x 1.2 GB x $0.10
    assert line(report, "copies in eu-west-1").amount == 36 * Decimal("0.1131")
    assert line(report, "copies in eu-west-1").derived
    assert "1 a day x 30 days = 30 points x 1.2 GB = 36 GB" in line(report, "backups").how


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ("cron(0 3 * * ? *)", 1),
        ("cron(0 * * * ? *)", 24),
        ("cron(0/30 * * * ? *)", 48),
        ("cron(0 */6 * * ? *)", 4),
        ("cron(0 1,13 * * ? *)", 2),
        ("cron(0 8-17 * * ? *)", 10),
        ("cron(0 3 ? * MON-FRI *)", Decimal(5) / 7),
        ("cron(0 3 1 * ? *)", Decimal(1) / 30),
        ("cron(0 3 ? * 1/2 *)", Decimal(4) / 7),
        ("cron(0 3 * 2/5 ? *)", Decimal(3) / 12),
        ("rate(12 hours)", 2),
        ("rate(1 day)", 1),
    ],
)
def test_how_often_a_schedule_comes(schedule: str, expected: Decimal) -> None:
    assert times_a_day(schedule) == pytest.approx(expected)


@pytest.mark.parametrize(
    "schedule", ["daily", "rate(0 days)", "cron(0 3)", "cron(x 3 * * ? *)", "cron(0/0 3 * * ? *)"]
)
def test_a_schedule_nobody_can_read_is_refused(schedule: str) -> None:
    with pytest.raises(ScheduleUnreadable, match="rate"):
        times_a_day(schedule)


def test_a_follower_asks_every_shard_every_second() -> None:
    design = pets(stream="NEW_AND_OLD_IMAGES")
    report = cost_of(design, HERE)
    # 4 shards x 2 592 000 seconds x $0.20 a million
    assert report.by_part == {"streams": Decimal("2.0736")}
    assert "Lambda" in report.lines[0].assumed[0]
    reserved = cost_of(design, replace(HERE, capacity=Provisioned(10, 10)))
    assert reserved.by_part["streams"] == Decimal("0.5184")


def test_an_expiry_is_free_and_a_delete_is_not() -> None:
    kept: dict[str, Any] = {
        "expires": Expires("born", timedelta(days=30)),
        "retention": Retention(timedelta(days=30), "a while"),
    }
    made = Load(per_month=MILLION, item_bytes=900)
    dying = cost_of(pets({"create": made}, index=False, **kept), HERE)
    assert dying.by_part["writes"] == Decimal("0.625")
    deleted = cost_of(pets({"create": made, "delete": made}, index=False), HERE)
    assert deleted.by_part["writes"] == Decimal("1.25")
    assert deleted.by_part["storage"] == 0


# --- capacity ---


def test_provisioned_units_are_paid_by_the_hour_in_the_table_and_in_each_index() -> None:
    there = replace(HERE, capacity=Provisioned(10, 5, max_read=100, max_write=50))
    report = cost_of(pets({"create": Load(per_month=1000)}, Load(per_month=1000)), there)
    # 2 x 10 x 720 x $0.00013 and 2 x 5 x 720 x $0.00065
    assert report.by_part["capacity"] == Decimal("1.872") + Decimal("4.68")
    assert report.by_part["reads"] == report.by_part["writes"] == 0
    assert line(report, "pet.create").how.endswith("paid by the hour")
    assert "the least that is reserved" in line(report, "read capacity").how


def test_provisioned_units_follow_the_load_up_to_their_bound() -> None:
    there = replace(HERE, capacity=Provisioned(1, 1, max_read=40, max_write=40, target=50))
    report = cost_of(pets({"create": Load(per_second=10)}, index=False), there)
    assert line(report, "write capacity").quantity == 20 * 720
    report = cost_of(pets({"create": Load(per_second=100)}, index=False), there)
    assert line(report, "write capacity").quantity == 40 * 720
    assert line(report, "write capacity").assumed == ("200 units would be needed: with 40 it is throttled",)


def test_a_table_may_be_paid_for_in_another_way_than_the_rest() -> None:
    there = replace(HERE, of_tables={"pets": Provisioned(1, 1)})
    assert "capacity" in cost_of(pets(reads=Load(per_month=1)), there).by_part


# --- replicas ---


def test_each_replica_pays_for_every_write_what_lies_there_and_its_recovery() -> None:
    there = replace(HERE, replicas=("eu-west-1",), pitr_days=7)
    report = cost_of(pets({"create": Load(per_month=MILLION, item_bytes=900)}), there)
    assert report.by_part["writes"] == 2 * Decimal("0.625")
    assert line(report, "writes in eu-west-1").amount == 2 * PRICES.of("eu-west-1")["replicated_write"].amount
    # 12 000 000 x (900 + 148) bytes, in the table and in an index
    assert line(report, "pet", "storage").quantity == 2 * Decimal("12.576")
    assert line(report, "storage in eu-west-1").amount == 2 * Decimal("12.576") * Decimal("0.283")
    assert line(report, "recovery in eu-west-1").amount == Decimal("12.576") * Decimal("0.22")


def test_a_check_changes_nothing_so_no_replica_pays_for_it() -> None:
    there = replace(HERE, replicas=("eu-west-1",))
    load = {"create": Load(per_month=1000), "check": Load(per_month=MILLION)}
    report = cost_of(pets(load, index=False), there)
    assert line(report, "pet.check").quantity == 2 * MILLION
    assert line(report, "writes in eu-west-1").quantity == 1000


def test_receipts_are_replicated_as_the_tables_they_are_of() -> None:
    there = replace(HERE, replicas=("eu-west-1",), pitr_days=7)
    report = cost_of(pets({"create": Load(per_month=MILLION, once=True)}, index=False), there)
    own = {each.name: each.quantity for each in report.most_expensive(table=RECEIPTS, part="replication")}
    assert own.keys() == {"writes in eu-west-1", "expiry in eu-west-1", "storage in eu-west-1"}
    assert own["writes in eu-west-1"] == 2 * MILLION
    assert own["expiry in eu-west-1"] == MILLION


def test_what_expires_is_paid_for_in_a_replica() -> None:
    there = replace(HERE, replicas=("eu-west-1",))
    kept: dict[str, Any] = {
        "expires": Expires("born", timedelta(days=3)),
        "retention": Retention(timedelta(days=3), "a while"),
    }
    report = cost_of(pets({"create": Load(per_month=MILLION)}, **kept), there)
    assert line(report, "expiry in eu-west-1").quantity == 2 * MILLION


def test_a_replica_of_reserved_units_reserves_them_too() -> None:
    there = replace(HERE, replicas=("eu-west-1",), capacity=Provisioned(10, 5))
    report = cost_of(pets(index=False), there)
    assert line(report, "write capacity in eu-west-1").amount == 5 * 720 * Decimal("0.000735")


def test_a_region_without_prices_is_refused_wherever_it_stands() -> None:
    for there in (
        replace(HERE, region="mars-1"),
        replace(HERE, replicas=("mars-1",)),
        replace(HERE, backups=Backups("rate(1 day)", 1, "vault", copy_to="mars-1")),
    ):
        with pytest.raises(RegionHasNoPrices, match="mars-1"):
            cost_of(pets(), there)


# --- what is free ---


def test_what_is_free_is_said_and_taken_off_only_when_asked() -> None:
    made = {"create": Load(per_month=MILLION, item_bytes=900)}
    report = cost_of(pets(made, stream="KEYS_ONLY"), HERE)
    # 24 GB are free as a whole, 2 500 000 of the stream reads: $6.00 and $0.50
    assert "Not taken off: the first 25 GB and the first 2 500 000 stream reads" in " ".join(report.notes)
    assert "here $6.50" in " ".join(report.notes)
    free = cost_of(pets(made, stream="KEYS_ONLY"), HERE, options=Options(free_tier=True))
    assert report.total - free.total == Decimal("6.5")
    assert free.by_part["free"] == Decimal("-6.5")


def test_of_reserved_units_25_of_each_kind_are_free() -> None:
    there = replace(HERE, capacity=Provisioned(20, 20))
    free = cost_of(pets(), there, options=Options(free_tier=True))
    # 40 of each with the index, 15 to be paid for
    assert free.total == 15 * 720 * (Decimal("0.00013") + Decimal("0.00065"))


# --- what was stated ---


def stated(**estimate: str) -> Environment:
    figures = {what: Decimal(text) for what, text in estimate.items()}
    return replace(HERE, budget=Budget(Decimal(10), Decimal(8), figures))


def test_a_stated_figure_is_wrong_if_it_is_more_than_five_per_cent_off() -> None:
    design = pets({"create": Load(per_month=MILLION)}, index=False)  # $0.625, and storage
    for said, is_wrong in (("0.60", False), ("0.65", False), ("0.59", True), ("0.66", True), ("625", True)):
        found = cost_of(design, stated(writes=said)).stated[0]
        assert (found.what, found.computed, found.is_wrong) == ("writes", Decimal("0.625"), is_wrong)
    assert found.how == "stated $624.38 too high, 1 000 times as much"


def test_a_cent_is_never_wrong() -> None:
    design = pets({"create": Load(per_month=1000)}, index=False)
    assert not cost_of(design, stated(requests="0.01")).stated[0].is_wrong


def test_an_estimate_may_be_of_several_parts_and_of_nothing_else() -> None:
    design = pets({"create": Load(per_month=MILLION)}, Load(per_month=MILLION), index=False)
    there = stated(requests="0.69", total="1")
    assert [each.computed for each in cost_of(design, there).stated[:2]] == [
        Decimal("0.6875"),
        cost_of(design, there).total,
    ]
    with pytest.raises(EstimateUnknown, match="'lambda'; a report has these: reads, writes"):
        cost_of(design, replace(HERE, budget=Budget(Decimal(1), Decimal(1), {"lambda": Decimal(1)})))


def test_a_report_says_whether_the_limit_is_passed_and_where_it_stands_to_what_was_said() -> None:
    design = pets({"create": Load(per_month=MILLION)}, index=False)
    there = replace(HERE, budget=Budget(Decimal(5), Decimal(4), said=(Decimal(5), Decimal(15))))
    by_name = {each.what: each for each in cost_of(design, there).stated}
    assert by_name["limit"].how == f"${5 - cost_of(design, there).total:.2f} below"
    assert by_name["total stated by the author"].how.endswith("below what was said")
    more = cost_of(design, there, options=Options(times=Decimal(10)))
    assert more.is_over
    assert [each.what for each in more.stated] == ["alert at", "limit"], (
        "estimates are of the stated workload"
    )
    assert all(each.is_wrong for each in more.stated)


# --- the systems in the box ---


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_what_a_system_states_is_what_it_costs(system: Any) -> None:
    for design in system.designs:
        for environment in design.environments.values():
            report = cost_of(design, environment)
            assert [each for each in report.stated if each.is_wrong] == []
            assert not any("throttled" in note for line in report.lines for note in line.assumed)
            assert not any("no load is stated" in note for note in report.notes)


def test_sk_30_skratch_costs_what_was_said_of_it() -> None:
    """$5 to $15 a month for 1 000 active users, who read 40 times a day and write 10 times (SK-D26, SK-28)."""
    travel = next(system for system in SYSTEMS if system.name == "travel").designs[0]
    report = cost_of(travel, travel.environments["prod"])
    said = next(each for each in report.stated if each.what == "total stated by the author")
    assert (said.stated, said.how) == ("$5.00 to $15.00", "within what was said")
    asked = {call.name: call.a_month for call in calls_of(travel)}
    assert asked["operation.create"] == asked["visit.put"] == 1000 * 10 * 30


CP_64 = {
    "us-east-1": [
        {"as_of": "2025-01", "source": "CP-64", "figures": {
            "read": "0.25", "write": "1.25", "replicated_write": "1.25", "read_hour": "1", "write_hour": "1",
            "replicated_write_hour": "1", "storage": "0.25", "recovery": "0.2", "backup": "0.1",
            "stream_read": "0.02", "vector_write": "0.52", "vector_search": "0.002",
        }}
    ]
}  # fmt: skip


def test_cp_s15_the_portal_document_s_volumes_cost_72_cents_at_its_own_prices() -> None:
    """CP-D41: the document has every line 1 000 times too high, $715.62 in all."""
    design = Design("cp")
    table = design.table("portal", pk="PK")
    pet = table.entity(
        Pet,
        pet_key,
        tag="order",
        pk="{name}",
        load={
            "create": Load(per_month=100_000 + 500, item_bytes=1000),  # orders, and what administrators write
            "put": Load(per_month=50_000, item_bytes=1000, new=0),  # tenants
            "update": Load(per_month=200_000, item_bytes=1000),  # writes to indexes
        },
    )
    views = Load(per_month=1_000_000 + 10_000 + 100_000)  # products, campaigns, tenants
    design.get(pet, consistent=True, load=views)(by_name)
    report = cost_of(design.build(), HERE, book_of(json.dumps(CP_64)))
    assert report.by_part["reads"] + report.by_part["writes"] == Decimal("0.715625")


# --- whatever the figures are ---


@settings(max_examples=40)
@given(times=st.integers(1, 10_000))
def test_times_the_workload_is_times_the_requests_and_times_what_lies_there(times: int) -> None:
    design = pets({"create": Load(per_month=1234)}, Load(per_month=567), stream="KEYS_ONLY")
    there = replace(HERE, pitr_days=1, backups=Backups("rate(1 day)", 7, "vault"), replicas=("eu-west-1",))
    once, often = (cost_of(design, there, options=Options(Decimal(n))) for n in (1, times))
    for part in set(once.by_part) - {"streams"}:
        assert often.by_part[part] == pytest.approx(times * once.by_part[part])
    assert often.by_part["streams"] == once.by_part["streams"]
