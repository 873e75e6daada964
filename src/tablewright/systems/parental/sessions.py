"""Which address a child's devices have now, told by the network: start, update-ip, heartbeat, stop (PC-D9).

Events come late, twice and in the wrong order: what is older than what is known changes nothing. An address has one
holder: who starts on it ends what others had there, whoever they are (PC-D22), and is not clean until no rule of
another names it. Must hold: an open session has `live_private_ip`, a closed one has not.
Elsewhere: what follows for the firewalls (reconciler.py, called for each change by jobs.py), sessions that are not
heard of any more (planning.is_stale, jobs.py).
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from ipaddress import IPv4Address
from typing import Any, Literal, get_args

from tablewright.design import Write
from tablewright.mapping import AlreadyExists, Stale
from tablewright.systems.parental import design as d
from tablewright.systems.parental.errors import BadRequest, Conflict
from tablewright.systems.parental.events import ip_of
from tablewright.systems.parental.model import Session
from tablewright.systems.parental.planning import is_open
from tablewright.systems.parental.repository import Repository
from tablewright.systems.parental.rules import phone_number

EventKind = Literal["start", "update-ip", "heartbeat", "stop"]
# Without a word for so long, a session is over even if it never promised heartbeats.
LASTS = timedelta(hours=24)
HEARTBEAT_SECONDS = 300
_BROADCAST = IPv4Address("255.255.255.255")
_ATTEMPTS = 20


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
        """Take in an event; the session as it is then. None if the number is no child's, or there is no such session.

        `device` is the firewall the traffic goes through. Of an event with the same `once`, the second does nothing.
        """
        _check(kind, session_id, ip, heartbeat_seconds)
        moment = self._moment(at)
        address = None if ip is None else _address(ip)
        if device is not None:
            self._check_device(device)
        child = self._repository.child_of_phone(phone_number(phone))
        if child is None:
            if address is not None and device is not None and kind != "stop":
                # The new holder is nobody's child: a rule for a child must not meet somebody else.
                self._free(address, device, ("", session_id), moment)
            return None
        for tried in range(_ATTEMPTS):
            try:
                return self._take(
                    kind, child.child, session_id, address, device, moment, once, heartbeat_seconds
                )
            except (Stale, AlreadyExists):
                self._repository.pause(tried)
        raise Conflict("STATE_CONFLICT", "Others are changing this session right now. Try again in a moment.")

    def of(self, child: str) -> list[Session]:
        """All sessions of a child, those that ended not long ago included."""
        return list(self._repository.db.all(d.sessions_of_child(child=child)))

    def open_of(self, child: str) -> list[Session]:
        """The sessions a child has now."""
        now = self._repository.now()
        return [session for session in self.of(child) if is_open(session, now)]

    def close(self, sessions: Iterable[Session], at: datetime) -> int:
        """End sessions that are over though nobody said so; how many were. One that was heard of meanwhile stays."""
        closed = 0
        for session in sessions:
            try:
                self._repository.db.write(d.sessions.change(session, ended(session, at)))
                closed += 1
            except Stale:
                continue
        return closed

    # --- parts ---

    def _take(
        self,
        kind: EventKind,
        child: str,
        session_id: str,
        address: str | None,
        device: str | None,
        at: datetime,
        once: str | None,
        promised: int | None,
    ) -> Session | None:
        before = self._repository.db.one(d.sessions.get(child, session_id), consistent=True)
        if before is None:
            if kind == "stop":
                return None
            if address is None or device is None:
                if kind == "heartbeat":
                    return None  # the network will tell where it is with its next start
                words = "A session that is not known yet needs its address and its firewall."
                raise BadRequest("INVALID_EVENT", words, "privateIP" if address is None else "deviceId")
            new = opened(child, session_id, address, device, at, promised)
            self._free(address, device, (child, session_id), at)
            return self._write(d.sessions.create(new), once)
        after = moved(before, kind, address, device, at, promised)
        is_revived = before.live_private_ip is None and after.live_private_ip is not None and address is None
        # It was given up too early; unless somebody else has the address by now.
        if is_revived and self._others(after.private_ip, after.device_id, (child, session_id)):
            return before
        if after == before:
            return before
        if after.live_private_ip is not None and not after.is_clean:
            self._free(after.private_ip, after.device_id, (child, session_id), at)
        return self._write(d.sessions.change(before, after), once)

    def _write(self, write: Write[Session], once: str | None) -> Session:
        name = f"session/{once}" if once is not None else None
        done = self._repository.db.write(write, once=name)
        assert write.item is not None
        if not done.repeated:
            return write.item
        # The same event again, and what it said is older news by now.
        there = self._repository.db.one(
            d.sessions.get(write.item.child, write.item.session_id), consistent=True
        )
        return there if there is not None else write.item

    def _free(self, address: str, device: str, holder: tuple[str, str], at: datetime) -> None:
        """End what others have at an address, if they were heard of before."""
        self.close((one for one in self._others(address, device, holder) if one.last_seen_at <= at), at)

    def _others(self, address: str, device: str, holder: tuple[str, str]) -> list[Session]:
        """Open sessions of others at an address. Behind another firewall the same address is another place."""
        return [
            one
            for one in self._repository.db.all(d.sessions_of_address(private_ip=address))
            if one.device_id == device and (one.child, one.session_id) != holder
        ]

    def _moment(self, at: datetime | None) -> datetime:
        """When it happened; a clock that runs ahead of ours would make everything after it old news."""
        now = self._repository.now()
        if at is None:
            return now
        if at.tzinfo is None:
            raise BadRequest("INVALID_EVENT", "A time needs its zone, such as 2025-10-03T14:30:45Z.", "at")
        return min(at.replace(microsecond=at.microsecond // 1000 * 1000), now)

    def _check_device(self, device: str) -> None:
        known = self._repository.db.one(d.devices.get(device))
        if known is None or known.leaving_at is not None:
            raise BadRequest("UNKNOWN_DEVICE", f"There is no firewall {device}.", "deviceId")


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
        expires_at=at + LASTS,
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
    # A start that comes again is no news, nor is anything from before the end of a session that was closed.
    if at < known or (is_closed and at == known):
        return before
    if kind == "stop":
        return before if is_closed else ended(before, at)
    place = (address or before.private_ip, device or before.device_id)
    is_same = not is_closed and place == (before.private_ip, before.device_id)
    fields: dict[str, Any] = {
        "private_ip": place[0],
        "live_private_ip": place[0],
        "device_id": place[1],
        "last_seen_at": at,
        "expires_at": at + LASTS,
        "ended_at": None,
        "is_clean": before.is_clean if is_same else False,
        "heartbeat_seconds": promised or before.heartbeat_seconds,
    }
    if kind == "heartbeat":
        # Who was heard once is expected again.
        fields["heartbeat_seconds"] = fields["heartbeat_seconds"] or HEARTBEAT_SECONDS
    return before.model_copy(update=fields)


def ended(session: Session, at: datetime) -> Session:
    return session.model_copy(update={"live_private_ip": None, "ended_at": max(at, session.started_at)})


def _check(kind: str, session_id: str, ip: str | None, promised: int | None) -> None:
    if kind not in get_args(EventKind):
        words = f"An event is one of {', '.join(get_args(EventKind))}."
        raise BadRequest("INVALID_EVENT", words, "kind")
    if not session_id or len(session_id) > 200:
        raise BadRequest("INVALID_EVENT", "A session id has 1 to 200 characters.", "sessionId")
    if kind == "update-ip" and ip is None:
        raise BadRequest("INVALID_EVENT", "A change of address needs the address.", "privateIP")
    if promised is not None and not 10 <= promised <= 86_400:
        words = "Heartbeats come every 10 seconds to 24 hours."
        raise BadRequest("INVALID_EVENT", words, "heartbeatSeconds")


def _address(text: str) -> str:
    try:
        found = ip_of(text)
    except ValueError:
        words = "This is no IPv4 or IPv6 address."
        raise BadRequest("INVALID_ADDRESS", words, "privateIP") from None
    is_nobodys = found.is_unspecified or found.is_loopback or found.is_multicast or found == _BROADCAST
    if is_nobodys or "%" in str(found):
        raise BadRequest("INVALID_ADDRESS", "No subscriber can have this address.", "privateIP")
    return str(found)
