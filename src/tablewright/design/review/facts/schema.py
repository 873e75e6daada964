"""Facts about what is stored: tables, attributes, key templates, indexes, ids, shards."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from tablewright.design.review.facts.fact import Fact, Text

ProjectionKind: TypeAlias = Literal["ALL", "KEYS_ONLY", "INCLUDE"]


@dataclass(frozen=True, kw_only=True)
class KeyAttribute(Fact):
    """An attribute in a key schema, or in the list of attribute definitions; `type` as it is declared there."""

    name: str
    type: str = "S"


@dataclass(frozen=True, kw_only=True)
class Table(Fact):
    """A table: its key, and the types declared for its key attributes.

    `ttl` names the attribute by which items expire. `writes` is the peak of writes in a second.
    """

    name: str
    hash: KeyAttribute
    range: KeyAttribute | None = None
    ttl: Text | None = None
    definitions: tuple[KeyAttribute, ...] = ()
    writes: float = 0
    writes_line: int = 0


@dataclass(frozen=True, kw_only=True)
class IndexUnits(Fact):
    """The write units that a change of an attribute takes of an index; `moves` says that it is in the key there."""

    index: str
    units: float
    moves: bool = False


@dataclass(frozen=True, kw_only=True)
class IndexWrites(Fact):
    """The writes in a second that go to those partition keys of an index which the entity has."""

    index: str
    writes: float


@dataclass(frozen=True, kw_only=True)
class Attribute(Fact):
    """An attribute of an entity, as it is declared.

    `format` says what its text is: uuid, ulid, iso, date, email, phone, code, status, id (of bounded form), money.
    `length_checked` says that a key that is too long is refused with an error that names it.
    `changes` says on which event its value changes, such as `every download`; `change_units` what the write takes
    without the indexes that have the attribute, and `index_units` what those take, where it is computed. `max` bounds
    its length or its elements.
    Of a part of a key: how many `shards` it is, whether its values follow the clock (`timed`), and whether items of
    other values are left out of the index (`sparse`).
    """

    name: str
    type: str = "S"
    required: bool = False
    format: str = ""
    values: tuple[str, ...] = ()
    open_ended: bool = False
    cardinality: int | None = None
    shards: int = 0
    timed: bool = False
    sparse: bool = False
    min_length: int | None = None
    max: int | None = None
    digits: int | None = None
    personal: bool = False
    hashed: bool = False
    normalised: bool = False
    escaped: bool = False
    length_checked: bool = False
    unique: bool = False
    changes: str = ""
    change_units: float = 1
    index_units: tuple[IndexUnits, ...] | None = None
    counter: bool = False
    entries: str = ""
    tracks: Literal["", "first", "last"] = ""
    number: Literal["", "integer", "decimal", "float"] = ""
    computed: bool = False
    definition: str = ""
    gate: str = ""


@dataclass(frozen=True, kw_only=True)
class KeyTemplate(Fact):
    """How a key attribute is made: `VISIT#{region}`. `text` is the template of a design, in its own words."""

    attribute: str
    template: str
    text: str = ""


@dataclass(frozen=True, kw_only=True)
class Entity(Fact):
    """A kind of item. `owner` is the attribute that names the person it belongs to; `version` the one for locking.

    `parts` are values that occur in key templates and not in the list of attributes. `partial` says that the
    attributes are not all listed, `created_if_absent` that each create has the condition that the key is absent.
    `guards` are the attributes that guards of unique values are for, `guard_keys` the keys of those guards.
    `index_writes` are the writes that enter each index, where they are known; those of the table are more.
    `table_writes` are the writes in a second to its partition keys, `item_bytes` the largest item, where known.
    """

    name: str
    table: str
    keys: tuple[KeyTemplate, ...] = ()
    attributes: tuple[Attribute, ...] = ()
    parts: tuple[Attribute, ...] = ()
    owner: str = ""
    version: str = ""
    guards: tuple[str, ...] = ()
    guard_keys: tuple[KeyTemplate, ...] = ()
    index_writes: tuple[IndexWrites, ...] | None = None
    table_writes: float | None = None
    item_bytes: int | None = None
    partial: bool = False
    created_if_absent: bool = False


@dataclass(frozen=True, kw_only=True)
class Projection(Fact):
    """What an index carries. `names` are the attributes of INCLUDE."""

    kind: ProjectionKind
    names: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Index(Fact):
    """A secondary index. `holds` are the key texts a document lists for it; `one` says that a value has one item."""

    name: str
    table: str
    hash: KeyAttribute
    range: KeyAttribute | None = None
    local: bool = False
    projection: Projection | None = None
    sparse: Text | None = None
    filter: Text | None = None
    entities: tuple[str, ...] = ()
    holds: tuple[Text, ...] = ()
    one: bool = False


@dataclass(frozen=True, kw_only=True)
class Id(Fact):
    """How an id is made: its template, and of what each part is. `allocation` says how a sequence is handed out."""

    name: str
    template: str = ""
    entity: str = ""
    random_bits: int | None = None
    epoch_seconds: bool = False
    sequence: bool = False
    allocation: str = ""
    parts: tuple[Attribute, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Derivation(Fact):
    """A value computed from another: `how` is the operation."""

    value: str
    source: str
    how: str


@dataclass(frozen=True, kw_only=True)
class Shard(Fact):
    """A shard number: the value it is computed from, the hash function, and the partition it is added to."""

    source: str
    function: str
    partition: str
    count: int = 0
