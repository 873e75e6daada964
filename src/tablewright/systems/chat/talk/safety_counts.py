"""How often the safety protocols were used, by day: referrals, refusals, disclosures (ZC-X25). Numbers without people.

The counts are written in the transaction of what they count, so each is counted once whatever is retried.
"""

from collections.abc import Mapping
from datetime import date, timedelta

from tablewright.design import Write
from tablewright.systems.chat import design as d
from tablewright.systems.chat.repository import Repository
from tablewright.systems.chat.zoo_model import SafetyCount, SafetyDay

KEPT = timedelta(days=2 * 365)


class SafetyCounts:
    """The counters of the zoo."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository

    def write(
        self, counts: Mapping[SafetyCount, int], guardrails: tuple[str, ...] = ()
    ) -> tuple[Write[SafetyDay], ...]:
        """The write that adds to the counts of this day; none if there is nothing to add."""
        added = {name: number for name, number in counts.items() if number}
        if not added and not guardrails:
            return ()
        now = self._repository.now()
        write = d.safety_days.upsert(SafetyDay(day=now.date(), expires_at=now + KEPT))
        for name, number in added.items():
            write = write.at(lambda it, name=name: it.counts[name]).add(number)  # type: ignore[misc]  # a default
        for guardrail in guardrails:
            write = write.at(lambda it, guardrail=guardrail: it.by_guardrail[guardrail]).add(1)  # type: ignore[misc]
        return (write,)

    def days(self, since: date | None = None, until: date | None = None) -> list[SafetyDay]:
        return list(self._repository.db.all(d.safety_days_between(since=since, until=until)))

    def total(self, since: date | None = None, until: date | None = None) -> dict[SafetyCount, int]:
        """The sums over some days: for the yearly report."""
        sums: dict[SafetyCount, int] = {}
        for day in self.days(since, until):
            for name, number in day.counts.items():
                sums[name] = sums.get(name, 0) + number
        return sums
