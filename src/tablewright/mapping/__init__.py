"""A design brought to life: typed reads and writes, guards, pages, receipts, over any Call.

`Db` runs what entities and patterns make; the errors say what went wrong in the design's words.
"""

from tablewright.mapping.consumer.consumer import Consumer, ConsumerUnusable
from tablewright.mapping.consumer.dead_letters import (
    NotParked,
    Replayed,
    forget_parked,
    forget_parked_saying,
    parked_key,
)
from tablewright.mapping.consumer.design import Parked, stream_consumers
from tablewright.mapping.consumer.leases import ChangesLost
from tablewright.mapping.consumer.processor import Progress
from tablewright.mapping.consumer.records import Change, change_in, change_of
from tablewright.mapping.consumer.shards import NoStream
from tablewright.mapping.db import Db, Match, Page
from tablewright.mapping.errors import (
    ActionsRefused,
    AlreadyExists,
    BadCursor,
    ConditionNotMet,
    CursorExpired,
    ItemUnreadable,
    KeyTooLong,
    MappingMistake,
    Missing,
    NotForBatches,
    NotInOneTransaction,
    NotUnique,
    Outdated,
    PageTooLarge,
    Stale,
    TableDiffers,
    WriteRefused,
)
from tablewright.mapping.explain import Explanation
from tablewright.mapping.meter import Meter, Spent
from tablewright.mapping.receipts import Written
from tablewright.mapping.tables import create_table

__all__ = [
    "ActionsRefused", "AlreadyExists", "BadCursor", "Change", "ChangesLost", "ConditionNotMet", "Consumer",
    "ConsumerUnusable", "CursorExpired", "Db", "Explanation", "ItemUnreadable", "KeyTooLong",
    "MappingMistake", "Match", "Meter", "Missing", "NoStream", "NotForBatches", "NotInOneTransaction", "NotParked",
    "NotUnique", "Outdated", "Page", "PageTooLarge", "Parked", "Progress", "Replayed", "Spent", "Stale",
    "TableDiffers", "WriteRefused", "Written", "change_in", "change_of", "create_table", "forget_parked",
    "forget_parked_saying", "parked_key", "stream_consumers",
]  # fmt: skip
