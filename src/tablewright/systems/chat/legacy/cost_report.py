"""What both versions cost, beside what the document states (ZC-44, ZC-45): computed from sizes by design/cost.

The document counts two write units for an append to an item that grows by 500 bytes each time, and none for indexes and
transactions (ZC-D25, ZC-D26); its sums for 50 million messages and for storage do not follow from its own prices
(ZC-D27, ZC-D28). Small designs with the document's shapes and loads stand for its scenarios; prices are those of the
document, and today's beside them.
Elsewhere: the bill of the design that runs (`tablewright cost chat`).
"""

import json
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import cache
from typing import Literal, TypeAlias

from pydantic import BaseModel

from tablewright.design import Design, Environment, Keys, Load, begins
from tablewright.design.cost import cost_of
from tablewright.design.cost.calls import calls_of
from tablewright.design.prices import HOME, PRICES, PriceBook, book_of

MESSAGE_BYTES, MESSAGES = 500, 50
CHATS_A_DAY, DAYS = 100, 30
YEARLY_MESSAGES = 50_000_000
ESTATE_BYTES = 404_000
Drawn: TypeAlias = Literal["as drawn", "in transactions", "status by day"]
# ZC-44.
_FIGURES = {"read": "0.25", "write": "1.25", "storage": "0.25", "backup": "0.20", "recovery": "0.20"}
_UNUSED = (
    "replicated_write", "read_hour", "write_hour", "replicated_write_hour", "stream_read", "vector_write",
    "vector_search",
)  # fmt: skip
_HERE = Environment("document", region=HOME)


@dataclass(frozen=True, slots=True)
class CostRow:
    """A figure of the document, and what it is."""

    defect: str
    what: str
    stated: str
    computed: Decimal
    unit: str
    how: str


@cache
def document_prices() -> PriceBook:
    """The price book of the document (ZC-44)."""
    figures = {**_FIGURES, **dict.fromkeys(_UNUSED, "0")}
    # What is not used here needs a figure all the same: other regions are derived by it.
    figures["write_hour"] = "0.00065"
    entry = {"as_of": "2025-10-22", "source": "the document, section 8", "figures": figures}
    return book_of(json.dumps({HOME: [entry]}))


# --- the document's shapes ---


class _Item(BaseModel):
    id: str
    text: str = ""


class _Header(BaseModel):
    id: str
    user_id: str
    family_id: str
    status: str
    message_count: int
    last_activity: datetime


def _by_id(id: str) -> None: ...
def _by_user(user_id: str, id: str) -> None: ...


def first_version(size: int, per_month: float) -> Design:
    """Appends to a conversation of one size, each after a read of it."""
    design = Design("first-version")
    table = design.table("conversation", pk="id")
    append = Load(per_month=per_month, item_bytes=size, changes=("text",))
    items = table.entity(_Item, _by_id, tag="conversation", pk="{id}", load={"update": append})

    @design.get(items, consistent=True, load=Load(per_month=per_month, item_bytes=size))
    def conversation(id: str) -> None:
        """The whole conversation."""

    design.build()
    return design


def second_version(drawn: Drawn, per_month: float) -> Design:
    """Messages of 500 bytes, each with an update of its header, which is in two indexes."""
    design, together = Design("second-version"), drawn != "as drawn"
    table = design.table("conversation-v2", pk="PK", sk="SK")
    family = table.gsi(
        "family-index", pk="familyId", sk="created", project=("message_count", "last_activity")
    )
    status = table.gsi("status-index", pk="statusKey", sk="statusAt", project="KEYS_ONLY")
    at = "{last_activity:day}" if drawn == "status by day" else "{last_activity:ms}"
    table.entity(
        _Header, _by_user, tag="header", pk="USER#{user_id}", sk="CONV#{id}",
        on={family: Keys("{family_id}", "{id}"), status: Keys("{status}", at)},
        load={"update": Load(
            per_month=per_month, item_bytes=500, transaction=together, changes=("message_count", "last_activity"),
            # By day the status index is written once a day, not with each message.
            indexes=("family-index",) if drawn == "status by day" else None,
        )},
    )  # fmt: skip
    put = Load(per_month=per_month, item_bytes=MESSAGE_BYTES, transaction=together)
    messages = table.entity(
        _Item, _by_user_message, tag="message", pk="USER#{id}", sk="MSG#{text}", load={"create": put}
    )
    reads = Load(per_month=per_month, items=20, item_bytes=MESSAGE_BYTES)

    @design.query(messages, pk="USER#{id}", sk=begins("MSG#"), page=20, load=reads)
    def history(*, id: str) -> None:
        """The newest messages."""

    design.build()
    return design


def _by_user_message(id: str, text: str) -> None: ...


# --- units ---


def units_of(design: Design, kind: Literal["read", "write"]) -> Decimal:
    """The units of one of each call of a design."""
    return sum((call.units for call in calls_of(design) if call.kind == kind), Decimal())


def first_version_writes(messages: int) -> Decimal:
    """The write units of a whole conversation in the first version: each append writes all that is there."""
    sizes = range(MESSAGE_BYTES, MESSAGE_BYTES * (messages + 1), MESSAGE_BYTES)
    return sum((units_of(first_version(size, 1), "write") for size in sizes), Decimal())


