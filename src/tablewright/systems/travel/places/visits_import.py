"""Import of places from CSV: marked with the same operations that devices use, with a report of refused lines (SK-X7).

A line has a region (csv_regions.py), and optionally a date, an end date and notes. A second line of the same place is a
trip there. Must hold: a refused line does not affect the others; existing places are merged, never overwritten: where
the two differ, both are kept as a conflict; importing the same file again changes nothing.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from pydantic import Field, JsonValue

from tablewright.design import Write
from tablewright.edge.errors import BadRequest
from tablewright.systems.travel import design as d
from tablewright.systems.travel import rules
from tablewright.systems.travel.geography.regions import Geography
from tablewright.systems.travel.model import Place, Receipt, Value
from tablewright.systems.travel.places import visits_csv
from tablewright.systems.travel.places.csv_regions import place_of
from tablewright.systems.travel.places.visits_csv import Row
from tablewright.systems.travel.repository import Repository
from tablewright.systems.travel.sync.operations import Result, Target
from tablewright.systems.travel.sync.push import Sync

IN_AN_OPERATION = 40
REFUSED_AT_MOST = 200
SHEET = "sheet-"


class RefusedLine(Value):
    """A line that was not taken, and why. `choices` are codes of regions that its name may mean."""

    line: int
    code: str
    message: str
    choices: list[str] = Field(default_factory=list)


class Report(Value):
    """The result of an import. `marked` are new places, `merged` existed; `refused` lists the first of `refusals`."""

    lines: int
    marked: int
    merged: int
    conflicts: int
    trips: int
    refusals: int
    refused: list[RefusedLine]


@dataclass
class _SheetPlace:
    """A place of the sheet, with what its lines say."""

    lines: list[int] = field(default_factory=list)
    data: dict[str, JsonValue] = field(default_factory=dict)
    trips: dict[str, JsonValue] = field(default_factory=dict)


class Importing:
    """Reads sheets."""

    def __init__(self, repository: Repository, geography: Geography, sync: Sync) -> None:
        self._repository, self._geography, self._sync = repository, geography, sync

    def take(self, user_id: str, content: bytes, *, key: str | None = None) -> Report:
        """Mark the places of a CSV file. A repeat with the same key gets the first answer."""
        digest = _digest(key or "", content)
        if key is not None:
            before = self._repository.db.one(d.receipts.get(user_id, _receipt_id(digest)), consistent=True)
            if before is not None:
                return Report.model_validate(before.result)
        profile, now = self._repository.profile(user_id), self._repository.now()
        today = rules.today_in(profile.time_zone, now)
        sheet: dict[Place, _SheetPlace] = {}
        refused: list[RefusedLine] = []
        count = 0
        for row in visits_csv.read(content):
            count += 1
            try:
                self._read(row, sheet, today)
            except BadRequest as mistake:
                refused.append(_refused(row.line, mistake))
        was_live = {(visit.region_type, visit.region_code) for visit in self._repository.live_visits(user_id)}
        results = self._send(user_id, sheet, refused)
        taken = [place for part, _ in results for place in part]
        report = Report(
            lines=count,
            marked=sum(place not in was_live for place in taken),
            merged=sum(place in was_live for place in taken),
            conflicts=sum(len(result.conflicts) for _, result in results),
            trips=sum(len(sheet[place].trips) for place in taken),
            refusals=len(refused),
            refused=sorted(refused, key=lambda each: each.line)[:REFUSED_AT_MOST],
        )
        done: list[Write[Any]] = [
            self._repository.audit(
                user_id, "sheet imported", user_id, "user", {"lines": count, "refusals": len(refused)}
            )
        ]
        if key is not None:
            # With the traveller's other receipts: it says what stood in the sheet, and goes with the account.
            receipt = Receipt(
                user_id=user_id,
                operation_id=_receipt_id(digest),
                timestamp_ms=rules.milliseconds(now),
                digest=digest,
                result=report.model_dump(mode="json"),
                done_at=now,
            )
            done.append(d.receipts.put(receipt))
        self._repository.write("SHEET", *done)
        return report

    # --- reading ---

    def _read(self, row: Row, sheet: dict[Place, _SheetPlace], today: date) -> None:
        place = place_of(self._geography, row)
        start, until, notes = row.get("visited_date"), row.get("until"), row.get("notes")
        found = sheet.get(place) or _SheetPlace()
        trip = row.get("trip")
        if trip is not None or until is not None or found.lines:
            if start is None:
                words = (
                    f"This place is already in line {found.lines[0]}."
                    if found.lines
                    else "A trip needs a start date."
                )
                raise BadRequest("DUPLICATE_LINE" if found.lines else "INVALID_DATE", words, "visited_date")
            # The same trip in another sheet is the same trip.
            id = rules.check_id(trip or f"t-{_digest(start, until or '', notes or '')[:16]}", "trip")
            made: dict[str, JsonValue] = {"start": start, "end": until, "notes": notes}
            rules.visit_edit({"trips": {id: made}}, today)
            if len(found.trips) >= rules.TRIPS_AT_MOST:
                raise BadRequest(
                    "TOO_MANY_TRIPS", f"A place can have at most {rules.TRIPS_AT_MOST} trips.", "trip"
                )
            found.trips[id] = made
        else:
            data: dict[str, JsonValue] = {"visited_date": start, "notes": notes}
            found.data = {name: value for name, value in data.items() if value is not None}
            rules.visit_edit(found.data, today)
        found.lines.append(row.line)
        sheet[place] = found

    # --- marking ---

    def _send(
        self, user_id: str, sheet: dict[Place, _SheetPlace], refused: list[RefusedLine]
    ) -> list[tuple[list[Place], Result]]:
        """Push some places at a time; if a batch is refused, each place separately. The taken ones with results."""
        places, taken = list(sheet), list[tuple[list[Place], Result]]()
        for n in range(0, len(places), IN_AN_OPERATION):
            part = places[n : n + IN_AN_OPERATION]
            result = self._operation(user_id, part, sheet)
            if result.status != "failed":
                taken.append((part, result))
                continue
            for place in part:
                result = self._operation(user_id, [place], sheet)
                if result.status != "failed":
                    taken.append(([place], result))
                    continue
                code, words = result.error or "FAILED", result.message or "This line was refused."
                refused += [RefusedLine(line=line, code=code, message=words) for line in sheet[place].lines]
        return taken

    def _operation(self, user_id: str, part: Sequence[Place], sheet: dict[Place, _SheetPlace]) -> Result:
        targets = []
        for place in part:
            found = sheet[place]
            data = {**found.data, **({"trips": found.trips} if found.trips else {})}
            targets.append(Target(region_type=place[0], region_code=place[1], entity_data=data))
        return self._sync.apply(user_id, self._sync.edit("batch_create", visits=targets))


def _refused(line: int, mistake: BadRequest) -> RefusedLine:
    choices = [str(code) for code in mistake.facts.get("choices", ())]
    return RefusedLine(line=line, code=mistake.code, message=mistake.message, choices=choices)


def _receipt_id(digest: str) -> str:
    """Longer than the id of an operation may be, so that no device has the same."""
    return f"{SHEET}{digest}"


def _digest(*parts: str | bytes) -> str:
    told = (part.encode() if isinstance(part, str) else part for part in parts)
    return hashlib.sha256(b"\0".join(told)).hexdigest()
