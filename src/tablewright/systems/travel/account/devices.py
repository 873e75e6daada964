"""The devices of a traveller: what may sync.

Must hold: a device that was signed out cannot sync, and its sessions end with it; devices are counted and named one
after the other.
Elsewhere: what keeps a device signed in (sessions.py), who signs in (accounts.py), what a device pushes (sync/push.py).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

from pydantic import JsonValue

from tablewright.design import Write
from tablewright.edge.errors import BadRequest, Conflict
from tablewright.mapping import AlreadyExists, Stale
from tablewright.systems.travel import design as d
from tablewright.systems.travel import rules
from tablewright.systems.travel.account.sessions import Sessions, revoked
from tablewright.systems.travel.errors import VersionConflict
from tablewright.systems.travel.model import SERVER, Device, Profile, Session
from tablewright.systems.travel.repository import Repository

DEVICES_AT_MOST = 50


@dataclass(frozen=True, slots=True)
class Gadget:
    """A device as it names itself."""

    device_id: str
    name: str = ""
    platform: str = ""
    schema: int = 1


class Devices:
    """A traveller's devices."""

    def __init__(self, repository: Repository, sessions: Sessions) -> None:
        self._repository, self._sessions = repository, sessions

    def register(self, user_id: str, gadget: Gadget, *, proved: bool = False) -> Device:
        """A device that may sync. One that was signed out comes back only with a login that was `proved` just now."""
        check_gadget(gadget)
        # Devices are added one after the other: of many that come at once the last waits for all the others.
        words = "Many devices are being added right now. Please try again in a moment."
        return self._repository.retried(
            None,
            lambda: self._registered(user_id, gadget, proved),
            attempts=DEVICES_AT_MOST * 2,
            busy=Conflict("STATE_CONFLICT", words, "device_id"),
        )

    def of(self, user_id: str, *, revoked: bool = False) -> list[Device]:
        """A traveller's devices, the one seen last first."""
        found = self._repository.devices_of(user_id, revoked=revoked)
        return sorted(found, key=lambda device: device.last_seen_at, reverse=True)

    def rename(self, user_id: str, device_id: str, name: str) -> Device:
        """Rename a device; it keeps this name when it registers with another one."""
        wanted = name.strip()
        if not wanted or len(wanted) > rules.NAME_AT_MOST or not wanted.isprintable():
            words = f"A name must have 1 to {rules.NAME_AT_MOST} characters, on one line."
            raise BadRequest("INVALID_FIELD", words, "name")

        def attempt() -> Device:
            before = self._repository.device(user_id, rules.check_id(device_id, "device_id"))
            after = before.model_copy(update={"name": wanted, "is_renamed": True})
            if after != before:
                self._repository.write("DEVICE", d.devices.change(before, after))
            return after

        return self._repository.retried(None, attempt)

    def revoke(self, user_id: str, device_id: str, actor: str, role: str = "user") -> Device:
        """Sign a device out: its sessions end, and it cannot sync."""

        def attempt() -> Device:
            before = self._repository.device(user_id, rules.check_id(device_id, "device_id"))
            if before.revoked_at is not None:
                return before
            after = before.model_copy(update={"revoked_at": self._repository.now()})
            done = self._repository.audit(user_id, "device signed out", actor, role, {"device_id": device_id})
            self._repository.write("DEVICE", d.devices.change(before, after), done)
            return after

        found = self._repository.retried(None, attempt)
        self._sessions.end(user_id, lambda session: session.device_id == device_id)
        return found

    def revoke_others(
        self, user_id: str, keep: str | None, actor: str, own: str | None = None
    ) -> list[Device]:
        """Sign out every device but one. `own` is the caller's session: without a device, it is none of them.

        Who keeps their own device keeps their own session alone: a copy of an older cookie may call itself by its name.
        """
        sessions = list(self._repository.db.all(d.sessions_of(user_id=user_id)))
        is_of_who_asks = any(each.session_id == own and each.device_id == keep for each in sessions)

        def stays(session: Session) -> bool:
            if session.session_id == own:
                return session.device_id in (keep, SERVER)
            return session.device_id == keep and not (session.is_page and is_of_who_asks)

        gone = [
            self.revoke(user_id, device.device_id, actor)
            for device in self._repository.devices_of(user_id)
            if device.device_id != keep
        ]
        self._sessions.end(user_id, lambda session: not stays(session))
        return gone

    # --- parts ---

    def _registered(self, user_id: str, gadget: Gadget, proved: bool) -> Device:
        # Read before the devices: adding or naming one at the same time changes its number, and this one starts over.
        owner = self._repository.profile(user_id)
        before = self._repository.db.one(d.devices.get(user_id, gadget.device_id), consistent=True)
        if before is None:
            return self._added(owner, gadget)
        if before.revoked_at is not None:
            if not proved:
                raise revoked()
            # While it is signed out no session of it begins: what is left from before goes now, and none comes back.
            self._sessions.end(user_id, lambda session: session.device_id == gadget.device_id)
        said = _said(gadget)
        keeps = not said or _keeps_name(before, said)
        others, in_turn = list[Device](), list[Write[Profile]]()
        if before.revoked_at is not None or not keeps:
            known = self._repository.devices_of(user_id, revoked=True)
            others = [one for one in known if one.device_id != gadget.device_id]
            in_turn = [_in_turn(owner)]
        if before.revoked_at is not None:
            _check_room(others)
        now = self._repository.now()
        after = before.model_copy(
            update={
                "name": before.name if keeps else _free_name(said, {device.name for device in others}),
                "platform": gadget.platform or before.platform,
                "client_schema": gadget.schema,
                "last_seen_at": max(now, before.last_seen_at),
                "revoked_at": None,
            }
        )
        if after != before:
            self._repository.write("DEVICE", d.devices.change(before, after), *in_turn)
        return after

    def _added(self, owner: Profile, gadget: Gadget) -> Device:
        now, known = self._repository.now(), self._repository.devices_of(owner.user_id, revoked=True)
        _check_room(known)
        made = Device(
            user_id=owner.user_id,
            device_id=gadget.device_id,
            name=_free_name(_said(gadget) or gadget.device_id, {device.name for device in known}),
            platform=gadget.platform,
            client_schema=gadget.schema,
            registered_at=now,
            last_seen_at=now,
        )
        details: dict[str, JsonValue] = {"device_id": gadget.device_id}
        done = self._repository.audit(owner.user_id, "device added", owner.user_id, "user", details)
        try:
            self._repository.db.write(d.devices.create(made), _in_turn(owner), done)
        except (AlreadyExists, Stale) as refused:
            raise VersionConflict(refused.current) from None
        return made


