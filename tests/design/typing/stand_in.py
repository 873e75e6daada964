"""What runs requests, as far as a type checker cares: the signatures of a database without the database."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from pydantic import BaseModel

from tablewright.design import Get, Query, Write

E = TypeVar("E", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Page(Generic[E]):
    items: Sequence[E]
    after: str | None


class Db(Protocol):
    def one(self, get: Get[E], /) -> E | None: ...
    def page(self, query: Query[E], /, *, size: int, after: str | None = None) -> Page[E]: ...
    def changed(self, write: Write[E], /) -> E: ...
    def write(self, *writes: Write[Any], once: str | None = None) -> None: ...
