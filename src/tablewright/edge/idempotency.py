"""Idempotency keys: a header with which a caller may repeat a request that is carried out once.

The caller chooses the key; its use is recorded by a receipt in the transaction itself (mapping's `once=`), so nothing
is stored here. Must hold: a key is bound to its caller, or one caller could read another's response.
"""

import re

from fastapi import Request

from tablewright.edge.problems import bad_request

HEADER = "Idempotency-Key"
_KEY = re.compile(r"[\x21-\x7e]{8,200}")


def idempotency_key(request: Request) -> str | None:
    """The caller's key, or None; 400 if it is too short to be unique."""
    given = request.headers.get(HEADER)
    if given is None:
        return None
    if _KEY.fullmatch(given) is None:
        raise bad_request(
            "BAD_IDEMPOTENCY_KEY", "A key is 8 to 200 printable characters, such as a UUID.", HEADER
        )
    return given
