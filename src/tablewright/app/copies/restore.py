"""Restores from a copy: tables are created, filled and compared with the copy's counts, and the files beside them put
back.

Items are written in batches, so any endpoint works: it needs no access to the location. A table that is being filled
has a tag with the copy it is filled from; after an interruption it is filled again from the start, with the same
result.
Must hold: a table that exists and is not part of this same restore is refused before anything is written
(`refuse_there`); a file that differs from its manifest is refused; the files beside the tables are the newest,
whichever copy is restored.
Elsewhere: making copies (job.py), the command (cli/db/copies_restore.py).
"""

import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from gzip import GzipFile
from io import BytesIO
from itertools import islice
from pathlib import Path
from time import sleep
from typing import Any

from tablewright.app.copies.store import CopiedTable, CopiesUnusable, Copy, CopyPlace, moment_name
from tablewright.app.copies.store_id import keep_id
from tablewright.app.progress import silent
from tablewright.client import Call, CallRefused, batch_write, pages
from tablewright.engine.transfer.export_format import checksum
from tablewright.kit.system import Progress
from tablewright.private_files import private_directory

TAG = "tablewright:restoring"
# Enough for some calls at a time, little enough to be held in memory at 400 kB each.
AT_ONCE = 100
PAUSE = 0.1
_PATH = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*(?:/[A-Za-z0-9_-][A-Za-z0-9._-]*)+")


class NoSuchCopy(CopiesUnusable):
    """A copy that does not exist, or is ambiguous."""


class TablesThere(CopiesUnusable):
    """Tables of the copy already exist."""

    def __init__(self, names: Sequence[str]) -> None:
        exist = "exists" if len(names) == 1 else "exist"
        super().__init__(
            f"{', '.join(names)} already {exist}, and a restore never overwrites; name a directory or a server "
            "without them"
        )


@dataclass(frozen=True, slots=True)
class Restored:
    """A table that was made again: how many items its copy has, and how many it has now."""

    name: str
    copied: int
    found: int

    @property
    def is_equal(self) -> bool:
        return self.copied == self.found


def chosen(copies: Sequence[Copy], day: str | None, store: str | None) -> Copy:
    """The copy of a day (2026-11-16), or the newest; refused if that is none, or of several stores."""
    meant = [
        copy
        for copy in copies
        if (day is None or f"{copy.at:%Y-%m-%d}" == day) and (store is None or copy.store.startswith(store))
    ]
    if not meant:
        there = sorted(
            {
                f"{copy.at:%Y-%m-%d}" if store is None else f"{copy.at:%Y-%m-%d} of {copy.store}"
                for copy in copies
            }
        )
        raise NoSuchCopy(
            f"there is no such copy; there are copies of {', '.join(there)}"
            if there
            else "there is no complete copy"
        )
    stores = sorted({copy.store for copy in meant})
    if len(stores) > 1:
        raise NoSuchCopy(f"there are copies of several stores; name one with --store: {', '.join(stores)}")
    return meant[-1]


# --- tables ---


def restore_tables(call: Call, place: CopyPlace, copy: Copy, progress: Progress = silent) -> list[Restored]:
    """Create and fill the tables of a copy; returns their item counts. The caller refused existing tables before."""
    done, made, arns = 0, [], []
    for table in copy.tables:
        arns.append(_made(call, table, _mark(copy)))
        for number in _filled(call, place, table):
            done += number
            progress(done, copy.items, table.name)
        made.append(Restored(table.name, table.items, _count(call, table.name)))
    for (
        arn
    ) in arns:  # when all are filled: cut off before, one without its tag would be in the way of the others
        call("UntagResource", {"ResourceArn": arn, "TagKeys": [TAG]})
    return made


def refuse_there(call: Call, copy: Copy) -> None:
    """Raise TablesThere if any of a copy's tables is there and is not being restored from this very copy."""
    found = [table.name for table in copy.tables if _is_another(call, table.name, _mark(copy))]
    if found:
        raise TablesThere(found)


