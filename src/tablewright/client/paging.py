"""Page after page of an answer that does not fit into one.

Must hold: a page is asked for only when it is wanted; a start that is not there is left out, never sent as null.
Elsewhere: page tokens for strangers, which must be opaque and signed (not in this room).
"""

from collections.abc import Iterator, Mapping
from typing import Any

from tablewright.client.call import Call

# Verb: the member that says where the page ended, and the one that asks to go on from there.
_CURSORS = {
    "ListTables": ("LastEvaluatedTableName", "ExclusiveStartTableName"),
    "ListBackups": ("LastEvaluatedBackupArn", "ExclusiveStartBackupArn"),
}
_USUAL = ("LastEvaluatedKey", "ExclusiveStartKey")


def pages(
    call: Call, verb: str, request: Mapping[str, Any], *, most: int | None = None
) -> Iterator[dict[str, Any]]:
    """The answers of Query, Scan, ListTables or ListBackups until the last, or `most` of them.

    A page may be empty and not the last: a filter has let nothing through. The last page of a walk that was
    ended by `most` still says where it ended.
    """
    ended, start = _CURSORS.get(verb, _USUAL)
    asked = {name: value for name, value in request.items() if name != start or value is not None}
    given = 0
    while most is None or given < most:
        page = call(verb, asked)
        given += 1
        yield page
        after = page.get(ended)
        if not after:
            return
        asked = {**asked, start: after}
