"""What the tests of Skratch say to it: a place with everything around it, travellers, and a device that works offline.

`Gadget` is a plain client written from docs/sync.md and nothing else: a queue of operations that were not answered,
what the server said of each entity, and a place in the feed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from typing import Any

from tablewright import Engine
from tablewright.client import Call, pages
from tablewright.mapping import Db
from tablewright.systems.travel import design as d
from tablewright.systems.travel.model import Device, Head, Identity, OperationType, Profile, RegionType, Visit
from tablewright.systems.travel.sync.operations import (
    Edit,
    EntityState,
    Pulled,
    Pushed,
    Result,
    Target,
    place_id,
    places_in,
)
from tablewright.systems.travel.travel import Travel
from tablewright.testing import Clock

# Late enough that no service sweeps away what these tests keep for a while.
START = datetime(2030, 6, 14, 14, tzinfo=UTC)
SECRET = b"one secret for page tokens"
ANNA, BEN = "anna", "ben"
PHONE, TABLET = "phone", "tablet"
Spot = tuple[RegionType, str]
FR: Spot = ("country", "FR")


@dataclass(frozen=True)
class Place:
    """Skratch and what lies around it."""

    travel: Travel
    db: Db
    call: Call
    clock: Clock
    engine: Engine | None

    def items(self) -> Iterator[dict[str, Any]]:
        """Everything in the table, as it is stored."""
        for page in pages(self.call, "Scan", {"TableName": self.db.physical(d.table.table.name)}):
            yield from page["Items"]

    def set_back(self, items: Sequence[dict[str, Any]]) -> None:
        """The table as it once was: a backup is restored."""
        table = {"TableName": self.db.physical(d.table.table.name)}
        for item in list(self.items()):
            self.call("DeleteItem", {**table, "Key": {name: item[name] for name in ("PK", "SK")}})
        for item in items:
            self.call("PutItem", {**table, "Item": item})

    def gadget(self, device_id: str, user_id: str = ANNA) -> Gadget:
        return Gadget(self.travel, self.clock, user_id, device_id)

    def head(self, user_id: str = ANNA) -> Head:
        return self.travel.repository.head(user_id) or Head(user_id=user_id)

    def visit(self, region_type: RegionType = "country", region_code: str = "FR") -> Visit | None:
        """A visit of Anna's, a tombstone too."""
        return self.travel.repository.visits_at(ANNA, [(region_type, region_code)])[0]


def sign_up(
    db: Db, clock: Clock, user_id: str = ANNA, devices: Sequence[str] = (PHONE, TABLET), **more: Any
) -> Profile:
    """A traveller with devices, as signing in leaves them."""
    now = clock.now()
    profile = Profile(
        user_id=user_id,
        auth_provider="apple",
        auth_provider_id=f"apple-{user_id}",
        created_at=now,
        updated_at=now,
        **more,
    )
    login = Identity(provider="apple", provider_id=f"apple-{user_id}", user_id=user_id, created_at=now)
    shares = profile.privacy_settings.share_visits
    db.write(
        d.profiles.create(profile),
        d.identities.create(login),
        d.heads.create(Head(user_id=user_id, shares_visits=shares)),
        *(
            d.devices.create(
                Device(user_id=user_id, device_id=id, name=f"{user_id}'s {id}", registered_at=now, last_seen_at=now)
            )
            for id in devices
        ),
    )  # fmt: skip
    return profile


_numbers = count(1)


@dataclass(frozen=True)
class Form:
    """A place as it was shown when somebody began to type: what was told of it, and the last that was done to it."""

    state: EntityState | None
    previous: str | None

    @property
    def version(self) -> int:
        return self.state.entity_version if self.state is not None else 0


