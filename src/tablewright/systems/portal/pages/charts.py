"""Two charts as inline SVG: the price history of a plan and the campaign calendar. Pure.

Colours come from the stylesheets by class. Must hold: a table beside each chart shows the same as text.
"""

from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal

from markupsafe import Markup

from tablewright.pages.words import money
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

    parts = [_open(_WIDTH, height, "Price history as a step chart", "chart prices")]
    parts.append(
        Markup('<path class="chart-grid" d="M{} {}H{}"/>').format(left, height - bottom, _WIDTH - right)
    )
    path = f"M{x(steps[0].at):.1f} {y(steps[0].new_price):.1f}"
    for step in steps[1:]:
        path += f"H{x(step.at):.1f}V{y(step.new_price):.1f}"
    solid_until = min(to_come[1], ends) if to_come else ends
    parts.append(Markup('<path class="chart-line" d="{}H{:.1f}"/>').format(path, x(min(solid_until, now))))
    if to_come:
        last = steps[-1].new_price
        parts.append(
            Markup('<path class="chart-line to-come" d="M{:.1f} {:.1f}H{:.1f}V{:.1f}H{:.1f}"/>').format(
                x(min(solid_until, now)), y(last), x(to_come[1]), y(to_come[0]), _WIDTH - right
            )
        )
    parts.append(_today(x(now), top - 6, height - bottom))
    marks = [(step.at, step.new_price) for step in steps] + ([(to_come[1], to_come[0])] if to_come else [])
    free_from = 0.0
    for at, price in marks:
        parts.append(
            Markup(
                '<circle class="chart-dot" cx="{:.1f}" cy="{:.1f}" r="3.5"><title>{}: {}</title></circle>'
            ).format(x(at), y(price), _day(at), money(price, "ZAR"))
        )
        if x(at) >= free_from:  # labels that would overlap are only in the table
            anchor = "end" if x(at) > _WIDTH - 90 else "start"
            parts.append(_text("chart-label strong", x(at), y(price) - 10, money(price, "ZAR"), anchor))
            parts.append(_text("chart-value", x(at), height - bottom + 20, _day(at), anchor))
            free_from = x(at) + 96
    return Markup("").join([*parts, Markup("</svg>")])


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

    parts = [_open(_WIDTH, height, "Campaign calendar; the table below has every date", "chart calendar")]
    for number in range(months):
        start = _months_on(first, number)
        parts.append(
            Markup('<path class="chart-grid" d="M{0:.1f} {1}V{2}"/>').format(x(start), head - 26, height)
        )
        name = f"{start:%b}" if start.month != 1 else f"{start:%b %Y}"
        parts.append(_text("chart-value", x(start) + 5, head - 12, name))
    for place, offer in enumerate(sorted(shown, key=lambda each: each.campaign.from_date)):
        parts.append(_bar(offer, head + place * row, gutter, x))
    parts.append(_today(x(today), 18, height))
    return Markup("").join([*parts, Markup("</svg>")])


def _bar(offer: Offer, top: float, gutter: int, x: Callable[[date], float]) -> Markup:
    campaign = offer.campaign
    code = campaign.code if len(campaign.code) <= 18 else campaign.code[:17] + "…"
    begins, ends = x(campaign.from_date), x(campaign.to_date + timedelta(days=1))
    words = f"{campaign.code}, {CAMPAIGN_WORDS[offer.state][0]}: {campaign.discount_percentage.normalize():f} % off"
    return Markup(
        '<a href="/console/portal/campaigns/{}/details"><text class="chart-label" x="{}" y="{:.1f}" text-anchor="end">'
        '{}</text></a><rect class="calendar-bar {}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="14" rx="4">'
        "<title>{}</title></rect>"
    ).format(
        campaign.code, gutter - 12, top + 19, code, offer.state.lower(), begins, top + 8, max(ends - begins, 5), words
    )  # fmt: skip


def _today(x: float, top: float, bottom: float) -> Markup:
    line = Markup('<path class="today" d="M{0:.1f} {1:.1f}V{2:.1f}"/>').format(x, top, bottom)
    anchor = "end" if x > _WIDTH - 60 else "start" if x < 60 else "middle"
    return line + _text("today-word", x, top - 6, "today", anchor)


def _text(kind: str, x: float, y: float, words: str, anchor: str = "start") -> Markup:
    return Markup('<text class="{}" x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>').format(
        kind, x, y, anchor, words
    )


def _day(at: datetime) -> str:
    local = at.astimezone(rules.ZONE)
    return f"{local.day} {local:%b %Y}"


def _months_on(day: date, months: int) -> date:
    index = day.year * 12 + day.month - 1 + months
    return date(index // 12, index % 12 + 1, 1)


def _open(width: int, height: int, about: str, kind: str) -> Markup:
    return Markup('<svg class="{}" viewBox="0 0 {} {}" role="group" aria-label="{}">').format(
        kind, width, height, about
    )
