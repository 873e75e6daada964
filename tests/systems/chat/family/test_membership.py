"""Members of families: one home for a child, a parent for every family with children, counts of the members."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties.effort import effort

from tablewright import testing
from tablewright.client import embedded
from tablewright.edge.errors import Conflict
from tablewright.engine import Engine
from tablewright.kit.tables import Store
from tablewright.mapping import AlreadyExists, Db, Missing, Stale
from tablewright.systems.chat import design as d
from tablewright.systems.chat.family.membership import MOST_CHILDREN, Membership
from tablewright.systems.chat.family_model import Family, FamilyRole, Member
from tablewright.testing import Clock


@pytest.fixture
def zoo() -> Iterator[Membership]:
    clock = Clock()
    with testing.engine(world=clock.world()) as engine:
        yield opened(engine, clock)


def opened(engine: Engine, clock: Clock) -> Membership:
    world = clock.world()
    db = Db(embedded(engine), d.CHAT, world=world, secret=b"a secret that is long enough to be one")
    db.create_tables()
    return Membership(Store(db, world))


def begin(zoo: Membership, name: str, parent: str) -> None:
    now = zoo.store.now()
    zoo.store.db.write(
        d.families.create(Family(family_id=name, name=name, created_at=now)),
        d.members.create(Member(family_id=name, user_id=parent, joined_at=now)),
    )


def join(zoo: Membership, family: str, user: str, where: FamilyRole = "parent") -> None:
    found = zoo.family(family)
    assert found is not None
    zoo.store.db.write(*zoo.joined(found, user, where))


def leave(zoo: Membership, family: str, user: str) -> None:
    found, member = zoo.family(family), zoo.member(family, user)
    assert found is not None
    assert member is not None
    zoo.store.db.write(*zoo.left(found, member))


def move(zoo: Membership, child: str, to: str) -> None:
    home, target = zoo.home(child), zoo.family(to)
    assert home is not None
    assert target is not None
    member = zoo.member(home.family_id, child)
    assert member is not None
    zoo.store.db.write(*zoo.moved(member, home, target))


def test_a_parent_of_the_family_is_a_parent_of_its_children_and_of_no_other(zoo: Membership) -> None:
    begin(zoo, "family_12", "p12")
    begin(zoo, "family_123", "p123")
    join(zoo, "family_123", "kid", "child")
    assert zoo.parent_of("p123", "kid") is not None
    assert zoo.parent_of("p12", "kid") is None
    assert zoo.parent_of("kid", "kid") is None
    assert zoo.parent_of("p123", "p123") is None


def test_a_removed_parent_is_none_at_the_next_read(zoo: Membership) -> None:
    begin(zoo, "f", "ann")
    join(zoo, "f", "bob")
    join(zoo, "f", "kid", "child")
    assert zoo.parent_of("bob", "kid") is not None
    leave(zoo, "f", "bob")
    assert zoo.parent_of("bob", "kid") is None


def test_a_child_has_one_home(zoo: Membership) -> None:
    begin(zoo, "f", "ann")
    begin(zoo, "g", "bob")
    join(zoo, "f", "kid", "child")
    with pytest.raises(AlreadyExists):
        join(zoo, "g", "kid", "child")
    assert zoo.parent_of("bob", "kid") is None


def test_a_child_that_moved_is_of_the_other_family(zoo: Membership) -> None:
    begin(zoo, "f", "ann")
    begin(zoo, "g", "bob")
    join(zoo, "f", "kid", "child")
    move(zoo, "kid", "g")
    assert (zoo.parent_of("ann", "kid"), [one.family_id for one in zoo.places_of("kid")]) == (None, ["g"])
    assert zoo.parent_of("bob", "kid") is not None


def test_the_last_parent_of_children_stays_and_an_empty_family_goes_with_its_last_parent(
    zoo: Membership,
) -> None:
    begin(zoo, "f", "ann")
    join(zoo, "f", "kid", "child")
    with pytest.raises(Conflict) as refused:
        leave(zoo, "f", "ann")
    assert refused.value.code == "LAST_PARENT"
    leave(zoo, "f", "kid")
    leave(zoo, "f", "ann")
    assert zoo.family("f") is None


def test_two_parents_who_leave_at_once_do_not_leave_children_alone(zoo: Membership) -> None:
    begin(zoo, "f", "ann")
    join(zoo, "f", "bob")
    join(zoo, "f", "kid", "child")
    family = zoo.family("f")
    members = [zoo.member("f", name) for name in ("ann", "bob")]
    assert family is not None

    def go(member: Member | None) -> bool:
        assert family is not None
        assert member is not None
        try:
            zoo.store.db.write(*zoo.left(family, member))
            return True
        except Stale:
            return False

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(go, members)) == [False, True]
    assert len([one for one in zoo.members_of("f") if one.place == "parent"]) == 1


def test_a_family_has_a_limited_number_of_children(zoo: Membership) -> None:
    begin(zoo, "f", "ann")
    for number in range(MOST_CHILDREN):
        join(zoo, "f", f"kid{number}", "child")
    with pytest.raises(Conflict) as refused:
        join(zoo, "f", "one more", "child")
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
        zoo = opened(engine, clock)
        for name in "fg":
            begin(zoo, name, f"first {name}")
        for verb, family, user in steps:
            try:
                if verb in ("parent", "child"):
                    join(zoo, family, user, "parent" if verb == "parent" else "child")
                elif verb == "leave":
                    leave(zoo, family, user)
                else:
                    move(zoo, user, family)
            except (AlreadyExists, Conflict, AssertionError, Stale, Missing, ValueError):
                pass  # refused as a whole
            check_laws(zoo)


def check_laws(zoo: Membership) -> None:
    homes: dict[str, str] = {}
    for name in "fg":
        family, members = zoo.family(name), zoo.members_of(name)
        assert family is not None
        children = [one.user_id for one in members if one.place == "child"]
        assert (family.parents, family.children) == (len(members) - len(children), len(children))
        assert family.parents >= 1
        assert not homes.keys() & set(children)
        homes |= dict.fromkeys(children, name)
    assert {one: home.family_id for one in "abcd" if (home := zoo.home(one))} == homes
