"""How a region follows the others: it asks each what was written there.

One visit to another region: what is owed to it (replica_errands.py), copying what is being copied from it
(replica_copying.py), and then the changes of all tables both have. All that a visit leaves behind is in the store.
Elsewhere: what the other region answers (replica_telling.py), what is made of it (replica_taking.py), when visits are
made (regions.py).
"""

from collections.abc import Sequence
from dataclasses import asdict

from tablewright.engine.doors import Doors
from tablewright.engine.replica_copying import copies_from, copy_some
from tablewright.engine.replica_errands import not_there, run_errands
from tablewright.engine.replica_group import (
    follows,
)
from tablewright.engine.replica_lines import Ask
from tablewright.engine.replica_taking import Taken, is_news, take_told
from tablewright.engine.replica_telling import CHANGES, SPOKEN
from tablewright.engine.shapes import Request
from tablewright.engine.storage_replicas import mark, vector
from tablewright.engine.writing import Reading

# Figures of a partition are not worth more memory than this.
UNTOLD = 10_000


class Arrivals:
    """How long what was taken over from a region had been on its way, until that region has heard of it.

    It is the source's figure (ReplicationLatency), and only the reader knows. A report goes along with the next
    question; it carries a number, so that one whose answer was lost counts once.
    """

    def __init__(self) -> None:
        self._waiting: list[tuple[str, float]] = []
        self._told = self._number = 0

    def add(self, taken: Sequence[Taken], now: int) -> None:
        self._waiting += [(table, max(0, now - at) / 1000) for table, at in taken]
        if not self._told:
            del self._waiting[:-UNTOLD]

    def report(self, now: int) -> Request | None:
        if not self._waiting:
            return None
        if not self._told:
            self._told, self._number = len(self._waiting), max(self._number + 1, now)
        return {"Number": self._number, "Milliseconds": self._waiting[: self._told]}

    def heard(self) -> None:
        del self._waiting[: self._told]
        self._told = 0


def visit(doors: Doors, region: str, ask: Ask, before: int | None, arrivals: Arrivals) -> bool:
    """One round with another region; whether something came of it, so that another may be worth while.

    `before`: what was written later there is left for another time.
    """
    has_done = run_errands(doors, region, ask)
    for table in doors.read(lambda reading: copies_from(reading, region)):
        has_done = copy_some(doors, region, table, ask) or has_done
    return _follow(doors, region, ask, before, arrivals) or has_done


def _follow(doors: Doors, region: str, ask: Ask, before: int | None, arrivals: Arrivals) -> bool:
    request = doors.read(lambda reading: _question(reading, region, before))
    if not request["Tables"]:
        return False
    report = arrivals.report(doors.read(lambda reading: reading.now()))
    if report is not None:
        request["Arrived"] = report
    lease = doors.read(lambda reading: reading.place.lease)
    asked = None if lease is None else lease.moment()
    answer = ask("PeerChanges", request)
    arrivals.heard()
    has_done = False
    for told in answer["Tables"]:
        if lease is not None and asked is not None and told.get("Promised"):
            lease.heard(told["Group"], region, asked, told["Voters"])
        if told["Status"] == "NONE":
            has_done = not_there(doors, region, told["Table"], ask) or has_done
        else:
            has_done = _hear(doors, region, told, arrivals) or has_done
    return has_done


def _hear(doors: Doors, region: str, told: Request, arrivals: Arrivals) -> bool:
    if not doors.read(lambda reading: is_news(reading, region, told)):
        return False
    taken = doors.write(lambda writing: take_told(writing, region, told))
    if taken:
        arrivals.add(taken, doors.read(lambda reading: reading.now()))
    return True


def _question(reading: Reading, region: str, before: int | None) -> Request:
    asked = []
    for table in reading.tables.values():
        group = table.replicas
        member = None if group is None else group.member(region)
        if group is None or member is None or member.is_gone or member.status == "CREATION_FAILED":
            continue
        is_following = follows(group, region) and group.copying is None
        asked.append(
            {
                "Table": table.name,
                "Group": group.id,
                "After": mark(reading.rows, table.number, region).number,
                "Limit": CHANGES if is_following else 0,
                "Vector": vector(reading.rows, table.number),
                "Settings": [group.settings, group.expiry],
                "Epoch": group.epoch,
                "Writer": group.writer,
                "Held": group.held is not None,
                "Since": group.since,
            }
        )
        if group.writer == group.region:
            asked[-1]["Line"] = [asdict(one) for one in group.line]
        lease = reading.place.lease
        if lease is not None and group.writer == group.region:
            asked[-1]["Lease"] = lease.seconds
    question: Request = {"Format": SPOKEN, "Region": reading.place.region, "To": region, "Tables": asked}
    return question if before is None else question | {"Before": before}
