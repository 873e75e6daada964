"""What every fact has: the line of the document that states it. Pure data."""

from dataclasses import dataclass
from typing import ClassVar

from pydantic import ConfigDict


@dataclass(frozen=True, kw_only=True)
class Fact:
    """Something a design states; `line` is 0 where the design is a value and not a document."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    line: int = 0


@dataclass(frozen=True, kw_only=True)
class Text(Fact):
    """A text as it is written: a condition, a claim, a name."""

    text: str
