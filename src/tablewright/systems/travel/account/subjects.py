"""Where a traveller's data is: what an export has, and what an erasure deletes (SK-X7, SK-D25).

Nearly everything lies in two partitions, which are cleared whole: whatever is there goes, expired or unknown.
Must hold: logins go first, so that the same login is a new traveller; the profile last, so that a run after a crash
still has what it needs.
Elsewhere: when an account is erased, and the list (privacy.py), other forms of an export (data_export.py).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tablewright.kit.keyring import KeyRing
from tablewright.kit.objects.store import Objects
from tablewright.kit.subjects import Left, Part, Step, Subject
from tablewright.systems.travel import design as d
from tablewright.systems.travel import rounds
from tablewright.systems.travel.account.email_login import PURPOSE as EMAIL
from tablewright.systems.travel.account.pictures import PICTURES
from tablewright.systems.travel.model import Message, Profile, Receipt
from tablewright.systems.travel.outbox import Outbox
from tablewright.systems.travel.places.visits_import import SHEET
from tablewright.systems.travel.repository import Repository

_SCHEMA = "schema_version"
_IN_PROFILE = "repeats the logins of the profile, or is a code of a quarter of an hour"


def traveller(repository: Repository, keyring: KeyRing, objects: Objects, outbox: Outbox) -> Subject[str]:
    """A traveller, by id."""
    wipe = _Wipe(repository, keyring, objects)
    stamps = frozenset(("stamps",))
    return Subject(
        "traveller",
        repository,
        lambda user_id: user_id,
        (
            Part(d.profile_by_id, "profile", show=_profile),
            Part(d.visits_of, "visits", only=lambda _, visit: not visit.is_deleted, without=stamps),
            Part(d.visits_of, "deleted_visits", only=lambda _, visit: visit.is_deleted, without=stamps),
            Part(d.devices_of, "devices"),
            Part(d.sessions_of, "sessions"),
            Part(d.operations_of, "operations"),
            Part(d.statistics_of, "statistics", without=frozenset(("marks",))),
            Part(d.blocks_of, "blocks"),
            Part(d.audit.by_owner, "audit"),
            Part(d.history_of, "imports", only=lambda _, it: _is_import(it), show=lambda it: it.result),
            Part(d.outbox.owned, "mail", show=lambda message: _mail(outbox, message)),
            Step("login", wipe.logins, (d.identities, d.email_identities, d.codes.challenges), _IN_PROFILE),
            Part(d.blocks_of_others, hidden="the list of another traveller"),
            Step("picture", wipe.pictures),
            Part(d.history_of, hidden="operations are exported; the rest repeats them for other devices"),
            Step("enrolment", wipe.enrolment, (d.enrolments,), _IN_PROFILE),
            Part(d.account_of, hidden="exported by its entities"),
            Left((d.erasures,), "the proof of an erasure; names the account until it is erased"),
        ),
        without=frozenset((_SCHEMA,)),
    )


@dataclass(frozen=True, slots=True)
class _Wipe:
    """What no pattern reads by a traveller's id."""

    repository: Repository
    keyring: KeyRing
    objects: Objects

    def logins(self, user_id: str) -> int:
        db, count = self.repository.db, 0
        profile = db.one(d.profile_by_id(user_id=user_id))
        if profile is None:
            return 0
        for login in profile.logins:
            if login.provider == "email":
                count += self._address(user_id, login.provider_id)
            else:
                db.write(d.identities.discard(login.provider, login.provider_id))
                count += 1
        known = self.keyring.hmacs(EMAIL, profile.email) if profile.email is not None else ()
        return count + sum(self._address(user_id, each) for each in known)

    def _address(self, user_id: str, email_hmac: str) -> int:
        """Delete the items of an address, unless another traveller has it now; returns how many."""
        guard = self.repository.db.one(d.email_identity_of(email_hmac=email_hmac))
        if guard is not None and guard.user_id != user_id:
            return 0
        return self.repository.db.clear(d.address_of(email_hmac=email_hmac))

    def pictures(self, user_id: str) -> int:
        names = list(self.objects.names(f"{PICTURES}/{user_id}/"))
        for name in names:
            self.objects.remove(name)
        return len(names)

    def enrolment(self, user_id: str) -> int:
        """Take the traveller out of the list of all, and out of the positions of rounds over it."""
        self.repository.db.write(d.enrolments.discard(user_id))
        rounds.forget(self.repository, user_id)
        return 1


def _is_import(item: object) -> bool:
    return isinstance(item, Receipt) and item.operation_id.startswith(SHEET)


def _profile(profile: Profile) -> dict[str, Any]:
    shown = profile.model_dump(mode="json", exclude_none=True, exclude={"email_hmac", "stamps", _SCHEMA})
    # A login has the hash of the address, which is of no use in an export.
    shown["logins"] = [
        login if login["provider"] != "email" else {"provider": "email"} for login in shown["logins"]
    ]
    if shown["auth_provider"] == "email":
        del shown["auth_provider_id"]
    return shown


def _mail(outbox: Outbox, message: Message) -> Mapping[str, Any]:
    """A mail in an export; its recipient is sealed, and in the profile."""
    shown = outbox.exported(message, "recipient", _SCHEMA)
    return {"attempts" if name == "tried" else name: value for name, value in shown.items()}
