"""From "this app is blocked for that address" to the rule a firewall is given.

A rule is what the registry says of an app now, and what policies add to it (PC-D18); less what is never blocked: names
a family allows, the ways to help and to the carrier, DNS (PC-X5), ranges where others live too (PC-D10). QUIC is
blocked wherever HTTPS is (PC-D20). Must hold: the same input makes the same rule, digest included; a rule is about
everything only if everything was asked for, so where nothing is left there is no rule; `left_out` names all that was
asked for and is not in the rule. Pure.
"""

import hashlib
import hmac
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from ipaddress import IPv4Network, IPv6Network, collapse_addresses, ip_address, ip_network
from typing import Literal

from tablewright.edge.errors import BadRequest
from tablewright.systems.parental.firewall.driver import PREFIX, PortOf, Rule
from tablewright.systems.parental.model import EVERYTHING, App, BlockedApp, IpRange, Port
from tablewright.systems.parental.policy.destinations import (
    check_cidr,
    check_domain,
    is_under,
    shared_name,
    widest,
)

NAME_LENGTH = 50
DIGEST_LENGTH = 32
# A child must always be able to call for help: calls over Wi-Fi, emergency calls among them, go to the carrier under
# this name; the others are lines for children and people in need.
CARRIER = ("3gppnetwork.org",)
HELP = (
    "988lifeline.org", "childhelp.org", "childhelplineinternational.org", "childline.org.uk",
    "childlinesa.org.za", "crisistextline.org", "findahelpline.com", "kidshelpline.com.au", "kidshelpphone.ca",
    "nummergegenkummer.de", "samaritans.org",
)  # fmt: skip
SAFE = (*CARRIER, *HELP)
_HTTPS, _QUIC = PortOf("TCP", 443), PortOf("UDP", 443)
_DNS = frozenset((PortOf("TCP", 53), PortOf("UDP", 53)))


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something that was asked for and is not enforced, and why (PC-S14)."""

    kind: Literal["domain", "range", "port"]
    value: str
    why: str

    @property
    def sentence(self) -> str:
        return f"{self.value} is not blocked ({self.why})."


@dataclass(frozen=True, slots=True)
class _Content:
    """What of an app is enforced. `ports` None: every port."""

    domains: tuple[str, ...]
    ranges: tuple[str, ...]
    ports: tuple[PortOf, ...] | None
    is_everything: bool
    left_out: tuple[LeftOut, ...]


def compile_rule(
    app: App | None,
    asked: Sequence[BlockedApp],
    family_allowed: Sequence[str],
    source_ip: str,
    rule_name: str,
    label: str = "",
) -> Rule | None:
    """The rule that blocks an app for an address; None if nothing of it may be enforced (`left_out` says why).

    `app` is None for what the registry does not know: then it is what the policies say of it. An entry of the name `*`
    asks for everything but what is allowed.
    """
    content = _content(app, asked, family_allowed)
    if content.ports == () or not (content.is_everything or content.domains or content.ranges):
        return None
    rule = Rule(
        name=rule_name,
        source=str(ip_address(source_ip)),
        domains=content.domains,
        ports=content.ports or (),
        ranges=content.ranges,
        allowed_domains=_allowed(family_allowed),
        label=label,
    )
    return replace(rule, digest=digest(rule))


def left_out(
    app: App | None, asked: Sequence[BlockedApp], family_allowed: Sequence[str] = ()
) -> tuple[LeftOut, ...]:
    """What was asked for and is not enforced."""
    return _content(app, asked, family_allowed).left_out


def unmet(
    app: App | None, asked: Sequence[BlockedApp], family_allowed: Sequence[str] = ()
) -> tuple[LeftOut, ...]:
    """What a parent has to be told of `left_out`: all that a policy names itself, and sites of the app.

    Ranges of the registry are not among it: to leave shared ones out is as the registry means it, and the app's page
    says so.
    """
    own = left_out(None, asked, family_allowed)
    sites = [one for one in left_out(app, asked, family_allowed) if one.kind == "domain" and one not in own]
    return (*sites, *own)


def domains_of(app: App | None, asked: Sequence[BlockedApp] = ()) -> tuple[str, ...]:
    """The names of an app, as registry and policies have them; invalid names are skipped."""
    return widest(name for _, name in _names(app, asked) if name is not None)


def applied(rule: Rule) -> dict[str, list[str]]:
    """What a rule blocks, for the history (PC-D18)."""
    return {
        "domains": list(rule.domains),
        "ports": [f"{port.port}/{port.protocol}" for port in rule.ports],
        "ranges": list(rule.ranges),
    }


def digest(rule: Rule) -> str:
    """A hash of all that a rule says: equal for equal rules, on every machine and for ever."""
    content = {
        "name": rule.name,
        "source": rule.source,
        "label": rule.label,
        "allowed": list(rule.allowed_domains),
        **applied(rule),
    }
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:DIGEST_LENGTH]


def rule_name(secret: bytes, child: str, app: str, address: str = "") -> str:
    """A name for devices that does not identify the child (PC-D21); another for each app and address."""
    told = "\0".join((child, app, address)).encode()
    keyed = hmac.new(secret, told, hashlib.sha256).hexdigest()[:12]
    shown = "everything" if app == EVERYTHING else re.sub(r"[^A-Za-z0-9]+", "-", app).strip("-") or "app"
    return f"{PREFIX}{keyed}_{shown}"[:NAME_LENGTH].rstrip("-")


# --- what is enforced ---


def _content(app: App | None, asked: Sequence[BlockedApp], family_allowed: Sequence[str]) -> _Content:
    whole = [entry for entry in asked if entry.app_name == EVERYTHING]
    if whole:
        ports, ports_left = _ports(None, whole)
        return _Content((), (), ports, True, ports_left)
    domains, domains_left = _domains(app, asked, _allowed(family_allowed))
    ranges, ranges_left = _ranges(app, asked)
    ports, ports_left = _ports(app, asked)
    return _Content(domains, ranges, ports, False, (*domains_left, *ranges_left, *ports_left))


def _allowed(family_allowed: Sequence[str]) -> tuple[str, ...]:
    return widest((*SAFE, *(name for _, name in _read_names(family_allowed) if name is not None)))


def _domains(
    app: App | None, asked: Sequence[BlockedApp], allowed: Sequence[str]
) -> tuple[tuple[str, ...], tuple[LeftOut, ...]]:
    taken, left = [], {}
    for text, name in _names(app, asked):
        why = "this isn't a domain name" if name is None else _domain_allowed(name, allowed)
        if name is None or why is not None:
            left[name or text] = LeftOut("domain", name or text, why or "")
        else:
            taken.append(name)
    return widest(taken), tuple(left[value] for value in sorted(left))


def _domain_allowed(name: str, allowed: Sequence[str]) -> str | None:
    """Why a name is not blocked; None if it is."""
    if any(is_under(name, one) for one in CARRIER):
        return "never blocked: it carries calls, including emergency calls"
    if any(is_under(name, one) for one in HELP):
        return "never blocked: help for children and people in need"
    if above := next((one for one in allowed if is_under(name, one)), None):
        return f"the family always allows {above}"
    shared = shared_name(name)
    return None if shared is None else f"shared: {shared}"


def _names(app: App | None, asked: Sequence[BlockedApp]) -> list[tuple[str, str | None]]:
    texts = [*(app.domains if app is not None else ()), *(text for entry in asked for text in entry.domains)]
    return _read_names(texts)


def _read_names(texts: Iterable[str]) -> list[tuple[str, str | None]]:
    """Each text with the name it is, None if it is none: what was kept before a rule was made may not keep to it."""
    found: list[tuple[str, str | None]] = []
    for text in texts:
        try:
            found.append((text, check_domain(text)))
        except BadRequest:
            found.append((text, None))
    return found


def _ranges(app: App | None, asked: Sequence[BlockedApp]) -> tuple[tuple[str, ...], tuple[LeftOut, ...]]:
    # The registry's flag is an operator's word; what a policy adds is judged by who else lives there.
    given = [*(app.ip_ranges if app is not None else ())]
    given += [IpRange(cidr=text) for entry in asked for text in entry.ip_ranges]
    taken, left = [], {}
    for one in given:
        try:
            cidr = check_cidr(one.cidr)
        except BadRequest as mistake:
            left[one.cidr] = LeftOut("range", one.cidr, mistake.message)
            continue
        if one.enforce:
            taken.append(cidr)
        else:
            left[cidr] = LeftOut("range", cidr, one.why or "switched off by an operator")
    return _collapsed(taken), tuple(left[value] for value in sorted(left))


def _collapsed(cidrs: Iterable[str]) -> tuple[str, ...]:
    networks = [ip_network(cidr) for cidr in cidrs]
    fours = collapse_addresses(one for one in networks if isinstance(one, IPv4Network))
    sixes = collapse_addresses(one for one in networks if isinstance(one, IPv6Network))
    return (*(str(one) for one in fours), *(str(one) for one in sixes))


def _ports(
    app: App | None, asked: Sequence[BlockedApp]
) -> tuple[tuple[PortOf, ...] | None, tuple[LeftOut, ...]]:
    """The ports, and those left out. None: every port, where the registry, or else one of the policies, names none."""
    lists: list[list[Port]] = [entry.ports for entry in asked]
    if app is not None:
        lists = [app.default_ports, *(ports for ports in lists if ports)]
    if not all(lists):
        return None, ()
    wanted = {PortOf(port.protocol, port.port) for ports in lists for port in ports}
    if _HTTPS in wanted:
        wanted.add(_QUIC)
    left = tuple(
        LeftOut("port", f"{port.port}/{port.protocol}", "never blocked: it is used for DNS lookups")
        for port in sorted(wanted & _DNS)
    )
    return tuple(sorted(wanted - _DNS)), left
