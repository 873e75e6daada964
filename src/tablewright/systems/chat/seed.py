"""Demo data: two families, a zookeeper, an administrator, four animals, a month of chats with summaries and contexts.

Everything is made by the service with a clock that runs from four weeks ago to now, as people would. Must hold: a
second run skips what exists; nothing in it is random.
Elsewhere: the animals (data/animals.json), what is said (data/demo_chats.json).
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

from tablewright.edge import Principal
from tablewright.kit.seed_clock import SeedClock
from tablewright.kit.system import Person, Progress
from tablewright.systems.chat import jobs
from tablewright.systems.chat.chat import Chat, open_chat
from tablewright.systems.chat.family_model import Family, Method, Scope, User
from tablewright.systems.chat.model import Draft, Message, MessageMetadata

CHATS = Path(__file__).parent / "data" / "demo_chats.json"
ADA, BEN, ROSA, KIM, TAYO = "zoo_ada", "zoo_ben", "zoo_rosa", "zoo_kim", "zoo_tayo"
MIA, FINN, NOA, SAM = "zoo_mia", "zoo_finn", "zoo_noa", "zoo_sam"
_ADULTS = (
    (ADA, "Ada Okafor", "Parent", "", "Two children, their chats, consent, who looked."),
    (BEN, "Ben Okafor", "Parent", "", "The second parent of the Okafor family."),
    (ROSA, "Rosa Bianchi", "Parent", "", "A child whose words stay on this machine."),
    (KIM, "Kim Larsen", "Zookeeper", "zookeeper", "Flagged messages, animals, figures."),
    (TAYO, "Tayo Adeyemi", "Administrator", "administrator", "Migration, quality, guardrails, compliance."),
)
_CHILDREN = (
    (MIA, "Mia", "8 years", "Chats with the red panda, and what it remembers."),
    (FINN, "Finn", "11 years", "Chats with the lion and the elephant."),
    (NOA, "Noa", "14 years", "Chats with the penguin."),
    (SAM, "Sam", "6 years", "Talks with the animal on this machine alone."),
)
_USE: tuple[Scope, ...] = ("collect_and_use",)
_ALL: tuple[Scope, ...] = ("collect_and_use", "disclosure", "profiling")
_METHOD: Method = "id_and_face"
_ZONE = "America/Los_Angeles"


@dataclass(frozen=True, slots=True)
class _Child:
    """A child of the demo, and what its parent allows."""

    user_id: str
    name: str
    age: int
    parent: str
    scopes: tuple[Scope, ...]
    chats: str


_ALLOWED = (
    _Child(MIA, "Mia", 8, ADA, _ALL, "mia"),
    _Child(FINN, "Finn", 11, ADA, _ALL, "finn"),
    _Child(NOA, "Noa", 14, ROSA, _USE, "noa"),
    # No disclosure to a third party: the offline persona replies.
    _Child(SAM, "Sam", 6, ROSA, _USE, "sam"),
)


def people(chat: Chat) -> tuple[Person, ...]:
    """Three parents, four children, a zookeeper and an administrator."""
    adults = [
        Person(subject, name, role, sees, (login,) if login else (), _address(subject))
        for subject, name, role, login, sees in _ADULTS
    ]
    children = [
        Person(subject, name, age, sees, ("student",), _address(subject))
        for subject, name, age, sees in _CHILDREN
    ]
    return (*children, *adults)


def seed(chat: Chat, progress: Progress) -> None:
    """The demo world; a few seconds."""
    repository = chat.repository
    clock, today = SeedClock(repository.now() - timedelta(days=28)), repository.now()
    past = open_chat(
        repository.db,
        replace(repository.world, now=clock),
        b"seeding: no secret of it is sent",
        home=Path(),
        settings=chat.settings,
        objects=chat.objects,
        keys=repository.keys,
    )
    making = _Making(past, clock, today)
    steps = (
        ("people", making.people),
        ("families", making.families),
        ("chats", making.chats),
        ("a second parent", making.second_parent),
    )
    for done, (what, make) in enumerate(steps):
        progress(done, len(steps), what)
        make()
    clock.now = today
    progress(len(steps), len(steps), "done")


class _Making:
    """The steps, each of which skips what exists already."""

    def __init__(self, chat: Chat, clock: SeedClock, today: datetime) -> None:
        self.chat, self.clock, self.today = chat, clock, today
        self.cast: dict[str, User] = {}

    def people(self) -> None:
        for subject, name, _, role, _ in _ADULTS:
            roles = frozenset((role,) if role else ())
            login = Principal(subject, roles, email=_address(subject), claims={"name": name})
            self.cast[subject] = self.chat.people.entered(login)

    # --- families ---

    def families(self) -> None:
        okafor = self._family(ADA, "Okafor family")
        bianchi = self._family(ROSA, "Bianchi family")
        for child in _ALLOWED:
            self._child(child, okafor if child.parent == ADA else bianchi)

    def _family(self, parent: str, name: str) -> Family:
        known = self.chat.families.of(self.cast[parent])
        return known[0] if known else self.chat.families.create(self.cast[parent], name, _ZONE)

    def second_parent(self) -> None:
        """An hour ago: an invitation from the past would have expired."""
        self.clock.now = self.today - timedelta(hours=1)
        ben, families = self.cast[BEN], self.chat.families
        if families.of(ben):
            return
        (family,) = families.of(self.cast[ADA])
        token, _, writes = families.membership.offer(family, _address(BEN), ADA, "parent")
        self.chat.repository.db.write(*writes)
        families.accept(token, ben)

    def _child(self, child: _Child, family: Family) -> None:
        parent = self.cast[child.parent]
        user = self.chat.people.find(child.user_id)
        if user is None:
            born = date(self.today.year - child.age, 1, 15)
            user = self.chat.children.add(family, child.name, born, parent, user_id=child.user_id)
        if not user.scopes:
            consents, version = self.chat.consents, self.chat.notices.version
            consents.record_verification(parent, _METHOD, "demo", self.cast[TAYO])
            user = consents.consent_verified(parent, user, child.scopes, _METHOD, version)
        self.cast[child.user_id] = user

    # --- chats ---

    def chats(self) -> None:
        told: dict[str, list[dict[str, Any]]] = json.loads(CHATS.read_text(encoding="utf-8"))
        missing = [
            (each["daysAgo"], child, each)
            for child in _ALLOWED
            for each in told[child.chats][self._made(child) :]
        ]
        for days_ago, child, each in sorted(missing, key=lambda one: -one[0]):
            self.clock.now = self.today - timedelta(days=days_ago)
            self._talk(self.cast[child.user_id], each)

    def _made(self, child: _Child) -> int:
        """How many chats of a child exist: they are made in the order of the file."""
        return sum(1 for _ in self.chat.conversations.all_of(child.user_id))

    def _talk(self, user: User, told: dict[str, Any]) -> None:
        conversation = self.chat.conversations.create(user, told["animal"])
        for turn in told["turns"]:
            current = self.chat.conversations.get(conversation.conversation_id, user.user_id)
            self.clock.now += timedelta(seconds=40)
            asked, *_ = self.chat.messages.append(current, _drafts(turn))
            if "flag" in turn[2:]:
                self._flag(user, conversation.conversation_id, asked)
        self.clock.now += timedelta(minutes=6)
        for _ in range(3):  # a summary, what follows from it, and the rest
            jobs.run_tasks(self.chat)
        if told.get("complete"):
            current = self.chat.conversations.get(conversation.conversation_id, user.user_id)
            self.chat.conversations.complete(current)
            jobs.run_tasks(self.chat)

    def _flag(self, user: User, conversation_id: str, message: Message) -> None:
        """A guardrail has found something that staff should look at."""
        conversation = self.chat.conversations.get(conversation_id, user.user_id)
        flag = self.chat.review.flag(conversation, message, "guardrail", ("bullying",))
        self.chat.repository.db.write(flag, self.chat.messages.flag(message, "bullying"))


def _drafts(turn: Sequence[str]) -> list[Draft]:
    asked, reply = turn[:2]
    figures = MessageMetadata(tokens=len(reply) // 4, latency=300, model="offline")
    return [Draft(role="user", text=asked), Draft(role="assistant", text=reply, metadata=figures)]


def _address(subject: str) -> str:
    return f"{subject.partition('_')[2]}@zoo.example"
