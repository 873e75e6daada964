"""Travellers and how they sign in: sign-up, the logins that lead to one account.

A login is looked up in its guard, never in an index (SK-D1): AUTH#apple#... for Apple, EMAIL#... for an address. Two
logins that prove the same address are one traveller. Must hold: of any number of first logins at once, one makes the
account; no login leads to two accounts.
Elsewhere: what proves a login (apple.py, email_login.py), devices (devices.py) and their sessions (sessions.py),
the end of an account (privacy.py).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeAlias

from tablewright.design import Write
from tablewright.edge.errors import Conflict, Forbidden, NotFound
from tablewright.kit.keyring import KeyRing
from tablewright.mapping import AlreadyExists, Page, WriteRefused
from tablewright.systems.travel import design as d
from tablewright.systems.travel.account.addresses import email_address
from tablewright.systems.travel.account.devices import Devices, Gadget, check_gadget
from tablewright.systems.travel.account.email_login import PURPOSE
from tablewright.systems.travel.account.sessions import Sessions
from tablewright.systems.travel.errors import VersionConflict
from tablewright.systems.travel.model import (
    AuditEntry,
    AuthProvider,
    Device,
    EmailIdentity,
    Enrolment,
    Head,
    Identity,
    Login,
    Profile,
    Session,
)
from tablewright.systems.travel.repository import Repository
from tablewright.systems.travel.sync.push import Sync

# (user_id, session_id, proved e-mail address if there is one) -> a token
Issue: TypeAlias = Callable[[str, str, str | None], str]


class OpenedWithoutLogins(RuntimeError):
    """A sign-in where no tokens can be issued."""

    def __init__(self) -> None:
        super().__init__(
            "Skratch was opened without `issue`, so it cannot issue tokens; pass one to open_travel"
        )


def no_tokens(user_id: str, session_id: str, email: str | None) -> str:
    raise OpenedWithoutLogins


@dataclass(frozen=True, slots=True)
class Proved:
    """A login that was proved. `provider_id` is Apple's subject; an address is its own proof."""

    provider: AuthProvider
    provider_id: str = ""
    email: str | None = field(default=None, repr=False)
    display_name: str | None = None


@dataclass(frozen=True, slots=True)
class SignedIn:
    """What a device gets: a token for now, a secret for the next one."""

    profile: Profile
    device: Device
    session: Session
    token: str = field(repr=False)
    refresh_token: str = field(repr=False)
    is_new: bool


@dataclass(frozen=True, slots=True)
class Entered:
    """What a browser's pages get: a token, until it ends."""

    profile: Profile
    token: str = field(repr=False)
    is_new: bool


