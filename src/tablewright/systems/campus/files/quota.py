"""The quota of a user: bytes are reserved when an upload begins, and used when it is complete (CC-D31).

Must hold: storageUsed + storageReserved never exceeds storageQuota through an upload, however many begin at once;
storageUsed is the sum of the sizes of the user's versions.
A condition of DynamoDB cannot add two attributes. So it bounds each of them: used <= U and reserved <= R, where
U + R + size is the quota that was read. Far from the quota both bounds have room, and concurrent uploads do not
disturb each other; a refusal rests on values that were read consistently.
Elsewhere: uploads.py reserves, purge.py frees, recount.py repairs.
"""

from typing import Any

from tablewright.design import Write
from tablewright.systems.campus import design as d
from tablewright.systems.campus.errors import TooLarge
from tablewright.systems.campus.model import User
from tablewright.systems.campus.people.notifications import Notifier

_NOTICES = (100, 80)


def free_of(user: User) -> int:
    """The bytes that a user can still upload."""
    return max(0, user.storage_quota - user.storage_used - user.storage_reserved)


def reservation(user: User, size: int) -> Write[User]:
    """The write that reserves; QUOTA_EXCEEDED if the user that was read has no room. ConditionNotMet: read again."""
    room = user.storage_quota - user.storage_used - user.storage_reserved - size
    if room < 0:
        raise _exceeded(user, size)
    used = user.storage_used + room // 2
    reserved = user.storage_reserved + room - room // 2
    quota = user.storage_quota
    return (
        d.users.update(user.user_id)
        .at(lambda u: u.storage_reserved)
        .add(size)
        .when(
            lambda u: (u.storage_used <= used) & (u.storage_reserved <= reserved) & (u.storage_quota >= quota)
        )
    )


def release(user_id: str, size: int) -> Write[User]:
    """Give back what an upload reserved."""
    return d.users.update(user_id).at(lambda u: u.storage_reserved).add(-size)


def used(user: User, size: int, notifier: Notifier, *, is_new: bool) -> list[Write[Any]]:
    """Reserved bytes become used ones; the user is told at 80 and at 100 per cent."""
    write = (
        d.users.update(user.user_id)
        .at(lambda u: u.storage_reserved)
        .add(-size)
        .at(lambda u: u.storage_used)
        .add(size)
    )
    if is_new:
        write = write.at(lambda u: u.statistics.total_files).add(1)
    percent = notice_of(user.storage_used + size, user.storage_quota)
    if percent <= user.quota_notice:
        return [write]
    before = user.quota_notice
    write = write.at(lambda u: u.quota_notice).set(percent).when(lambda u: u.quota_notice == before)
    words = "Your storage is full." if percent == 100 else "You have used 80 % of your storage."
    return [write, *notifier.tell(user, "quota", words, link="/console/campus/files")]


def freed(user: User, size: int, files: int) -> Write[User]:
    """Used bytes are free again, after a hard delete."""
    write = d.users.update(user.user_id).at(lambda u: u.storage_used).add(-size)
    if files:
        write = write.at(lambda u: u.statistics.total_files).add(-files)
    percent = notice_of(user.storage_used - size, user.storage_quota)
    return write.at(lambda u: u.quota_notice).set(percent) if percent < user.quota_notice else write


def notice_of(used_bytes: int, quota: int) -> int:
    """The highest share that the user is told about: 0, 80 or 100."""
    return next((percent for percent in _NOTICES if used_bytes * 100 >= quota * percent > 0), 0)


def _exceeded(user: User, size: int) -> TooLarge:
    facts = {
        "size": size,
        "free": free_of(user),
        "storageUsed": user.storage_used,
        "storageReserved": user.storage_reserved,
        "storageQuota": user.storage_quota,
    }
    words = f"There is no room for {size} bytes: {facts['free']} of {user.storage_quota} bytes are free."
    return TooLarge("QUOTA_EXCEEDED", words, "fileSize", facts)
