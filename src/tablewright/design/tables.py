"""Tables and indexes as the design names them, and where an entity stands in an index.

A key attribute that is also a field of the entity is the field itself ("native", such as `status` of an index on
status and date); any other key attribute is made from a template and kept right on every write.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

Projection: TypeAlias = Literal["ALL", "KEYS_ONLY"] | tuple[str, ...]
Names: TypeAlias = str | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table: its logical name, its key attributes, and the attribute by which items expire.

    `followed` says that the system follows its stream; `whole` that it is small and read whole, by Scan (`Db.every`).
    """

    design: str
    name: str
    pk: str
    sk: str | None = None
    ttl: str | None = None
    stream: Literal["NEW_AND_OLD_IMAGES", "NEW_IMAGE", "OLD_IMAGE", "KEYS_ONLY"] | None = None
    about: str = ""
    followed: bool = False
    whole: bool = False

    @property
    def key_names(self) -> tuple[str, ...]:
        return (self.pk,) if self.sk is None else (self.pk, self.sk)


@dataclass(frozen=True, slots=True)
class Index:
    """An index of a table. Global ones may have up to four attributes for each half of the key."""

    table: Table
    name: str
    pk: tuple[str, ...]
    sk: tuple[str, ...]
    project: Projection
    local: bool = False
    aliases: tuple[str, ...] = ()

    @property
    def key_names(self) -> tuple[str, ...]:
        return self.pk + self.sk


@dataclass(frozen=True, slots=True)
class Keys:
    """Where an entity stands in an index: one template for each key attribute."""

    pk: Names
    sk: Names | None = None

    @property
    def texts(self) -> tuple[str, ...]:
        return names(self.pk) + names(self.sk)


def names(given: Names | Sequence[str] | None) -> tuple[str, ...]:
    """One name or several, as a tuple."""
    if given is None:
        return ()
    return (given,) if isinstance(given, str) else tuple(given)
