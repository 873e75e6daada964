"""Facts about operation: retention, time, capacity, cost as stated, alarms, backups, replicas, infrastructure."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from tablewright.design.prices import PriceKind
from tablewright.design.review.facts.fact import Fact, Text


@dataclass(frozen=True, kw_only=True)
class Retention(Fact):
    """How long items are kept. `subject` groups statements about one thing; `enforces` is what must be true at the end.

    `days` is None for indefinitely. `rolls` says that the period begins again with each change.
    """

    subject: str
    period: str
    entity: str = ""
    days: Decimal | None = None
    ttl: bool = False
    attribute: str = ""
    enforces: str = ""
    filtered: bool = False
    parent: str = ""
    rolls: bool = False


@dataclass(frozen=True, kw_only=True)
class TimeValue(Fact):
    """A time as code makes it: the expression, and the attributes or comparisons it goes into."""

    name: str
    expression: str
    feeds: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class LocalTime(Fact):
    """A rule in local time or of calendar days. `zone` says whose time; `day_rule` to which day a night belongs."""

    name: str
    zone: str = ""
    start: str = ""
    end: str = ""
    start_line: int = 0
    day_rule: str = ""
    acts: bool = False


@dataclass(frozen=True, kw_only=True)
class HealthCheck(Fact):
    """A regular check of the data, and how late the service may be before it complains."""

    name: str
    of: str
    grace_hours: int = 0


@dataclass(frozen=True, kw_only=True)
class Term(Fact):
    """A number of units at a price per million; of which `kind`, and by which UnitCount, where the document says."""

    units: Decimal
    price: Decimal
    kind: PriceKind | None = None
    count: str = ""


@dataclass(frozen=True, kw_only=True)
class Cost(Fact):
    """A cost as stated. `requests` of which the mix of reads and writes is not said, `terms` where it is.

    `parts` names the lines that a total adds up. Of what is stored: `gb` at `gb_price`, of which `kind`, and of backups
    how many `points` are kept at once.
    """

    name: str
    stated: Decimal
    terms: tuple[Term, ...] = ()
    parts: tuple[str, ...] = ()
    requests: Decimal | None = None
    gb: Decimal | None = None
    gb_price: Decimal | None = None
    kind: PriceKind | None = None
    points: int = 1


@dataclass(frozen=True, kw_only=True)
class UnitCount(Fact):
    """The write units of one write, as stated. `touches` are the indexes that have an entry for the item.

    `moves` are those of them whose key changes, which is a delete and a put. `elements` of `element_bytes` are what
    the item grows to.
    """

    name: str
    stated: Decimal
    item_bytes: int = 1024
    touches: tuple[str, ...] = ()
    moves: tuple[str, ...] = ()
    base: bool = True
    elements: int = 0
    element_bytes: int = 0


@dataclass(frozen=True, kw_only=True)
class StatedPrice(Fact):
    """A price as stated, of what and by which measure."""

    kind: PriceKind
    amount: Decimal
    measure: str = ""
    region: str = ""


@dataclass(frozen=True, kw_only=True)
class Ratio(Fact):
    """A percentage as stated, of which quantity, and the figures it was computed from."""

    of: str
    percent: Decimal
    before: Decimal | None = None
    after: Decimal | None = None


@dataclass(frozen=True, kw_only=True)
class Capacity(Fact):
    """A capacity mode of a table in an environment, and reserved units of the table and its indexes.

    `most_read` and `most_write` are the units up to which they scale, `load_read` and `load_write` those that the
    stated load takes in a second, on average, of the table or the busiest of its indexes."""

    table: str
    mode: Literal["on demand", "provisioned"]
    environment: str = ""
    write: int | None = None
    index_write: int | None = None
    most_read: int | None = None
    most_write: int | None = None
    load_read: float | None = None
    load_write: float | None = None


@dataclass(frozen=True, kw_only=True)
class Volume(Fact):
    """How many requests a month so many users make."""

    users: int
    requests_a_month: Decimal


@dataclass(frozen=True, kw_only=True)
class Limit(Fact):
    """A limit of the service as quoted."""

    name: str
    value: str


@dataclass(frozen=True, kw_only=True)
class Alarm(Fact):
    """An alarm on a metric. `expected` is what the metric's usual value is in a period."""

    name: str
    metric: str
    comparison: Text | None = None
    threshold: Decimal | None = None
    minutes: int | None = None
    statistic: str = ""
    expected: Decimal | None = None


@dataclass(frozen=True, kw_only=True)
class Backup(Fact):
    """A backup schedule of an environment, as one place states it; `none` where there is none."""

    environment: str
    schedule: str
    keep_days: int | None = None
    tables: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Protection(Fact):
    """What protects the tables of production from a mistake: recovery to a point in time, deletion protection."""

    environment: str
    pitr: bool
    deletion_protection: bool


@dataclass(frozen=True, kw_only=True)
class Budget(Fact):
    """What an environment may cost in a month, and what it costs by the load and the price book."""

    environment: str
    limit: Decimal
    computed: Decimal


@dataclass(frozen=True, kw_only=True)
class RecoveryPoint(Fact):
    """How much may be lost, as stated, and the window of the mechanism it rests on."""

    scenario: str
    objective: str
    window: str = ""


@dataclass(frozen=True, kw_only=True)
class Restore(Fact):
    """A plan to restore a table: the settings it applies again, and whether it lifts deletion protection."""

    name: str
    applies: tuple[str, ...] = ()
    deletes_original: bool = False
    protection: bool = False
    lifts_protection: bool = False


@dataclass(frozen=True, kw_only=True)
class Replica(Fact):
    """A replica of a table in another region."""

    table: str
    region: str
    writers: Literal["", "one region", "every region"] = ""
    settings: tuple[str, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class Resource(Fact):
    """A resource of infrastructure as code: what it refers to; of a table, its indexes and settings."""

    address: str
    table: str = ""
    references: tuple[Text, ...] = ()
    indexes: tuple[str, ...] = ()
    arguments: tuple[Text, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Module(Fact):
    """A module of infrastructure as code and what it creates."""

    name: str
    creates: str


@dataclass(frozen=True, kw_only=True)
class Tag(Fact):
    """A tag and its value."""

    name: str
    value: str


@dataclass(frozen=True, kw_only=True)
class TagSet(Fact):
    """The tags of an environment as one place lists them; `count` is how many it says there are."""

    environment: str
    tags: tuple[Tag, ...] = ()
    count: int | None = None


@dataclass(frozen=True, kw_only=True)
class Tool(Fact):
    """A tool and what it is to be used for."""

    name: str
    purpose: str
