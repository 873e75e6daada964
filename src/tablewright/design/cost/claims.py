"""What the design's author said it would cost, beside what was computed (R-COST-ARITH). Pure.

A figure is wrong if it is over 5 % off, and by more than a cent: they are stated in cents. A budget's limit and the
figure for alerts are wrong if the total exceeds them. A total stated by others is only compared.
"""

from collections.abc import Iterator, Mapping
from decimal import Decimal

from tablewright.design.cost.format import count, money
from tablewright.design.cost.report import PARTS, Claim, Part
from tablewright.design.environments import Budget
from tablewright.design.errors import DesignMistake

TOLERATED = Decimal("0.05")
_CENT = Decimal("0.01")
# What an estimate can be for: a part, or several under one word.
_PARTS_OF: Mapping[str, tuple[Part, ...]] = {
    **{part: (part,) for part in PARTS},
    "requests": ("reads", "writes", "capacity"),
    "copies": ("recovery", "backups"),
    "total": tuple(PARTS),
}


class EstimateUnknown(DesignMistake):
    """A budget states a figure for something that no report has."""

    def __init__(self, what: str) -> None:
        known = ", ".join(_PARTS_OF)
        super().__init__(f"the budget states a figure for {what!r}; a report has these: {known}")


def compare_claims(budget: Budget, parts: Mapping[Part, Decimal], is_as_stated: bool) -> Iterator[Claim]:
    """Each figure of a budget beside ours. Estimates are of the stated workload, so only there they can be wrong."""
    total = sum(parts.values(), Decimal())
    if is_as_stated:
        for what, stated in budget.estimate.items():
            if what not in _PARTS_OF:
                raise EstimateUnknown(what)
            ours = sum((parts.get(part, Decimal()) for part in _PARTS_OF[what]), Decimal())
            yield _estimate(what, stated, ours)
    if budget.said is not None and is_as_stated:
        yield _author_total(budget.said, total)
    yield _bound("alert at", budget.alert_at, total)
    yield _bound("limit", budget.limit, total)


def _estimate(what: str, stated: Decimal, ours: Decimal) -> Claim:
    off = abs(stated - ours)
    wrong = off > _CENT and off > TOLERATED * ours
    how = f"stated {money(off)} too {'low' if stated < ours else 'high'}"
    if off <= _CENT:
        how = "as stated"
    elif ours and stated >= 3 * ours:
        how += f", {count((stated / ours).to_integral_value())} times as much"
    elif ours:
        how += f", {count((100 * off / ours).to_integral_value())} % off"
    return Claim(what, money(stated), ours, wrong, how)


def _bound(what: str, bound: Decimal, total: Decimal) -> Claim:
    margin = bound - total
    how = f"{money(margin)} below" if margin >= 0 else f"{money(-margin)} over"
    return Claim(what, money(bound), total, margin < 0, how)


def _author_total(said: tuple[Decimal, Decimal], total: Decimal) -> Claim:
    low, high = said
    how = "within what was said"
    if total < low:
        how = f"{money(low - total)} below what was said"
    elif total > high:
        how = f"{money(total - high)} above what was said"
    words = money(low) if low == high else f"{money(low)} to {money(high)}"
    return Claim("total stated by the author", words, total, False, how)
