"""Families of any system: membership read at each access, invitations that work once, limits that hold in races."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest
from pydantic import BaseModel
from tests.systems.talk import at_once

from tablewright import testing
from tablewright.client import embedded
from tablewright.design import Design, Expires, Keys, Write, begins
from tablewright.edge.errors import CallerError, Conflict, NotFound
from tablewright.kit import family
from tablewright.kit.family import INVITED_FOR, Invitations, Membership
from tablewright.kit.tables import Store
from tablewright.mapping import Db, Missing, Stale
from tablewright.testing import Clock

MOST_MEMBERS, MOST_INVITATIONS = 3, 2


class Club(BaseModel):
    club: str
    version: int = 1


class Player(family.Member):
    player: str


class Offer(family.Invitation):
    """With the number of the shirt: another shirt is another offer."""

    expires_at: datetime
    shirt: int = 1


def club_key(club: str) -> None: ...
def player_key(family_id: str, player: str) -> None: ...
def offer_key(invitation_id: str) -> None: ...


TOWN = Design("town")
table = TOWN.table("town", pk="PK", sk="SK", ttl="ttl")
by_person = table.gsi("PersonIndex", pk="person", sk="personAt")
clubs = table.entity(Club, club_key, tag="club", pk="CLUB#{club}", sk="CLUB", version="version")
players = table.entity(
    Player, player_key, tag="player", pk="CLUB#{family_id}", sk="PLAYER#{player}",
    on={by_person: Keys("PLAYER#{player}", "{family_id}")},
)  # fmt: skip
offers = table.entity(
    Offer, offer_key, tag="offer", pk="OFFER#{invitation_id}", sk="OFFER",
    on={by_person: Keys("OFFERED#{family_id}", "{invitation_id}")}, expires=Expires("expires_at"),
)  # fmt: skip


@TOWN.query(players, pk="CLUB#{family_id}", sk=begins("PLAYER#"), consistent=True)
def players_of_club(*, family_id: str) -> None:
    """Who plays in a club."""


@TOWN.query(players, on=by_person, pk="PLAYER#{player}")
def clubs_of_player(*, player: str) -> None:
    """The clubs of a player."""


@TOWN.query(offers, on=by_person, pk="OFFERED#{family_id}")
def offers_of_club(*, family_id: str) -> None:
    """The open offers of a club."""


TOWN.build()


def refuse_too_many(count: int) -> None:
    if count > MOST_INVITATIONS:
        raise Conflict("TOO_MANY", "Too many offers.")


class Town:
    """Clubs whose row is the guard: it is read first, and changed by each invitation and each change of players."""

    def __init__(self, store: Store, refuse: Callable[[int], None] = refuse_too_many) -> None:
        self.db, self.store = store.db, store
        self.members = Membership(store, clubs, players, lambda person: clubs_of_player(player=person))
        self.invitations = Invitations(store, offers, offers_of_club, refuse)

    def begin(self, club: str, player: str) -> None:
        self.db.write(clubs.create(Club(club=club)), players.create(Player(family_id=club, player=player)))

    def club(self, club: str) -> Club:
        found = self.db.one(clubs.get(club), consistent=True)
        assert found is not None
        return found

    def players(self, club: str) -> set[str]:
        return {one.player for one in self.db.all(players_of_club(family_id=club))}

    def invite(self, club: str, email: str, by: str = "ann", shirt: int = 1) -> Offer:
        guard = self.club(club)
        if self.members.member(guard.club, by) is None:
            raise PermissionError(by)
        earlier = self.invitations.earlier(guard.club, lambda it: (it.email, it.shirt) == (email, shirt))
        made = Offer(
            invitation_id=self.store.new_id("offer"), family_id=guard.club, email=email, invited_by=by,
            expires_at=self.store.now() + INVITED_FOR, shirt=shirt,
        )  # fmt: skip
        self.write(guard, offers.put(made), *(offers.discard(one.invitation_id) for one in earlier))
        return made

    def accept(self, invitation_id: str, email: str, player: str) -> None:
        found = self.invitations.offered(invitation_id, email)
        self.join(self.club(found.family_id), found, player)

    def join(self, guard: Club, offer: Offer, player: str) -> None:
        used = self.invitations.end(offer)
        if self.members.member(guard.club, player) is not None:
            return self.write(guard, used)
        if len(self.players(guard.club)) >= MOST_MEMBERS:
            raise Conflict("FULL", "The club is full.")
        return self.write(guard, used, players.create(Player(family_id=guard.club, player=player)))

    def remove(self, club: str, player: str) -> None:
        guard, found = self.club(club), self.members.member(club, player)
        assert found is not None
        self.write(guard, players.delete(found))

    def write(self, guard: Club, *writes: Write[Any]) -> None:
        self.db.write(clubs.change(guard, guard), *writes)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def town(clock: Clock) -> Iterator[Town]:
    world = clock.world()
    with testing.engine(world=world) as engine:
        db = Db(embedded(engine), TOWN, world=world, secret=b"a secret that is long enough to be one")
        db.create_tables()
        yield Town(Store(db, world))


def outcome(attempt: Callable[[], object]) -> str:
    """How it ended: done again after each race, as all systems do."""
    while True:
        try:
            attempt()
        except Stale:
            continue
        except (CallerError, Missing, PermissionError) as refused:
            return getattr(refused, "code", type(refused).__name__)
        return "done"


# --- membership ---


def test_a_member_of_one_family_is_none_of_another_whose_id_begins_alike(town: Town) -> None:
    town.begin("club_12", "ann")
    town.begin("club_123", "bob")
    assert town.members.member("club_123", "bob") is not None
    assert town.members.member("club_12", "bob") is None


def test_a_removed_member_is_none_at_the_next_read(town: Town) -> None:
    town.begin("f", "ann")
    town.accept(town.invite("f", "bob@example.org").invitation_id, "bob@example.org", "bob")
    (place,) = town.members.places_of("bob")
    assert [club.club for club in town.members.families_of([place])] == ["f"]
    town.remove("f", "bob")
    assert town.members.member("f", "bob") is None
    assert town.members.places_of("bob") == []


def test_places_that_only_a_late_index_still_has_are_left_out(town: Town) -> None:
    town.begin("f", "ann")
    late = Membership(town.store, clubs, players, lambda _: clubs_of_player(player="ann"))
    assert late.places_of("bob") == []
    assert [one.family_id for one in late.places_of("ann")] == ["f"]


def test_a_place_in_a_family_that_is_gone_leads_to_no_family(town: Town) -> None:
    assert town.members.families_of([Player(family_id="gone", player="ann")]) == []


# --- invitations ---


def test_an_invitation_is_found_by_its_address_alone_and_works_once(town: Town) -> None:
    town.begin("f", "ann")
    sent = town.invite("f", "bob@example.org")
    told = set()
    for wrong in (
        ("another", "bob@example.org"),
        ("", "bob@example.org"),
        ("x" * 3000, "bob@example.org"),
        (sent.invitation_id, "eve@example.org"),
        (sent.invitation_id, None),
        (sent.invitation_id, "no address"),
    ):
        with pytest.raises(NotFound) as refused:
            town.invitations.offered(*wrong)
        told.add(str(refused.value))
    assert len(told) == 1
    assert town.invitations.offered(sent.invitation_id, " Bob@Example.org") == sent
    town.accept(sent.invitation_id, "bob@example.org", "bob")
    assert town.invitations.waiting("f") == []
    with pytest.raises(Missing):
        town.db.write(town.invitations.end(sent))


def test_an_invitation_expires_after_a_week(town: Town, clock: Clock) -> None:
    town.begin("f", "ann")
    sent = town.invite("f", "bob@example.org")
    clock.move(timedelta(days=7, seconds=-1))
    assert town.invitations.offered(sent.invitation_id, sent.email) == sent
    clock.move(timedelta(seconds=2))
    with pytest.raises(NotFound):
        town.invitations.offered(sent.invitation_id, sent.email)
    assert town.invitations.waiting("f") == []


def test_an_invitation_is_withdrawn_by_the_family_that_sent_it(town: Town) -> None:
    town.begin("f", "ann")
    town.begin("g", "eve")
    sent = town.invite("f", "bob@example.org")
    with pytest.raises(NotFound):
        town.invitations.sent_by("g", sent.invitation_id)
    town.db.write(town.invitations.end(town.invitations.sent_by("f", sent.invitation_id)))
    with pytest.raises(NotFound):
        town.invitations.sent_by("f", sent.invitation_id)


def test_a_new_invitation_replaces_the_earlier_one_of_the_same_offer_also_when_the_family_is_full(
    town: Town,
) -> None:
    town.begin("f", "ann")
    first, other = town.invite("f", "bob@example.org"), town.invite("f", "bob@example.org", shirt=2)
    again = town.invite("f", "bob@example.org")
    waiting = {one.invitation_id for one in town.invitations.waiting("f")}
    assert waiting == {again.invitation_id, other.invitation_id}
    with pytest.raises(NotFound):
        town.invitations.offered(first.invitation_id, first.email)
    with pytest.raises(Conflict):
        town.invite("f", "cara@example.org")


# --- races ---


def test_of_two_who_accept_one_invitation_one_is_in(town: Town) -> None:
    town.begin("f", "ann")
    sent = town.invite("f", "bob@example.org")
    accept = partial(town.accept, sent.invitation_id, sent.email)
    ended = at_once([partial(outcome, partial(accept, player)) for player in ("bob", "bob's other login")])
    assert ended.count("done") == 1
    assert len(town.players("f")) == 2


def test_an_invitation_is_accepted_or_withdrawn_and_never_both(town: Town) -> None:
    town.begin("f", "ann")
    sent = town.invite("f", "bob@example.org")
    town.db.write(town.invitations.end(sent))
    with pytest.raises(Missing):
        town.join(town.club("f"), sent, "bob")
    assert town.players("f") == {"ann"}


def test_those_who_invite_at_once_stay_within_the_limit(town: Town) -> None:
    town.begin("f", "ann")
    ended = at_once(
        [partial(outcome, partial(town.invite, "f", f"p{number}@example.org")) for number in range(6)]
    )
    assert (ended.count("done"), ended.count("TOO_MANY")) == (MOST_INVITATIONS, 4)
    assert len(town.invitations.waiting("f")) == MOST_INVITATIONS


def test_those_who_accept_at_once_stay_within_the_limit(town: Town) -> None:
    town.begin("f", "ann")
    sent = []
    for number in range(4):
        made = Offer(
            invitation_id=f"i{number}", family_id="f", email=f"p{number}@example.org", invited_by="ann",
            expires_at=town.store.now() + INVITED_FOR,
        )  # fmt: skip
        town.db.write(offers.put(made))
        sent.append(made)
    ended = at_once(
        [partial(outcome, partial(town.accept, one.invitation_id, one.email, one.email)) for one in sent]
    )
    assert (ended.count("done"), ended.count("FULL")) == (2, 2)
    assert len(town.players("f")) == MOST_MEMBERS


def test_a_member_who_is_removed_while_inviting_does_not_invite(town: Town) -> None:
    town.begin("f", "ann")
    town.accept(town.invite("f", "bob@example.org").invitation_id, "bob@example.org", "bob")
    # Between the read of bob's own row and the write of the invitation.
    removes = Town(town.store, lambda _: town.remove("f", "bob"))
    with pytest.raises(Stale):
        removes.invite("f", "eve@example.org", by="bob")
    assert outcome(partial(town.invite, "f", "eve@example.org", "bob")) == "PermissionError"
    assert town.invitations.waiting("f") == []


def test_a_member_who_is_removed_while_accepting_again_is_in_or_out_and_the_invitation_is_used(
    town: Town,
) -> None:
    town.begin("f", "ann")
    town.accept(town.invite("f", "bob@example.org").invitation_id, "bob@example.org", "bob")
    second = town.invite("f", "bob@work.example")
    read = town.club("f")
    town.remove("f", "bob")
    with pytest.raises(Stale):
        town.join(read, second, "bob")  # what it decided on is no longer so
    assert town.invitations.offered(second.invitation_id, second.email) == second
    assert outcome(partial(town.accept, second.invitation_id, second.email, "bob")) == "done"
    assert town.players("f") == {"ann", "bob"}
    assert town.invitations.waiting("f") == []
