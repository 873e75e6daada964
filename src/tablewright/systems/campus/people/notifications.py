"""What users are told, on the page and by mail, as they prefer (CC-X10).

Must hold: a notification is written with the change it is about, so neither is there without the other.
Elsewhere: the texts of mails (pages/mail/), sending (kit/outbox.py).
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Literal

from tablewright.design import Query, Write
from tablewright.systems.campus import design as d
from tablewright.systems.campus.model import Notification, User
from tablewright.systems.campus.repository import Repository

Kind = Literal["share", "assignment", "reminder", "grade", "quota", "virus", "regrade", "account"]
KEPT = timedelta(days=90)
# Which preference a kind goes by; the others are always told.
_PREFERENCE: Mapping[str, str] = {
    "share": "share_notifications",
    "assignment": "assignment_reminders",
    "reminder": "assignment_reminders",
    "grade": "grade_notifications",
    "regrade": "grade_notifications",
}


class Notifier:
    """Writes notifications. `link` begins paths of pages in mails: the public address of this server."""

    def __init__(self, repository: Repository, url: str = "") -> None:
        self._repository, self._url = repository, url.rstrip("/")

    def tell(
        self,
        user: User,
        kind: Kind,
        text: str,
        *,
        link: str | None = None,
        template: str | None = None,
        values: Mapping[str, str] | None = None,
    ) -> list[Write[Any]]:
        """The writes that tell a user: a notification and, with a template, a mail. Empty if they do not want it.

        The template `notice` has the text and the link; every template gets `name`, `text` and `link`.
        """
        wants = user.notification_preferences
        if user.erased_at is not None or not getattr(wants, _PREFERENCE.get(kind, ""), True):
            return []
        now = self._repository.now()
        written: list[Write[Any]] = [
            d.notifications.create(
                Notification(
                    user_id=user.user_id,
                    notification_id=self._repository.new_timed_id(now),
                    created_at=now,
                    kind=kind,
                    text=text,
                    link=link,
                    expires_at=now + KEPT,
                )
            )
        ]
        if wants.email_notifications:
            given = {
                "name": user.name,
                "text": text,
                "link": f"{self._url}{link or '/console/campus'}",
                **(values or {}),
            }
            written.append(
                self._repository.outbox.mail(user.email, template or "notice", given, owner=user.user_id)
            )
        return written

    def of(self, user: User) -> Query[Notification]:
        return d.notifications_of_user(user_id=user.user_id)

    def unread(self, user: User) -> int:
        """How many of the newest twenty are unread."""
        page = self._repository.db.page(self.of(user), size=20, reader=user.user_id)
        return sum(1 for each in page.items if each.read_at is None)

    def mark_read(self, user: User) -> int:
        """Mark the newest as read; how many were not."""
        page = self._repository.db.page(self.of(user), size=100, reader=user.user_id)
        new = [each for each in page.items if each.read_at is None]
        now = self._repository.now()
        for each in new:
            self._repository.try_write(
                d.notifications.update(each.user_id, each.notification_id).at(lambda it: it.read_at).set(now)
            )
        return len(new)
