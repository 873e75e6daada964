"""Why a read or a write was refused, in terms of the design.

Must hold: when one of these is raised, nothing was written. `key` is for programs; the message names the entity, never
what an item contains.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from tablewright.values import Value


class MappingMistake(Exception):
    """The base of all errors of the mapping."""


class WriteRefused(MappingMistake):
    """A write's condition did not hold. `current` is the item as it is, if there is one."""

    def __init__(
        self, entity: str, key: Mapping[str, Value], why: str, current: BaseModel | None = None
    ) -> None:
        self.entity, self.key, self.current = entity, key, current
        super().__init__(f"{entity}: {why}")


class AlreadyExists(WriteRefused):
    """An item with this key exists already."""


class Missing(WriteRefused):
    """There is no such item, or it has expired."""


class Stale(WriteRefused):
    """The item was changed after it was read: read it again and repeat the change."""


class Outdated(WriteRefused):
    """The item is stored in an older form: read it and write it whole, which gives it the present one."""


class ConditionNotMet(WriteRefused):
    """The item exists, but a condition of the write does not hold."""


class NotUnique(WriteRefused):
    """Another item has this value. `constraint` is its name, `owner` the key of the item that has it."""

    def __init__(
        self, entity: str, constraint: str, key: Mapping[str, Value], owner: Mapping[str, Value] | None
    ) -> None:
        self.constraint, self.owner = constraint, owner
        super().__init__(entity, key, f"another item has this {constraint}")


class ActionsRefused(MappingMistake):
    """Conditions of a transaction in the wire's form did not hold.

    `failed` are the positions of those actions, each with its item as it is if the action asked for it.
    """

    def __init__(self, name: str, failed: Mapping[int, Mapping[str, Value] | None]) -> None:
        self.failed = failed
        super().__init__(f"{name}: the conditions of actions {', '.join(map(str, failed))} do not hold")


class BadCursor(MappingMistake):
    """A page token that was not made here, or not for this pattern, these parameters and this reader."""


class CursorExpired(BadCursor):
    """A page token that has expired: begin again at the first page."""


class PageTooLarge(MappingMistake):
    """The page size is larger than the pattern allows."""

    def __init__(self, pattern: str, asked: int, at_most: int) -> None:
        self.pattern, self.asked, self.at_most = pattern, asked, at_most
        super().__init__(f"{pattern} gives 1 to {at_most} items a page, not {asked}")


class KeyTooLong(MappingMistake):
    """A key is longer than any key can be (2048 bytes, 1024 of a sort key): no item has it."""

    def __init__(self) -> None:
        super().__init__("the key is longer than a key can be: 2048 bytes, a sort key 1024")


class ItemUnreadable(MappingMistake):
    """An item does not fit its model: the design changed, or something else wrote it."""

    def __init__(self, entity: str, key: Mapping[str, Any], fields: str) -> None:
        self.entity, self.key = entity, key
        super().__init__(
            f"{entity}: an item does not fit its model ({fields}); migrate it or loosen the model"
        )


class NotInOneTransaction(MappingMistake):
    """A write that takes more than one step cannot be part of a transaction."""


class NotForBatches(MappingMistake):
    """A batch has no conditions, and this write needs one."""


class TableDiffers(MappingMistake):
    """A table with this name exists and is not the one the design describes."""

    def __init__(self, table: str, what: str) -> None:
        self.table = table
        super().__init__(f"the table {table} exists with {what}; migrate it, or use another name or store")
