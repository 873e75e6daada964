"""Data quality: what should not be in the tables, or not be missing there (ZC-59), and whether what expires is deleted.

    orphans          medium  messages, summaries, memories without their conversation; repaired: deleted, with an entry
    counter drift    medium  a header whose count is not that of its messages; repaired where nothing can have expired
    without family   low     conversations of students that no parent can see
    overdue          high    expired more than 72 hours ago and still there (ZC-D29, ZC-D30)

The table is read once, by pages; what looks wrong is read again, consistently, before it is reported: the first reading
is not of one moment. Must hold: a report names conversations and counts, never what was said.
Elsewhere: deleting what is overdue (family/deletions.py), the alarms (design/base.py).
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal, TypeAlias

from tablewright.mapping import ConditionNotMet, Item, Missing, every_page
from tablewright.systems.chat import design as d
from tablewright.systems.chat.model import Conversation
from tablewright.systems.chat.repository import SYSTEM, Repository
from tablewright.systems.chat.rules import OVERDUE, RetentionPeriods
from tablewright.systems.chat.talk.message_places import newest_first

Severity: TypeAlias = Literal["high", "medium", "low"]
Key: TypeAlias = tuple[str, str]
# Of a user and a conversation; how many.
RemoveTexts: TypeAlias = Callable[[str, str], int]
SHOWN = 10
# A removal, or a copy from the first version, may be half-way: its items are not orphans yet.
GRACE = timedelta(hours=1)
# The job runs daily: what it finds a day later is another finding.
_ONE_ENTRY = timedelta(hours=12)
_PARTS = ("MSG#", "SUMMARY#", "MEMORY#")
_TITLES: Mapping[str, tuple[str, Severity]] = {
    "overdue": ("Expired more than 72 hours ago and not deleted", "high"),
    "orphans": ("Messages, summaries or memories without their conversation", "medium"),
    "counterDrift": ("Conversations whose count of messages is wrong", "medium"),
    "withoutFamily": ("Conversations of students without a family", "low"),
}


@dataclass(frozen=True, slots=True)
class QualityFinding:
    """One kind of finding. `sample` are ids of conversations, or of kinds of items."""

    type: str
    title: str
    severity: Severity
    count: int
    sample: tuple[str, ...]
    repaired: int = 0


@dataclass(frozen=True, slots=True)
class QualityReport:
    """The result of a check; without findings nothing is wrong."""

    checked_at: datetime
    items: int
    conversations: int
    findings: tuple[QualityFinding, ...]

    def of(self, type: str) -> QualityFinding | None:
        return next((finding for finding in self.findings if finding.type == type), None)


@dataclass(frozen=True, slots=True)
class RetentionCheck:
    """Whether what expires is deleted: tables with a ttl that is not enabled, and what is overdue, by entity."""

    checked_at: datetime
    without_ttl: tuple[str, ...]
    overdue: Mapping[str, int]

    @property
    def is_kept(self) -> bool:
        return not self.without_ttl and not self.overdue


@dataclass(slots=True)
class _Seen:
    """What was seen of the table."""

    items: int = 0
    headers: dict[Key, Item] = field(default_factory=dict)
    messages: Counter[Key] = field(default_factory=Counter)
    parts: defaultdict[Key, int] = field(default_factory=lambda: defaultdict(int))
    overdue: Counter[str] = field(default_factory=Counter)


class Quality:
    """The checks of the table of conversations."""

    def __init__(
        self,
        repository: Repository,
        periods: RetentionPeriods,
        remove_texts: RemoveTexts = lambda user_id, conversation_id: 0,
    ) -> None:
        """`remove_texts` deletes the objects of long texts; what only checks needs none."""
        self._repository, self._periods, self._remove_texts = repository, periods, remove_texts

    def check(self, *, repair: bool = False) -> QualityReport:
        """Read everything and report; with `repair`, mend what can be mended."""
        seen = self._read()
        orphans = [key for key in seen.parts if key not in seen.headers and self._is_orphaned(key)]
        drifted = [key for key in self._drifting(seen) if self._drift(key) is not None]
        strangers = [key for key, item in seen.headers.items() if self._lacks_family(item)]
        found = {
            "overdue": (sum(seen.overdue.values()), sorted(seen.overdue), 0),
            "orphans": (
                sum(seen.parts[key] for key in orphans),
                [conversation for _, conversation in orphans],
                sum(self._remove_orphans(key, seen.parts[key]) for key in orphans) if repair else 0,
            ),
            "counterDrift": (
                len(drifted),
                [conversation for _, conversation in drifted],
                sum(self._recount(key) for key in drifted) if repair else 0,
            ),
            "withoutFamily": (len(strangers), [conversation for _, conversation in strangers], 0),
        }
        findings = tuple(
            QualityFinding(type, *_TITLES[type], count, tuple(sample[:SHOWN]), repaired)
            for type, (count, sample, repaired) in found.items()
            if count
        )
        return QualityReport(self._repository.now(), seen.items, len(seen.headers), findings)

    def retention(self) -> RetentionCheck:
        """Whether every table that should delete what has expired does so."""
        without = [
            table.name for table in d.CHAT.tables.values() if table.ttl and not self._has_ttl(table.name)
        ]
        return RetentionCheck(self._repository.now(), tuple(without), dict(self._read().overdue))

    # --- reading ---

    def _read(self) -> _Seen:
        seen, limit = _Seen(), (self._repository.now() - OVERDUE).timestamp()
        for item in self._items():
            seen.items += 1
            place = item["SK"]["S"]
            if float(item.get("ttl", {}).get("N", "inf")) <= limit:
                seen.overdue[item.get("entityType", {}).get("S", "unknown")] += 1
                continue
            if place.startswith("CONV#"):
                seen.headers[_key(item)] = item
            elif place.startswith(_PARTS):
                seen.parts[_key(item)] += 1
                seen.messages[_key(item)] += place.startswith("MSG#")
        return seen

    def _items(self) -> Iterator[Item]:
        """Every item, without its text and its vector."""
        names = (
            "PK",
            "SK",
            "ttl",
            "entityType",
            "userId",
            "conversationId",
            "messageCount",
            "created",
            "status",
        )
        more = ("familyId", "lastSequence")
        request = {
            "TableName": self._repository.db.physical(d.conversation_table.table.name),
            "ProjectionExpression": ", ".join(f"#{name}" for name in (*names, *more)),
            "ExpressionAttributeNames": {f"#{name}": name for name in (*names, *more)},
        }
        for page in every_page(self._repository.db.call, "Scan", request):
            yield from page["Items"]

    def _has_ttl(self, table: str) -> bool:
        name = self._repository.db.physical(table)
        found = self._repository.db.call("DescribeTimeToLive", {"TableName": name})
        return found["TimeToLiveDescription"].get("TimeToLiveStatus") in ("ENABLED", "ENABLING")

    def _header(self, key: Key) -> Conversation | None:
        return self._repository.db.one(d.conversations.get(*key), consistent=True)

    # --- orphans ---

    def _is_orphaned(self, key: Key) -> bool:
        """Whether there is no header, and nothing was written within the hour."""
        if self._header(key) is not None:
            return False
        user_id, conversation_id = key
        newest = self._repository.db.first(newest_first(user_id, conversation_id))
        return newest is None or newest.modified <= self._repository.now() - GRACE

    def _remove_orphans(self, key: Key, items: int) -> int:
        """Delete what a removal has left, with an entry in the compliance log; how many items."""
        named = {"user_id": key[0], "conversation_id": key[1]}
        patterns = (d.summaries_of_conversation, d.memories_of_conversation)
        entry = self._repository.audit(
            f"child:{key[0]}",
            "orphans deleted",
            SYSTEM,
            before={"conversation": key[1], "items": items},
            reason="their conversation does not exist",
        )
        # Before the deletion, which may be cut off, and once for processes that found the same.
        self._repository.db.write(entry, once=f"orphans/{key[0]}/{key[1]}", kept=_ONE_ENTRY)
        # The objects first: what is cut off after the items is found by no later check.
        self._remove_texts(*key)
        removed = self._repository.db.clear(newest_first(*key))
        return removed + sum(self._repository.db.clear(pattern(**named)) for pattern in patterns)

    # --- counts ---

    def _drifting(self, seen: _Seen) -> Iterator[Key]:
        """Conversations whose count may be wrong: while they were read, messages may have come."""
        for key, item in seen.headers.items():
            stated = int(item.get("messageCount", {}).get("N", "0"))
            if item["status"]["S"] != "copying" and seen.messages[key] != stated:
                yield key

    def _drift(self, key: Key) -> int | None:
        """How many messages a conversation has, if its header says something that cannot be; None if it can.

        Messages that have expired are counted in the header; those that were taken back are not.
        """
        header = self._header(key)
        if header is None:
            return None
        count = self._repository.db.count(newest_first(*key))
        again = self._header(key)
        if again is None or again.version != header.version or again.last_sequence != header.last_sequence:
            return None  # it is being written; the next check sees it
        if count > header.message_count or (self._is_whole(header) and count != header.message_count):
            return count
        return None

    def _is_whole(self, header: Conversation) -> bool:
        """Whether nothing can have expired. Copies of a fork or from the first version are older than it."""
        if header.forked_from is not None or header.legacy_conversation_id is not None:
            return False
        return self._periods.until("active_conversation", header.created) > self._repository.now()

    def _recount(self, key: Key) -> int:
        """Set the count of a header to the number of its messages, unless it is written at this moment.

        No more messages can be summarised than there are.
        """
        count, header = self._drift(key), self._header(key)
        if count is None or header is None:
            return 0
        write = (
            d.conversations.update(*key)
            .at(lambda c: c.message_count).set(count)
            .at(lambda c: c.summarized_count).set(min(header.summarized_count, count))
            .when(lambda c: c.last_sequence == header.last_sequence)
            .when(lambda c: c.message_count == header.message_count)
            .when(lambda c: c.summarized_count == header.summarized_count)
        )  # fmt: skip
        try:
            self._repository.db.write(write)
        except (ConditionNotMet, Missing):
            return 0
        return 1

    # --- families ---

    def _lacks_family(self, item: Item) -> bool:
        """Whether a conversation of a student is in no family; other people need none."""
        if "familyId" in item:
            return False
        user = self._repository.db.one(d.user_by_id(item["userId"]["S"]))
        return user is not None and user.role == "student"


def _key(item: Item) -> Key:
    return item["userId"]["S"], item["conversationId"]["S"]
