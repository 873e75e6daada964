"""The headline of a child: what the firewall has confirmed, in words and a colour. Pure.

Must hold: the headline never says more than what is confirmed; green means confirmed, amber on its
way or in doubt, red refused.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tablewright.systems.parental.enforcement.plan import AppStatus
from tablewright.systems.parental.model import EVERYTHING
from tablewright.systems.parental.pages.words import NOT_ON_THE_NETWORK, listed, now_words
from tablewright.systems.parental.policy.effective import Effective


@dataclass(frozen=True, slots=True)
class Confirmation:
    """The headline of a child, its colour, a word for a badge, and a second sentence."""

    headline: str
    tone: str = ""
    badge: str = ""
    more: str = ""


def confirmation(now: Effective, statuses: Sequence[AppStatus]) -> Confirmation:
    """How much of what should be blocked now is confirmed."""
    wanted = _what_counts([one for one in statuses if one.wanted])
    left = [one for one in statuses if not one.wanted]
    if not wanted:
        return _freed(left)
    if all(one.state == "no session" for one in wanted):
        more = f"{_names(wanted)} will be blocked as soon as it is."
        return Confirmation(NOT_ON_THE_NETWORK, more=more)
    waiting = [one for one in wanted if one.state != "enforced"]
    if waiting:
        return _waiting([one for one in wanted if one.state == "enforced"], waiting)
    if left:
        return Confirmation(
            f"{now_words(now)}; {_lower(_names(left))} {_is(left)} still blocked too", "warn", "Not confirmed"
        )
    if any(one.unmet for one in wanted):
        return Confirmation(f"{now_words(now)}, in part", "warn", "In part")
    return Confirmation(now_words(now), "good", "Confirmed")


def _what_counts(wanted: Sequence[AppStatus]) -> Sequence[AppStatus]:
    """What should be blocked. If that is everything, a single app matters only if it alone is confirmed."""
    everything = next((one for one in wanted if one.app == EVERYTHING), None)
    if everything is None:
        return wanted
    if everything.state == "enforced":
        return [everything]
    return [everything, *(one for one in wanted if one.app != EVERYTHING and one.state == "enforced")]


def _freed(left: Sequence[AppStatus]) -> Confirmation:
    if not left:
        return Confirmation("Nothing is blocked")
    return Confirmation(f"{_names(left)} {_is(left)} still blocked", "warn", "Not confirmed")


def _waiting(enforced: Sequence[AppStatus], waiting: Sequence[AppStatus]) -> Confirmation:
    is_refused = any(one.state == "failed" for one in waiting)
    tone, badge = ("bad", "Failed") if is_refused else ("warn", "Not confirmed")
    end = f"but {_is(waiting)} not" if is_refused else "not confirmed yet"
    if not enforced:
        return Confirmation(f"{_names(waiting)} should be blocked, {end}", tone, badge)
    done = f"{_names(enforced)} {_is(enforced)} blocked"
    return Confirmation(f"{done}; {_lower(_names(waiting))} should be, {end}", tone, badge)


def _names(statuses: Sequence[AppStatus]) -> str:
    return listed(sorted((one.app for one in statuses), key=str.casefold))


def _lower(names: str) -> str:
    return names.replace("Everything", "everything", 1)


def _is(statuses: Sequence[AppStatus]) -> str:
    return "is" if len(statuses) == 1 else "are"