def _mark(copy: Copy) -> str:
    return f"{copy.store}/{moment_name(copy.at)}"


def _is_another(call: Call, name: str, mark: str) -> bool:
    found = _look(call, name)
    if found is None:
        return False
    tags = call("ListTagsOfResource", {"ResourceArn": found["TableArn"]})["Tags"]
    return {"Key": TAG, "Value": mark} not in tags


def _look(call: Call, name: str) -> dict[str, Any] | None:
    try:
        table: dict[str, Any] = call("DescribeTable", {"TableName": name})["Table"]
    except CallRefused as refusal:
        if refusal.name != "ResourceNotFoundException":
            raise
        return None
    return table


def _made(call: Call, table: CopiedTable, mark: str) -> str:
    """The table, ready to be filled; its ARN."""
    if _look(call, table.name) is None:
        tags = [{"Key": TAG, "Value": mark}]
        call("CreateTable", {**table.definition, "TableName": table.name, "Tags": tags})
    while True:
        found = _look(call, table.name)
        if found is not None and found["TableStatus"] == "ACTIVE":
            return str(found["TableArn"])
        sleep(PAUSE)


def _filled(call: Call, place: CopyPlace, table: CopiedTable) -> Iterator[int]:
    """Put every item; how many, a batch at a time."""
    items = _items(place, table)
    while some := list(islice(items, AT_ONCE)):
        left = batch_write(call, {table.name: [{"PutRequest": {"Item": item}} for item in some]})
        if left:
            raise CopiesUnusable(
                f"{table.name} does not accept items fast enough; run the same command again to continue"
            )
        yield len(some)


def _items(place: CopyPlace, table: CopiedTable) -> Iterator[dict[str, Any]]:
    listed, said = (place.read(f"{table.home}manifest-files.{kind}") for kind in ("json", "md5"))
    if listed is None or said is None or checksum(listed) != said.decode(errors="replace"):
        raise CopiesUnusable(
            f"the manifest in {table.home} at {place.name} is lost, or was changed, so the copy of {table.name} is not "
            "whole; choose another day"
        )
    for line in listed.splitlines():
        file = json.loads(line)
        key = file["dataFileS3Key"]
        body = place.read(key)
        if body is None:
            raise CopiesUnusable(f"{key} is lost, and part of the copy of {table.name}; choose another day")
        if checksum(body) != file["md5Checksum"]:
            raise CopiesUnusable(f"{key} is not what was copied: its checksum is another; choose another day")
        with GzipFile(fileobj=BytesIO(body)) as lines:
            for text in lines:
                yield json.loads(text)["Item"]


def _count(call: Call, table: str) -> int:
    asked = {"TableName": table, "Select": "COUNT", "ConsistentRead": True}
    return sum(page["Count"] for page in pages(call, "Scan", asked))


# --- what was beside them ---


def files_beside(place: CopyPlace, store: str) -> dict[str, list[str]]:
    """The files that were beside the tables, by their system."""
    folder = place.key("beside", store, "")
    found: dict[str, list[str]] = {}
    for key in place.keys(folder):
        path = key.removeprefix(folder)
        if not _PATH.fullmatch(path):
            raise CopiesUnusable(f"{key} at {place.name} is not the name of a file of a copy; remove it")
        system, _, rest = path.partition("/")
        found.setdefault(system, []).append(rest)
    return found


def put_back(place: CopyPlace, store: str, directory: Path) -> int:
    """The files beside the tables, into a data directory; how many."""
    count = 0
    for system, names in files_beside(place, store).items():
        for name in names:
            target = directory / "systems" / system / name
            private_directory(target.parent)
            with place.open(place.key("beside", store, system, name)) as stream:
                body = stream.read()
            with open(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                file.write(body)
                file.flush()
                os.fsync(file.fileno())
            count += 1
    keep_id(directory, store)  # its copies go on where they were, and the old ones go in time
    return count
