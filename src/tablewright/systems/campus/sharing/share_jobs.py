"""What follows from shares without a request: notices to courses and teams, notices of shares that ended, stale shares.

Must hold: each may be run again and in several processes; a notice is written once, with its receipt.
"""

from collections.abc import Iterator
from datetime import timedelta

from tablewright.design import Write
from tablewright.kit.tasks import Finished
from tablewright.mapping import Change, Consumer, Missing
from tablewright.systems.campus import design as d
from tablewright.systems.campus import rules
from tablewright.systems.campus.model import Share, Task, User
from tablewright.systems.campus.people.notifications import Notifier
from tablewright.systems.campus.repository import Repository
from tablewright.systems.campus.sharing import recipients
from tablewright.systems.campus.sharing.ended_rows import all_even_ended, even_ended
from tablewright.systems.campus.sharing.shares import SHARED_LINK

# How far back ends are looked for: longer than the server may be down.
LOOK_BACK = timedelta(days=3)
STALE_AFTER = timedelta(days=90)  # CC-52


class ShareJobs:
    """The work that jobs and streams cause."""

    def __init__(self, repository: Repository, notifier: Notifier) -> None:
        self._repository, self._notifier = repository, notifier

    # --- courses and teams ---

    def tell_group(self, task: Task) -> Finished:
        """Tell everyone in a course or a team about a share: a task, since there may be hundreds."""
        share = self._repository.db.one(d.shares.get(task.about, task.to or ""), consistent=True)
        if share is not None and share.status == "active":
            for user in self._members(share):
                self._tell_member(share, task.by or "", user)
        return Finished()

    def _tell_member(self, share: Share, name: str, user: User) -> None:
        text = f"“{name}” was shared with {share.shared_with_name}."
        link = SHARED_LINK.format(share_id=share.share_id)
        writes = self._notifier.tell(user, "share", text, link=link)
        once = f"share-told/{share.share_id}/{share.shared_at.isoformat()}/{user.user_id}"
        if writes:
            self._repository.db.write(*writes, once=once)

    def _members(self, share: Share) -> Iterator[User]:
        group, _, id = share.shared_with_user_id.partition("#")
        ids = self._in_course(id) if f"{group}#" == recipients.COURSE else self._in_team(share, id)
        gets = [d.users.get(user_id) for user_id in ids if user_id != share.owner_id]
        yield from (user for user in self._repository.db.many(gets) if user is not None)

    def _in_course(self, course_id: str) -> list[str]:
        found = self._repository.db.all(d.enrolments_of_course(course_id=course_id))
        return [each.user_id for each in found]

    def _in_team(self, share: Share, team_id: str) -> list[str]:
        """The members of a team, which is in a course of the share's owner."""
        db = self._repository.db
        for course in self._repository.courses_of(share.owner_id):
            for group_set in db.all(d.group_sets_of_course(course_id=course.course_id)):
                team = db.one(d.teams.get(course.course_id, group_set.group_set_id, team_id))
                if team is not None:
                    return team.member_ids
        return []

    # --- shares that ended ---

    def notify_ended(self) -> int:
        """Tell the owners of shares whose end has come; how many (CC-21)."""
        db, now = self._repository.db, self._repository.now()
        days = [now - timedelta(days=n) for n in range(LOOK_BACK.days + 1)]
        queries = [all_even_ended(d.shares_expiring_on(day=day, until=now)) for day in days]
        keys = [key for query in queries for key in db.all(query)]
        gets = [even_ended(d.shares.get(key.file_id, key.shared_with_user_id)) for key in keys]
        rows = db.many(gets) if gets else []
        return sum(self._tell_ended(row) for row in rows if row is not None)

    def consumer(self) -> Consumer:
        """Follows the changes of shares."""
        return Consumer(self._repository.db, (d.shares,), d.shares_table.table.name, "shares", self.on_change)

    def on_change(self, change: Change[Share]) -> None:
        """Count a new share; tell the owner of one that TTL has removed before the job came to it (CC-D10)."""
        if change.kind == "INSERT" and change.after is not None:
            self._count(change.after)
        if change.kind == "REMOVE" and change.by_ttl and change.before is not None:
            self._tell_ended(change.before)

    def _count(self, share: Share) -> None:
        """In the statistics of both. A share that its recipient claims at a first sign-in counts once."""
        owner = d.users.update(share.owner_id).at(lambda user: user.statistics.files_shared).add(1)
        self._add(owner, f"share-made/{share.share_id}")
        if not share.shared_with_user_id.startswith(recipients.NOT_USERS):
            to = d.users.update(share.shared_with_user_id)
            self._add(
                to.at(lambda user: user.statistics.files_received).add(1), f"share-received/{share.share_id}"
            )

    def _add(self, write: Write[User], once: str) -> None:
        try:
            self._repository.db.write(write, once=once)
        except Missing:  # erased since
            return

    def _tell_ended(self, share: Share) -> bool:
        if share.expires_at is None or rules.share_status(share, self._repository.now()) != "expired":
            return False
        owner = self._repository.db.one(d.users.get(share.owner_id))
        name = self._name_of(share)
        if owner is None or name is None:
            return False
        text = f"“{name}” is no longer shared with {share.shared_with_name}: the share has ended."
        link = f"/console/campus/{share.target}s/{share.file_id}/share"
        writes = self._notifier.tell(owner, "share", text, link=link)
        once = f"share-ended/{share.share_id}/{share.expires_at.isoformat()}"
        return bool(writes) and not self._repository.db.write(*writes, once=once).repeated

    def _name_of(self, share: Share) -> str | None:
        db = self._repository.db
        if share.target == "folder":
            folder = db.one(d.folders.get(share.owner_id, share.file_id))
            return folder.name if folder is not None else None
        file = db.one(d.files.get(share.owner_id, share.file_id))
        return file.filename if file is not None else None

    # --- stale shares ---

    def remove_stale(self) -> int:
        """Remove shares with people who were erased or suspended for 90 days (CC-52, CC-D42); how many.

        What was revoked or has ended goes by its TTL.
        """
        db, removed = self._repository.db, 0
        for user in db.every(d.users):
            if self._is_gone(user):
                for share in list(db.all(d.shares_with(recipient=user.user_id))):
                    removed += self._repository.try_write(
                        d.shares.discard(share.file_id, share.shared_with_user_id)
                    )
        return removed

    def _is_gone(self, user: User) -> bool:
        before = self._repository.now() - STALE_AFTER
        if user.erased_at is not None:
            return user.erased_at <= before
        if user.status != "suspended":
            return False
        entries = self._repository.db.all(self._repository.history(f"user:{user.user_id}"))
        since = next((entry.audit_at for entry in entries if entry.action == "suspended"), None)
        return since is None or since <= before  # without an entry it is older than the log
