"""How many there are, without counting: tallies kept from the streams, reconciled with a real count (CP-D56)."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from tests.client.ways import WAYS
from tests.systems.portal.talk import ADMIN, Api, Place

from tablewright.kit import counters
from tablewright.mapping import Consumer
from tablewright.mapping.consumer.records import Change
from tablewright.systems.portal import design as d
from tablewright.systems.portal import jobs, tallies
from tablewright.systems.portal.model import Kind, Tally


@pytest.fixture(params=sorted(WAYS))
def way(request: pytest.FixtureRequest) -> str:
    if request.config.getoption("--endpoint") and request.param != "http":
        pytest.skip("elsewhere its streams are read over HTTP only")
    return str(request.param)


@pytest.fixture(autouse=True)
def no_pause(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if not request.config.getoption("--endpoint"):  # elsewhere an index may be late
        monkeypatch.setattr(counters, "PAUSE_SECONDS", 0)


@pytest.fixture
def follow(at: Place) -> Callable[[], None]:
    """Takes every change there is since the fixture was asked for."""
    consumers = jobs.consumers(at.portal)
    for consumer in consumers:
        consumer.create_tables()

    def catch_up() -> None:
        for consumer in consumers:
            consumer.run_once()
            assert consumer.parked() == []

    return catch_up


def counts(at: Place, kind: Kind = "tenants") -> dict[str, int]:
    return {sort: n for sort, n in tallies.tally_of(at.portal.repository, kind).counts.items() if n}


def test_cp_d56_a_tally_follows_every_change_of_status_and_activity(
    at: Place, follow: Callable[[], None]
) -> None:
    at.tenant("a@example.com")
    kept = at.tenant("b@example.com", "REGISTERED")
    gone = at.tenant("c@example.com", "REGISTERED")
    follow()
    assert counts(at) == {"UNVALIDATED": 1, "REGISTERED": 2}
    at.portal.tenants.change(gone.id, {"active": False}, ADMIN)
    at.portal.tenants.move(kept.id, "SUSPENDED", ADMIN, reason="charged back")
    follow()
    assert counts(at) == {"UNVALIDATED": 1, "SUSPENDED": 1, "INACTIVE": 1}
    assert at.portal.tenants.tally().active == 2


def test_cp_22_the_metrics_count_active_tenants_only(at: Place, api: Api, follow: Callable[[], None]) -> None:
    at.tenant("a@example.com")
    gone = at.tenant("b@example.com", "REGISTERED")
    at.portal.tenants.change(gone.id, {"active": False}, ADMIN)
    at.product()
    follow()
    told = api.get("/admin/metrics", by="support").json()
    assert told["tenants"] == {"UNVALIDATED": 1, "VALIDATED": 0, "REGISTERED": 0, "SUSPENDED": 0}
    assert (told["activeTenants"], told["inactiveTenants"], told["activeProducts"]) == (1, 1, 1)
    assert told["reconciledAt"] is None


def test_a_change_that_is_delivered_again_is_counted_once(at: Place, follow: Callable[[], None]) -> None:
    tenant = at.tenant("a@example.com")
    change = Change("event-1", "INSERT", d.tenants.shape, None, tenant, at.clock.now())
    assert tallies.on_change(at.portal.repository, "tenants", change)
    assert not tallies.on_change(at.portal.repository, "tenants", change)
    assert counts(at) == {"UNVALIDATED": 1}


def test_a_change_that_alters_no_sort_is_not_written(at: Place) -> None:
    tenant = at.tenant("a@example.com")
    change = Change("event-1", "MODIFY", d.tenants.shape, tenant, tenant, at.clock.now())
    assert not tallies.on_change(at.portal.repository, "tenants", change)
    assert at.db.one(d.tallies.get("tenants")) is None


def test_what_the_stream_no_longer_has_is_found_by_reconciling(at: Place, follow: Callable[[], None]) -> None:
    at.tenant("a@example.com")
    gone = at.tenant("b@example.com", "REGISTERED")
    at.portal.tenants.change(gone.id, {"active": False}, ADMIN)
    at.product()
    at.clock.move(timedelta(hours=25))
    assert jobs.reconcile_tallies(at.portal) == {
        "tenants": {"INACTIVE": 1, "UNVALIDATED": 1},
        "products": {"ACTIVE": 1},
        "campaigns": {},
    }
    assert counts(at) == {"UNVALIDATED": 1, "INACTIVE": 1}
    assert at.portal.tenants.tally().reconciled_at == at.clock.now()
    assert jobs.reconcile_tallies(at.portal) == {}
    at.clock.move(timedelta(days=1))
    assert jobs.reconcile_tallies(at.portal) == {"tenants": {}, "products": {}, "campaigns": {}}


def test_a_tally_is_put_right_also_while_the_stream_is_off(at: Place, follow: Callable[[], None]) -> None:
    at.call("UpdateTable", {"TableName": "tenants", "StreamSpecification": {"StreamEnabled": False}})
    at.tenant("a@example.com")
    at.clock.move(timedelta(hours=25))
    assert jobs.reconcile_tallies(at.portal)["tenants"] == {"UNVALIDATED": 1}


def test_a_tally_that_could_not_be_compared_is_due_again_at_once(
    at: Place, follow: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    real, busy = tallies.counted, True

    def counted(*asked: object) -> dict[str, int]:
        found = real(*asked)  # type: ignore[arg-type]  # passed on as they came
        if busy and asked[1] == "tenants":
            at.tenant(f"{at.clock.world().new_id()}@example.com")
            follow()
        return found

    monkeypatch.setattr(tallies, "counted", counted)
    jobs.reconcile_tallies(at.portal)
    assert at.portal.tenants.tally().reconciled_at is None
    busy = False
    assert list(jobs.reconcile_tallies(at.portal)) == ["tenants"]
    assert at.portal.tenants.tally().reconciled_at == at.clock.now()


def test_what_waits_to_be_counted_is_not_corrected_first(at: Place, follow: Callable[[], None]) -> None:
    """It would be counted twice: now, and when its turn comes. A demo world is one, and a follower that was away."""
    for name in "abc":
        at.tenant(f"{name}@example.com")
    assert jobs.reconcile_tallies(at.portal)["tenants"] == {}
    assert at.portal.tenants.tally().reconciled_at is None
    follow()
    assert counts(at) == {"UNVALIDATED": 3}
    assert jobs.reconcile_tallies(at.portal)["tenants"] == {}
    assert at.portal.tenants.tally().reconciled_at == at.clock.now()
    assert counts(at) == {"UNVALIDATED": 3}


def test_a_wrong_tally_is_put_right(at: Place, follow: Callable[[], None]) -> None:
    at.tenant("a@example.com")
    follow()
    kept = at.portal.tenants.tally()
    at.db.write(
        d.tallies.change(kept, kept.model_copy(update={"counts": {"UNVALIDATED": 7, "SUSPENDED": -2}}))
    )
    assert tallies.reconcile(at.portal.repository, "tenants") == {"SUSPENDED": 2, "UNVALIDATED": -6}
    assert counts(at) == {"UNVALIDATED": 1}


def test_a_negative_count_is_shown_as_none(at: Place) -> None:
    assert Tally(of="tenants", counts={"SUSPENDED": -1}, changed_at=at.clock.now()).active == 0


def test_every_follower_reads_the_table_it_is_named_after(at: Place) -> None:
    found: tuple[Consumer, ...] = jobs.consumers(at.portal)
    assert [consumer.table for consumer in found] == list(tallies.KINDS)
