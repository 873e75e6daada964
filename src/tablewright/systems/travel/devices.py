"""The devices of a traveller and their sessions: what may sync, and what keeps it signed in.

A session gets its next token by a secret that is used once. Must hold: a device that was signed out gets no further
token and cannot sync; a secret that is used twice ends its session, since one of the two who have it is not the owner.
Elsewhere: who signs in (accounts.py), what a device pushes (sync.py).
"""

import hashlib
import hmac
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from tablewright.mapping import AlreadyExists, Missing, WriteRefused
from tablewright.systems.travel import design as d
from tablewright.systems.travel import rules
from tablewright.systems.travel.errors import BadRequest, Conflict, Forbidden, Unauthenticated
from tablewright.systems.travel.model import SERVER, Device, Session
from tablewright.systems.travel.repository import Repository

DEVICES_AT_MOST = 50
SEEN_EVERY = timedelta(hours=1)
# For so long the secret before still works: the answer with the new one may have been lost.
FORMER_WORKS = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Gadget:
    """A device as it names itself."""

    device_id: str
    name: str = ""
    platform: str = ""
    schema: int = 1


class Devices:
    """A traveller's devices, and their sessions."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository

    # --- devices ---

    def register(self, user_id: str, gadget: Gadget, *, proved: bool = False) -> Device:
        """A device that may sync. One that was signed out comes back only with a login that was `proved` just now."""
        check_gadget(gadget)
        self._repository.profile(user_id)
        return self._repository.retried(None, lambda: self._registered(user_id, gadget, proved))

    def of(self, user_id: str, *, revoked: bool = False) -> list[Device]:
        """A traveller's devices, the one seen last first."""
        found = self._repository.devices_of(user_id, revoked=revoked)
        return sorted(found, key=lambda device: device.last_seen_at, reverse=True)

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
        self._end_sessions(user_id, lambda session: session.device_id == device_id)
        return found

    def revoke_others(self, user_id: str, keep: str | None, actor: str) -> list[Device]:
        """Sign out every device but one."""
        gone = [
            self.revoke(user_id, device.device_id, actor)
            for device in self._repository.devices_of(user_id)
            if device.device_id != keep
        ]
        self._end_sessions(user_id, lambda session: session.device_id != keep)
        return gone

    # --- sessions ---

    def begin(self, user_id: str, device_id: str) -> tuple[Session, str]:
        """A session, and what gets its next token."""
        now, secret = self._repository.now(), self._new_secret()
        session = Session(
            user_id=user_id,
            session_id=self._repository.world.new_id(),
            device_id=device_id,
            created_at=now,
            refresh_hash=_digest(secret),
            **_seen_at(now),
        )
        self._repository.db.write(d.sessions.create(session))
        return session, _refresh_token(session, secret)

    def renewed(self, refresh_token: str) -> tuple[Session, Device, str]:
        """The session of a secret, its device, and the next secret; the one before is used up."""
        user_id, session_id, given = _parts(refresh_token)
        session = self._repository.db.one(d.sessions.get(user_id, session_id), consistent=True)
        if session is None:
            raise _ended()
        now, digest = self._repository.now(), _digest(given)
        if not hmac.compare_digest(session.refresh_hash, digest):
            self._check_former(session, digest, now)
        device = self._repository.known_device(user_id, session.device_id)
        secret = self._new_secret()
        after = session.model_copy(
            update={
                "refresh_hash": _digest(secret),
                "former_hash": digest,
                "refreshed_at": now,
                **_seen_at(now),
            }
        )
        self._repository.write("SESSION", d.sessions.change(session, after))
        return after, device, _refresh_token(after, secret)

    def session(self, user_id: str, session_id: str) -> Session:
        """The session of a token; SESSION_ENDED if it was signed out. Noted as seen, once in a while."""
        found = self._repository.db.one(d.sessions.get(user_id, session_id), consistent=True)
        if found is None:
            raise _ended()
        now = self._repository.now()
        if now - found.last_seen_at >= SEEN_EVERY:
            after = found.model_copy(update=_seen_at(now))
            with suppress(WriteRefused):  # another request noted it
                self._repository.db.write(d.sessions.change(found, after))
        return found

    def sign_out(self, user_id: str, session_id: str) -> None:
        """End one session; the device keeps what it has and may sign in again."""
        self._repository.db.write(d.sessions.discard(user_id, session_id))

    # --- parts ---

    def _registered(self, user_id: str, gadget: Gadget, proved: bool) -> Device:
        now = self._repository.now()
        before = self._repository.db.one(d.devices.get(user_id, gadget.device_id), consistent=True)
        name = gadget.name.strip()[: rules.NAME_AT_MOST]
        if before is None:
            if len(self._repository.devices_of(user_id)) >= DEVICES_AT_MOST:
                words = (
                    f"An account has at most {DEVICES_AT_MOST} devices. Sign one out that you no longer use."
                )
                raise Conflict("TOO_MANY_DEVICES", words, "device_id")
            made = Device(
                user_id=user_id,
                device_id=gadget.device_id,
                name=name or gadget.device_id,
                platform=gadget.platform,
                client_schema=gadget.schema,
                registered_at=now,
                last_seen_at=now,
            )
            done = self._repository.audit(
                user_id, "device added", user_id, "user", {"device_id": gadget.device_id}
            )
            try:
                self._repository.db.write(d.devices.create(made), done)
            except AlreadyExists:
                return self._registered(user_id, gadget, proved)
            return made
        if before.revoked_at is not None and not proved:
            raise Forbidden("DEVICE_REVOKED", "This device was signed out. Sign in again.", "device_id")
        after = before.model_copy(
            update={
                "name": name or before.name,
                "platform": gadget.platform or before.platform,
                "client_schema": gadget.schema,
                "last_seen_at": max(now, before.last_seen_at),
                "revoked_at": None,
            }
        )
        if after != before:
            self._repository.write("DEVICE", d.devices.change(before, after))
        return after

    def _end_sessions(self, user_id: str, which: Callable[[Session], bool]) -> None:
        for session in list(self._repository.db.all(d.sessions_of(user_id=user_id))):
            if which(session):
                with suppress(Missing):
                    self._repository.db.write(d.sessions.discard(user_id, session.session_id))

    def _new_secret(self) -> str:
        return hashlib.sha256((self._repository.world.new_id() * 2).encode()).hexdigest()

    def _check_former(self, session: Session, digest: str, now: datetime) -> None:
        """The secret before works for a moment more. Later, one of the two who have it is not the owner."""
        if session.former_hash is None or not hmac.compare_digest(session.former_hash, digest):
            raise _ended()
        if session.refreshed_at is None or now - session.refreshed_at > FORMER_WORKS:
            self.sign_out(session.user_id, session.session_id)
            raise _ended()


def check_gadget(gadget: Gadget) -> None:
    rules.check_id(gadget.device_id, "device_id")
    if gadget.device_id == SERVER:
        raise BadRequest("INVALID_ID", f"No device can be called '{SERVER}'.", "device_id")
    if len(gadget.platform) > rules.NAME_AT_MOST:
        raise BadRequest("INVALID_FIELD", f"A platform has at most {rules.NAME_AT_MOST} letters.", "platform")


def _seen_at(now: datetime) -> dict[str, Any]:
    return {"last_seen_at": now, "last_seen_ms": rules.milliseconds(now)}


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _refresh_token(session: Session, secret: str) -> str:
    return f"{session.user_id}.{session.session_id}.{secret}"


def _parts(refresh_token: str) -> tuple[str, str, str]:
    parts = refresh_token.split(".")
    if len(parts) != 3 or not all(parts) or len(refresh_token) > 300:
        raise _ended()
    return parts[0], parts[1], parts[2]


def _ended() -> Unauthenticated:
    return Unauthenticated("SESSION_ENDED", "This device was signed out. Sign in again.")
