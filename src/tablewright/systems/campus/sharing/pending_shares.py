"""Shares with addresses that had no account: they become their owner's at the first sign-in (CC-D33, CC-S14).

Must hold: a share changes its recipient in one transaction, so after a crash it is either still the address's or
already the user's, and both work (recipients.py); claiming again changes nothing.
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
    return repository.try_write(gone, d.shares.change(own, merged(own, pending)), entry)


def merged(own: Share, pending: Share) -> Share:
    """Both shares of one file as one: the more permissive, until the later end."""
    ends = [own.expires_at, pending.expires_at]
    end = None if None in ends else max(at for at in ends if at is not None)
    permissions = "write" if "write" in (own.permissions, pending.permissions) else "read"
    return own.model_copy(update={"permissions": permissions, "expires_at": end, "removed_at": end})
