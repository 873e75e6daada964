"""How often files were downloaded: counted in memory, and added to the files every few seconds (CC-D5).

A file that a course opens at once would otherwise be one item with hundreds of writes a second, each in five indexes.
Must hold: a count that is flushed is added once; a crash loses those of the last seconds and nothing else. The version
of the file stays, so a download never disturbs someone who edits.
"""

import threading
from collections import Counter
from datetime import datetime, timedelta

from tablewright.mapping import ActionsRefused
from tablewright.systems.campus import design as d
from tablewright.systems.campus.model import File
from tablewright.systems.campus.repository import Repository

A_DOWNLOAD = timedelta(minutes=10)


class DownloadCounts:
    """The buffer of this process; a job flushes it."""

    def __init__(self, repository: Repository) -> None:
        self._repository, self._lock = repository, threading.Lock()
        self._counts: Counter[tuple[str, str]] = Counter()
        # Who began to read which version: the ranges after it are of the same download.
        self._begun: dict[tuple[str, str], datetime] = {}

    def add(self, file: File) -> None:
        with self._lock:
            self._counts[file.user_id, file.file_id] += 1

    def begins(self, user_id: str, version_id: str) -> bool:
        """False for a part of a download that this user began within the last minutes, and was counted."""
        now = self._repository.now()
        with self._lock:
            for key, at in list(self._begun.items()):  # the oldest first
                if now - at < A_DOWNLOAD:
                    break
                del self._begun[key]
            if (user_id, version_id) in self._begun:
                return False
            self._begun[user_id, version_id] = now
            return True

    def flush(self) -> int:
        """Add what was counted to the files and their owners; how many downloads. A purged file has no count."""
        with self._lock:
            counts, self._counts = self._counts, Counter()
        flushed = 0
        while counts:
            (user_id, file_id), count = counts.popitem()
            try:
                self._add(user_id, file_id, count)
                flushed += count
            except ActionsRefused:
                continue
            except Exception:  # the store did not answer: next time, with all that is left
                with self._lock:
                    self._counts += counts + Counter({(user_id, file_id): count})
                raise
        return flushed

    def _add(self, user_id: str, file_id: str, count: int) -> None:
        """Not a Write: that would count as a new version of the file."""
        key = {"userId": {"S": user_id}, "fileId": {"S": file_id}}
        update = {
            "TableName": self._repository.db.physical(d.files_table.table.name),
            "Key": key,
            "UpdateExpression": "ADD downloadCount :count",
            "ConditionExpression": "attribute_exists(fileId)",
            "ExpressionAttributeValues": {":count": {"N": str(count)}},
        }
        self._repository.db.transact("file.downloads", [{"Update": update}])
        owner = d.users.update(user_id).at(lambda u: u.statistics.total_downloads).add(count)
        self._repository.try_write(owner)
