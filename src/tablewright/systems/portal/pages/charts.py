"""Two charts as inline SVG: the price history of a plan and the campaign calendar. Pure.

Colours come from the stylesheets by class. Must hold: a table beside each chart shows the same as text.
"""

from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal

from markupsafe import Markup

from tablewright.english import MONTHS, money
from tablewright.pages.charts import element, svg, text
from tablewright.systems.portal import rules
from tablewright.systems.portal.catalogue.catalogue import Offer
from tablewright.systems.portal.model import PriceChange
from tablewright.systems.portal.pages.page import CAMPAIGN_WORDS

_WIDTH = 720
_NONE = Markup("")


def price_history(
    steps: Sequence[PriceChange], now: datetime, to_come: tuple[Decimal, datetime] | None
) -> Markup:
    """A step line of prices; a scheduled price is dashed, today is marked."""
    if not steps:
        return _NONE
    height, left, right, top, bottom = 210, 12, 24, 34, 34
    ends = max(now, to_come[1]) if to_come else now
    begins, span = steps[0].at, max((ends - steps[0].at).total_seconds(), 86400.0) * 1.06
    prices = [step.new_price for step in steps] + ([to_come[0]] if to_come else [])
    low, high = _scale(prices)

    def x(at: datetime) -> float:
        return left + (_WIDTH - left - right) * (at - begins).total_seconds() / span

    def y(price: Decimal) -> float:
        return top + (height - top - bottom) * float((high - price) / (high - low))

    parts = [element("path", kind="chart-grid", d=f"M{left} {height - bottom}H{_WIDTH - right}")]
    path = f"M{x(steps[0].at):.1f} {y(steps[0].new_price):.1f}"
    for step in steps[1:]:
        path += f"H{x(step.at):.1f}V{y(step.new_price):.1f}"
    solid_until = min(to_come[1], ends) if to_come else ends
    changes = x(min(solid_until, now))
    parts.append(element("path", kind="chart-line", d=f"{path}H{changes:.1f}"))
    if to_come:
        rest = f"H{x(to_come[1]):.1f}V{y(to_come[0]):.1f}H{_WIDTH - right}"
        dashed = f"M{changes:.1f} {y(steps[-1].new_price):.1f}{rest}"
        parts.append(element("path", kind="chart-line to-come", d=dashed))
    parts.append(_today(x(now), top - 6, height - bottom))
    marks = [(step.at, step.new_price) for step in steps] + ([(to_come[1], to_come[0])] if to_come else [])
    free_from = 0.0
    for at, price in marks:
        title = element("title", f"{_day(at)}: {money(price, 'ZAR')}")
        parts.append(element("circle", title, kind="chart-dot", cx=x(at), cy=y(price), r=3.5))
        if x(at) >= free_from:  # labels that would overlap are only in the table
            anchor = "end" if x(at) > _WIDTH - 90 else "start"
            parts.append(text("chart-label strong", x(at), y(price) - 10, money(price, "ZAR"), anchor))
            parts.append(text("chart-value", x(at), height - bottom + 20, _day(at), anchor))
            free_from = x(at) + 96
    return svg(_WIDTH, height, "Price history as a step chart", parts, "chart prices", role="group")


def _scale(prices: Sequence[Decimal]) -> tuple[Decimal, Decimal]:
    """The range of the axis: some room below the lowest and above the highest price; it need not include zero."""
    low, high = min(prices), max(prices)
    room = max((high - low) / 2, high / 10, rules.CENT)
    return max(low - room, Decimal(0)), high + room / 2


def campaign_calendar(offers: Sequence[Offer], today: date, months: int = 7) -> Markup:
    """Campaigns as bars over the months, starting two months ago; today is a line."""
    first = _months_on(today.replace(day=1), -2)
    last = _months_on(first, months)
    shown = [each for each in offers if each.campaign.to_date >= first and each.campaign.from_date < last]
    if not shown:
        return _NONE
    gutter, head, row = 150, 46, 30
    height = head + row * len(shown) + 8
    days = (last - first).days

    def x(day: date) -> float:
        inside = min(max((day - first).days, 0), days)
        return gutter + (_WIDTH - gutter - 8) * inside / days

    parts: list[Markup] = []
    for number in range(months):
        start = _months_on(first, number)
        parts.append(element("path", kind="chart-grid", d=f"M{x(start):.1f} {head - 26}V{height}"))
        name = MONTHS[start.month - 1][:3] + (f" {start.year}" if start.month == 1 else "")
        parts.append(text("chart-value", x(start) + 5, head - 12, name))
    for place, offer in enumerate(sorted(shown, key=lambda each: each.campaign.from_date)):
        parts.append(_bar(offer, head + place * row, gutter, x))
    parts.append(_today(x(today), 18, height))
    about = "Campaign calendar; the table below has every date"
    return svg(_WIDTH, height, about, parts, "chart calendar", role="group")


def _bar(offer: Offer, top: float, gutter: int, x: Callable[[date], float]) -> Markup:
    campaign = offer.campaign
    code = campaign.code if len(campaign.code) <= 18 else campaign.code[:17] + "…"
    begins, ends = x(campaign.from_date), x(campaign.to_date + timedelta(days=1))
    words = f"{campaign.code}, {CAMPAIGN_WORDS[offer.state][0]}: {campaign.discount_percentage.normalize():f} % off"
    label = text("chart-label", gutter - 12, top + 19, code, "end")
    kind, width = f"calendar-bar {offer.state.lower()}", max(ends - begins, 5)
    title = element("title", words)
    return element("a", label, href=f"/console/portal/campaigns/{campaign.code}/details") + element(
        "rect", title, kind=kind, x=begins, y=top + 8, width=width, height=14, rx=4
    )


def _today(x: float, top: float, bottom: float) -> Markup:
    line = element("path", kind="today", d=f"M{x:.1f} {top:.1f}V{bottom:.1f}")
    anchor = "end" if x > _WIDTH - 60 else "start" if x < 60 else "middle"
    return line + text("today-word", x, top - 6, "today", anchor)


def _day(at: datetime) -> str:
    local = at.astimezone(rules.ZONE)
    return f"{local.day} {MONTHS[local.month - 1][:3]} {local.year}"


def _months_on(day: date, months: int) -> date:
    index = day.year * 12 + day.month - 1 + months
    return date(index // 12, index % 12 + 1, 1)