class Accounts:
    """Travellers and their logins."""

    def __init__(
        self,
        repository: Repository,
        keyring: KeyRing,
        issue: Issue,
        sync: Sync,
        devices: Devices,
        sessions: Sessions,
    ) -> None:
        self._repository, self._keyring, self._issue = repository, keyring, issue
        self._sync, self._devices, self._sessions = sync, devices, sessions

    # --- signing in ---

    def sign_in(self, proved: Proved, gadget: Gadget) -> SignedIn:
        """Sign in with a verified login; a new traveller gets an account."""
        check_gadget(gadget)
        profile, is_new = self._arrived(proved)
        device = self._devices.register(profile.user_id, gadget, proved=True)
        session, secret = self._sessions.begin(profile.user_id, device.device_id)
        token = self._issue(profile.user_id, session.session_id, profile.email)
        return SignedIn(profile, device, session, token, secret, is_new)

    def enter(self, proved: Proved) -> Entered:
        """Sign in on the pages in a browser; a new traveller gets an account."""
        profile, is_new = self._arrived(proved)
        session = self._sessions.begin_page(profile.user_id)
        return Entered(profile, self._issue(profile.user_id, session.session_id, profile.email), is_new)

    def sign_up(self, proved: Proved, *, user_id: str | None = None) -> Profile:
        """An account for a login that has none; LOGIN_TAKEN if it has one."""
        try:
            return self._signed_up(proved, user_id or self._repository.world.new_id())
        except AlreadyExists:
            raise Conflict("LOGIN_TAKEN", "An account with this login already exists.", "provider") from None

    def refresh(self, refresh_token: str) -> SignedIn:
        """The next token of a session, and the next secret; the one before is used up."""
        session, device, secret = self._sessions.renewed(refresh_token)
        profile = self._repository.profile(session.user_id)
        token = self._issue(session.user_id, session.session_id, profile.email)
        return SignedIn(profile, device, session, token, secret, False)

    # --- who it is ---

    def owner_of_email(self, email: str) -> str | None:
        """Whose address it is (SK-8), whichever secret it was hashed with."""
        found = self._email_guard(email_address(email))
        return found.user_id if found is not None else None

    def owner_of_hash(self, email_hmac: str) -> str | None:
        """Whose address has this keyed hash."""
        if not email_hmac:
            return None
        found = self._repository.db.one(d.email_identity_of(email_hmac=email_hmac))
        return found.user_id if found is not None else None

    def link(self, user_id: str, proved: Proved, actor: str) -> Profile:
        """Add a login to a traveller; a new address replaces the previous one."""

        def attempt() -> Profile:
            profile = self._repository.profile(user_id)
            holder = self._holder(proved)
            if holder is not None and holder != user_id:
                words = (
                    "This login belongs to another account. Sign in to that account, or use another login."
                )
                raise Conflict("LOGIN_TAKEN", words, "provider")
            return self._attached(profile, proved, actor)

        return self._repository.retried(None, attempt, on=WriteRefused, busy=_busy())

    def unlink(self, user_id: str, provider: AuthProvider, actor: str) -> Profile:
        """Remove a login, unless it is the last."""
        return self._repository.retried(None, lambda: self._unlinked(user_id, provider, actor))

    def rekey(self, profile: Profile) -> Profile:
        """Move a traveller's address to the newest secret; nothing if it is there."""
        if profile.email is None or profile.email_hmac is None or self._keyring.is_newest(profile.email_hmac):
            return profile
        after, writes = self._with_email(profile, profile.email)
        try:
            self._repository.db.write(d.profiles.change(profile, after), *writes)
        except WriteRefused:
            return self._repository.profile(profile.user_id)  # another login did it
        return after

    def set_minor(
        self, user_id: str, is_minor: bool, actor: str, role: str, version: int | None = None
    ) -> Profile:
        """Mark an account as a child's, which makes the map private for good. Only an admin can undo it.

        With `version`, only if the settings are still those that were seen.
        """
        if not is_minor and role != "admin":
            raise Forbidden(
                "MINOR_STAYS_PRIVATE",
                "Please ask us to change this. A child's map stays private.",
                "is_minor",
            )
        seen = version

        def attempt() -> Profile:
            nonlocal seen
            before = self._repository.profile(user_id)
            if seen is not None and seen != before.entity_version:
                raise VersionConflict(before)
            shared = before.privacy_settings.profile_public or before.privacy_settings.share_visits
            if is_minor and shared:
                private = {"profile_public": False, "share_visits": False}
                self._sync.change_user(user_id, {"privacy_settings": dict(private)}, seen)
                before = self._repository.profile(user_id)
                seen = before.entity_version if seen is not None else None
            if before.is_minor == is_minor:
                return before
            after = before.model_copy(update={"is_minor": is_minor})
            done = self._repository.audit(user_id, "is_minor", actor, role, {"is_minor": is_minor})
            settings = before.entity_version
            # Making the map public at this moment changes the version of the settings: then this starts over.
            write = d.profiles.change(before, after).when(lambda it: it.entity_version == settings)
            self._repository.write("USER", write, done)
            return after

        return self._repository.retried(version, attempt)

    def audit(self, user_id: str, size: int | None = None, after: str | None = None) -> Page[AuditEntry]:
        """What was done to the account, the latest first."""
        return self._repository.page(d.audit.of(user_id), size, after, user_id)

    # --- parts: arriving ---

    def _arrived(self, proved: Proved) -> tuple[Profile, bool]:

        def attempt() -> tuple[Profile, bool]:
            owner = self._owner(proved)
            if owner is None:
                return self._signed_up(proved, self._repository.world.new_id()), True
            return self._welcomed(self._repository.profile(owner), proved), False

        # Signed up, erased, or linked by another account, at this moment.
        return self._repository.retried(None, attempt, on=(NotFound, WriteRefused), busy=_busy())

    def _owner(self, proved: Proved) -> str | None:
        """Whose login it is: by its own guard, else by the address it proves."""
        found = self._holder(proved)
        if found is None and proved.email is not None:
            guard = self._email_guard(proved.email)
            found = guard.user_id if guard is not None else None
        return found

    def _holder(self, proved: Proved) -> str | None:
        if proved.provider == "email":
            guard = self._email_guard(_address(proved))
            return guard.user_id if guard is not None else None
        identity = self._repository.db.one(
            d.identity_of(provider=proved.provider, provider_id=proved.provider_id)
        )
        return identity.user_id if identity is not None else None

    def _email_guard(self, address: str) -> EmailIdentity | None:
        for known in self._keyring.hmacs(PURPOSE, address):
            found = self._repository.db.one(d.email_identity_of(email_hmac=known))
            if found is not None:
                return found
        return None

    def _signed_up(self, proved: Proved, user_id: str) -> Profile:
        now = self._repository.now()
        email_hmac = self._keyring.hmac(PURPOSE, proved.email) if proved.email is not None else None
        logins = self._logins(proved, email_hmac)
        profile = Profile(
            user_id=user_id,
            auth_provider=logins[0].provider,
            auth_provider_id=logins[0].provider_id,
            logins=logins,
            email=proved.email,
            email_hmac=email_hmac,
            display_name=proved.display_name,
            created_at=now,
            updated_at=now,
        )
        self._repository.db.write(
            d.profiles.create(profile),
            *self._guards(user_id, logins, now),
            d.heads.create(Head(user_id=user_id)),
            d.enrolments.create(Enrolment(user_id=user_id, enrolled_at=now)),
            self._repository.audit(user_id, "signed up", user_id, "user", {"provider": proved.provider}),
        )
        return profile

    def _logins(self, proved: Proved, email_hmac: str | None) -> list[Login]:
        own = [Login(provider="apple", provider_id=proved.provider_id)] if proved.provider == "apple" else []
        return own + ([Login(provider="email", provider_id=email_hmac)] if email_hmac is not None else [])

    def _guards(self, user_id: str, logins: Sequence[Login], now: datetime) -> list[Write[Any]]:
        return [
            d.email_identities.create(
                EmailIdentity(email_hmac=login.provider_id, user_id=user_id, created_at=now)
            )
            if login.provider == "email"
            else d.identities.create(
                Identity(
                    provider=login.provider, provider_id=login.provider_id, user_id=user_id, created_at=now
                )
            )
            for login in logins
        ]

    def _welcomed(self, profile: Profile, proved: Proved) -> Profile:
        """A returning traveller: new facts about the login are added, and the address moves to the newest secret."""
        known = any(
            login.provider == "apple" and login.provider_id == proved.provider_id for login in profile.logins
        )
        if proved.provider == "apple" and not known and self._holder(proved) is None:
            profile = self._attached(profile, proved, profile.user_id)
        return self.rekey(profile)

    def _attached(self, profile: Profile, proved: Proved, actor: str) -> Profile:
        """The login as one of the traveller's."""
        user_id, now = profile.user_id, self._repository.now()
        after, writes = profile, list[Write[Any]]()
        login = Login(provider="apple", provider_id=proved.provider_id)
        if proved.provider == "apple" and login not in profile.logins:
            after = profile.model_copy(update={"logins": [*profile.logins, login]})
            writes += self._guards(user_id, [login], now)
        takes = proved.provider == "email" or (profile.email is None and self._is_free(proved.email))
        if proved.email is not None and takes and proved.email != profile.email:
            after, more = self._with_email(after, proved.email)
            writes += more
        if not writes:
            return profile
        done = self._repository.audit(
            user_id, "login added", actor, "user", {"provider": proved.provider}
        )  # fmt: skip
        self._repository.db.write(d.profiles.change(profile, after), *writes, done)
        return after

    def _is_free(self, email: str | None) -> bool:
        return email is not None and self._email_guard(email) is None

    def _with_email(self, profile: Profile, email: str) -> tuple[Profile, list[Write[Any]]]:
        """The traveller with an address under the newest secret, in place of the one before; and the guards' writes."""
        email_hmac, former = self._keyring.hmac(PURPOSE, email), profile.email_hmac
        login = Login(provider="email", provider_id=email_hmac)
        logins = [each for each in profile.logins if each.provider != "email"] + [login]
        first = email_hmac if profile.auth_provider == "email" else profile.auth_provider_id
        after = profile.model_copy(
            update={"email": email, "email_hmac": email_hmac, "logins": logins, "auth_provider_id": first}
        )
        writes = self._guards(profile.user_id, [login], self._repository.now())
        if former is not None:
            writes.append(d.email_identities.discard(former))
        return after, writes

    def _unlinked(self, user_id: str, provider: AuthProvider, actor: str) -> Profile:
        before = self._repository.profile(user_id)
        gone = [login for login in before.logins if login.provider == provider]
        kept = [login for login in before.logins if login.provider != provider]
        if not gone:
            raise NotFound("LOGIN")
        if not kept:
            words = "This is your only way to sign in. Add another one first, or erase the account."
            raise Conflict("LAST_LOGIN", words, "provider")
        update: dict[str, Any] = {"logins": kept}
        if before.auth_provider == provider:
            update |= {"auth_provider": kept[0].provider, "auth_provider_id": kept[0].provider_id}
        if provider == "email":
            update |= {"email": None, "email_hmac": None}
        after = before.model_copy(update=update)
        guards: list[Write[Any]] = [
            d.email_identities.discard(login.provider_id)
            if login.provider == "email"
            else d.identities.discard(login.provider, login.provider_id)
            for login in gone
        ]
        done = self._repository.audit(user_id, "login removed", actor, "user", {"provider": provider})
        self._repository.write("USER", d.profiles.change(before, after), *guards, done)
        return after


def _address(proved: Proved) -> str:
    if proved.email is None:
        raise ValueError("a login by e-mail proves an address")
    return proved.email


def _busy() -> Conflict:
    return Conflict("STATE_CONFLICT", "Several devices are signing in right now. Try again in a moment.")
