"""Idempotency keys: a header by which a caller may ask twice and get one thing done.

The key is the caller's; what it was used for is remembered by a receipt in the transaction itself (mapping's `once=`),
so nothing is stored here. Must hold: a key is bound to who sent it, or one caller could read another's answer.
"""

import re

from fastapi import Request

from tablewright.edge.problems import bad_request

HEADER = "Idempotency-Key"
_KEY = re.compile(r"[\x21-\x7e]{8,200}")


def idempotency_key(request: Request) -> str | None:
    """The caller's key, or None; 400 if it is too short to be one of a kind."""
    given = request.headers.get(HEADER)
    if given is None:
        return None
    if _KEY.fullmatch(given) is None:
        raise bad_request(
            "BAD_IDEMPOTENCY_KEY", "A key is 8 to 200 printable characters, such as a UUID.", HEADER
        )
    return given
