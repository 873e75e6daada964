"""People of Zoo chat: users, families, consent, limits and the access log.

Plain values without storage. Names in JSON and in items are camelCase. Every age is computed from the birth date at the
moment it is asked for, so that nothing has to run for a child to become 13 or 18.
Elsewhere: conversations (model.py), where each is stored (design/), what is decided on them (family/).
"""

from datetime import date, datetime, time
from typing import Literal

from pydantic import ConfigDict, Field
from pydantic.alias_generators import to_camel

from tablewright.kit import codes, family
from tablewright.systems.chat.model import Partitions, Value

UserRole = Literal["student", "parent", "zookeeper", "administrator"]
FamilyRole = Literal["parent", "child"]
ReaderRole = Literal["student", "parent", "zookeeper", "administrator", "system"]
# Of a user: `erasing` and `erased` refuse every message (ZC-S10).
Standing = Literal["active", "erasing", "erased"]
Scope = Literal["collect_and_use", "disclosure", "profiling"]
# How a parent was verified (16 CFR 312.5); `self` is someone of 13 or older who decides alone.
Method = Literal["email_plus", "text_plus", "questions", "id_and_face", "self"]
ConsentAction = Literal["granted", "withdrawn"]
# In which replies can be asked for (ZC-X14); without a choice it is the language that the child writes in.
Language = Literal["ar", "de", "en", "es", "fr", "hi", "ko", "pt", "vi", "zh"]
AccessKind = Literal["access", "compliance"]

CONSENT_AGE, ADULT_AGE = 13, 18
_CAMEL = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True)


# --- users ---


class Limits(Value):
    """What a parent allows a child (ZC-X8). Quiet hours are in the time zone of the family and may pass midnight."""

    daily_minutes: int | None = 60
    messages_per_minute: int = 10
    quiet_from: str | None = None
    quiet_until: str | None = None

    @property
    def quiet_hours(self) -> tuple[time, time] | None:
        if self.quiet_from is None or self.quiet_until is None:
            return None
        return time.fromisoformat(self.quiet_from), time.fromisoformat(self.quiet_until)


class User(Value):
    """A person who signs in, or a child whose profile a parent made.

    `scopes` is what a parent consents to at this moment; every change of it, and the beginning of an erasure, raises
    `consent_generation`, on which each message depends in its transaction. `stays_local` keeps a child's words on this
    machine whatever the scopes say (ZC-X23). `family_id` is the family of a child, a copy of its home.
    """

    user_id: str
    role: UserRole
    name: str
    email: str | None = None
    birth_date: date | None = None
    family_id: str | None = None
    time_zone: str = "UTC"
    language: Language | None = None
    standing: Standing = "active"
    consent_generation: int = 0
    scopes: list[Scope] = Field(default_factory=list)
    stays_local: bool = False
    limits: Limits = Limits()
    # The ages that the user and the parents were told about: 13, then 18 (ZC-X9).
    told_age: int = 0
    # Where the messages of the next conversations are: in one partition, or spread over ten (ZC-66).
    message_partitions: Partitions = 1
    created_at: datetime
    erased_at: datetime | None = None
    # Where someone who is being erased was a parent: mails about the children there went to that person. Five families
    # are the limit; earlier versions did not hold it in races.
    left_families: list[str] | None = Field(default=None, max_length=50)
    version: int = 1

    def age_on(self, day: date) -> int | None:
        """Full years on a day; None if the birth date is not known."""
        if self.birth_date is None:
            return None
        had_birthday = (day.month, day.day) >= (self.birth_date.month, self.birth_date.day)
        return day.year - self.birth_date.year - (not had_birthday)

    def is_adult_on(self, day: date) -> bool:
        age = self.age_on(day)
        return self.role != "student" if age is None else age >= ADULT_AGE

    def needs_consent_on(self, day: date) -> bool:
        """Under 13, or a student whose age is not known: a parent has to consent first (ZC-X1)."""
        age = self.age_on(day)
        return self.role == "student" and (age is None or age < CONSENT_AGE)


class UserKey(Value):
    """What birthday-index has of a user."""

    user_id: str
    birth_date: date | None = None


# --- families ---


class Family(Value):
    """A family, with the number of its members by place; quiet hours and days of its children are in its time zone."""

    family_id: str
    name: str
    parents: int = 1
    children: int = 0
    created_at: datetime
    version: int = 1
    time_zone: str = "UTC"


class Member(family.Member, Value):
    """A parent or a child in a family."""

    user_id: str
    place: FamilyRole = "parent"
    joined_at: datetime
    version: int = 1


class Home(Value):
    """The family of a child."""

    child_id: str
    family_id: str
    version: int = 1


class Invitation(family.Invitation, Value):
    """An invitation to be a parent in a family, or to take a child over into another one.

    `invitation_id` is a digest of the token in the mail; `child_id` is the child that is offered.
    """

    place: FamilyRole = "parent"
    child_id: str | None = None
    created_at: datetime
    expires_at: datetime


# --- consent ---


class Consent(Value):
    """What a parent decided for a child, when, after which notice, and how the parent was verified (ZC-X23).

    `scopes` are those that hold afterwards. The records are never changed; the newest one says what holds.
    """

    user_id: str
    consent_id: str
    at: datetime
    action: ConsentAction
    scopes: list[Scope]
    method: Method
    given_by: str
    notice_version: str
    generation: int
    # The reference of the verification, such as the case number of the service that checked an identity document.
    reference: str | None = None


class Verification(Value):
    """The identity of a parent was verified by a strong method; an administrator recorded it."""

    user_id: str
    method: Method
    reference: str
    verified_at: datetime
    recorded_by: str
    expires_at: datetime


class ConsentChallenge(codes.Challenge):
    """A code that was sent to a parent for one child and these scopes."""

    model_config = _CAMEL

    parent_id: str
    child_id: str
    method: Method
    scopes: list[Scope]
    notice_version: str


class Allowance(codes.Allowance):
    """How often something was done in an hour or a day."""

    model_config = _CAMEL


class ChildLoginCode(Value):
    """A code that signs a child in, once; `code_hash` is keyed."""

    code_hash: str
    child_id: str
    expires_at: datetime


# --- limits ---


class DayUse(Value):
    """How long a child has chatted on a day of its time zone. `last_at` is the newest message that was counted."""

    user_id: str
    day: str
    seconds: int = 0
    messages: int = 0
    last_at: datetime
    expires_at: datetime
    version: int = 1


class MinuteUse(Value):
    """How many messages a child sent within a minute."""

    user_id: str
    minute: str
    messages: int = 0
    expires_at: datetime


# --- who looked ---


class AccessEntry(Value):
    """Someone looked at, or changed, the data of another person (ZC-29). `user_id` is that person."""

    user_id: str
    timestamp: datetime
    entry_id: str
    accessed_by: str
    role: ReaderRole
    purpose: str
    what: str
    kind: AccessKind = "access"
    expires_at: datetime
