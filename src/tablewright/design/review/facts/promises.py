"""Facts about documents, privacy, security and migrations: statements, examples, copies, references, steps."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from pydantic import JsonValue

from tablewright.design.review.facts.fact import Fact, Text


@dataclass(frozen=True, kw_only=True)
class Statement(Fact):
    """What a document says about a subject; two values of one subject are a contradiction."""

    subject: str
    value: str


@dataclass(frozen=True, kw_only=True)
class ExampleValue(Fact):
    """One attribute of an example item."""

    name: str
    value: JsonValue


@dataclass(frozen=True, kw_only=True)
class Example(Fact):
    """An example item of an entity. `flag` is true between the two dates `true_between`; `as_of` is the day."""

    entity: str
    values: tuple[ExampleValue, ...] = ()
    flag: str = ""
    true_between: tuple[str, str] | None = None
    as_of: str = ""


@dataclass(frozen=True, kw_only=True)
class Use(Fact):
    """An attribute that a text uses, of which entity."""

    entity: str
    attribute: str


@dataclass(frozen=True, kw_only=True)
class Definition(Fact):
    """A term and what it means; empty where it is not said."""

    term: str
    meaning: str = ""


@dataclass(frozen=True, kw_only=True)
class Bounds(Fact):
    """The values a quantity may have."""

    quantity: str
    low: Decimal
    high: Decimal


@dataclass(frozen=True, kw_only=True)
class Formula(Fact):
    """A quantity computed from others, and what it must exceed. Quantities without bounds stand for 1."""

    quantity: str
    formula: str
    above: Decimal


@dataclass(frozen=True, kw_only=True)
class Copy(Fact):
    """An attribute repeated from another entity; `refresh` says how a change of the source reaches it."""

    entity: str
    attribute: str
    source: str
    refresh: str = ""


@dataclass(frozen=True, kw_only=True)
class Reference(Fact):
    """An attribute that names an item of another entity; `on_delete` says what happens when that item goes."""

    entity: str
    attribute: str
    target: str
    on_delete: str = ""


@dataclass(frozen=True, kw_only=True)
class HashPromise(Fact):
    """A promise that an attribute is hashed where it is a key."""

    attribute: str
    keyed: bool = True


@dataclass(frozen=True, kw_only=True)
class LeadingKeys(Fact):
    """A policy's condition on the partition keys a principal may read."""

    pattern: str
    table: str = ""
    index: str = ""


@dataclass(frozen=True, kw_only=True)
class PageToken(Fact):
    """What a page token contains."""

    contains: str
    signed: bool = False


@dataclass(frozen=True, kw_only=True)
class AccessRule(Fact):
    """Who may read an entity is decided by this attribute."""

    entity: str
    by: str


@dataclass(frozen=True, kw_only=True)
class Erasure(Fact):
    """How a person's data is erased, and which copies that reaches."""

    subject: str
    how: str = ""


@dataclass(frozen=True, kw_only=True)
class Processor(Fact):
    """An external service that is sent text: what is sent, how it is scrubbed, and in which role."""

    name: str
    sends: tuple[str, ...]
    personal: bool
    scrub: str = ""
    role: Text | None = None


@dataclass(frozen=True, kw_only=True)
class NetworkRange(Fact):
    """An address range in a block list."""

    cidr: str
    enforced: bool = True


@dataclass(frozen=True, kw_only=True)
class StoredInput(Fact):
    """A value that tests or callers store, in any attribute."""

    value: str


@dataclass(frozen=True, kw_only=True)
class Step(Fact):
    """A step of a migration, in order.

    `table` is what it acts on, `keys` the key attributes of the items it serves; `creates` the indexes it makes.
    A copy has a `source`, what it `fills`, and `catch_up`; what is kept has an end (`until`).
    """

    action: Literal["backfill", "copy", "create indexes", "enable ttl", "deploy", "read", "keep old"]
    table: Text | None = None
    keys: tuple[str, ...] = ()
    creates: tuple[Text, ...] = ()
    source: str = ""
    entity: str = ""
    fills: tuple[str, ...] = ()
    fills_line: int = 0
    catch_up: str = ""
    fallback_on: str = ""
    empty_is: str = ""
    until: str = ""


@dataclass(frozen=True, kw_only=True)
class Acceptance(Fact):
    """A finding that is accepted, and the reason. `where` is its place; empty for each place."""

    rule: str
    reason: str
    where: str = ""
