"""Sentences for parents: states, windows and times. Pure.

Must hold: a time is in the child's zone, and a page that shows one names the zone. A status says what is confirmed,
never what was asked for.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from tablewright.english import WEEKDAYS, day_and_month, full_date, in_zone, join_words
from tablewright.systems.parental.enforcement.address_reuse import is_alert
from tablewright.systems.parental.enforcement.plan import NOT_NOW, AppStatus
from tablewright.systems.parental.firewall.removal import GIVEN_UP
from tablewright.systems.parental.model import EVERYTHING, Action, Child, Override, Policy, Window
from tablewright.systems.parental.policy.destinations import site_of
from tablewright.systems.parental.policy.effective import Effective
from tablewright.systems.parental.policy.windows import DAYS

SHORT_DAYS = tuple(name[:3] for name in WEEKDAYS)
# The word for a state, and its colour.
NOT_ON_THE_NETWORK = "Phone not on the network"
STATES = {
    "enforced": ("Blocked", "good"),
    "pending": ("Not confirmed", "warn"),
    "failed": ("Not blocked", "bad"),
    "no session": (NOT_ON_THE_NETWORK, ""),
}
IN_PART = ("Blocked in part", "warn")
# PC-D20: shown where a parent reads or decides what is blocked.
LIMITS = (
    "A VPN or encrypted DNS on the device can get around a block, and on another network, such as a friend's Wi-Fi, "
    "nothing is blocked. Blocking the apps under “VPN and Bypass” as well makes it harder."
)
OUTCOMES = {"success": ("done", "good"), "failed": ("failed", "bad"), "pending": ("pending", "warn")}
# Recorded activity in the words of parents; anything else is shown as recorded, with "rule" for "policy".
ACTIVITY = {
    "looked at": "Viewed",
    "allowed for a while": "Exception added: allow",
    "blocked for a while": "Exception added: block",
}
ACTIONS = {"block": "Block", "unblock": "Unblock", "verify": "Check", "reassign": "Move to another address"}
_ON_ITS_WAY = "on its way"
_TITLE_LETTERS = 60


def zone_of(child: Child) -> ZoneInfo:
    return ZoneInfo(child.timezone)


def app_words(name: str) -> str:
    """The name of an app for people."""
    return "Everything" if name == EVERYTHING else name


def listed(names: Iterable[str], most: int = 6) -> str:
    """`A, B and C`; of a long list the first few."""
    found = [app_words(name) for name in names]
    if len(found) > most:
        return f"{', '.join(found[:most])} and {len(found) - most} more"
    return join_words(found)


# --- moments ---


def clock(at: datetime, zone: str | ZoneInfo) -> str:
    """`22:00`."""
    return f"{in_zone(at, zone):%H:%M}"


def moment(at: datetime, zone: str | ZoneInfo, now: datetime) -> str:
    """`today at 22:00`, `tomorrow at 06:00`, `on Friday at 15:00`, `on 3 December at 08:00`."""
    local, today = in_zone(at, zone), in_zone(now, zone).date()
    return f"{day_words(local.date(), today)} at {local:%H:%M}"


def until_words(at: datetime, zone: str | ZoneInfo, now: datetime) -> str:
    """The same after `until`: `16:45` today, `Wednesday at 07:30`."""
    return moment(at, zone, now).removeprefix("today at ").removeprefix("on ")


def stamp(at: datetime, zone: str | ZoneInfo, now: datetime) -> str:
    """The same as a table cell: `Yesterday at 22:00`, `3 December at 08:00`."""
    words = moment(at, zone, now).removeprefix("on ")
    return words[:1].upper() + words[1:]


def day_words(day: date, today: date) -> str:
    """`today`, `on Friday` within a week, else `on 3 December`."""
    apart = (day - today).days
    near = {-1: "yesterday", 0: "today", 1: "tomorrow"}
    if apart in near:
        return near[apart]
    if 1 < apart < 7:
        return f"on {WEEKDAYS[day.weekday()]}"
    return f"on {day_and_month(day) if day.year == today.year else full_date(day)}"


def date_at(at: datetime, zone: str | ZoneInfo) -> str:
    """The day of a moment in a zone: `3 December`."""
    return day_and_month(in_zone(at, zone))


def zone_words(zone: str, at: datetime) -> str:
    """`America/New_York (EST)`; a zone without an abbreviation has its offset."""
    short = in_zone(at, zone).tzname() or ""
    return f"{zone} ({short})" if short[:1].isalpha() else f"{zone} (UTC{short})"


def typed_moment(at: datetime, zone: str | ZoneInfo) -> str:
    """A moment as the value of a datetime-local field."""
    return f"{in_zone(at, zone):%Y-%m-%dT%H:%M}"


# --- windows and policies ---


def days_words(days: Sequence[str]) -> str:
    """`every day`, `Monday to Friday`, `Saturday and Sunday`."""
    places = sorted(DAYS.index(day) for day in days if day in DAYS)
    if len(places) == 7:
        return "every day"
    if len(places) > 2 and places == list(range(places[0], places[-1] + 1)):
        return f"{WEEKDAYS[places[0]]} to {WEEKDAYS[places[-1]]}"
    # Across the end of the week: parents call Sunday to Thursday school nights.
    away = [place for place in range(7) if place not in places]
    if len(places) > 2 and away and away == list(range(away[0], away[-1] + 1)):
        return f"{WEEKDAYS[(away[-1] + 1) % 7]} to {WEEKDAYS[away[0] - 1]}"
    return listed([WEEKDAYS[place] for place in places], 7)


def window_words(window: Window) -> str:
    """`22:00 to 06:00 the next day, every day`."""
    if window.start_time == window.end_time:
        return f"24 hours from {window.start_time}, {days_words(window.days)}"
    over = " the next day" if window.end_time < window.start_time and window.end_time != "00:00" else ""
    end = "midnight" if window.end_time == "00:00" else window.end_time
    return f"{window.start_time} to {end}{over}, {days_words(window.days)}"


def policy_title(policy: Policy) -> str:
    """The title of a policy: the first line of its notes, or what it blocks."""
    lines = (policy.notes or "").strip().splitlines()
    title = lines[0] if lines else listed([entry.app_name for entry in policy.blocked_apps], 3)
    title = title or "A rule without apps"
    return title if len(title) <= _TITLE_LETTERS else title[: _TITLE_LETTERS - 1] + "…"


def policy_state(
    policy: Policy, holding: Effective, in_time: Iterable[str], child: Child, statuses: Sequence[AppStatus]
) -> tuple[str, str]:
    """The state of a policy at the moment of `holding`, and its colour. `in_time`: the policies with an open window;
    `statuses`: which blocks are confirmed."""
    now, zone = holding.at, child.timezone
    if policy.status == "draft":
        return "draft", ""
    until = policy.paused_until
    if policy.status == "paused" and (until is None or until > now):
        return ("paused" if until is None else f"paused until {until_words(until, zone, now)}"), "warn"
    if policy.policy_id not in in_time:
        return "not active now", ""
    if not any(policy.policy_id in why.policy_ids for why in holding.blocked.values()):
        if child.paused_until is not None and child.paused_until > now:
            return f"paused until {until_words(child.paused_until, zone, now)}", "warn"
        return "suspended by an exception", "warn"
    named = {entry.app_name for entry in policy.blocked_apps}
    freed = [app for app in holding.allowed if app in named or EVERYTHING in named]
    words = f"active, except {listed(freed)}" if freed else "active"
    own = [one for one in statuses if one.wanted and policy.policy_id in one.policy_ids]
    return _confirmed(words, own)


def _confirmed(words: str, statuses: Sequence[AppStatus]) -> tuple[str, str]:
    """The state of a policy, and whether the firewall has confirmed it."""
    states = {one.state for one in statuses}
    if states <= {"enforced"}:
        return words, "good"
    if "failed" in states:
        return f"{words}, not blocked", "bad"
    if "pending" in states:
        return f"{words}, not confirmed", "warn"
    return f"{words}, {NOT_ON_THE_NETWORK[:1].lower()}{NOT_ON_THE_NETWORK[1:]}", ""


# --- what is blocked ---


def site_words(name: str) -> str:
    """Which part of a site is blocked, for a name that a parent typed (PC-D19)."""
    site = site_of(name)
    if site is None or site == name:
        return f"{name} is blocked, including all its subdomains."
    return f"Only {name} and its subdomains are blocked, not the rest of {site}. To block all of it, write {site}."


def now_words(now: Effective) -> str:
    """What is blocked, in a sentence."""
    if now.everything:
        but = f", except {listed(now.allowed)}" if now.allowed else ""
        return f"Everything is blocked{but}"
    if not now.blocked:
        return "Nothing is blocked"
    return f"{listed(sorted(now.blocked))} {'is' if len(now.blocked) == 1 else 'are'} blocked"


def allowed_words(apps: Sequence[str], policies: Sequence[str]) -> str:
    """`YouTube is allowed for now (exception to “Homework first”).`"""
    if not apps:
        return ""
    to = f" (exception to {listed([f'“{title}”' for title in policies], 3)})" if policies else ""
    return f"{listed(apps)} {'is' if len(apps) == 1 else 'are'} allowed for now{to}."


def change_words(now: Effective, then: Effective | None, zone: str, at: datetime) -> str:
    """The next scheduled change, and when it comes."""
    if then is None:
        return "No scheduled changes."
    begin, end = (
        sorted(then.blocked.keys() - now.blocked.keys()),
        sorted(now.blocked.keys() - then.blocked.keys()),
    )
    parts = []
    if EVERYTHING in begin:
        parts.append("everything will be blocked")
    elif begin:
        parts.append(f"{listed(begin)} will be blocked")
    if end:
        # If everything is blocked from then on, a single app that ends is not worth a word.
        names = [name for name in end if name != EVERYTHING] or end
        if EVERYTHING in end and len(end) == 1 and not begin:
            left = f", but {listed(sorted(then.blocked))} will stay blocked"
            parts.append(f"everything will be unblocked{left if then.blocked else ''}")
        elif EVERYTHING not in then.blocked:
            parts.append(f"{listed(names)} will be unblocked")
    words = " and ".join(parts) or "a different set of apps will be blocked"
    when = moment(then.at, zone, at).removeprefix("today ")
    if EVERYTHING in end and then.blocked and not begin:
        return f"{when[:1].upper()}{when[1:]} {words}."
    return f"{words[:1].upper()}{words[1:]} {when}."


def status_words(status: AppStatus, child: Child, now: datetime) -> str:
    """A sentence about the state of an app, with the reason."""
    since = f" since {clock(status.since, child.timezone)}" if status.since is not None else ""
    if status.since is not None and now - status.since > timedelta(hours=20):
        since = f" since {moment(status.since, child.timezone, now)}"
    if not status.wanted:
        return (
            f"Should be unblocked, not confirmed{since}: {_reason(status.reason)} We keep trying."
            if status.since
            else "Being unblocked…"
        )
    match status.state:
        case "enforced":
            but = f" {_reason(status.reason[:1].upper() + status.reason[1:])}" if status.reason else ""
            return f"Blocked on the network{since}.{but}"
        case "no session":
            return "Will be blocked as soon as the phone is on the network."
        case "failed":
            return f"Should be blocked, but is not{since}: {_reason(status.reason)}"
        case _ if status.reason in ("", _ON_ITS_WAY):
            return "Applying…"
        case _:
            return f"Should be blocked, not confirmed{since}: {_reason(status.reason)} We keep trying."


def _reason(text: str) -> str:
    text = text.strip() or "the firewall does not respond"
    return text if text[-1] in ".!?" else f"{text}."


def why_words(
    policy_ids: Sequence[str],
    override_id: str | None,
    policies: Mapping[str, Policy],
    overrides: Mapping[str, Override],
) -> str:
    """The cause of a block, after `because of`: titles of policies, or an exception."""
    parts = [f"“{policy_title(policies[one])}”" for one in policy_ids if one in policies]
    if override_id is not None:
        by = overrides.get(override_id)
        parts.append(f"an exception by {by.by}" if by else "an exception")
    return listed(parts, 3)


def override_words(override: Override) -> str:
    """`Allow YouTube`, `Block everything`: what was asked for; the headline says whether it is confirmed."""
    name = "everything" if override.app_name == EVERYTHING else override.app_name
    return f"{override.kind.capitalize()} {name}"


# --- what happened ---


def action_words(action: Action) -> str:
    return ACTIONS.get(action.action, action.action.capitalize())


def activity_words(action: str) -> str:
    """The title of an entry in a family's activity: `Rule created`, `Viewed`."""
    return ACTIVITY.get(action) or action.replace("policy", "rule").capitalize()


def failure_words(action: Action) -> str:
    """Why an action failed. A device's own message is for its operator; parents read only ours."""
    ours = action.action == "verify" or is_alert(action) or action.error_message == GIVEN_UP
    text = action.error_message or "" if ours else NOT_NOW
    return f"{text[:1].upper()}{text[1:]}"


def change_of_weeks(share: float | None) -> str:
    """`12 % more than the week before`."""
    if share is None:
        return "none the week before"
    if round(share * 100) == 0:
        return "the same as the week before"
    return f"{abs(round(share * 100))} % {'more' if share > 0 else 'fewer'} than the week before"
