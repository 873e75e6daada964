"""What the tests of parental controls say to them: a place with everything around it, an API client, a few people."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests import places
from tests.systems.talk import Caller

from tablewright import Engine
from tablewright.client import Call
from tablewright.edge import Issuer
from tablewright.edge.errors import CallerError
from tablewright.kit.delivery import State
from tablewright.kit.tables import Actor
from tablewright.mapping import Db
from tablewright.systems.parental import design as d
from tablewright.systems.parental.firewall.simulated import SimulatedFirewall
from tablewright.systems.parental.model import BlockedApp, Child, Family, Policy
from tablewright.systems.parental.parental import Parental
from tablewright.systems.parental.policy.policies import Draft
from tablewright.testing import Clock

Item = dict[str, Any]
Json = dict[str, Any]

# A Friday, late enough that no service sweeps away what these tests keep for a while.
START = datetime(2030, 6, 14, 14, tzinfo=UTC)
AUDIENCE = "parental"
SECRET = b"one secret for codes, page tokens and rule names"
PHONE = "+15551234567"
OTHER_PHONE = "+15557654321"
ZONE = "America/New_York"
ANNA = Actor("anna@example.com", "parent", "anna", "anna@example.com")
BEN = Actor("ben@example.com", "parent", "ben", "ben@example.com")
ZOE = Actor("zoe@example.org", "parent", "zoe", "zoe@example.org")
SUPPORT = Actor("sam@support.example", "support", "sam", "sam@support.example")
OPERATOR = Actor("olga@ops.example", "operator", "olga", "olga@ops.example")


@dataclass(frozen=True)
class Place:
    """Parental controls and what lies around them."""

    parental: Parental
    db: Db
    call: Call
    clock: Clock
    issuer: Issuer
    engine: Engine | None
    firewalls: dict[str, SimulatedFirewall] = field(default_factory=dict)

    # --- a little world ---

    def family(self, owner: Actor = ANNA, name: str = "The Millers") -> Family:
        return self.parental.families.create(name, owner)

    def code(self, phone: str) -> str:
        """The newest code that was sent to a number."""
        return self.codes(phone)[-1]

    def codes(self, phone: str) -> list[str]:
        found = [re.search(r"code is (\d+)", text) for text in self.messages(phone)]
        return [match[1] for match in found if match is not None]

    def child(
        self,
        owner: Actor = ANNA,
        phone: str = PHONE,
        name: str = "Sarah",
        zone: str = ZONE,
        family: Family | None = None,
    ) -> Child:
        """A child whose number was proved; with a family for its owner if there is none."""
        families = self.parental.families
        if family is None and not families.of(owner):
            family = self.family(owner, f"Family of {owner.subject}")
        family_id = family.family_id if family else None
        self.clock.move(timedelta(milliseconds=1))  # so that the newest code is the newest
        self.parental.children.prove(phone, owner, family_id)
        return self.parental.children.add(phone, self.code(phone), name, zone, owner, family_id=family_id)

    def policy(
        self, child: Child, *apps: str, windows: Sequence[Json] = (), by: Actor = ANNA, **more: Any
    ) -> Policy:
        entries = [BlockedApp(app_name=app) for app in apps or ("TikTok",)]
        return self.parental.policies.create(child, Draft(entries, windows, **more), by).policy

    def guardian(self, family: Family, actor: Actor = BEN, owner: Actor = ANNA) -> None:
        """Somebody else of the family, invited and accepted."""
        assert actor.email is not None
        invitation = self.parental.guardians.invite(family.family_id, actor.email, owner)
        self.parental.guardians.accept(invitation.invitation_id, actor)

    # --- behind their back ---

    def scan(self, table: str) -> list[Item]:
        return places.scan(self.db, self.call, table)

    def everything(self) -> dict[str, list[Item]]:
        """All tables with all items, to compare before and after."""
        return places.everything(self.db, self.call, d.PARENTAL)

    def mentions(self, *words: str) -> list[str]:
        """Where any of the words stands in any table: tables and items, for a message that helps."""
        return [
            f"{table}: {item}"
            for table, items in self.everything().items()
            for item in items
            if any(word in repr(item) for word in words)
        ]

    def messages(self, recipient: str) -> list[str]:
        """What was written to an address or number, oldest first, as its reader gets it."""
        states: tuple[State, ...] = ("PENDING", "SENT", "FAILED")
        found = [
            message
            for state in states
            for message in self.db.all(d.outbox.in_state(state))
            if message.recipient == recipient
        ]
        texts = self.parental.repository.outbox.texts
        return [
            texts.text(message, message.message_id, recipient).body
            for message in sorted(found, key=lambda one: one.created_at)
        ]

    def audit(self, family: Family | str, actor: Actor = ANNA) -> list[tuple[str, str]]:
        """What happened in a family, newest first: action and actor."""
        id = family if isinstance(family, str) else family.family_id
        return [(entry.action, entry.actor) for entry in self.db.all(d.audit.of(id))]


class Api(Caller[Actor]):
    """The API over real HTTP. `by` says who asks."""

    prefix = "/parental/v1"

    def token(self, by: Actor) -> str:
        roles = () if by.role == "parent" else (by.role,)
        return self._issuer.issue(
            by.subject, audience=AUDIENCE, lifetime=timedelta(hours=1), roles=roles, email=by.email
        )


@contextmanager
def refuses(code: str, field: str | None = None) -> Iterator[None]:
    """The block must be refused with this code."""
    with pytest.raises(CallerError) as mistake:
        yield
    assert mistake.value.code == code, mistake.value.message
    if field is not None:
        assert mistake.value.field == field


def window(start: str, end: str, *days: str) -> Json:
    return {
        "startTime": start,
        "endTime": end,
        "days": list(days) or ["MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"],
    }


def new_policy(*apps: str, windows: Sequence[Json] = (), **more: Any) -> Json:
    """The body of a policy."""
    entries = [{"appName": app} for app in apps or ("TikTok",)]
    return {"blockedApps": entries, "timeWindows": list(windows), **more}
