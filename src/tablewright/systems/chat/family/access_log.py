"""The access log: who looked at the data of another person, when and for which purpose (ZC-29).

Must hold: the entry is written before the data is returned, so that nothing is read unlogged; entries of an access are
kept for 90 days, those of a compliance event for 365 (ZC-D12). How often parents read is counted by day, without people
(ZC-57).
Elsewhere: who may look (access.py), what was changed (the compliance log, Repository.audit).
"""

from tablewright.design import Query, Write
from tablewright.systems.chat import design as d
from tablewright.systems.chat.family_model import AccessEntry, AccessKind, User
from tablewright.systems.chat.repository import Repository
from tablewright.systems.chat.rules import RetentionPeriods
from tablewright.systems.chat.talk.safety_counts import SafetyCounts

LONGEST_PURPOSE = 200


class AccessLog:
    """The access log of everyone."""

    def __init__(self, repository: Repository, periods: RetentionPeriods) -> None:
        self._repository, self._periods = repository, periods
        self._counts = SafetyCounts(repository)

    def entry(
        self, user_id: str, by: User | None, purpose: str, what: str, kind: AccessKind = "access"
    ) -> Write[AccessEntry]:
        """The entry of one access, to be written with it; without `by` it was the system."""
        now = self._repository.world.now()
        kept_as = self._periods.until("parent_access_logs" if kind == "access" else "audit_log", now)
        return d.access_log.create(
            AccessEntry(
                user_id=user_id,
                timestamp=now,
                entry_id=self._repository.new_ulid(),
                accessed_by="system" if by is None else by.user_id,
                role="system" if by is None else by.role,
                purpose=purpose[:LONGEST_PURPOSE],
                what=what,
                kind=kind,
                expires_at=kept_as,
            )
        )

    def note(self, user_id: str, by: User, purpose: str, what: str) -> None:
        """Write the entry of an access now; nothing if people look at their own data."""
        if by.user_id != user_id:
            counted = self._counts.write({"parent_reads": int(by.role == "parent")})
            self._repository.db.write(self.entry(user_id, by, purpose, what), *counted)

    def of(self, user_id: str) -> Query[AccessEntry]:
        """Who looked at the data of a person, the newest first."""
        return d.access_of_user(user_id=user_id)

    def by(self, actor_id: str) -> Query[AccessEntry]:
        """What someone looked at, the newest first."""
        return d.accesses_by_actor(accessed_by=actor_id)