@dataclass
class Gadget:
    """A device: what it was told, and what it did and was not answered for yet."""

    travel: Travel
    clock: Clock
    user_id: str
    device_id: str
    since: int = 0
    seal: str | None = None
    as_of: int = 0
    told: dict[str, EntityState] = field(default_factory=dict)
    queue: list[Edit] = field(default_factory=list)
    results: dict[str, Result] = field(default_factory=dict)

    # --- offline ---

    def look(self, place: Spot = FR) -> Form:
        """Open a form on a place; what is saved from it rests on what it shows now."""
        return Form(self.told.get(place_id(self.user_id, *place)), self._pending([place]))

    def edit(
        self,
        kind: OperationType,
        place: Spot = FR,
        data: dict[str, Any] | None = None,
        *,
        at: datetime | None = None,
        id: str | None = None,
        form: Form | None = None,
    ) -> Edit:
        """Do something to a place, without a network; from what is shown now, or from what a form shows."""
        form = form or self.look(place)
        made = Edit(
            operation_id=id or f"op-{self.device_id}-{next(_numbers)}",
            operation_type=kind,
            region_type=place[0],
            region_code=place[1],
            client_version=form.version,
            entity_data=data or {},
            client_timestamp=at or self.clock.now(),
            previous=form.previous,
        )
        self.queue.append(made)
        return made

    def mark(self, place: Spot = FR, **data: Any) -> Edit:
        return self.edit("create", place, data)

    def change(self, place: Spot = FR, **data: Any) -> Edit:
        return self.edit("update", place, data)

    def unmark(self, place: Spot = FR) -> Edit:
        return self.edit("delete", place)

    def batch(
        self, kind: OperationType, places: Sequence[Spot], *, at: datetime | None = None, **data: Any
    ) -> Edit:
        made = Edit(
            operation_id=f"op-{self.device_id}-{next(_numbers)}",
            operation_type=kind,
            visits=[
                Target(
                    region_type=place[0],
                    region_code=place[1],
                    client_version=self.look(place).version,
                    entity_data=data,
                )
                for place in places
            ],
            client_timestamp=at or self.clock.now(),
            previous=self._pending(places),
        )
        self.queue.append(made)
        return made

    def _pending(self, places: Sequence[Spot], end: int | None = None) -> str | None:
        """The last operation about one of some places that was not answered."""
        for edit in reversed(self.queue[:end]):
            if not set(places).isdisjoint(_spots(edit)):
                return edit.operation_id
        return None

    def is_chain(self) -> bool:
        """Whether each that was not answered follows the last one before it on the same places."""
        return all(
            edit.previous == self._pending(_spots(edit), number)
            for number, edit in enumerate(self.queue)
            if self._pending(_spots(edit), number) is not None
        )

    # --- online ---

    def push(self) -> list[Result]:
        """Send what was not answered; take the answers."""
        sent = list(self.queue)
        pushed = self.travel.sync.push(self.user_id, self.device_id, sent, self.since, self.seal)
        self.answered(sent, pushed)
        return pushed.results

    def answered(self, sent: Sequence[Edit], pushed: Pushed) -> None:
        """An answer has come, perhaps for the second time."""
        assert [edit.operation_id for edit in sent] == [result.operation_id for result in pushed.results]
        done = {result.operation_id: result for result in pushed.results if result.status != "waiting"}
        self.queue = [edit for edit in self.queue if edit.operation_id not in done]
        for id, result in done.items():
            self.results.setdefault(id, result)
            for state in result.entities:
                self.take(state)

    def pull(self, size: int = 100) -> None:
        """Catch up, whatever it takes."""
        while True:
            asked = self.since
            pulled = self.travel.feed.pull(self.user_id, self.device_id, asked, self.seal, size=size)
            if pulled.full_resync_required:
                self.resync(size)
            elif not self.told_of(asked, pulled):
                return

    def told_of(self, asked: int, pulled: Pulled) -> bool:
        """An answer to a pull has come; one that was asked from elsewhere than where we are now is too late."""
        if pulled.full_resync_required or asked != self.since:
            return False
        for state in pulled.changes:
            self.take(state)
        self.since, self.seal = pulled.next, pulled.seal
        return pulled.more

    def resync(self, size: int = 100) -> None:
        """Forget everything but what was not answered, and take everything anew."""
        self.told.clear()
        self.as_of = 0
        after: str | None = None
        while True:
            page = self.travel.feed.snapshot(self.user_id, self.device_id, after, size=size)
            for state in page.entities:
                self.take(state)
            self.since, self.seal, after = page.as_of, page.seal, page.after
            if after is None:
                self.as_of = page.as_of
                return

    def take(self, state: EntityState) -> None:
        """What an entity is, unless something newer is known of it; or that a snapshot did not have it any more."""
        known = self.told.get(state.entity_id)
        newest = known.server_version if known is not None else self.as_of + 1 if self.as_of else 0
        if newest <= state.server_version:
            self.told[state.entity_id] = state

    # --- looking ---

    def places(self) -> dict[str, dict[str, Any]]:
        """What the map shows: live places by type and code, as the server told of them."""
        return {
            f"{state.data['region_type']}#{state.data['region_code']}": dict(state.data)
            for state in self.told.values()
            if state.entity_type == "visited_place" and not state.is_deleted
        }


def _spots(edit: Edit) -> list[Spot]:
    return [(target.region_type, target.region_code) for target in places_in(edit)]


def sync_all(*gadgets: Gadget) -> None:
    """Everybody pushes, then everybody pulls."""
    for gadget in gadgets:
        gadget.push()
    for gadget in gadgets:
        gadget.pull()
