"""What goes through a firewall, and whether a rule stops it: the meaning of a Rule, which every driver must give it.

A device that knows addresses only (nftables) answers for what it saw names resolve to; this module is the plain truth
they are compared with. Pure.
"""

from dataclasses import dataclass
from datetime import datetime
from ipaddress import ip_address, ip_network

from tablewright.systems.parental.firewall.driver import PortOf, Rule
from tablewright.systems.parental.policy.destinations import is_under

# Without names nothing works, what is allowed included; who may be asked for them is the device's business.
DNS_PORT = 53


@dataclass(frozen=True, slots=True)
class Flow:
    """A connection attempt: to an address, a name, or an address that was looked up under a name."""

    source: str
    destination: str = ""
    protocol: str = "TCP"
    port: int = 443
    name: str = ""


@dataclass(frozen=True, slots=True)
class BlockedFlow:
    """A connection that was stopped, as a device tells it: one for each, however often it was tried."""

    at: datetime
    rule: str
    label: str
    source: str
    destination: str
    protocol: str
    port: int


def stops(rule: Rule, flow: Flow) -> bool:
    """Whether a rule blocks a flow."""
    if ip_address(rule.source) != ip_address(flow.source) or flow.port == DNS_PORT:
        return False
    if rule.ports and PortOf(flow.protocol, flow.port) not in rule.ports:
        return False
    if _is_named(flow, rule.allowed_domains):
        return False
    if not (rule.domains or rule.ranges):
        return True
    return _is_named(flow, rule.domains) or _is_within(flow, rule.ranges)


def _is_named(flow: Flow, domains: tuple[str, ...]) -> bool:
    name = flow.name.lower().rstrip(".")
    return bool(name) and any(is_under(name, domain) for domain in domains)


def _is_within(flow: Flow, ranges: tuple[str, ...]) -> bool:
    if not flow.destination:
        return False
    address = ip_address(flow.destination)
    return any(address in ip_network(one) for one in ranges)
