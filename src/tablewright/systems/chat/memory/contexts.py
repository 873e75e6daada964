"""Contexts: what is known of a user in four categories, one entry for each name (ZC-9, ZC-17).

An entry is sealed with the key of the user, name and value together; in the item it stands under a beacon of its name.
Must hold: two devices that write different names at once both succeed, and of the same name the later write stays
(ZC-D33); each entry says from which messages it came; nothing is written for a user who is being erased.
Elsewhere: what is extracted from chats (extraction.py), how a window chooses entries (window.py).
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from itertools import groupby

from pydantic import JsonValue

from tablewright.design import Write, absent, size
from tablewright.edge.errors import BadRequest, Conflict
from tablewright.kit.subject_keys import KeyDestroyed
from tablewright.mapping import ConditionNotMet, Missing
from tablewright.systems.chat import design as d
from tablewright.systems.chat.errors import Erased, NoConsent
from tablewright.systems.chat.family_model import User
from tablewright.systems.chat.model import Category, Context, ContextEntry
from tablewright.systems.chat.repository import Repository
from tablewright.systems.chat.rules import RetentionPeriods
from tablewright.systems.chat.talk.message_writes import user_check

MOST_ENTRIES = 100
MOST_VALUE = 1000
_NAME = re.compile(r"[a-z][a-z0-9_ ]{0,39}")


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that is known, open."""

    name: str
    value: JsonValue
    confidence: Decimal = Decimal(1)
    message_ids: Sequence[str] = ()
    updated: datetime | None = None

    @property
    def words(self) -> str:
        """As people read it: "animal: the red panda", or the name alone if the value is said by it."""
        several = self.value if isinstance(self.value, list) else [self.value]
        value, name = ", ".join(map(str, several)), self.name.replace("_", " ")
        return name if f" {name}".endswith(f" {value}") else f"{name}: {value}"


@dataclass(frozen=True, slots=True)
class KnownContext:
    """A category with its entries, the most certain first."""

    category: Category
    entries: tuple[Entry, ...]
    last_updated: datetime
    version: int

    @property
    def data(self) -> Mapping[str, JsonValue]:
        return {entry.name: entry.value for entry in self.entries}


