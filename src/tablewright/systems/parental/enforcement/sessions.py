"""Which address a child's devices have now, told by the network: start, update-ip, heartbeat, stop (PC-D9).

Events come late, twice and in the wrong order: what is older than what is known changes nothing, and an end that comes
before its beginning is kept, so that the beginning opens nothing. An address has one holder: who starts on it ends what
others had there (PC-D22), and is not clean until no rule of another names it; a session reported after
a later one is over already. Must hold: an open session has `live_private_ip`, a closed one has not.
Elsewhere: guards and what is left behind at an address (address_stays.py), what follows for the firewalls
(reconciler.py), sessions that are not heard of any more (plan.is_stale, regular_checks.py).
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from ipaddress import IPv4Address
from typing import Any, Literal, get_args

from tablewright.design import Write
from tablewright.edge.errors import BadRequest, Conflict
from tablewright.mapping import AlreadyExists, Missing, NotUnique, Stale
from tablewright.systems.parental import design as d
from tablewright.systems.parental.blocked.events import ip_of
from tablewright.systems.parental.enforcement import address_stays
from tablewright.systems.parental.enforcement.plan import is_behind, is_open
from tablewright.systems.parental.field_rules import phone_number
from tablewright.systems.parental.model import Device, Session
from tablewright.systems.parental.repository import Repository

EventKind = Literal["start", "update-ip", "heartbeat", "stop"]
# Without a word for so long, a session is over even if it never promised heartbeats.
LASTS = timedelta(hours=24)
HEARTBEAT_SECONDS = 300
_BROADCAST = IPv4Address("255.255.255.255")
_RACES = (Stale, Missing, AlreadyExists, NotUnique)


class Sessions:
    """The sessions of children."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository

    def event(
        self,
        kind: EventKind,
        phone: str,
        session_id: str,
        *,
        ip: str | None = None,
        device: str | None = None,
        at: datetime | None = None,
        once: str | None = None,
        heartbeat_seconds: int | None = None,
    ) -> Session | None:
        """Take in an event; the session as it is then. None if no child has the number, or there is no such session.

        `device` is the firewall the traffic goes through. Of an event with the same `once`, the second does nothing.
        """
        _check(kind, session_id, ip, heartbeat_seconds)
        moment = self._moment(at)
        address = None if ip is None else _address(ip)
        behind = None if device is None else self._device(device)
        child = self._repository.child_of_phone(phone_number(phone))
        if child is None:
            if address is not None and device is not None and kind != "stop":
                # The new holder is not a known child: a rule for a child must not hit another person.
                self._free(address, device, moment)
            return None

        def attempt() -> Session | None:
            return self._take(kind, child.child, session_id, address, behind, moment, once, heartbeat_seconds)

        words = "Others are changing this session at the same time. Try again in a moment."
        taken = self._repository.retried(None, attempt, on=_RACES, busy=Conflict("STATE_CONFLICT", words))
        return taken if taken is not None and taken.private_ip else None

    def of(self, child: str) -> list[Session]:
        """All sessions of a child, those that ended not long ago included."""
        return list(self._repository.db.all(d.sessions_of_child(child=child)))

    def open_of(self, child: str) -> list[Session]:
        """The sessions a child has now."""
        now = self._repository.now()
        return [session for session in self.of(child) if is_open(session, now)]

    def close(self, sessions: Iterable[Session], at: datetime) -> int:
        """End sessions that are over without an end event; returns how many. One that was heard of since stays."""
        closed = 0
        for session in sessions:
            try:
                self._repository.db.write(*address_stays.ending(session, at))
                closed += 1
            except (Stale, Missing):
                continue
        return closed

    # --- parts ---

    def _take(
        self,
        kind: EventKind,
        child: str,
        session_id: str,
        address: str | None,
        behind: Device | None,
        at: datetime,
        once: str | None,
        promised: int | None,
    ) -> Session | None:
        device = None if behind is None else behind.device_id
        before = self._repository.db.one(d.sessions.get(child, session_id), consistent=True)
        if before is None and kind == "stop":
            return self._write(None, _stopped(child, session_id, at), once)
        if kind != "stop" and (before is None or not before.private_ip):
            # Nothing was told of where it is: it is new, or its end came first.
            if address is None or device is None:
                if kind == "heartbeat":
                    return None  # the network will tell where it is with its next start
                words = "A new session needs an address and a firewall."
                raise BadRequest("INVALID_EVENT", words, "privateIP" if address is None else "deviceId")
            after = (
                opened(child, session_id, address, device, at, promised)
                if before is None
                else _found_out(before, address, device, at, promised)
            )
        else:
            assert before is not None
            after = moved(before, kind, address, device, at, promised)
        if after == before:
            return before
        if behind is not None and after.device_id == device:
            after = after.model_copy(update={"device_since": behind.added_at})
        if after.live_private_ip is not None and not address_stays.stayed(before, after):
            arrived = self._arrived(after, at, takes=address is not None)
            if arrived is None:
                return before
            after = arrived
        return self._write(before, after, once)

    def _arrived(self, session: Session, at: datetime, *, takes: bool) -> Session | None:
        """A session that comes to an address, or was given up there too early; None if it is another's by now.

        Current holders are read first: one that leaves after that has left a stay.
        """
        there = address_stays.holder(self._repository, session.device_id, session.private_ip)
        if not takes and (there is not None or not self._is_behind(session)):
            return None
        later = [one.since for one in address_stays.later_stays(self._repository, session, at)]
        if there is not None and there.last_seen_at > at:
            later.append(address_stays.here_since(there))
            return address_stays.superseded(session, at, later)
        if later:
            return address_stays.superseded(session, at, later)
        if there is not None:
            self._repository.db.write(*address_stays.ending(there, at))
        return session

    def _write(self, before: Session | None, after: Session, once: str | None) -> Session:
        write = d.sessions.create(after) if before is None else d.sessions.change(before, after)
        writes: list[Write[Any]] = [write, *address_stays.left_behind(before, after)]
        name = f"session/{once}" if once is not None else None
        done = self._repository.db.write(*writes, once=name)
        assert write.item is not None
        if not done.repeated:
            return write.item
        # The same event again, and what it said is older news by now.
        there = self._repository.db.one(d.sessions.get(after.child, after.session_id), consistent=True)
        return there if there is not None else write.item

    def _free(self, address: str, device: str, at: datetime) -> None:
        """End the sessions at an address that were heard of before."""
        there = address_stays.holder(self._repository, device, address)
        if there is not None and there.last_seen_at <= at:
            self.close([there], at)

    def _moment(self, at: datetime | None) -> datetime:
        """When it happened; a clock that runs ahead of ours would make everything after it old news."""
        now = self._repository.now()
        if at is None:
            return now
        if at.tzinfo is None:
            raise BadRequest("INVALID_EVENT", "A time needs a zone, such as 2025-10-03T14:30:45Z.", "at")
        return min(at.replace(microsecond=at.microsecond // 1000 * 1000), now)

    def _device(self, device: str) -> Device:
        known = self._repository.db.one(d.devices.get(device), consistent=True)
        if known is None or known.leaving_at is not None:
            raise BadRequest("UNKNOWN_DEVICE", f"There is no firewall {device}.", "deviceId")
        return known

    def _is_behind(self, session: Session) -> bool:
        return is_behind(session, self._repository.db.one(d.devices.get(session.device_id), consistent=True))


# --- pure ---


def opened(
    child: str, session_id: str, address: str, device: str, at: datetime, promised: int | None
) -> Session:
    """A session that begins."""
    return Session(
        child=child,
        session_id=session_id,
        privateIP=address,
        livePrivateIP=address,
        device_id=device,
        started_at=at,
        last_seen_at=at,
        expires_at=_until(at),
        is_clean=False,
        heartbeat_seconds=promised,
    )


def moved(
    before: Session,
    kind: EventKind,
    address: str | None,
    device: str | None,
    at: datetime,
    promised: int | None,
) -> Session:
    """A session after an event; as it was, if the event is older than what is known."""
    is_closed = before.live_private_ip is None
    known = before.last_seen_at if before.ended_at is None else max(before.ended_at, before.last_seen_at)
    # A repeated start changes nothing, nor does an event from before the end of a closed session.
    if at < known or (is_closed and at == known):
        return before
    if kind == "stop":
        return before if is_closed else address_stays.ended(before, at)
    place = (address or before.private_ip, device or before.device_id)
    is_same = not is_closed and place == (before.private_ip, before.device_id)
    fields: dict[str, Any] = {
        "private_ip": place[0],
        "live_private_ip": place[0],
        "device_id": place[1],
        "last_seen_at": at,
        "expires_at": _until(at),
        "ended_at": None,
        "address_since": before.address_since if is_same else at,
        "is_clean": before.is_clean if is_same else False,
        "heartbeat_seconds": promised or before.heartbeat_seconds,
    }
    if kind == "heartbeat":
        # Who was heard once is expected again.
        fields["heartbeat_seconds"] = fields["heartbeat_seconds"] or HEARTBEAT_SECONDS
    return before.model_copy(update=fields)


def _until(at: datetime) -> datetime:
    """When a session that is not heard of any more is over: at a full hour, so that a heartbeat seldom moves it.

    The guard of its address ends with it, and would be written with every one of them.
    """
    just_before = timedelta(hours=1) - timedelta(microseconds=1)
    return (at + LASTS + just_before).replace(minute=0, second=0, microsecond=0)


def _stopped(child: str, session_id: str, at: datetime) -> Session:
    """The end of a session whose beginning was not told yet: its beginning may still be on its way."""
    return Session(
        child=child,
        session_id=session_id,
        privateIP="",
        device_id="",
        started_at=at,
        last_seen_at=at,
        ended_at=at,
        expires_at=at + LASTS,
    )


def _found_out(stopped: Session, address: str, device: str, at: datetime, promised: int | None) -> Session:
    """A session whose end was told first, with news of its address: where it was until then, or it is back."""
    known = max(stopped.ended_at or at, stopped.last_seen_at)
    if at > known:
        return moved(stopped, "start", address, device, at, promised)
    return stopped.model_copy(update={"private_ip": address, "device_id": device, "address_since": at})


def _check(kind: str, session_id: str, ip: str | None, promised: int | None) -> None:
    if kind not in get_args(EventKind):
        words = f"An event is one of {', '.join(get_args(EventKind))}."
        raise BadRequest("INVALID_EVENT", words, "kind")
    if not session_id or len(session_id) > 200:
        raise BadRequest("INVALID_EVENT", "A session ID has 1 to 200 characters.", "sessionId")
    if kind == "update-ip" and ip is None:
        raise BadRequest("INVALID_EVENT", "A change of address needs the address.", "privateIP")
    if promised is not None and not 10 <= promised <= 86_400:
        words = "Heartbeats come every 10 seconds to 24 hours."
        raise BadRequest("INVALID_EVENT", words, "heartbeatSeconds")


def _address(text: str) -> str:
    try:
        found = ip_of(text)
    except ValueError:
        words = "That isn't a valid IPv4 or IPv6 address."
        raise BadRequest("INVALID_ADDRESS", words, "privateIP") from None
    is_nobodys = found.is_unspecified or found.is_loopback or found.is_multicast or found == _BROADCAST
    if is_nobodys or "%" in str(found):
        raise BadRequest("INVALID_ADDRESS", "No subscriber can have this address.", "privateIP")
    return str(found)
