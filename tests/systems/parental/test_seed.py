"""The demo world: it fills an empty store, tells how far it is, and passes over what is there."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from tests.systems.parental.talk import OPERATOR, Api, Place
from tests.systems.talk import given

from tablewright.kit.tables import Actor
from tablewright.systems.parental.enforcement import on_change
from tablewright.systems.parental.seed import (
    ANNA,
    BEN,
    CHIDI,
    FIREWALLS,
    HOMES,
    SARAH,
    TOM,
    keep_alive,
    people,
    seed,
)

FAMILIES = 2


def _seeded(at: Place) -> list[tuple[int, int | None, str]]:
    told: list[tuple[int, int | None, str]] = []
    seed(at.parental, lambda done, total, words: told.append((done, total, words)), families=FAMILIES)
    return told


def test_the_seed_tells_its_progress_from_the_beginning_to_the_end(at: Place) -> None:
    told = _seeded(at)
    steps = [done for done, _, _ in told]
    assert steps == sorted(steps)
    assert len({total for _, total, _ in told}) == 1
    assert told[-1][0] == told[-1][1]
    assert len({words for _, _, words in told}) == 5


def test_a_seed_that_is_run_again_changes_nothing(at: Place) -> None:
    _seeded(at)
    before = at.everything()
    _seeded(at)
    assert at.everything() == before


def test_a_seed_that_was_broken_off_is_taken_up_again_and_counts_nothing_twice(at: Place) -> None:
    class Died(Exception):
        pass

    def told(done: int, total: int | None, words: str) -> None:
        if words.startswith("a month") and done >= 12:
            raise Died

    with pytest.raises(Died):
        seed(at.parental, told, families=FAMILIES)
    at.clock.move(timedelta(hours=7))
    _seeded(at)
    total = _blocked(at)
    _seeded(at)
    assert _blocked(at) == total > 500


def _blocked(at: Place) -> int:
    return sum(int(item["blockedCount"]["N"]) for item in at.scan("BlockedRequestMetrics"))


def test_the_seeded_world_has_a_bit_of_everything(at: Place) -> None:
    _seeded(at)
    parental = at.parental
    assert len(parental.families.children(ANNA)) == 2
    assert parental.families.children(BEN) == parental.families.children(ANNA)
    for home in HOMES:
        for kid in home.kids:
            child = parental.families.child(home.owner, kid.phone)
            assert parental.figures.of_child(child).month.blocked > 0, kid.name
            assert parental.records.history(child, home.owner).items, kid.name
            assert len(parental.policies.of_child(child)) == len(kid.plans)
    sarah = parental.families.child(ANNA, SARAH)
    states = {status.app: status.state for status in parental.reconciler.status(sarah.child)}
    # Friday at ten in New York: school.
    assert states["TikTok"] == "enforced"
    assert at.firewalls[FIREWALLS[0][0]].list()
    assert {"looked at", "guardian invited"} <= {action for action, _ in at.audit(sarah.family_id)}
    roles = [person.role for person in people(parental)]
    assert roles == ["Parent", "Co-parent", "Parent", "Network operator", "Support", "Event source"]


def test_one_family_of_the_seed_sees_nothing_of_another(at: Place, api: Api) -> None:
    _seeded(at)
    theirs = given(api.get("/children", by=CHIDI))
    assert [child["childName"] for child in theirs] == ["Ada"]
    assert api.get(f"/children/{SARAH}", by=CHIDI).status_code == 404


def test_the_demos_sessions_are_kept_open(at: Place) -> None:
    _seeded(at)
    at.clock.move(timedelta(hours=23))
    assert keep_alive(at.parental) == 4
    at.clock.move(timedelta(hours=2))
    assert len(at.parental.sessions.open_of(TOM)) == 1


def test_every_page_of_the_api_answers_on_the_seeded_world(at: Place, api: Api) -> None:
    _seeded(at)
    for follower in on_change.consumers(at.parental):
        follower.create_tables()
    family = at.parental.families.own(ANNA)
    policy = at.parental.policies.of_child(at.parental.families.child(ANNA, SARAH))[0]
    paths = given(api.client.get("/openapi.json"))["paths"]
    asked = 0
    for path, methods in paths.items():
        if "get" not in methods or not path.startswith("/parental/v1"):
            continue
        short = path.removeprefix("/parental/v1")
        ids = {"families": family.family_id, "children": policy.policy_id, "devices": FIREWALLS[0][0]}
        target = short.replace("{phone}", SARAH).replace("{name}", "TikTok").replace("{who}", "me")
        target = target.replace("{id}", ids.get(short.split("/")[1], ""))
        is_operators = short.startswith(
            ("/devices", "/enforcement", "/quarantine", "/metrics")
        ) or short.endswith("/affected")
        by: Actor = OPERATOR if is_operators else replace(ANNA, role="parent")
        answer = api.get(target, by=by)
        assert (answer.status_code, bool(answer.content)) == (200, True), f"{path}: {answer.text}"
        asked += 1
    assert asked >= 24
