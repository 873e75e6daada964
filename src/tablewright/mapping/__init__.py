"""A design brought to life: typed reads and writes, guards, pages, receipts, over any Call.

`Db` runs what entities and patterns make; the errors say what went wrong in the design's words. `AsyncDb` is imported
on first use: it needs the extra `async`.
"""

from typing import TYPE_CHECKING

from tablewright.client import CallRefused
from tablewright.client import pages as every_page
from tablewright.client.async_extra import of_extra
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
from tablewright.mapping.db import Db
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
from tablewright.mapping.executor import Observe
from tablewright.mapping.explain import Explanation
from tablewright.mapping.large_objects import LargeTooOld, NoObjectStore, ObjectLost
from tablewright.mapping.meter import Meter, Spent
from tablewright.mapping.pages import Match, Page
from tablewright.mapping.receipts import Written
from tablewright.mapping.tables import create_table
from tablewright.values import Item, Value

if TYPE_CHECKING:  # the type checker needs the real name; at run time this import would need the extra
    from tablewright.mapping.async_db import AsyncDb
else:

    def __getattr__(name):
        if name != "AsyncDb":
            raise AttributeError(f"module 'tablewright.mapping' has no attribute {name!r}")
        return of_extra("tablewright.mapping.async_db", name)


__all__ = [
    "ActionsRefused", "AlreadyExists", "AsyncDb", "BadCursor", "CallRefused", "Change", "ChangesLost",
    "ConditionNotMet", "Consumer", "ConsumerUnusable", "CursorExpired", "Db", "Explanation", "Item", "ItemUnreadable",
    "KeyTooLong", "LargeTooOld", "MappingMistake", "Match", "Meter", "Missing", "NoObjectStore", "NoStream",
    "NotForBatches", "NotInOneTransaction", "NotParked", "NotUnique", "ObjectLost", "Observe", "Outdated", "Page",
    "PageTooLarge", "Parked", "Progress", "Replayed", "Spent", "Stale", "TableDiffers", "Value", "WriteRefused",
    "Written", "change_in", "change_of", "create_table", "every_page", "forget_parked", "forget_parked_saying",
    "parked_key", "stream_consumers",
]  # fmt: skip
