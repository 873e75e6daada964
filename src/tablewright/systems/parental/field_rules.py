"""What people write, in the one form in which it is kept; limits; what changed between two versions. Pure.

Must hold: what a function here returns it takes again and returns unchanged. Elsewhere: times of day
(policy/windows.py), domains, ranges and ports (policy/destinations.py).
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from pydantic import BaseModel

from tablewright.edge.errors import BadRequest
from tablewright.edge.mail_addresses import NotAnAddress, normalise_address
from tablewright.kit.audit import differences
from tablewright.systems.parental.errors import LimitExceeded
from tablewright.systems.parental.model import EVERYTHING, BlockedApp, DnsGuard, Port, Window
from tablewright.systems.parental.policy import windows
from tablewright.systems.parental.policy.destinations import check_cidr, check_domain, check_port

# PC-X13
POLICIES_PER_CHILD = 50
APPS_PER_POLICY = 100
WINDOWS_PER_POLICY = 20
DOMAINS_PER_APP = 200
RANGES_PER_APP = 200
PORTS_PER_APP = 100
CHILDREN_PER_FAMILY = 20
GUARDIANS_PER_FAMILY = 10
INVITATIONS_PER_FAMILY = 10
OVERRIDES_PER_CHILD = 50
ALLOWED_DOMAINS = 200
NETWORKS_PER_GUARD = 100
LONGEST_OVERRIDE = timedelta(days=7)
LONGEST_PAUSE = timedelta(days=366)
ERASED = "[erased]"

_PHONE = re.compile(r"\+[1-9][0-9]{6,14}")
_PHONE_PUNCTUATION = re.compile(r"[\s().\-/]")
_TENURE = re.compile(r"~[1-9][0-9]{0,5}")
_APP = re.compile(r"[^\x00-\x1f#\x7f]{1,80}")
# What a record says of itself and not of what it is about.
NOISE = frozenset(("updated_at", "version"))


def phone_number(given: str, field: str = "phoneNumber") -> str:
    """E.164, however it was written; INVALID_PHONE if it is none (PC-2)."""
    text = _PHONE_PUNCTUATION.sub("", given.strip())
    if text.startswith("00"):
        text = f"+{text[2:]}"
    if _PHONE.fullmatch(text) is None:
        words = "That isn't a valid phone number. Include the country code, such as +15551234567."
        raise BadRequest("INVALID_PHONE", words, field)
    return text


def child_key(given: str) -> str:
    """A number, or a child's own name: a number with its tenure, such as +15551234567~2."""
    number, mark, rest = given.partition("~")
    tenure = f"{mark}{rest}"
    if tenure and _TENURE.fullmatch(tenure) is None:
        raise BadRequest("INVALID_PHONE", "That isn't a child's phone number.", "phoneNumber")
    return phone_number(number) + tenure


def tenure_key(phone: str, tenure: int) -> str:
    """What a child is kept under: the number for its first owner, then number~2, ..."""
    return phone if tenure == 1 else f"{phone}~{tenure}"


def email_address(given: str, field: str = "email") -> str:
    """One spelling of an address; INVALID_EMAIL if it is none."""
    try:
        return normalise_address(given)
    except NotAnAddress as mistake:
        raise BadRequest("INVALID_EMAIL", str(mistake), field) from None


def name_of(given: str, field: str, longest: int = 80) -> str:
    """The name of a person or family: 1 to 80 characters, on one line."""
    text = " ".join(given.split())
    if not 1 <= len(text) <= longest or any(unicodedata.category(letter) == "Cc" for letter in text):
        raise BadRequest("INVALID_NAME", f"Enter a name of 1 to {longest} characters.", field)
    return text


def text_of(given: str | None, field: str, longest: int) -> str | None:
    """Free text, or None where there is none."""
    text = (given or "").strip()
    if len(text) > longest:
        raise BadRequest(
            "TOO_LONG", f"This can have at most {longest} characters; it has {len(text)}.", field
        )
    return text or None


def app_name(given: str, field: str) -> str:
    """The name of an app as policies and the registry have it."""
    text = given.strip()
    if _APP.fullmatch(text) is None:
        raise BadRequest("INVALID_APP", "An app's name has 1 to 80 characters and no '#'.", field)
    return text


