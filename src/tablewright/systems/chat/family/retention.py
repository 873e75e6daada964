"""The published retention policy: purposes, business need and time of every class of data (ZC-22, ZC-24, ZC-67).

Everything here is computed from the table of classes, the settings and the design, so the page cannot differ from what
the tables do. Elsewhere: what a class does to an item (rules.py), the notice to parents (notices.py).
"""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Literal

from pydantic import JsonValue

from tablewright.design import Data, Design, EntitySpec
from tablewright.systems.chat.model import RetentionClass, Value
from tablewright.systems.chat.rules import RETENTION_DAYS, RetentionPeriods

EFFECTIVE, COMPLY_BY = date(2025, 6, 23), date(2026, 4, 22)
NOT_ADVICE = "This page says what this software does. It is not legal advice."
BACKUPS = (
    "Copies of the tables are kept for 35 days. The words of a child are stored encrypted with a key of that child. "
    "When the data of a child is erased the key is destroyed, so no message, summary or memory text can be read in "
    "those copies. Name, birth date, addresses of mails and the numbers that memories are searched by stay in them "
    "until they end."
)
FIRST_VERSION = (
    "Chats of the first version are the exception: their words are not encrypted by child. If a child had any, they "
    "can be read in these copies after an erasure of today: "
)
ACCOUNTS = "Profile and consent are kept while the account exists. Everything else about a child has an end."
_PERSONAL = (Data.PERSONAL, Data.CHILD)


class KeptClass(Value):
    """One class of data in the policy."""

    name: RetentionClass
    days: int
    data: str
    purpose: str
    business_need: str
    counted_from: str


class KeptEntity(Value):
    """One kind of stored record with personal data, as the design declares it."""

    table: str
    record: str
    fields: list[str]
    days: int | None
    purpose: str
    then: str


class RetentionPolicy(Value):
    """The written retention policy that is posted publicly."""

    version: str
    rule_effective: date
    comply_by: date
    legal_reviewed_on: str | None
    indefinite: Literal[False] = False
    classes: list[KeptClass]
    records: list[KeptEntity]
    backups: str
    accounts: str
    note: str


# What a class holds, what for, why that needs time, and from when on it is counted.
WORDS: dict[RetentionClass, tuple[str, str, str, str]] = {
    "active_conversation": (
        "Messages of a chat", "To continue the chat", "A child comes back to a chat within weeks", "the message",
    ),
    "educational_progress": (
        "Interests, favourites and learning style, if a parent allowed it", "To adapt answers to the child",
        "A school term", "the last update",
    ),
    "completed_session": (
        "Messages of a chat that was completed", "To look at a finished lesson again", "A school term", "each message",
    ),
    "completed_program": (
        "Messages of a completed programme", "To show what was learned in a programme", "Half a school year",
        "each message",
    ),
    "context_summary": (
        "Summaries of chats", "To continue a chat whose messages were deleted", "Half a school year", "the summary",
    ),
    "parent_access_logs": (
        "Who looked at the data of a child", "To show parents who looked", "Time for parents to notice", "the access",
    ),
    "audit_log": (
        "Consents, deletions and other acts, without the content of chats", "To prove that the law was followed",
        "Yearly assessment", "the act",
    ),
}  # fmt: skip


def retention_policy(
    design: Design,
    periods: RetentionPeriods,
    version: str,
    legal_reviewed_on: str | None,
    clear_copies: Sequence[str] = (),
) -> RetentionPolicy:
    """The policy as it holds with these settings, and with these copies in which words can be read."""
    return RetentionPolicy(
        version=version,
        rule_effective=EFFECTIVE,
        comply_by=COMPLY_BY,
        legal_reviewed_on=legal_reviewed_on,
        classes=[_kept(name, periods) for name in RETENTION_DAYS],
        records=personal_records(design),
        backups=f"{BACKUPS} {FIRST_VERSION}{'; '.join(clear_copies)}." if clear_copies else BACKUPS,
        accounts=ACCOUNTS,
        note=NOT_ADVICE,
    )


def _kept(name: RetentionClass, periods: RetentionPeriods) -> KeptClass:
    data, purpose, need, since = WORDS[name]
    return KeptClass(
        name=name, days=periods.days(name), data=data, purpose=purpose, business_need=need, counted_from=since
    )


def personal_records(design: Design) -> list[KeptEntity]:
    """Every kind of record with a field about a person, from the design."""
    return [
        _record(shape) for shape in design.shapes if any(kind in _PERSONAL for kind in shape.data.values())
    ]


def _record(shape: EntitySpec) -> KeptEntity:
    kept = shape.retention
    return KeptEntity(
        table=shape.table.name,
        record=shape.tag.replace("_", " "),
        fields=sorted(shape.fields[name].stored for name, kind in shape.data.items() if kind in _PERSONAL),
        days=None if kept is None or kept.period is None else kept.period // timedelta(days=1),
        purpose="" if kept is None else kept.purpose,
        then="deleted" if kept is None else kept.then,
    )


def as_json(policy: Value) -> dict[str, JsonValue]:
    shown: dict[str, JsonValue] = policy.model_dump(mode="json", by_alias=True)
    return shown
