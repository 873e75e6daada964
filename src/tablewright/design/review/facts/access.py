"""Facts about reads and writes: access patterns, calls, invariants, state machines, feeds, triggers."""

from dataclasses import dataclass
from typing import Literal

from tablewright.design.review.facts.fact import Fact, Text
from tablewright.design.review.facts.schema import KeyTemplate

Verb = Literal["get", "query", "scan", "put", "update", "delete", "batch_write", "transaction"]


@dataclass(frozen=True, kw_only=True)
class Pattern(Fact):
    """A way in which a system reads. `given` are attributes compared for equality, `range` the one compared by order.

    `prefix` is the text for begins_with; `order` what the result is sorted by; `decides` what rests on the result.
    """

    name: str
    table: str
    entity: str = ""
    verb: Verb = "query"
    index: str = ""
    given: tuple[str, ...] = ()
    range: str = ""
    prefix: str = ""
    order: str = ""
    decides: str = ""
    consistent: bool = False
    audience: Literal["", "owner", "staff", "public"] = ""
    cached: bool = False
    online: bool = True


@dataclass(frozen=True, kw_only=True)
class Assignment(Fact):
    """One attribute that a call writes. `nullable` says that the value may be None; `value` is its expression."""

    path: str
    value: str = ""
    nullable: bool = False
    type: str = ""


@dataclass(frozen=True, kw_only=True)
class ErrorHandler(Fact):
    """What a call catches, which errors it tells apart, and what happens to the others."""

    catches: str
    handles: tuple[str, ...] = ()
    others: Literal["raised", "dropped", "treated alike"] = "raised"


@dataclass(frozen=True, kw_only=True)
class Call(Fact):
    """One call of the API, as written.

    `arguments` are the names of its arguments where one occurs twice; `item_from` says that the item was read before;
    `items` is how many items a transaction holds at most; `client` is the object it is called on.
    """

    name: str
    verb: Verb
    table: str = ""
    entity: str = ""
    index: str = ""
    function: Text | None = None
    key: tuple[KeyTemplate, ...] = ()
    inputs: tuple[str, ...] | None = None
    condition: Text | None = None
    update: Text | None = None
    sets: tuple[Assignment, ...] = ()
    creates: bool = False
    key_condition: tuple[str, ...] = ()
    filter: Text | None = None
    limit: int | None = None
    pages: bool = False
    online: bool = True
    start_key: Assignment | None = None
    consistent: bool = False
    claims: tuple[Text, ...] = ()
    arguments: tuple[Text, ...] = ()
    client: Literal["", "client", "service resource", "table"] = ""
    values: Literal["", "plain", "typed"] = ""
    item_from: Text | None = None
    items: int | None = None
    same_item_twice: bool = False
    errors: tuple[ErrorHandler, ...] = ()
    backfill: bool = False
    merge: Text | None = None
    merge_fields: tuple[str, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class Invariant(Fact):
    """Something that must always be true, and how it is held."""

    name: str
    held_by: Literal["", "read before write", "condition", "transaction", "guard item", "key"] = ""


@dataclass(frozen=True, kw_only=True)
class UnitOfWork(Fact):
    """Writes that belong together, and what is true only if all of them happen."""

    name: str
    writes: tuple[str, ...]
    keeps: str
    transaction: bool = False


@dataclass(frozen=True, kw_only=True)
class Move(Fact):
    """A change of state; `start` is * for any. `source` is the place that states it, such as prose or code."""

    start: str
    end: str
    source: str = ""


@dataclass(frozen=True, kw_only=True)
class StateMachine(Fact):
    """The states of an attribute of an entity, and its moves as each place states them.

    `version` is the attribute by which two edits of one item are told apart; None if nothing is said about it.
    """

    entity: str
    attribute: str
    states: tuple[str, ...] = ()
    moves: tuple[Move, ...] = ()
    version: str | None = None


@dataclass(frozen=True, kw_only=True)
class Feed(Fact):
    """Events that writes are made from. `receipt` names what makes a second delivery harmless."""

    name: str
    delivery: Literal["at least once", "exactly once"]
    counts: str = ""
    receipt: str = ""


@dataclass(frozen=True, kw_only=True)
class Trigger(Fact):
    """When work is started, by what (`stream`, `schedule`, `request`), and how it runs."""

    name: str
    source: Literal["stream", "schedule", "request"]
    when: str = ""
    runs: Text | None = None


@dataclass(frozen=True, kw_only=True)
class Conflict(Fact):
    """Of two writes to one item the later wins, by this attribute."""

    entity: str
    by: str
    kind: Literal["clock", "version"]


@dataclass(frozen=True, kw_only=True)
class Flow(Fact):
    """The stores one write goes to, in order: `cache` or `store`."""

    name: str
    steps: tuple[Text, ...]


@dataclass(frozen=True, kw_only=True)
class External(Fact):
    """A resource outside of the database that items drive, such as a firewall rule.

    `handle` is the entity whose item holds its id; `combined` says how several drivers are made one; `cleanup` what
    removes it when the item goes.
    """

    name: str
    drivers: tuple[str, ...] = ()
    combined: str = ""
    handle: str = ""
    cleanup: str = ""
