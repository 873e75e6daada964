"""The pages of a Query, Scan or list.

Must hold: a page is requested only when the caller iterates to it; a start key that is None is left out, never sent as
null. Elsewhere: page tokens for untrusted callers, which must be opaque and signed (mapping).
"""

from collections.abc import Iterator, Mapping
from typing import Any

from tablewright.client.call import Call

# Verb: the member of the answer that says where the page ended, and the member of the next request that starts there.
_CURSORS = {
    "ListTables": ("LastEvaluatedTableName", "ExclusiveStartTableName"),
    "ListBackups": ("LastEvaluatedBackupArn", "ExclusiveStartBackupArn"),
    "ListStreams": ("LastEvaluatedStreamArn", "ExclusiveStartStreamArn"),
}
_USUAL = ("LastEvaluatedKey", "ExclusiveStartKey")


def pages(call: Call, verb: str, request: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The answers of Query, Scan or one of the lists until the last.

    A page may be empty and not the last, if a filter matched nothing.
    """
    end, start = _CURSORS.get(verb, _USUAL)
    next_request = {name: value for name, value in request.items() if name != start or value is not None}
    while True:
        page = call(verb, next_request)
        yield page
        after = page.get(end)
        if not after:
            return
        next_request = {**next_request, start: after}
