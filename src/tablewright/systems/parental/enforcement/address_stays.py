"""Who has an address and who had it: what is written when a session comes to an address or leaves it.

Must hold: an address behind a firewall has one holder (a guard that is written with the session, PC-D22), and who goes
leaves an `AddressStay` in the same transaction, so that what is told late is counted for who had it then
(blocked/ingest.py). Elsewhere: events of the network (sessions.py).
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from tablewright.design import Write
from tablewright.systems.parental import design as d
from tablewright.systems.parental.model import AddressStay, Session
from tablewright.systems.parental.repository import Repository


def holder(repository: Repository, device: str, address: str) -> Session | None:
    """Who has an address now, through the guard: never out of date. Behind another firewall it is another place."""
    return repository.db.holder(d.sessions, "address", device_id=device, live_private_ip=address)


def later_stays(repository: Repository, arrived: Session, at: datetime) -> list[AddressStay]:
    """Who came to the place of a session after a moment, and has left it again."""
    found = repository.db.all(d.stays_at_address(private_ip=arrived.private_ip, since=at))
    return [
        one
        for one in found
        if one.device_id == arrived.device_id
        and one.since > at
        and (one.child, one.session_id) != (arrived.child, arrived.session_id)
    ]


# --- pure ---


def here_since(session: Session) -> datetime:
    """Since when a session has its address."""
    return session.address_since or session.started_at


def ended(session: Session, at: datetime) -> Session:
    return session.model_copy(update={"live_private_ip": None, "ended_at": max(at, here_since(session))})


def ending(session: Session, at: datetime) -> list[Write[Any]]:
    """A session closed, and what it leaves behind."""
    over = ended(session, at)
    return [d.sessions.change(session, over), *left_behind(session, over)]


def left_behind(before: Session | None, after: Session) -> Sequence[Write[AddressStay]]:
    """What a change of a session leaves at addresses it has no more."""
    stays: list[AddressStay] = []
    if before is not None and before.live_private_ip is not None and not stayed(before, after):
        moved = _place(before) != _place(after)
        until = here_since(after) if moved or after.ended_at is None else after.ended_at
        stays.append(stay(before, here_since(before), until))
    came = before is None or _place(before) != _place(after) or before.live_private_ip is None
    if after.live_private_ip is None and after.ended_at is not None and after.private_ip and came:
        # It was there, and another session was there after it: known only now.
        stays.append(stay(after, here_since(after), after.ended_at))
    return [d.stays.put(one) for one in stays]


def stay(session: Session, since: datetime, until: datetime) -> AddressStay:
    return AddressStay(
        child=session.child,
        session_id=session.session_id,
        privateIP=session.private_ip,
        device_id=session.device_id,
        since=since,
        until=max(since, until),
    )


def superseded(arrived: Session, at: datetime, later: Iterable[datetime]) -> Session:
    """A session that came to its address before another that was heard of there since: it is over."""
    until = min((one for one in later if one > at), default=at)
    return ended(arrived, until)


def _place(session: Session) -> tuple[str, str]:
    return session.device_id, session.private_ip


def stayed(before: Session | None, after: Session) -> bool:
    """Whether a session has the address that it had."""
    if before is None or before.live_private_ip is None or after.live_private_ip is None:
        return False
    return _place(before) == _place(after)