def second_version_writes(drawn: Drawn) -> Decimal:
    """The write units of a message in the second version."""
    return units_of(second_version(drawn, 1), "write")


def longer_than(drawn: Drawn) -> int:
    """From how many messages on a conversation takes fewer write units in the second version."""
    each, spent = second_version_writes(drawn), Decimal()
    for count in range(1, 1000):
        spent += units_of(first_version(MESSAGE_BYTES * count, 1), "write")
        if spent > each * count:
            return count
    raise AssertionError("the second version is never cheaper")


# --- money ---


def requests(design: Design, book: PriceBook) -> Decimal:
    """What the requests of a month cost."""
    lines = cost_of(design, _HERE, book).lines
    return sum((line.amount for line in lines if line.part in ("reads", "writes")), Decimal())


def first_version_month(book: PriceBook) -> Decimal:
    """100 conversations of 50 messages a day in the first version: appends, each with its read."""
    chats = CHATS_A_DAY * DAYS
    sizes = range(MESSAGE_BYTES, MESSAGE_BYTES * (MESSAGES + 1), MESSAGE_BYTES)
    return sum((requests(first_version(size, chats), book) for size in sizes), Decimal())


def second_version_month(book: PriceBook, drawn: Drawn) -> Decimal:
    """The same in the second: a message, its header, and ten histories a day of each conversation."""
    messages = CHATS_A_DAY * DAYS * MESSAGES
    design = second_version(drawn, messages)
    writes = sum(
        (line.amount for line in cost_of(design, _HERE, book).lines if line.part == "writes"), Decimal()
    )
    reads = CHATS_A_DAY * DAYS * 10 * units_of(second_version(drawn, 1), "read")
    return writes + book.of(HOME)["read"].of(reads)


def stated_year(writes: int, reads: int) -> Decimal:
    """50 million messages a year at the units that the document itself counts for a message."""
    prices = document_prices().of(HOME)
    return prices["write"].of(Decimal(writes * YEARLY_MESSAGES)) + prices["read"].of(
        Decimal(reads * YEARLY_MESSAGES)
    )


def storage_month(size: int, book: PriceBook) -> Decimal:
    return book.of(HOME)["storage"].of(Decimal(size) / 10**9)


# --- the report ---


def cost_report() -> list[CostRow]:
    """Every figure of the document that was looked at, with what it should be."""
    book = document_prices()
    whole = first_version_writes(MESSAGES)
    longest = units_of(first_version(MESSAGE_BYTES * MESSAGES, 1), "read")
    rows = [
        CostRow("ZC-D25", "an append in the first version, on average", "2", whole / MESSAGES, "write units",
                "the whole item is written each time; it grows by 500 bytes"),
        CostRow("ZC-D25", "a conversation of 50 messages in the first version", "100", whole, "write units",
                "the sum over its 50 sizes"),
        CostRow("ZC-D25", "a read of a full conversation in the first version", "2", longest, "read units",
                "25 000 bytes in steps of 4 KB, consistently"),
        *_second_version_rows(),
        CostRow("ZC-D27", "50 million messages a year, first version", "2200",
                stated_year(2, 1), "USD", "2 write units and 1 read unit for each, at the document's prices"),
        CostRow("ZC-D27", "50 million messages a year, second version", "2000",
                stated_year(2, 0), "USD", "2 write units for each, at the document's prices"),
        CostRow("ZC-D28", "storage of 80 conversations", "0.10", storage_month(ESTATE_BYTES, book), "USD a month",
                "404 KB"),
        CostRow("ZC-D28", "messages in a year at a million a month", "6000000", Decimal(12_000_000), "messages",
                "twelve months"),
    ]  # fmt: skip
    return [*rows, *_monthly_rows()]


def _second_version_rows() -> list[CostRow]:
    why: dict[Drawn, str] = {
        "as drawn": "the message, its header, one write of the family index, two of the status index",
        "in transactions": "message and header count twice in a transaction",
        "status by day": "in a transaction; the status index changes once a day",
    }
    rows = [
        CostRow("ZC-D26", f"a message in the second version, {drawn}", "2",
                second_version_writes(drawn), "write units", how)
        for drawn, how in why.items()
    ]  # fmt: skip
    return rows + [
        CostRow("ZC-D26", f"the second version writes less from so many messages on, {drawn}", "1",
                Decimal(longer_than(drawn)), "messages", "shorter conversations are cheaper in the first")
        for drawn in why
    ]  # fmt: skip


def _monthly_rows() -> list[CostRow]:
    found = []
    for name, book in (("the document's prices", document_prices()), ("today's prices", PRICES)):
        first, second = first_version_month(book), second_version_month(book, "status by day")
        found += [
            CostRow("ZC-D25", f"100 conversations a day, first version, {name}", "0.44", first, "USD a month",
                    "appends with their reads"),
            CostRow("ZC-D26", f"100 conversations a day, second version, {name}", "0.40", second, "USD a month",
                    "messages, headers, indexes, and ten histories of each conversation"),
        ]  # fmt: skip
    return found