class Contexts:
    """The contexts of all users."""

    def __init__(self, repository: Repository, periods: RetentionPeriods) -> None:
        self._repository, self._periods = repository, periods

    # --- reads ---

    def of(self, user_id: str) -> list[KnownContext]:
        """Everything that is known of a user, by category."""
        return [self.opened(found) for found in self._repository.db.all(d.contexts_of_user(user_id=user_id))]

    def get(self, user_id: str, category: Category) -> KnownContext:
        """One category; CONTEXT_NOT_FOUND."""
        found = self._repository.db.one(d.contexts.get(user_id, category), consistent=True)
        return self.opened(self._repository.found(found, "CONTEXT"))

    def opened(self, stored: Context) -> KnownContext:
        entries = [self._open(stored, beacon, entry) for beacon, entry in stored.data.items()]
        entries.sort(key=lambda entry: (-entry.confidence, entry.name))
        return KnownContext(stored.category, tuple(entries), stored.last_updated, stored.version)

    def _open(self, stored: Context, beacon: str, entry: ContextEntry) -> Entry:
        about = _about(stored.category, beacon)
        try:
            name, value = json.loads(self._repository.keys.open(stored.user_id, about, entry.sealed))
        except KeyDestroyed:
            raise Erased from None
        return Entry(name, value, entry.confidence, entry.message_ids, entry.updated)

    # --- writes ---

    def merge(
        self, user_id: str, category: Category, entries: Iterable[Entry], consent: int | None = None
    ) -> KnownContext:
        """Set these entries and leave the others as they are; the category as it is then (ZC-17). CONTEXT_FULL.

        `consent` is the generation of the user's consent that the caller has checked: NO_CONSENT if it has changed.
        """
        write = self._merged(user_id, category, self._sealed(user_id, category, entries))
        has_room = write.when(lambda c: absent(c.data) | (size(c.data) < MOST_ENTRIES))
        try:
            self._repository.db.write(has_room, user_check(user_id, consent))
        except (ConditionNotMet, Missing) as refused:
            raise _refusal(refused) from None
        return self.get(user_id, category)

    def merge_write(self, user_id: str, category: Category, entries: Sequence[Entry]) -> Write[Context]:
        """A merge of what was extracted, for a transaction; in a full category the least certain entries go."""
        found = self._repository.db.one(d.contexts.get(user_id, category), consistent=True)
        stored = {} if found is None else found.data
        new = self._sealed(user_id, category, entries)
        going = set(_least_certain(stored, new))
        staying = {beacon: entry for beacon, entry in new.items() if beacon not in going}
        if not staying:
            return d.contexts.check(user_id, category)
        write = self._merged(user_id, category, staying)
        for beacon in going & stored.keys():
            slot = write.at(lambda c, beacon=beacon: c.data[beacon])  # type: ignore[misc]  # a default
            write = slot.remove()
        return write

    def _merged(self, user_id: str, category: Category, new: Mapping[str, ContextEntry]) -> Write[Context]:
        now = self._repository.now()
        until = self._periods.until("educational_progress", now)
        start = Context(
            user_id=user_id, category=category, last_updated=now, created=now, modified=now, expires_at=until
        )
        write = (
            d.contexts.upsert(start)
            .at(lambda c: c.last_updated).set(now)
            .at(lambda c: c.modified).set(now)
            .at(lambda c: c.expires_at).set(until)
            .at(lambda c: c.confidence).set(max(entry.confidence for entry in new.values()))
        )  # fmt: skip
        for beacon, entry in new.items():
            write = write.at(lambda c, beacon=beacon: c.data[beacon]).set(entry)  # type: ignore[misc]  # a default
        return write

    def remove(self, user_id: str, category: Category, name: str) -> KnownContext:
        """Forget one entry (ZC-X7)."""
        beacon = self._beacon(user_id, category, name)
        update = d.contexts.update(user_id, category).at(lambda c: c.modified).set(self._repository.now())
        entry = update.at(lambda c: c.data[beacon])
        self._repository.write("CONTEXT", entry.remove())  # type: ignore[misc]  # entries of a map can be removed
        return self.get(user_id, category)

    def delete(self, user_id: str, category: Category) -> None:
        """Forget a category."""
        self._repository.write("CONTEXT", d.contexts.discard(user_id, category))

    # --- parts ---

    def _sealed(self, user_id: str, category: Category, entries: Iterable[Entry]) -> dict[str, ContextEntry]:
        """Entries as they are stored, by the beacon of their name."""
        return dict(self._sealed_entry(user_id, category, entry) for entry in entries)

    def _sealed_entry(self, user_id: str, category: Category, entry: Entry) -> tuple[str, ContextEntry]:
        refuse_unusable(entry)
        beacon = self._beacon(user_id, category, entry.name)
        text = json.dumps([entry.name, entry.value], ensure_ascii=False)
        sealed = self._repository.keys.seal(user_id, _about(category, beacon), text)
        now, ids = self._repository.now(), list(entry.message_ids)
        return beacon, ContextEntry(sealed=sealed, confidence=entry.confidence, message_ids=ids, updated=now)

    def _beacon(self, user_id: str, category: Category, name: str) -> str:
        return self._repository.keys.beacon(user_id, f"context/{category}", name)


def refuse_unusable(entry: Entry) -> None:
    """BAD_CONTEXT for a name or a value that cannot be an entry."""
    if not _NAME.fullmatch(entry.name):
        words = "A name has 1 to 40 small letters, digits, spaces and _, and begins with a letter."
        raise BadRequest("BAD_CONTEXT", words, "data")
    if len(json.dumps(entry.value)) > MOST_VALUE:
        raise BadRequest("BAD_CONTEXT", f"A value has at most {MOST_VALUE} characters.", "data")


def by_category(found: Iterable[tuple[Category, Entry]]) -> dict[Category, list[Entry]]:
    """Entries by their category; of two with one name the later one."""
    ordered = sorted(found, key=lambda each: each[0])
    grouped = groupby(ordered, key=lambda each: each[0])
    return {category: list({entry.name: entry for _, entry in group}.values()) for category, group in grouped}


def _least_certain(stored: Mapping[str, ContextEntry], new: Mapping[str, ContextEntry]) -> list[str]:
    """The beacons that have no room: the least certain, and of those the oldest; never a name that is set again."""
    together = {**stored, **new}
    rivals = [beacon for beacon in together if not (beacon in stored and beacon in new)]
    rivals.sort(key=lambda beacon: (together[beacon].confidence, together[beacon].updated))
    return rivals[: max(0, len(together) - MOST_ENTRIES)]


def _refusal(refused: ConditionNotMet | Missing) -> Exception:
    if refused.entity == "context":
        return Conflict("CONTEXT_FULL", f"A category has at most {MOST_ENTRIES} entries. Remove some first.")
    if isinstance(refused.current, User) and refused.current.standing == "active":
        return NoConsent()
    return Erased()


def _about(category: Category, beacon: str) -> str:
    return f"context/{category}/{beacon}"