def masked(phone: str) -> str:
    """A number for who need not know it: its last two digits."""
    return f"···{phone.partition('~')[0][-2:]}"


# --- devices ---


def dns_guard(given: DnsGuard, field: str = "guard") -> DnsGuard:
    """The networks of a guard in canonical form, each once; INVALID_CIDR for what is none."""
    networks = {"safe": given.safe, "guarded": given.guarded}
    for name, texts in networks.items():
        limited(len(texts), NETWORKS_PER_GUARD, "networks here", f"{field}.{name}")
    checked = {
        name: list(dict.fromkeys(check_cidr(text, f"{field}.{name}[{n}]") for n, text in enumerate(texts)))
        for name, texts in networks.items()
    }
    for number, network in enumerate(checked["safe"]):
        if network.endswith("/0"):
            words = f"With {network} nothing would ever be blocked. Enter only the networks that must stay reachable."
            raise BadRequest("INVALID_CIDR", words, f"{field}.safe[{number}]")
    return given.model_copy(update=checked)


# --- policies ---


def checked_apps(entries: Sequence[BlockedApp], field: str = "blockedApps") -> list[BlockedApp]:
    """The apps of a policy in canonical form; each once (PC-X14)."""
    limited(len(entries), APPS_PER_POLICY, "apps in a rule", field)
    found: dict[str, BlockedApp] = {}
    for number, entry in enumerate(entries):
        here = f"{field}[{number}]"
        name = app_name(entry.app_name, f"{here}.appName")
        if name.casefold() in found:
            words = f"{name} is already in this rule. Add each app only once."
            raise BadRequest("DUPLICATE_APP", words, f"{here}.appName")
        found[name.casefold()] = BlockedApp(
            app_name=name,
            ports=checked_ports(entry.ports, f"{here}.ports"),
            domains=checked_domains(entry.domains, f"{here}.domains"),
            ip_ranges=list(dict.fromkeys(checked_ranges(entry.ip_ranges, f"{here}.ipRanges"))),
        )
    return list(found.values())


def checked_domains(texts: Sequence[str], field: str) -> list[str]:
    """The domains of an app in canonical form, each once."""
    limited(len(texts), DOMAINS_PER_APP, "domains for an app", field)
    return list(dict.fromkeys(check_domain(text, f"{field}[{n}]") for n, text in enumerate(texts)))


def checked_ports(ports: Sequence[Port], field: str) -> list[Port]:
    """The ports of an app, each once."""
    limited(len(ports), PORTS_PER_APP, "ports for an app", field)
    for number, port in enumerate(ports):
        check_port(port.port, f"{field}[{number}].port")
    return list(dict.fromkeys(ports))


def checked_ranges(texts: Sequence[str], field: str, part: str = "") -> list[str]:
    """The ranges of an app in canonical form; `part` is where in an entry its range is."""
    limited(len(texts), RANGES_PER_APP, "ranges for an app", field)
    return [check_cidr(text, f"{field}[{number}]{part}") for number, text in enumerate(texts)]


def checked_windows(
    given: Sequence[Mapping[str, object] | Window], field: str = "timeWindows"
) -> windows.Merged:
    """The windows of a policy, overlaps merged with a notice."""
    limited(len(given), WINDOWS_PER_POLICY, "times in a rule", field)
    return windows.check(given, field)


def is_custom(entry: BlockedApp) -> bool:
    """Whether a policy says itself where the app's traffic goes, so that the registry need not know it."""
    return entry.app_name == EVERYTHING or bool(entry.domains or entry.ip_ranges)


def limited(count: int, limit: int, what: str, field: str | None = None) -> None:
    """LIMIT_EXCEEDED if there are more than there may be."""
    if count > limit:
        raise LimitExceeded(f"You can have at most {limit} {what}; this would be {count}.", limit, field)


def later(given: datetime, now: datetime, longest: timedelta, field: str) -> datetime:
    """A moment ahead, and not too far."""
    if not now < given <= now + longest:
        words = f"This must be in the future, at most {longest.days} days from now."
        raise BadRequest("INVALID_TIME", words, field)
    return given


# --- records of changes ---


def is_same(before: BaseModel, after: BaseModel) -> bool:
    """Whether a change changes nothing but its own marks: nothing to write, and nothing to record."""
    return differences(before, after, NOISE) == ({}, {})
