"""What a parent allows a child: minutes in a day, quiet hours, messages in a minute (ZC-X8).

Days and hours are those of the family's time zone. Time is counted between messages: at most five minutes from one to
the next, and one minute for a first message. Must hold: the counts are in the store, so the limits hold over processes;
of messages in the same moment one counts the time, and each counts in its minute.
Elsewhere: who sets them (children.py), consent (consent.py).
"""

from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from tablewright.edge.errors import TooManyRequests
from tablewright.systems.chat import design as d
from tablewright.systems.chat.family_model import DayUse, Limits, MinuteUse, User
from tablewright.systems.chat.repository import Repository

LONGEST_PAUSE, FIRST = timedelta(minutes=5), timedelta(minutes=1)
KEPT_DAYS, KEPT_MINUTES = timedelta(days=8), timedelta(hours=1)


class ChatLimits:
    """The limits of users, and what they have used."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository

    def spend(self, user: User) -> DayUse:
        """Count a message and the time since the one before.

        QUIET_HOURS, DAILY_TIME_USED or RATE_LIMIT if it is not allowed.
        """
        now = self._repository.now()
        local = now.astimezone(ZoneInfo(user.time_zone))
        used = self._used(user, local, now)
        if not user.is_adult_on(local.date()):
            refuse_quiet(user.limits, local)
            refuse_used(user.limits, used, local)
        self._count_minute(user, now)
        return self._count_day(used, now)

    def used_today(self, user: User) -> DayUse:
        """What the user has used on this day of the family's zone."""
        now = self._repository.now()
        return self._used(user, now.astimezone(ZoneInfo(user.time_zone)), now)

    def days_of(self, user: User) -> list[DayUse]:
        """The last days with what was used on them, the newest first."""
        return list(self._repository.db.all(d.days_of_user(user_id=user.user_id)))

    def _used(self, user: User, local: datetime, now: datetime) -> DayUse:
        day = local.date().isoformat()
        found = self._repository.db.one(d.day_uses.get(user.user_id, day), consistent=True)
        return found or DayUse(user_id=user.user_id, day=day, last_at=now, expires_at=now + KEPT_DAYS)

    def _count_minute(self, user: User, now: datetime) -> None:
        most = user.limits.messages_per_minute
        start = MinuteUse(user_id=user.user_id, minute=f"{now:%Y-%m-%dT%H:%M}", expires_at=now + KEPT_MINUTES)
        write = d.minute_uses.upsert(start).at(lambda it: it.messages).add(1)
        # Counted first and compared then: of any number of processes at once exactly `most` get through.
        if self._repository.db.apply(write).messages > most:
            words = f"You can send {most} messages in a minute. Wait a little."
            raise TooManyRequests("RATE_LIMIT", words, 60 - now.second)

    def _count_day(self, used: DayUse, now: datetime) -> DayUse:
        more = FIRST if used.messages == 0 or now - used.last_at > LONGEST_PAUSE else now - used.last_at
        seconds = max(0, round(more.total_seconds()))
        update = {
            "seconds": used.seconds + seconds,
            "messages": used.messages + 1,
            "last_at": max(now, used.last_at),
        }
        after = used.model_copy(update=update)
        write = d.day_uses.change(used, after) if used.messages else d.day_uses.create(after)
        # Another message of this moment has counted the time.
        self._repository.try_write(write)
        return after


def refuse_quiet(limits: Limits, local: datetime) -> None:
    hours = limits.quiet_hours
    if hours is None or not is_between(local.time(), *hours):
        return
    words = f"The animals are asleep. They are back at {hours[1]:%H:%M}."
    raise TooManyRequests("QUIET_HOURS", words, seconds_until(local, hours[1]))


def refuse_used(limits: Limits, used: DayUse, local: datetime) -> None:
    if limits.daily_minutes is not None and used.seconds >= limits.daily_minutes * 60:
        words = f"You have chatted for {limits.daily_minutes} minutes today. The animals are back tomorrow."
        raise TooManyRequests("DAILY_TIME_USED", words, seconds_until(local, time()))


def is_between(now: time, begin: time, end: time) -> bool:
    """True from `begin` on, before `end`; the span may pass midnight."""
    return begin <= now < end if begin < end else now >= begin or now < end


def seconds_until(local: datetime, at: time) -> int:
    """Seconds until the clock on the wall next shows `at`, over a change of daylight saving time too."""
    there = local.replace(hour=at.hour, minute=at.minute, second=0, microsecond=0)
    if there <= local:
        there += timedelta(days=1)
    return max(1, round(there.timestamp() - local.timestamp()))