def _free_name(wanted: str, taken: set[str]) -> str:
    """`Chrome on Linux`, and the next one `Chrome on Linux 2`: browsers all say the same."""
    if wanted not in taken:
        return wanted
    short = wanted[: rules.NAME_AT_MOST - 6]
    return next(name for number in count(2) if (name := f"{short} {number}") not in taken)


def _keeps_name(before: Device, said: str) -> bool:
    """Whether a device that says its name again is called as before: as its owner wants, or with its number."""
    return bool(before.is_renamed) or re.fullmatch(rf"{re.escape(said)}( \d+)?", before.name) is not None


def check_gadget(gadget: Gadget) -> None:
    rules.check_id(gadget.device_id, "device_id")
    if gadget.device_id == SERVER:
        raise BadRequest("INVALID_ID", f"A device can't have the ID '{SERVER}'.", "device_id")
    if len(gadget.platform) > rules.NAME_AT_MOST:
        raise BadRequest(
            "INVALID_FIELD", f"A platform can have at most {rules.NAME_AT_MOST} characters.", "platform"
        )


def _said(gadget: Gadget) -> str:
    return gadget.name.strip()[: rules.NAME_AT_MOST]


def _check_room(others: Sequence[Device]) -> None:
    if sum(device.revoked_at is None for device in others) >= DEVICES_AT_MOST:
        words = f"An account can have at most {DEVICES_AT_MOST} devices. Sign out one you no longer use."
        raise Conflict("TOO_MANY_DEVICES", words, "device_id")


def _in_turn(owner: Profile) -> Write[Profile]:
    """Of two that are added or named at once, one is after the other."""
    after = owner.model_copy(update={"devices_named": (owner.devices_named or 0) + 1})
    return d.profiles.change(owner, after)
