"""Reads that also find shares whose end has come and that TTL has not removed yet.

Other reads hide them (CC-D10). Their recipient is told that the share has ended, and their owner still sees them.
"""

from dataclasses import replace
from typing import TypeVar

from pydantic import BaseModel

from tablewright.design import Get, Query
from tablewright.systems.campus.model import Share

E = TypeVar("E", bound=BaseModel)


def even_ended(get: Get[Share]) -> Get[Share]:
    return replace(get, shape=replace(get.shape, expires=None))


def all_even_ended(query: Query[E]) -> Query[E]:
    return replace(query, shapes=tuple(replace(shape, expires=None) for shape in query.shapes))
