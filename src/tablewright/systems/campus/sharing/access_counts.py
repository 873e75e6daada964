"""How often shares were used: counted in memory, and added to the shares every few seconds (CC-22).

A share with a course would otherwise be one item with a write for each student at once. Must hold: a count that is
flushed is added once; a crash loses those of the last seconds and nothing else. The version of the share stays, so its
owner can change it while it is used.
"""

import threading
from datetime import datetime
from typing import Any

from tablewright.mapping import ActionsRefused
from tablewright.systems.campus import design as d
from tablewright.systems.campus.model import Share
from tablewright.systems.campus.repository import Repository

Key = tuple[str, str]


class AccessCounts:
    """The buffer of this process; a job flushes it."""

    def __init__(self, repository: Repository) -> None:
        self._repository, self._lock = repository, threading.Lock()
        self._counts: dict[Key, tuple[int, datetime]] = {}

    def add(self, share: Share) -> None:
        self._put((share.file_id, share.shared_with_user_id), 1, self._repository.now())

    def _put(self, key: Key, count: int, at: datetime) -> None:
        with self._lock:
            before, last = self._counts.get(key, (0, at))
            self._counts[key] = before + count, max(last, at)

    def flush(self) -> int:
        """Add what was counted to the shares; how many accesses. A share that is gone has no count."""
        with self._lock:
            counts, self._counts = self._counts, {}
        flushed = 0
        while counts:
            key, (count, at) = counts.popitem()
            try:
                self._repository.db.transact("share.accesses", [{"Update": self._update(key, count, at)}])
                flushed += count
            except ActionsRefused:  # it ended, or was claimed by its recipient
                continue
            except Exception:  # the store did not answer: next time, with all that is left
                for each, (number, last) in {**counts, key: (count, at)}.items():
                    self._put(each, number, last)
                raise
        return flushed

    def _update(self, key: Key, count: int, at: datetime) -> dict[str, Any]:
        """Not a Write: that would count as a new version of the share."""
        row = d.shares.update(*key)
        return {
            "TableName": self._repository.db.physical(d.shares_table.table.name),
            "Key": dict(row.key),
            "UpdateExpression": "SET lastAccessedAt = :at ADD accessCount :count",
            "ConditionExpression": "attribute_exists(fileId)",
            "ExpressionAttributeValues": {
                ":at": row.at(lambda s: s.last_accessed_at).set(at).steps[0].value,
                ":count": {"N": str(count)},
            },
        }
