"""Tokens and cost of replies and summaries by animal and day, and the budget at which a model is not asked any more
(ZC-X13).

Must hold: the use of a reply or a summary is written in the transaction that stores it, so it is counted once. The
budget may be exceeded by those that were begun before it was used up.
"""

from collections.abc import Iterable
from datetime import date, timedelta
from decimal import Decimal

from tablewright.design import Write
from tablewright.systems.chat import design as d
from tablewright.systems.chat.memory.summary_text import ModelUse
from tablewright.systems.chat.model import Conversation
from tablewright.systems.chat.repository import Repository
from tablewright.systems.chat.settings import Settings
from tablewright.systems.chat.zoo_model import UsageDay

KEPT = timedelta(days=365)
_THOUSAND = Decimal(1000)


class Usage:
    """What replies cost."""

    def __init__(self, repository: Repository, settings: Settings) -> None:
        self._repository, self._settings = repository, settings

    def cost(self, tokens_in: int, tokens_out: int) -> Decimal:
        """The price of a reply of a model, in dollars."""
        given = tokens_in * self._settings.price_per_thousand_in
        made = tokens_out * self._settings.price_per_thousand_out
        return (given + made) / _THOUSAND

    def reply(
        self, animal_id: str, model: str, *, paid: bool, tokens_in: int, tokens_out: int, milliseconds: int
    ) -> Write[UsageDay]:
        """The write that counts a reply."""
        cost = self.cost(tokens_in, tokens_out) if paid else Decimal(0)
        return (
            self._upsert(animal_id, model)
            .at(lambda it: it.replies).add(1)
            .at(lambda it: it.tokens_in).add(tokens_in)
            .at(lambda it: it.tokens_out).add(tokens_out)
            .at(lambda it: it.cost).add(cost)
            .at(lambda it: it.milliseconds).add(milliseconds)
        )  # fmt: skip

    def summary(self, header: Conversation, use: ModelUse) -> Write[UsageDay]:
        """The write that counts a summary by a third party."""
        return (
            self._upsert(header.animal_id, use.model)
            .at(lambda it: it.tokens_in).add(use.tokens_in)
            .at(lambda it: it.tokens_out).add(use.tokens_out)
            .at(lambda it: it.cost).add(self.cost(use.tokens_in, use.tokens_out))
        )  # fmt: skip

    def failure(self, animal_id: str, model: str) -> Write[UsageDay]:
        """The write that counts a reply that did not come."""
        return self._upsert(animal_id, model).at(lambda it: it.failures).add(1)

    def _upsert(self, animal_id: str, model: str) -> Write[UsageDay]:
        now = self._repository.now()
        return d.usage_days.upsert(
            UsageDay(animal_id=animal_id, day=now.date(), model=model, expires_at=now + KEPT)
        )

    def spent(self, day: date | None = None) -> Decimal:
        """What the replies of a day cost, today's if none is named."""
        return sum((each.cost for each in self.of_day(day)), Decimal(0))

    def is_spent(self) -> bool:
        """Whether the budget of today is used up; what is on this machine replies and summarises then."""
        budget = self._settings.daily_budget
        return budget is not None and self.spent() >= budget

    def of_day(self, day: date | None = None) -> list[UsageDay]:
        return list(self._repository.db.all(d.usage_of_day(day=day or self._repository.now().date())))

    def report(self, since: date, until: date) -> list[UsageDay]:
        """The days from the first to the last, by animal and model: at most 366."""
        return [each for day in _days(since, until) for each in self.of_day(day)]


def _days(since: date, until: date) -> Iterable[date]:
    count = min((until - since).days + 1, 366)
    return (since + timedelta(days=number) for number in range(max(0, count)))
