"""Families: one home for a child, a parent for every family with children, invitations that work once."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties.effort import effort

from tablewright import testing
from tablewright.client import embedded
from tablewright.design import Design
from tablewright.edge.errors import Conflict, NotFound
from tablewright.engine import Engine
from tablewright.kit.family import (
    INVITED_FOR,
    MOST_CHILDREN,
    Families,
    Family,
    FamilyRole,
    Home,
    Invitation,
    Member,
    families_in,
)
from tablewright.kit.tables import Store
from tablewright.mapping import AlreadyExists, Db, Missing, Stale
from tablewright.testing import Clock

TOWN = Design("town")
table = TOWN.table("town", pk="PK", sk="SK", ttl="ttl")
by_person = table.gsi("PersonIndex", pk="person", sk="personAt")
TABLES = families_in(TOWN, table, Family, Member, Home, Invitation, index=by_person, per_month=10)
TOWN.build()
Town = Families[Family, Member, Home, Invitation]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def town(clock: Clock) -> Iterator[Town]:
    with testing.engine(world=clock.world()) as engine:
        yield opened(engine, clock)


def opened(engine: Engine, clock: Clock) -> Town:
    world = clock.world()
    db = Db(embedded(engine), TOWN, world=world, secret=b"a secret that is long enough to be one")
    db.create_tables()
    return Families(TABLES, Store(db, world))


def begin(town: Town, name: str, parent: str) -> Family:
    family = Family(family_id=name, name=name, created_at=town.store.now())
    town.store.db.write(*town.begun(family, place(town, name, parent)))
    return family


def place(town: Town, family: str, user: str, where: FamilyRole = "parent") -> Member:
    return Member(family_id=family, user_id=user, place=where, joined_at=town.store.now())


def join(town: Town, family: str, user: str, where: FamilyRole = "parent") -> None:
    found = town.family(family)
    assert found is not None
    town.store.db.write(*town.joined(found, place(town, family, user, where)))


def leave(town: Town, family: str, user: str) -> None:
    found, member = town.family(family), town.member(family, user)
    assert found is not None
    assert member is not None
    town.store.db.write(*town.left(found, member))


def move(town: Town, child: str, to: str) -> None:
    home, target = town.home(child), town.family(to)
    assert home is not None
    assert target is not None
    member = town.member(home.family_id, child)
    assert member is not None
    town.store.db.write(*town.moved(member, home, target))


# --- membership ---


def test_a_parent_of_the_family_is_a_parent_of_its_children_and_of_no_other(town: Town) -> None:
    begin(town, "family_12", "p12")
    begin(town, "family_123", "p123")
    join(town, "family_123", "kid", "child")
    assert town.parent_of("p123", "kid") is not None
    assert town.parent_of("p12", "kid") is None
    assert town.parent_of("kid", "kid") is None
    assert town.parent_of("p123", "p123") is None


def test_a_removed_parent_is_none_at_the_next_read(town: Town) -> None:
    begin(town, "f", "ann")
    join(town, "f", "bob")
    join(town, "f", "kid", "child")
    assert town.parent_of("bob", "kid") is not None
    leave(town, "f", "bob")
    assert town.parent_of("bob", "kid") is None
    assert town.places_of("bob") == []


def test_a_child_has_one_home(town: Town) -> None:
    begin(town, "f", "ann")
    begin(town, "g", "bob")
    join(town, "f", "kid", "child")
    with pytest.raises(AlreadyExists):
        join(town, "g", "kid", "child")
    assert town.parent_of("bob", "kid") is None


def test_a_child_that_moved_is_of_the_other_family(town: Town) -> None:
    begin(town, "f", "ann")
    begin(town, "g", "bob")
    join(town, "f", "kid", "child")
    move(town, "kid", "g")
    assert (town.parent_of("ann", "kid"), [one.family_id for one in town.places_of("kid")]) == (None, ["g"])
    assert town.parent_of("bob", "kid") is not None


def test_the_last_parent_of_children_stays_and_an_empty_family_goes_with_its_last_parent(town: Town) -> None:
    begin(town, "f", "ann")
    join(town, "f", "kid", "child")
    with pytest.raises(Conflict) as refused:
        leave(town, "f", "ann")
    assert refused.value.code == "LAST_PARENT"
    leave(town, "f", "kid")
    leave(town, "f", "ann")
    assert town.family("f") is None


def test_two_parents_who_leave_at_once_do_not_leave_children_alone(town: Town) -> None:
    begin(town, "f", "ann")
    join(town, "f", "bob")
    join(town, "f", "kid", "child")
    family = town.family("f")
    members = [town.member("f", name) for name in ("ann", "bob")]
    assert family is not None

    def go(member: Member | None) -> bool:
        assert family is not None
        assert member is not None
        try:
            town.store.db.write(*town.left(family, member))
            return True
        except Stale:
            return False

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(go, members)) == [False, True]
    assert len([one for one in town.members("f") if one.place == "parent"]) == 1


def test_a_family_has_a_limited_number_of_children(town: Town) -> None:
    begin(town, "f", "ann")
    for number in range(MOST_CHILDREN):
        join(town, "f", f"kid{number}", "child")
    with pytest.raises(Conflict) as refused:
        join(town, "f", "one more", "child")
    assert refused.value.code == "FAMILY_FULL"


STEPS = st.tuples(
    st.sampled_from(["parent", "child", "leave", "move"]), st.sampled_from("fg"), st.sampled_from("abcd")
)


@effort(60)
@given(st.lists(STEPS, max_size=12))
def test_counts_and_homes_are_those_of_the_members_whatever_happens(
    steps: list[tuple[str, str, str]],
) -> None:
    clock = Clock()
    with testing.engine(world=clock.world()) as engine:
        town = opened(engine, clock)
        for name in "fg":
            begin(town, name, f"first {name}")
        for verb, family, user in steps:
            try:
                if verb in ("parent", "child"):
                    join(town, family, user, "parent" if verb == "parent" else "child")
                elif verb == "leave":
                    leave(town, family, user)
                else:
                    move(town, user, family)
            except (AlreadyExists, Conflict, AssertionError, Stale, Missing, ValueError):
                pass  # refused as a whole
            check_laws(town)


def check_laws(town: Town) -> None:
    homes: dict[str, str] = {}
    for name in "fg":
        family, members = town.family(name), town.members(name)
        assert family is not None
        children = [one.user_id for one in members if one.place == "child"]
        assert (family.parents, family.children) == (len(members) - len(children), len(children))
        assert family.parents >= 1
        assert not homes.keys() & set(children)
        homes |= dict.fromkeys(children, name)
    assert {one: home.family_id for one in "abcd" if (home := town.home(one))} == homes


# --- invitations ---


def test_an_invitation_is_found_by_its_token_and_address_alone_and_works_once(town: Town) -> None:
    family = begin(town, "f", "ann")
    token, invitation = town.invitation("f", "Bob@Example.org", invited_by="ann")
    town.store.db.write(TABLES.invitations.put(invitation))
    assert token not in invitation.model_dump_json()
    for wrong in (
        ("another", "bob@example.org"),
        (token, "eve@example.org"),
        (token, None),
        (token, "no address"),
    ):
        with pytest.raises(NotFound):
            town.offered(*wrong)
    found = town.offered(token, "bob@example.org")
    town.store.db.write(town.used(found), *town.joined(family, place(town, "f", "bob")))
    with pytest.raises(Missing):
        town.store.db.write(town.used(found))
    assert town.invited("f") == []


def test_an_invitation_expires(town: Town, clock: Clock) -> None:
    begin(town, "f", "ann")
    token, invitation = town.invitation("f", "bob@example.org", invited_by="ann")
    town.store.db.write(TABLES.invitations.put(invitation))
    clock.move(INVITED_FOR + timedelta(seconds=1))
    with pytest.raises(NotFound):
        town.offered(token, "bob@example.org")
