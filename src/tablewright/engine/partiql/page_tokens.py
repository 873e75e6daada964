"""Page tokens of SELECT: a position in the ranges of a statement, as text that the client sends back.

Must hold: any text that a client sends is a position in the ranges of the same statement, or is refused. A token is
bound to the table as well, so it is not valid for a later table of the same name. Limit and ConsistentRead may change
between pages.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from hashlib import sha256
from typing import NamedTuple

import orjson

from tablewright.engine.api.shapes import Request
from tablewright.engine.catalog import Table
from tablewright.engine.errors import invalid
from tablewright.values import Value

INVALID_TOKEN = "Invalid NextToken"
FOREIGN_TOKEN = "NextToken does not match request"
_SEAL = 16


class SelectPosition(NamedTuple):
    """The number of a range, and the key after which to continue in it; None for its beginning."""

    number: int
    key: bytes | None


def token_at(table: Table, request: Request, parameters: Sequence[Value], place: SelectPosition) -> str:
    binding = _binding(table, request, parameters)
    body = place.number.to_bytes(2) + (b"" if place.key is None else b"\1" + place.key)
    return urlsafe_b64encode(binding + _seal(binding, body) + body).decode()


def read_token(table: Table, request: Request, parameters: Sequence[Value]) -> SelectPosition:
    try:
        raw = urlsafe_b64decode(request["NextToken"].encode("ascii"))
    except ValueError:
        raise invalid(INVALID_TOKEN) from None
    binding, seal, body = raw[:_SEAL], raw[_SEAL : 2 * _SEAL], raw[2 * _SEAL :]
    if len(body) < 2 or seal != _seal(binding, body):
        raise invalid(INVALID_TOKEN)
    if binding != _binding(table, request, parameters):
        raise invalid(FOREIGN_TOKEN)
    return SelectPosition(int.from_bytes(body[:2]), body[3:] or None)


def _binding(table: Table, request: Request, parameters: Sequence[Value]) -> bytes:
    bound = [table.uuid, request["Statement"], list(parameters)]
    return sha256(orjson.dumps(bound, option=orjson.OPT_SORT_KEYS)).digest()[:_SEAL]


def _seal(binding: bytes, body: bytes) -> bytes:
    return sha256(b"select" + binding + body).digest()[:_SEAL]
