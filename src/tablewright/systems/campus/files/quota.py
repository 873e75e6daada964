"""The quota of a user: bytes are reserved when an upload begins, and used when it is complete (CC-D31).

Must hold: storageUsed + storageReserved never exceeds storageQuota through an upload, however many begin at once;
storageUsed is the sum of the sizes of the user's versions.
A condition of DynamoDB cannot add two attributes. So it bounds each of them: used <= U and reserved <= R, where
U + R + size is the quota that was read. Far from the quota both bounds have room, and concurrent uploads do not
disturb each other; a refusal rests on values that were read consistently.
Visitors who send files through links reserve at most a quarter of what is free, all of them together.
Elsewhere: uploads.py reserves, purge.py frees, recount.py repairs.
"""

from dataclasses import replace
from typing import Any

from tablewright.design import Write, absent
from tablewright.english import size as in_words
from tablewright.systems.campus import design as d
from tablewright.systems.campus.errors import TooLarge
from tablewright.systems.campus.model import Upload, User
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


def received(user: User, size: int) -> Write[User]:
    """Bytes of a file that another user gives away become used ones, under the same condition as a reservation."""
    room = reservation(user, size)
    write = replace(room, steps=()).at(lambda u: u.storage_used).add(size)
    return write.at(lambda u: u.statistics.total_files).add(1)


def visitor_reservation(user: User, size: int) -> Write[User]:
    """The same for a visitor; QUOTA_EXCEEDED also if visitors would have more than a quarter of what is free."""
    write = reservation(user, size)
    most = (free_of(user) + user.link_reserved) // 4 - size
    if user.link_reserved > most:
        raise _exceeded(user, size)
    write = write.at(lambda u: u.link_reserved).add(size)
    return write.when(lambda u: absent(u.link_reserved) | (u.link_reserved <= most))


def release(upload: Upload) -> Write[User]:
    """Give back what an upload reserved."""
    write = d.users.update(upload.owner_id).at(lambda u: u.storage_reserved).add(-upload.file_size)
    return write if upload.link_id is None else write.at(lambda u: u.link_reserved).add(-upload.file_size)


def used(user: User, upload: Upload, notifier: Notifier) -> list[Write[Any]]:
    """Reserved bytes become used ones; the user is told at 80 and at 100 per cent."""
    size = upload.file_size
    write = release(upload).at(lambda u: u.storage_used).add(size)
    if upload.purpose != "version":
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
    free, quota = in_words(free_of(user)), in_words(user.storage_quota)
    words = f"There is no room for {in_words(size)}: {free} of {quota} are free."
    return TooLarge("QUOTA_EXCEEDED", words, "fileSize", facts)
