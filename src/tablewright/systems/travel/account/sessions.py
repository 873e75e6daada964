"""The sessions of a traveller: what keeps a device signed in, and a browser.

A session gets its next token by a secret that is used once. A browser's session has none: it is the cookie of its
login, and belongs to the device that its map says it is first. Must hold: a login ends with the device it was used
under, at whatever moment we die: none becomes another device's before; a secret that is used twice, however old, ends
its session, since one of the two who have it is not the owner.
Elsewhere: the devices themselves (devices.py), who signs in (accounts.py).
"""

import hashlib
import hmac
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from tablewright.design import absent
from tablewright.edge.errors import Forbidden, Unauthenticated
from tablewright.mapping import ConditionNotMet, Missing, WriteRefused
from tablewright.systems.travel import design as d
from tablewright.systems.travel import rules
from tablewright.systems.travel.model import SERVER, Device, Session
from tablewright.systems.travel.repository import Repository

SEEN_EVERY = timedelta(hours=1)
# For so long the secret before still works: the answer with the new one may have been lost.
FORMER_WORKS = timedelta(minutes=5)
# So many letters are the same in all secrets of a session.
_FAMILY = 32


class Sessions:
    """A traveller's sessions, of devices and of browsers."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository

    def begin(self, user_id: str, device_id: str) -> tuple[Session, str]:
        """A session, and what gets its next token; DEVICE_REVOKED if the device is being signed out."""
        now, family = self._repository.now(), self._new_secret()[:_FAMILY]
        secret = family + self._new_secret()
        session = Session(
            user_id=user_id,
            session_id=self._repository.world.new_id(),
            device_id=device_id,
            created_at=now,
            refresh_hash=_digest(secret),
            family_hash=_digest(family),
            **_seen_at(now),
        )
        signed_in = d.devices.update(user_id, device_id).at(lambda device: device.last_login_at).set(now)
        signed_in = signed_in.when(lambda device: absent(device.revoked_at))
        try:
            self._repository.db.write(d.sessions.create(session), signed_in)
        except (ConditionNotMet, Missing):
            raise revoked() from None
        return session, _refresh_token(session, secret)

    def begin_page(self, user_id: str) -> Session:
        """A session of a browser's pages. Which device that is the map says later, if it is ever opened there."""
        session = self._page_session(user_id, self._repository.world.new_id(), SERVER)
        self._repository.db.write(d.sessions.create(session))
        return session

    def of_login(self, user_id: str, claims: Mapping[str, object]) -> Session | None:
        """The session of a login, by what its token claims; SESSION_ENDED if it was signed out.

        None for one that was made elsewhere and was not used with a device yet.
        """
        session_id, token_id = claims.get("sid"), claims.get("jti")
        if isinstance(session_id, str):
            return self.session(user_id, session_id)
        if not isinstance(token_id, str):
            return None
        found = self._repository.db.one(d.sessions.get(user_id, token_id), consistent=True)
        if found is not None:
            self._check_open(found)
        return found

    def bind(
        self, user_id: str, claims: Mapping[str, object], session: Session | None, device_id: str
    ) -> None:
        """The device that a login says it is; DEVICE_MISMATCH if it is another's.

        From now on a browser's login is of this device and ends with it; nothing if the device may not sync.
        """
        token_id = claims.get("jti")
        if session is not None and session.device_id == device_id:
            return
        if session is not None and (not session.is_page or session.device_id != SERVER):
            raise _another_device()
        if session is None and not isinstance(token_id, str):
            return
        if session is None:
            write = d.sessions.create(self._page_session(user_id, str(token_id), device_id))
        else:
            write = d.sessions.change(session, session.model_copy(update={"device_id": device_id}))
        # In one with the device: else one that is being signed out would leave this login open.
        may_sync = d.devices.check(user_id, device_id).when(lambda device: absent(device.revoked_at))
        try:
            self._repository.db.write(write, may_sync)
        except WriteRefused:
            # Sync refuses what may not; but of two requests at once one was first.
            found = self.of_login(user_id, claims)
            if found is not None and found.device_id not in (SERVER, device_id):
                raise _another_device() from None

    def renewed(self, refresh_token: str) -> tuple[Session, Device, str]:
        """The session of a secret, its device, and the next secret; the one before is used up."""
        user_id, session_id, given = _parts(refresh_token)
        session = self._repository.db.one(d.sessions.get(user_id, session_id), consistent=True)
        if session is None or session.is_page:
            raise _ended()
        now, digest = self._repository.now(), _digest(given)
        if not hmac.compare_digest(session.refresh_hash, digest):
            self._check_former(session, given, digest, now)
        device = self._repository.known_device(user_id, session.device_id)
        # One from before there were families begins one.
        family = given[:_FAMILY] if session.family_hash is not None else self._new_secret()[:_FAMILY]
        secret = family + self._new_secret()
        after = session.model_copy(
            update={
                "refresh_hash": _digest(secret),
                "former_hash": digest,
                "family_hash": _digest(family),
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
        self._check_open(found)
        now = self._repository.now()
        if now - found.last_seen_at >= SEEN_EVERY:
            after = found.model_copy(update=_seen_at(now))
            with suppress(WriteRefused):  # another request noted it
                self._repository.db.write(d.sessions.change(found, after))
        return found

    def sign_out(self, user_id: str, session_id: str) -> None:
        """End one session; the device keeps what it has and may sign in again."""
        found = self._repository.db.one(d.sessions.get(user_id, session_id), consistent=True)
        if found is not None:
            self._end(found)

    def end(self, user_id: str, which: Callable[[Session], bool]) -> None:
        """End those of a traveller that are meant."""
        for session in list(self._repository.db.all(d.sessions_of(user_id=user_id))):
            if which(session):
                self._end(session)

    # --- parts ---

    def _end(self, session: Session) -> None:
        """A device's session goes; a page's is written down as ended, since its token may have been made elsewhere."""
        now = self._repository.now()

        def attempt() -> None:
            found = self._repository.db.one(
                d.sessions.get(session.user_id, session.session_id), consistent=True
            )
            if found is None or found.ended_at is not None:
                return
            after = found.model_copy(update={"ended_at": now})
            end = d.sessions.change(found, after) if found.is_page else d.sessions.discard(*_key(found))
            with suppress(Missing):
                self._repository.write("SESSION", end)

        self._repository.retried(None, attempt)

    def _page_session(self, user_id: str, session_id: str, device_id: str) -> Session:
        now = self._repository.now()
        return Session(
            user_id=user_id,
            session_id=session_id,
            device_id=device_id,
            is_page=True,
            created_at=now,
            **_seen_at(now),
        )

    def _new_secret(self) -> str:
        return hashlib.sha256((self._repository.world.new_id() * 2).encode()).hexdigest()

    def _check_open(self, session: Session) -> None:
        """SESSION_ENDED if it is over, or its device was signed out: that is written first, and we may die after it."""
        if session.ended_at is not None:
            raise _ended()
        if session.device_id == SERVER:
            return
        device = self._repository.db.one(d.devices.get(session.user_id, session.device_id), consistent=True)
        if device is None or device.revoked_at is not None:
            raise _ended()

    def _check_former(self, session: Session, given: str, digest: str, now: datetime) -> None:
        """The secret before works for a moment more. Later, one of the two who have it is not the owner.

        The same holds for any older one: it is recognised by the part that all secrets of a session share.
        A text that was never a secret of the session ends nothing.
        """
        is_former = session.former_hash is not None and hmac.compare_digest(session.former_hash, digest)
        if is_former and session.refreshed_at is not None and now - session.refreshed_at <= FORMER_WORKS:
            return
        family = _digest(given[:_FAMILY])
        if is_former or (
            session.family_hash is not None and hmac.compare_digest(session.family_hash, family)
        ):
            self.sign_out(session.user_id, session.session_id)
        raise _ended()


def _another_device() -> Forbidden:
    words = "This login belongs to another device. Leave out X-Device-Id, or sign in on this device."
    return Forbidden("DEVICE_MISMATCH", words, "X-Device-Id")


def _seen_at(now: datetime) -> dict[str, Any]:
    return {"last_seen_at": now, "last_seen_ms": rules.milliseconds(now)}


def _key(session: Session) -> tuple[str, str]:
    return session.user_id, session.session_id


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _refresh_token(session: Session, secret: str) -> str:
    return f"{session.user_id}.{session.session_id}.{secret}"


def _parts(refresh_token: str) -> tuple[str, str, str]:
    parts = refresh_token.split(".")
    if len(parts) != 3 or not all(parts) or len(refresh_token) > 300:
        raise _ended()
    return parts[0], parts[1], parts[2]


def revoked() -> Forbidden:
    return Forbidden("DEVICE_REVOKED", "This device was signed out. Please sign in again.", "device_id")


def _ended() -> Unauthenticated:
    return Unauthenticated("SESSION_ENDED", "This device was signed out. Please sign in again.")
