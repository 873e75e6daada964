"""Reads and writes of Skratch, with the errors of this system in place of mapping's.

Must hold: tombstones are returned only on request (SK-D35). Elsewhere: what a push writes (sync/push.py).
"""

from collections.abc import Sequence

from pydantic import JsonValue

from tablewright.design import Write
from tablewright.edge.errors import Conflict, Forbidden, NotFound
from tablewright.kit.tables import Actor, Refusals, Tables
from tablewright.mapping import Db
from tablewright.systems.travel import design as d
from tablewright.systems.travel import rules
from tablewright.systems.travel.errors import VersionConflict
from tablewright.systems.travel.model import (
    AuditEntry,
    Device,
    Head,
    Operation,
    Profile,
    Receipt,
    RegionType,
    Visit,
)
from tablewright.world import World

REFUSALS = Refusals(
    changed=VersionConflict,
    lost=VersionConflict,
    race=VersionConflict,
    busy=lambda: Conflict(
        "STATE_CONFLICT", "Other devices are syncing right now. Please try again in a moment."
    ),
    page_fields=("limit", "after"),
)


class Repository(Tables):
    """The table of Skratch."""

    def __init__(self, db: Db, world: World) -> None:
        super().__init__(db, world, d.TRAVEL, REFUSALS)

    # --- one ---

    def profile(self, user_id: str) -> Profile:
        return self.found(self.db.one(d.profile_by_id(user_id=user_id)), "USER")

    def head(self, user_id: str) -> Head | None:
        """Where the feed ends; None before the first change."""
        return self.db.one(d.head_of(user_id=user_id))

    def is_elsewhere(self, user_id: str, since: int | None, seal: str | None) -> bool:
        """Whether a device's feed position is invalid: not of this feed, or older than the last purge of tombstones.

        A device that sends no position or no seal is trusted.
        """
        if not since:
            return False
        head = self.head(user_id) or Head(user_id=user_id)
        if since > head.server_version or since < (head.purged or 0):
            return True
        if seal is None or since == head.server_version:
            return seal is not None and seal != head.seal
        after = self.db.one(d.changes.get(user_id, since + 1), consistent=True)
        return after is not None and after.follows != seal  # an expired change proves nothing

    def device(self, user_id: str, device_id: str) -> Device:
        return self.found(self.db.one(d.devices.get(user_id, device_id), consistent=True), "DEVICE")

    def known_device(self, user_id: str, device_id: str) -> Device:
        """A device that may sync: one that signed in, and was not signed out."""
        try:
            device = self.device(user_id, rules.check_id(device_id, "device_id"))
        except NotFound:
            raise Forbidden("DEVICE_UNKNOWN", "Sign in on this device first.", "device_id") from None
        if device.revoked_at is not None:
            raise Forbidden("DEVICE_REVOKED", "This device was signed out. Sign in again.", "device_id")
        return device

    def visit(self, user_id: str, region_type: RegionType, region_code: str) -> Visit:
        """A live visit."""
        there = self.db.one(d.visits.get(user_id, region_type, region_code), consistent=True)
        return self.found(there if there is not None and not there.is_deleted else None, "VISIT")

    def operation(self, user_id: str, operation_id: str) -> Operation:
        """An operation by the id its device gave it: the receipt has its key."""
        receipt = self.found(self.db.one(d.receipts.get(user_id, operation_id), consistent=True), "OPERATION")
        key = (user_id, receipt.timestamp_ms, operation_id)
        return self.found(self.db.one(d.operations.get(*key), consistent=True), "OPERATION")

    # --- many ---

    def visits_at(self, user_id: str, places: Sequence[tuple[RegionType, str]]) -> list[Visit | None]:
        """The visits of some regions, tombstones too, each in its place."""
        return self.db.many([d.visits.get(user_id, *place) for place in places], consistent=True)

    def receipts_of(self, user_id: str, operation_ids: Sequence[str]) -> dict[str, Receipt]:
        """What was answered to those of some operations that were done."""
        ids = list(dict.fromkeys(operation_ids))
        there = self.db.many([d.receipts.get(user_id, id) for id in ids], consistent=True)
        return {receipt.operation_id: receipt for receipt in there if receipt is not None}

    def live_visits(self, user_id: str) -> list[Visit]:
        """SK-11: a traveller's live visits, consistently read."""
        return [visit for visit in self.db.all(d.visits_of(user_id=user_id)) if not visit.is_deleted]

    def devices_of(self, user_id: str, *, revoked: bool = False) -> list[Device]:
        devices = self.db.all(d.devices_of(user_id=user_id))
        return [device for device in devices if revoked or device.revoked_at is None]

    # --- writes ---

    def audit(
        self, user_id: str, action: str, actor: str, role: str, details: dict[str, JsonValue] | None = None
    ) -> Write[AuditEntry]:
        """An entry of an account's audit log, to be written with the change it describes."""
        return d.audit.entry(self, user_id, action, Actor(actor, role), after=details)
