"""What the reconciler asks of a firewall, and what it may answer. The same contract tests hold for every driver.

A rule blocks one source address from an app's domains, ports and address ranges. Must hold, for every driver:
`ensure` may be asked any number of times and leaves one rule of that name; when it returns, packets of that rule are
being dropped (a device that needs a deployment has `deploy` for that, and says so in `needs_deploy`); `remove` of what
is not there is fine; nothing but our own rules is touched. Connections that stand end when a rule comes, except where a
device has no way to do that: the driver's file says so, and devices.py, so that parents are told.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from ipaddress import ip_address, ip_network
from typing import Protocol, runtime_checkable

from tablewright.systems.parental.policy.destinations import is_under

PREFIX = "PARENTAL_BLOCK_"
# Without names nothing works, what is allowed included; who may be asked for them is the device's business.
DNS_PORT = 53


@dataclass(frozen=True, slots=True, order=True)
class PortOf:
    """A port of a protocol, TCP or UDP."""

    protocol: str
    port: int


@dataclass(frozen=True, slots=True)
class Rule:
    """What is to be blocked for one address. Tuples are sorted and without repetition, so equal rules are equal.

    `domains` are names whose subdomains are meant too. A flow is blocked if its destination is one of the domains'
    addresses or in `ranges`, and its port is one of `ports`; without ports, every port. Without domains and ranges
    it is everything. `allowed_domains` and what a device keeps as safe (DNS, emergency) are never blocked.
    `label` goes into counters and logs and does not identify a child.
    """

    name: str
    source: str
    domains: tuple[str, ...] = ()
    ports: tuple[PortOf, ...] = ()
    ranges: tuple[str, ...] = ()
    allowed_domains: tuple[str, ...] = ()
    label: str = ""
    digest: str = ""


@dataclass(frozen=True, slots=True)
class DeviceRule:
    """A rule as a device has it: `id` is the device's own name for it."""

    id: str
    name: str
    source: str
    digest: str
    hits: int = 0
    details: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Deployed:
    """What a deployment did; a device that needs none answers with `was_needed` False."""

    was_needed: bool


@dataclass(frozen=True, slots=True)
class Health:
    """Whether a device answers, and what it says of itself."""

    is_ok: bool
    version: str = ""
    detail: str = ""


class FirewallMistake(Exception):
    """What a device or the way to it did wrong. The text names no child."""


class Unavailable(FirewallMistake):
    """No answer, or a fault of the device; it may work later."""


class RateLimited(FirewallMistake):
    """Too many requests; `retry_after` says in how many seconds it may work."""

    def __init__(self, retry_after: float) -> None:
        self.retry_after = retry_after
        super().__init__(f"the device accepts no more requests for {retry_after:g} s")


class Conflict(FirewallMistake):
    """Something else has that name or place, or another process is writing."""


class Rejected(FirewallMistake):
    """The device will never accept this; a retry does not help."""


class FirewallDriver(Protocol):
    """A firewall. Calls may take seconds and may raise any FirewallMistake; one thread at a time.

    A driver whose changes are in force when they are made, and which holds nothing open, inherits `deploy` and `close`;
    one that filters no DNS inherits `keep_guard`.
    """

    needs_deploy: bool = False

    def ensure(self, rule: Rule) -> DeviceRule:
        """Make the rule, or make the one of that name equal to it."""

    def remove(self, device_rule_id: str) -> None:
        """Take a rule away; fine if there is none."""

    def get(self, device_rule_id: str) -> DeviceRule | None:
        """A rule by the device's own id."""

    def list(self, prefix: str = PREFIX) -> Sequence[DeviceRule]:
        """All rules whose name begins so."""

    def deploy(self) -> Deployed:
        """Make what was changed take effect, where that is a step of its own."""
        return Deployed(was_needed=False)

    def health(self) -> Health:
        """How the device is."""

    def keep_guard(self) -> None:
        """Apply the DNS filter it was opened with."""
        return

    def close(self) -> None:
        """Let go of connections."""
        return


@runtime_checkable
class LearnsNames(Protocol):
    """A driver that has to know where names lead before it can block them."""

    def learn(self, domains: Iterable[str]) -> None:
        """Find out where names lead, before they are blocked."""

    def look_up_again(self) -> int:
        """Ask once more where all known names lead; how many addresses there are."""


# --- what a rule means, which every driver must give it ---
#
# A device that knows addresses only (nftables) answers for what it saw names resolve to.


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
