"""Page tokens of SELECT: a place among the ranges of a statement, as text that a client hands back.

Must hold: whatever text comes back, it leads to a place in the ranges of the very statement it was made for, or is
refused. It is bound to the table as well, so it does not outlive it. Limit and ConsistentRead may change between pages.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from hashlib import sha256
from typing import NamedTuple

import orjson

from tablewright.engine.catalog import Table
from tablewright.engine.errors import invalid
from tablewright.engine.shapes import Request
from tablewright.values import Value

INVALID_TOKEN = "Invalid NextToken"
FOREIGN_TOKEN = "NextToken does not match request"
_SEAL = 16


class Place(NamedTuple):
    """A range by its number, and the key after which to go on in it; None for its beginning."""

    walk: int
    key: bytes | None


def token_at(table: Table, request: Request, parameters: Sequence[Value], place: Place) -> str:
    binding = _binding(table, request, parameters)
    body = place.walk.to_bytes(2) + (b"" if place.key is None else b"\1" + place.key)
    return urlsafe_b64encode(binding + _seal(binding, body) + body).decode()


def read_token(table: Table, request: Request, parameters: Sequence[Value]) -> Place:
    try:
        raw = urlsafe_b64decode(request["NextToken"].encode("ascii"))
    except ValueError:
        raise invalid(INVALID_TOKEN) from None
    binding, seal, body = raw[:_SEAL], raw[_SEAL : 2 * _SEAL], raw[2 * _SEAL :]
    if len(body) < 2 or seal != _seal(binding, body):
        raise invalid(INVALID_TOKEN)
    if binding != _binding(table, request, parameters):
        raise invalid(FOREIGN_TOKEN)
    return Place(int.from_bytes(body[:2]), body[3:] or None)


def _binding(table: Table, request: Request, parameters: Sequence[Value]) -> bytes:
    bound = [table.uuid, request["Statement"], list(parameters)]
    return sha256(orjson.dumps(bound, option=orjson.OPT_SORT_KEYS)).digest()[:_SEAL]


def _seal(binding: bytes, body: bytes) -> bytes:
    return sha256(b"select" + binding + body).digest()[:_SEAL]
