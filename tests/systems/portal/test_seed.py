"""The demo world: it fills an empty portal, tells how far it is, and passes over what is there."""

from __future__ import annotations

from datetime import timedelta

from tests.systems.portal.talk import Api, Place
from tests.systems.talk import given

from tablewright.systems.portal import design as d
from tablewright.systems.portal.seed import ADMIN, BUSINESS, CUSTOMER, PRODUCTS, STARTER, people, seed
from tablewright.systems.portal.tallies import counted

TENANTS = 60


def _seeded(at: Place) -> list[tuple[int, int | None, str]]:
    told: list[tuple[int, int | None, str]] = []
    seed(at.portal, lambda done, total, words: told.append((done, total, words)), tenants=TENANTS)
    return told


def test_the_seed_tells_its_progress_from_the_beginning_to_the_end(at: Place) -> None:
    told = _seeded(at)
    steps = [done for done, _, _ in told]
    assert steps == sorted(steps)
    assert len({total for _, total, _ in told}) == 1
    assert told[-1][0] == told[-1][1]
    assert {words for _, _, words in told} >= {"products", "customers and orders", "done"}


def test_a_seed_that_is_run_again_changes_nothing(at: Place) -> None:
    _seeded(at)
    before = at.everything()
    _seeded(at)
    assert at.everything() == before


def test_a_seed_that_was_broken_off_is_taken_up_again(at: Place) -> None:
    class Died(Exception):
        pass

    def told(done: int, total: int | None, words: str) -> None:
        if words == "customers and orders" and done > 20:
            raise Died

    try:
        seed(at.portal, told, tenants=TENANTS)
    except Died:
        unfinished = at.db.count(d.tenants_by_active(active=True))
    _seeded(at)
    assert 0 < unfinished < at.db.count(d.tenants_by_active(active=True))
    assert at.portal.repository.tenant_of(CUSTOMER) is not None


def test_the_seeded_world_has_a_bit_of_everything(at: Place) -> None:
    _seeded(at)
    assert all(n for sort, n in counted(at.portal.repository, "tenants").items() if sort != "INACTIVE")
    assert len(at.portal.catalogue.for_sale()) == len(PRODUCTS) - 2
    for status in ("PENDING", "PAID", "CANCELLED"):
        assert at.db.first(d.orders_by_status(status=status)) is not None
    states = {offer.state for offer in at.portal.catalogue.offers(ADMIN, active=None)[0]}
    assert {"RUNNING", "SCHEDULED", "ENDED"} <= states
    assert len(at.portal.catalogue.prices(BUSINESS)) == 2
    assert at.db.first(d.tenants_by_active(active=False), deleted=True) is not None
    assert [person.role for person in people(at.portal)] == ["Customer", "Portal admin", "Support"]
    newest = at.db.first(d.orders_by_status(status="PAID"))
    assert newest is not None
    assert timedelta(0) < at.clock.now() - newest.placed_at < timedelta(days=2)


def test_every_page_of_the_api_answers_on_the_seeded_world(at: Place, api: Api) -> None:
    _seeded(at)
    me = at.portal.repository.tenant_of(CUSTOMER)
    assert me is not None
    order = at.portal.tenants.orders(me.id, ADMIN).items[0]
    paths = given(api.client.get("/openapi.json"))["paths"]
    gets = [path.removeprefix("/portal/v1.0") for path, methods in paths.items() if "get" in methods]
    ids = {"tenants": me.id, "orders": order.order_id, "products": STARTER}
    asked = 0
    for path in gets:
        if path.startswith(("/health", "/ready")):
            continue
        target = path.replace("{id}", ids.get(path.split("/")[1], "")).replace("{code}", "SUMMER_SPECIAL")
        by = me.id if path.startswith("/me") else "admin"
        body = given(api.get(target, by=by))
        assert body, path
        asked += 1
    assert asked >= 18
    for of in ("tenants", "products", "campaigns"):
        assert given(api.get(f"/admin/audit?of={of}&month=2030-04", by="support"))["items"]
