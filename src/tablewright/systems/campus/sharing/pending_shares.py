"""Shares with addresses that had no account: they become their owner's at the first sign-in (CC-D33, CC-S14).

Must hold: a share changes its recipient in one transaction, so after a crash it is either still the address's or
already the user's, and both work (recipients.py); claiming again changes nothing. No one gets more than was given:
where the user has a share of the same file, the two become one only if one of them allows all that the other does.
"""

from tablewright.systems.campus import design as d
from tablewright.systems.campus.model import Share, User
from tablewright.systems.campus.repository import SYSTEM, Repository
from tablewright.systems.campus.sharing import recipients


def claim_pending(repository: Repository, user: User) -> int:
    """Give the user what was shared with their address; how many shares."""
    waiting = d.shares_with(recipient=recipients.of_address(user.email)).where(lambda s: s.status == "active")
    return sum(_claim(repository, user, share) for share in list(repository.db.all(waiting)))


def has_pending(repository: Repository, address: str) -> bool:
    """Whether something waits for a normalised address: its owner may sign up."""
    waiting = d.shares_with(recipient=recipients.of_address(address)).where(lambda s: s.status == "active")
    return repository.db.first(waiting) is not None


def _claim(repository: Repository, user: User, found: Share) -> bool:
    pending = repository.db.one(d.shares.get(found.file_id, found.shared_with_user_id), consistent=True)
    if pending is None or pending.status != "active":
        return False
    update = {"shared_with_user_id": user.user_id, "shared_with_name": user.name, "version": 1}
    entry = repository.audit(
        f"{pending.target}:{pending.file_id}", "share claimed", SYSTEM, None, {"with": user.name}
    )
    gone = d.shares.delete(pending)
    if repository.try_write(gone, d.shares.create(pending.model_copy(update=update)), entry):
        return True
    own = repository.db.one(d.shares.get(found.file_id, user.user_id), consistent=True)
    if own is None or own.status != "active":
        return False  # changed at this moment; until the next sign-in the address's own share counts
    both = merged(own, pending)
    return both is not None and repository.try_write(gone, d.shares.change(own, both), entry)


def merged(own: Share, pending: Share) -> Share | None:
    """The user's share with the terms of the one that allows all that the other does; None if each allows more."""
    if _covers(own, pending):
        return own
    if not _covers(pending, own):
        return None  # such as reading without end, and writing until tomorrow
    terms = ("permissions", "expires_at", "removed_at")
    return own.model_copy(update={name: getattr(pending, name) for name in terms})


def _covers(share: Share, other: Share) -> bool:
    """Whether a share allows all that another does, for as long."""
    if other.permissions == "write" and share.permissions != "write":
        return False
    return share.expires_at is None or (other.expires_at is not None and other.expires_at <= share.expires_at)
