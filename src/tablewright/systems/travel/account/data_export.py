"""Export of a traveller's data: everything as JSON, the places as CSV or GeoJSON (SK-X7); and the weekly file.

Must hold: the JSON has everything that is stored about the traveller, except secrets and copies of what is in it;
the weekly file for analytics has no names, notes or ids, and no erased traveller.
Elsewhere: the share card (the pages), the import (places/visits_import.py).
"""

import gzip
import logging
import zlib
from base64 import b64encode
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

import orjson

from tablewright.kit.keyring import KeyRing
from tablewright.kit.objects.store import Objects
from tablewright.kit.subjects import Subject
from tablewright.systems.travel import rules
from tablewright.systems.travel.geography import outlines
from tablewright.systems.travel.geography.regions import Geography
from tablewright.systems.travel.model import Visit
from tablewright.systems.travel.places import visits_csv
from tablewright.systems.travel.repository import Repository

log = logging.getLogger("tablewright.travel")

FOLDER = "analytics"
KEPT = timedelta(days=35)
_PURPOSE = "analytics"


class Exporting:
    """What can be taken away."""

    def __init__(
        self,
        repository: Repository,
        geography: Geography,
        keyring: KeyRing,
        objects: Objects,
        traveller: Subject[str],
    ) -> None:
        self._repository, self._geography = repository, geography
        self._keyring, self._objects, self.traveller = keyring, objects, traveller

    def everything(self, user_id: str) -> dict[str, Any]:
        """All that is kept about a traveller."""
        found, moment = self.traveller.export(user_id), self._repository.now().isoformat()
        return {"exported_at": moment, "picture": self._picture(user_id), **found}

    def _picture(self, user_id: str) -> dict[str, str] | None:
        kept = self._repository.profile(user_id).profile_picture_url
        content = self._objects.get(kept) if kept is not None else None
        if kept is None or content is None:
            return None
        return {"name": kept.rpartition("/")[2], "base64": b64encode(content).decode()}

    def sheet(self, user_id: str) -> str:
        """The places as CSV, which can be read back."""
        return visits_csv.written(self._repository.live_visits(user_id))

    def geojson(self, user_id: str) -> dict[str, Any]:
        """The places as GeoJSON, with borders good enough for a map of the world."""
        return {
            "type": "FeatureCollection",
            "features": [self._feature(visit) for visit in self._repository.live_visits(user_id)],
        }

    def _feature(self, visit: Visit) -> dict[str, Any]:
        region = rules.region_of(self._geography, visit.region_type, visit.region_code)
        properties: dict[str, Any] = {
            "region_type": visit.region_type,
            "region_code": visit.region_code,
            "name": visit.region_name,
            "visited_date": visit.visited_date,
            "notes": visit.notes,
            "trips": [trip.model_dump() for _, trip in sorted(visit.trips.items())],
            "marked_at": visit.marked_at.isoformat(timespec="milliseconds"),
        }
        if region is None:
            return {"type": "Feature", "id": visit.region_code, "properties": properties, "geometry": None}
        shape = outlines.boundary(region.region_type, region.region_code, "low")
        return {**shape, "id": visit.region_code, "properties": properties}

    # --- for analytics ---

    def lines(self, user_id: str) -> list[bytes]:
        """The visits of a traveller, who is named only as a hash (SK-32)."""
        return [
            orjson.dumps(self._line(visit), option=orjson.OPT_APPEND_NEWLINE)
            for visit in self._repository.live_visits(user_id)
        ]

    def part(self, user_ids: Sequence[str], lines: Sequence[bytes]) -> str | None:
        """Write a part of this week's file, with the lines of some travellers; its name. A rewrite replaces it."""
        if not user_ids:
            return None
        now = self._repository.now()
        first = self._keyring.hmac(_PURPOSE, user_ids[0])
        name = f"{FOLDER}/{now:%G-W%V}/{first[:32]}.jsonl.gz"
        self._objects.put(name, gzip.compress(b"".join(lines), mtime=0))
        self._forget(now)
        return name

    def _line(self, visit: Visit) -> dict[str, Any]:
        return {
            "traveller": self._keyring.hmac(_PURPOSE, visit.user_id),
            "region_type": visit.region_type,
            "region_code": visit.region_code,
            "visited_date": visit.visited_date,
            "marked_on": visit.marked_at.date().isoformat(),
        }

    def without(self, user_ids: Iterable[str]) -> int:
        """Take travellers who were erased out of the files that are kept; how many lines went.

        Goes through all files. One that cannot be read is removed: it might contain their lines.
        """
        gone = 0
        names = {known for id in user_ids for known in self._keyring.hmacs(_PURPOSE, id)}
        if not names:
            return 0
        for name in list(self._objects.names(f"{FOLDER}/")):
            content = self._objects.get(name)
            if content is None:
                continue
            try:
                lines = gzip.decompress(content).splitlines(keepends=True)
                kept = [line for line in lines if orjson.loads(line)["traveller"] not in names]
            except (gzip.BadGzipFile, EOFError, zlib.error, orjson.JSONDecodeError, KeyError, TypeError):
                log.warning("damaged file of analytics removed", extra={"file": name})
                self._objects.remove(name)
                continue
            if len(kept) < len(lines):
                self._objects.put(name, gzip.compress(b"".join(kept), mtime=0))
                gone += len(lines) - len(kept)
        return gone

    def _forget(self, now: datetime) -> None:
        oldest = f"{now - KEPT:%G-W%V}"
        for name in list(self._objects.names(f"{FOLDER}/")):
            if name.removeprefix(f"{FOLDER}/")[: len(oldest)] < oldest:
                self._objects.remove(name)
