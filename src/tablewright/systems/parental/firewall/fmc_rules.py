"""From a rule to access rules of a Cisco FMC: what is the same for every address, and the requests that say it.

All addresses for which the same is blocked share one set of access rules, whose source is a dynamic object. What a
Firewall Threat Defense device can tell apart decides the form:
- Names are matched by URL: the host itself and all under it, in HTTP and in the names TLS shows, so over TCP only.
- QUIC hides its names: where UDP 443 is asked for, all QUIC of the address is stopped while the rule is in force, and
  browsers fall back to TCP, where names are seen.
- On other UDP ports names are matched by the addresses the device looked up (FQDN objects): the name itself only.
- A condition is an AND of its parts, so names and ranges are two rules; 50 literals are what a condition takes.
- There is no "except": what is allowed is an ALLOW rule before the blocking one, as narrow as that (same ranges and
  ports). Rules with exceptions stand after those without, and "everything" last, so an exception of one never frees
  what another blocks. ALLOW ends the evaluation: rules of others below do not see such a flow.
- "Everything" lets DNS pass, and with a carrier's name the ports of calls over Wi-Fi, which show no name at all.
Pure.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple, TypeVar

from tablewright.systems.parental.firewall.compiler import CARRIER
from tablewright.systems.parental.firewall.driver import DNS_PORT, PortOf, Rejected, Rule
from tablewright.systems.parental.policy.destinations import is_under

# Part of every key: another form of access rules must not be taken for this one.
FORM = 1
MAX_LITERALS = 50
NAME_LENGTH = 50
OUR_RULES = "PARENTAL_"
QUIC = PortOf("UDP", 443)
_PROTOCOLS = {"TCP": "6", "UDP": "17"}
_ALL_BUT_DNS = (f"1-{DNS_PORT - 1}", f"{DNS_PORT + 1}-65535")
_WIFI_CALLS = (("UDP", "500"), ("UDP", "4500"))
_DNS = (("TCP", str(DNS_PORT)), ("UDP", str(DNS_PORT)))
Item = TypeVar("Item")
Ports = Sequence[tuple[str, str]]


class Ref(NamedTuple):
    """An object of the FMC, as others refer to it."""

    id: str
    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Content:
    """What of a rule is the same for every address. `allowed` is only what makes a difference to it."""

    label: str
    domains: tuple[str, ...]
    ports: tuple[PortOf, ...]
    ranges: tuple[str, ...]
    allowed: tuple[str, ...]

    @property
    def is_everything(self) -> bool:
        return not (self.domains or self.ranges)

    @property
    def rank(self) -> int:
        """Where its access rules stand: 0 without exceptions, 1 with some, 2 everything."""
        return 2 if self.is_everything else int(bool(self.allowed))

    @property
    def key(self) -> str:
        """Equal for equal contents, on every machine and for ever."""
        told = [FORM, self.label, self.domains, self.port_names, self.ranges, self.allowed]
        return hashlib.sha256(json.dumps(told, separators=(",", ":")).encode()).hexdigest()[:16]

    @property
    def port_names(self) -> list[str]:
        return [f"{port.protocol}/{port.port}" for port in self.ports]

    def fqdns(self) -> tuple[str, ...]:
        """The names whose addresses the device has to look up."""
        return self.domains if _other_udp(self) else ()


def content_of(rule: Rule) -> Content:
    """What a rule blocks, without for whom."""
    allowed = rule.allowed_domains
    if rule.domains and not rule.ranges:
        allowed = tuple(one for one in allowed if _narrow((one,), rule.domains))
    ports = tuple(port for port in rule.ports if port.port != DNS_PORT)
    if rule.ports and not ports:
        # Without any port it would mean every port.
        raise Rejected("the rule is about nothing but DNS, which is never blocked")
    return Content(rule.label, rule.domains, ports, rule.ranges, allowed)


def access_rules(content: Content, source: Ref, fqdns: Mapping[str, Ref]) -> list[dict[str, Any]]:
    """The access rules of a content, in the order in which they must stand; `fqdns` has an object for each name."""
    parts = [*_exceptions(content), *_blocks(content, fqdns)]
    slug = re.sub(r"[^A-Za-z0-9]+", "-", content.label).strip("-") or "app"
    key = content.key
    names = (f"{OUR_RULES}{key}_{number}_{slug}"[:NAME_LENGTH].rstrip("-") for number in range(len(parts)))
    return [_rule(name, part, source) for name, part in zip(names, parts, strict=True)]


def fingerprint(rules: Sequence[Mapping[str, Any]]) -> str:
    """What access rules say, as the FMC tells them, in their order: a different value if one was changed."""
    told = json.dumps([_essence(rule) for rule in rules], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(told.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class _Part:
    """The conditions of one access rule besides its source."""

    action: str
    urls: Sequence[str] = ()
    ranges: Sequence[str] = ()
    fqdns: Sequence[Ref] = ()
    ports: Ports = ()


def _exceptions(content: Content) -> Iterator[_Part]:
    if content.is_everything:
        carrier = any(
            is_under(name, one) or is_under(one, name) for name in content.allowed for one in CARRIER
        )
        yield _Part("ALLOW", ports=[*_DNS, *(_WIFI_CALLS if carrier else ())])
    if not content.allowed:
        return
    ports = _ports(content, "TCP")
    if ports is None:
        return
    if content.domains or content.is_everything:
        narrow = _narrow(content.allowed, content.domains) if content.domains else content.allowed
        for urls, some in product(_chunks(narrow), _chunks(ports)):
            if urls:
                yield _Part("ALLOW", urls=urls, ports=some)
    if content.ranges:
        for urls, ranges, some in product(_chunks(content.allowed), _chunks(content.ranges), _chunks(ports)):
            yield _Part("ALLOW", urls=urls, ranges=ranges, ports=some)


def _narrow(allowed: Sequence[str], blocked: Sequence[str]) -> tuple[str, ...]:
    """What of the allowed names is among the blocked ones: of two of which one is under the other, the lower."""
    inside = [one for one in allowed if any(is_under(one, above) for above in blocked)]
    beneath = [one for one in blocked if any(is_under(one, above) for above in allowed)]
    return tuple(dict.fromkeys((*inside, *beneath)))


def _blocks(content: Content, fqdns: Mapping[str, Ref]) -> Iterator[_Part]:
    by_url = _ports(content, "TCP")
    if content.domains and by_url is not None:
        by_url = by_url or [("TCP", ports) for ports in _ALL_BUT_DNS]
        for urls, some in product(_chunks(content.domains), _chunks(by_url)):
            yield _Part("BLOCK_RESET", urls=urls, ports=some)
    if content.domains and (not content.ports or QUIC in content.ports):
        yield _Part("BLOCK_RESET", ports=[("UDP", "443")])
    if by_address := _other_udp(content):
        looked_up = [fqdns[name] for name in content.domains]
        for refs, some in product(_chunks(looked_up), _chunks(by_address)):
            yield _Part("BLOCK_RESET", fqdns=refs, ports=some)
    if content.ranges or content.is_everything:
        for ranges, some in product(_chunks(content.ranges), _chunks(_all_ports(content))):
            yield _Part("BLOCK_RESET", ranges=ranges, ports=some)


def _ports(content: Content, protocol: str) -> Ports | None:
    """The ports of a protocol; an empty list means every port, None means none."""
    if not content.ports:
        return ()
    found = [(port.protocol, str(port.port)) for port in content.ports if port.protocol == protocol]
    return found or None


def _other_udp(content: Content) -> Ports:
    """UDP ports on which names have to be matched by address."""
    if not content.domains:
        return ()
    if not content.ports:
        return [("UDP", ports) for ports in _ALL_BUT_DNS]
    return [("UDP", str(port.port)) for port in content.ports if port.protocol == "UDP" and port != QUIC]


def _all_ports(content: Content) -> Ports:
    if content.ports:
        return [(port.protocol, str(port.port)) for port in content.ports]
    # Everything is also what has no ports; its DNS passes by an exception.
    if content.is_everything:
        return ()
    return [(protocol, ports) for protocol in ("TCP", "UDP") for ports in _ALL_BUT_DNS]


def _chunks(items: Sequence[Item]) -> list[Sequence[Item]]:
    """In pieces that fit into a condition; one empty piece if there is nothing."""
    return [items[at : at + MAX_LITERALS] for at in range(0, len(items), MAX_LITERALS)] or [()]


def _rule(name: str, part: _Part, source: Ref) -> dict[str, Any]:
    is_block = part.action != "ALLOW"
    rule: dict[str, Any] = {
        "type": "AccessRule",
        "name": name,
        "action": part.action,
        "enabled": True,
        "sourceDynamicObjects": {"objects": [source._asdict()]},
        # A blocking rule can log only how a connection begins.
        "logBegin": is_block,
        "logEnd": False,
        "sendEventsToFMC": is_block,
    }
    if part.urls:
        rule["urls"] = {"literals": [{"type": "Url", "url": url} for url in part.urls]}
    if part.ranges:
        rule["destinationNetworks"] = {
            "literals": [{"type": "Network", "value": cidr} for cidr in part.ranges]
        }
    if part.fqdns:
        rule["destinationNetworks"] = {"objects": [ref._asdict() for ref in part.fqdns]}
    if part.ports:
        rule["destinationPorts"] = {
            "literals": [
                {"type": "PortLiteral", "protocol": _PROTOCOLS[protocol], "port": port}
                for protocol, port in part.ports
            ]
        }
    return rule


_CONDITIONS = (
    "sourceNetworks", "destinationNetworks", "sourcePorts", "destinationPorts", "urls", "applications", "users",
    "sourceZones", "destinationZones", "vlanTags", "sourceDynamicObjects", "destinationDynamicObjects",
    "timeRangeObjects",
)  # fmt: skip


def _essence(rule: Mapping[str, Any]) -> dict[str, Any]:
    """What decides which flows a rule stops; names of objects and links are told differently from time to time."""
    told: dict[str, Any] = {"action": rule.get("action"), "enabled": rule.get("enabled", True)}
    for condition in _CONDITIONS:
        if given := rule.get(condition):
            told[condition] = _parts(given)
    return told


def _parts(given: Any) -> Any:
    if isinstance(given, list):
        return sorted((_parts(one) for one in given), key=lambda one: json.dumps(one, sort_keys=True))
    if not isinstance(given, dict):
        return given
    if "id" in given:
        return given["id"]
    return {name: _parts(value) for name, value in given.items() if name not in ("links", "metadata", "type")}
