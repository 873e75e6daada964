"""Shares: making, changing, revoking and listing them (A.2, CC-X27).

`read` lets its recipient open and download; `write` also lets them upload a new version and edit description and tags,
never delete, re-share or change the owner (CC-D32). Must hold: one share for a recipient of a file, by its key; each
share is written in one transaction with its audit entry and its notification; the row goes at its end, or 90 days after
it was revoked (CC-D9, CC-D11).
Elsewhere: who may use a share (access_check.py), recipients (addressees.py), the first sign-in (pending_shares.py),
what follows without a request (share_jobs.py).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from tablewright.design import Query, Write
from tablewright.edge.errors import Conflict, NotFound, Refused
from tablewright.kit.tables import Actor
from tablewright.mapping import AlreadyExists, Missing, Page
from tablewright.systems.campus import design as d
from tablewright.systems.campus.errors import RaceLost
from tablewright.systems.campus.model import Permission, Share, Task, User
from tablewright.systems.campus.people.notifications import Notifier
from tablewright.systems.campus.repository import Repository, is_uuid
from tablewright.systems.campus.sharing import recipients
from tablewright.systems.campus.sharing.addressees import Addressee
from tablewright.systems.campus.sharing.ended_rows import all_even_ended, even_ended
from tablewright.systems.campus.sharing.targets import Target, owner_only

REVOKED_KEPT = timedelta(days=90)
LONGEST_MESSAGE = 1000
SHARED_LINK = "/console/campus/shared/{share_id}"
TELL_GROUP = "share"  # the kind of the task that notifies a course or a team


@dataclass(frozen=True, slots=True)
class Terms:
    """What a share allows, until when, and what its recipient is told."""

    permissions: Permission = "read"
    expires_at: datetime | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """A share with one of the recipients; `is_new` is false if it was there already, as it is."""

    share: Share
    is_new: bool


class Shares:
    """The shares of a campus. `url` is the public address, for mails to people without an account."""

    def __init__(self, repository: Repository, notifier: Notifier, url: str = "") -> None:
        self._repository, self._notifier, self._url = repository, notifier, url.rstrip("/")

    # --- making ---

    def share(self, owner: User, target: Target, to: Sequence[Addressee], terms: Terms) -> list[Outcome]:
        """Share with each of them; ALREADY_SHARED if it is shared with all of them already."""
        terms = self._checked(terms)
        made = [self._share_one(owner, target, one, terms) for one in to]
        if not any(each.is_new for each in made):
            words = "This is already shared with this recipient. Change the share instead."
            raise Conflict(
                "ALREADY_SHARED", words, "recipients", {"shareIds": [each.share.share_id for each in made]}
            )
        return made

    def _checked(self, terms: Terms) -> Terms:
        message = (terms.message or "").strip() or None
        if message is not None and len(message) > LONGEST_MESSAGE:
            words = f"The message must have at most {LONGEST_MESSAGE} characters."
            raise Refused("INVALID_MESSAGE", words, "message")
        return replace(terms, message=message, expires_at=self._end(terms.expires_at))

    def _end(self, at: datetime | None) -> datetime | None:
        """To the second, as TTL has it."""
        if at is not None and at <= self._repository.now():
            raise Refused("INVALID_EXPIRY", "The share must end in the future.", "expiresAt")
        return at.replace(microsecond=0) if at is not None else None

    def _share_one(self, owner: User, target: Target, to: Addressee, terms: Terms) -> Outcome:
        return self._repository.retried(None, lambda: self._attempt(owner, target, to, terms), on=RaceLost)

    def _attempt(self, owner: User, target: Target, to: Addressee, terms: Terms) -> Outcome:
        db, now = self._repository.db, self._repository.now()
        share = Share(
            file_id=target.id,
            shared_with_user_id=to.key,
            share_id=self._repository.new_uuid(),
            owner_id=owner.user_id,
            shared_with_email=to.email,
            shared_with_name=to.name,
            target=target.kind,
            permissions=terms.permissions,
            shared_at=now,
            expires_at=terms.expires_at,
            message=terms.message,
            removed_at=terms.expires_at,
        )
        try:
            db.write(d.shares.create(share), target.check(), *self._follows(owner, target, to, share))
            return Outcome(share, True)
        except Missing:
            raise NotFound(target.kind) from None
        except AlreadyExists:
            before = db.one(d.shares.get(target.id, to.key), consistent=True)
        if before is None:
            raise RaceLost  # it was removed in between
        if before.status == "active":
            return Outcome(before, False)
        after = share.model_copy(update={"share_id": before.share_id, "version": before.version})
        again = d.shares.move(before, after, by="owner")
        if not self._repository.try_write(again, target.check(), *self._follows(owner, target, to, after)):
            raise RaceLost
        assert again.item is not None
        return Outcome(again.item, True)

    def _follows(self, owner: User, target: Target, to: Addressee, share: Share) -> list[Write[Any]]:
        """The audit entry, and what tells the recipient."""
        shown = {"shareId": share.share_id, "with": to.name, "permissions": share.permissions}
        if share.expires_at is not None:
            shown["expiresAt"] = share.expires_at.isoformat()
        entry = self._repository.audit(target.subject, "shared", _actor(owner), None, shown)
        return [entry, *self._tell(owner, target, to, share)]

    def _tell(self, owner: User, target: Target, to: Addressee, share: Share) -> list[Write[Any]]:
        link = SHARED_LINK.format(share_id=share.share_id)
        text = f"{owner.name} shared “{target.name}” with you."
        if recipients.is_group(to.key):
            now = self._repository.now()
            task = Task(
                task_id=self._repository.new_uuid(), kind=TELL_GROUP, created_at=now, due_at=now,
                about=share.file_id, to=share.shared_with_user_id, by=target.name,
            )  # fmt: skip
            return [d.tasks.add(task)]
        values = {"owner": owner.name, "message": f"\n{share.message}\n" if share.message else ""}
        if to.user is not None:
            return self._notifier.tell(to.user, "share", text, link=link, template="shared", values=values)
        assert to.email is not None
        given = {"text": text, "link": self._url + link, "address": to.email, **values}
        return [self._repository.outbox.mail(to.email, "share invitation", given)]

    # --- changing ---

    def change(self, by: User, share_id: str, changes: dict[str, Any], expected: int | None = None) -> Share:
        """Change `permissions`, `expires_at` or `message` of a share that is active; by its owner."""

        def attempt() -> Share:
            before = self.owned(by, share_id)
            if before.status == "revoked":
                raise Conflict("SHARE_REVOKED", "This share was ended. Share it again instead.")
            if expected is not None and before.version != expected:
                raise RaceLost
            after = before.model_copy(update=self._changes(before, changes))
            return self._write(by, "share changed", before, after, d.shares.change(before, after))

        return self._repository.retried(expected, attempt, on=RaceLost)

    def _changes(self, before: Share, changes: dict[str, Any]) -> dict[str, Any]:
        terms = Terms(
            changes.get("permissions") or before.permissions, None, changes.get("message", before.message)
        )
        update: dict[str, Any] = {"permissions": terms.permissions, "message": self._checked(terms).message}
        if "expires_at" in changes:
            end = self._end(changes["expires_at"])
            update |= {"expires_at": end, "removed_at": end}
        return update

    def revoke(self, by: User, share_id: str) -> Share:
        """End a share at once; again, it does nothing. By its owner or an admin."""

        def attempt() -> Share:
            before = self.owned(by, share_id, or_admin=True)
            if before.status == "revoked":
                return before
            now = self._repository.now()
            ended = {"status": "revoked", "revoked_at": now, "removed_at": now + REVOKED_KEPT}
            after = before.model_copy(update=ended)
            role = "owner" if by.user_id == before.owner_id else "admin"
            return self._write(by, "share revoked", before, after, d.shares.move(before, after, by=role))

        return self._repository.retried(None, attempt, on=RaceLost)

    def _write(self, by: User, action: str, before: Share, after: Share, write: Write[Share]) -> Share:
        entry = self._repository.audit(f"{before.target}:{before.file_id}", action, _actor(by), before, after)
        if not self._repository.try_write(write, entry):
            raise RaceLost
        assert write.item is not None
        return write.item

    # --- reading ---

    def owned(self, user: User, share_id: str, *, or_admin: bool = False) -> Share:
        """A share of what this user owns; SHARE_NOT_FOUND to strangers, OWNER_ONLY to its recipient."""
        share = self._repository.share(share_id)
        if share.owner_id == user.user_id or (or_admin and user.role == "admin"):
            return share
        if share.shared_with_user_id == user.user_id:
            raise owner_only(share.target)
        raise self._repository.not_found("SHARE")

    def received(self, user: User, share_id: str) -> Share:
        """A share that this user may see, also one that has ended: its owner, or a recipient; else SHARE_NOT_FOUND."""
        share = self._even_ended(share_id)
        if share is None:
            raise self._repository.not_found("SHARE")
        if share.owner_id == user.user_id or share.shared_with_user_id in self.recipients_of(user):
            return share
        raise self._repository.not_found("SHARE")

    def _even_ended(self, share_id: str) -> Share | None:
        db = self._repository.db
        found = db.first(all_even_ended(d.share_by_id(share_id=share_id))) if is_uuid(share_id) else None
        if found is None:
            return None
        return db.one(even_ended(d.shares.get(found.file_id, found.shared_with_user_id)), consistent=True)

    def recipients_of(self, user: User) -> list[str]:
        repository = self._repository
        return [*recipients.personal(repository, user), *recipients.teams_of(repository, user)]

    def of(self, target: Target, size: int | None, after: str | None) -> Page[Share]:
        """The shares of a file or folder, also those that have ended and are still kept."""
        query = all_even_ended(d.shares_of_file(file_id=target.id))
        return self._repository.page(query, size, after, target.owner_id)

    def with_user(self, user: User) -> Query[Share]:
        """What others share with a user, the user's courses and teams, newest first; nothing that has ended."""
        first, *others = (d.shares_with(recipient=one) for one in self.recipients_of(user))
        for other in others:
            first = first.beside(other)
        own = user.user_id
        return first.where(lambda share: (share.status == "active") & (share.owner_id != own))


def _actor(user: User) -> Actor:
    return Actor(user.name, "user", user.user_id, user.email)
