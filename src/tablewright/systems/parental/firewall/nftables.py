"""A Linux gateway as the firewall: one nftables table of our own; no other is touched.

Each change is one transaction of the kernel, so there is no moment with half a rule. Rules are found again by their
counters' comments (nft_script.py); what names lead to is learned by dns.py; packets that were stopped are told by
nflog.py. Must hold: the contract of every driver (driver.py); a table that was flushed is reported as having no
rules, and is created again by the next `ensure`; several processes may drive one gateway.

Known limits: names are blocked by the addresses they lead to, so what shares an address with a blocked name is blocked
on the same ports (a family's allowed names are not); a client that brings its own DNS is only seen if the gateway
answers all of it (`Guard`), and until then what a server answers on port 53 counts as DNS, which is never blocked.
"""

import fcntl
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

from tablewright.systems.parental.firewall.dns import ENCRYPTED_DNS_NAMES, Names, Resolver
from tablewright.systems.parental.firewall.driver import (
    PREFIX,
    Conflict,
    Deployed,
    DeviceRule,
    FirewallMistake,
    Health,
    Rejected,
    Rule,
)
from tablewright.systems.parental.firewall.namespace import made_inside
from tablewright.systems.parental.firewall.netlink import counters, open_netfilter
from tablewright.systems.parental.firewall.nft import Absent, Command, Nft, parts
from tablewright.systems.parental.firewall.nft_script import (
    Card,
    addresses_for,
    base,
    card,
    dnsmasq_sets,
    id_of,
    is_shared,
    links,
    rule_gone,
    rule_made,
    set_gone,
    sets_for,
    source_made,
)
from tablewright.systems.parental.firewall.nft_words import FAMILY, TABLE, by_map
from tablewright.systems.parental.model import DnsGuard

LOG_GROUP = 5
# By which side of a packet, through which map.
WAYS_IN = (("saddr", "sources"), ("daddr", "backs"))


@dataclass(frozen=True, slots=True)
class NftOptions:
    """How a gateway is driven.

    `directory` is where the driver keeps what it must know after a restart (names that were ever blocked).
    """

    directory: Path
    names: Names = field(default_factory=Resolver)
    guard: DnsGuard = field(default_factory=DnsGuard)
    namespace: str | None = None
    log_group: int = LOG_GROUP
    seconds: float = 30.0


@dataclass(frozen=True, slots=True)
class _Found:
    """A rule as the table has it."""

    card: Card
    packets: int
    bytes: int


class NftablesFirewall:
    """The driver of a Linux gateway. It needs the right to change its network (CAP_NET_ADMIN)."""

    needs_deploy = False

    def __init__(self, options: NftOptions) -> None:
        self._options = options
        self._nft = Nft(options.namespace, options.seconds)
        self._looked_up: set[str] = set()
        self._is_prepared = False
        options.directory.mkdir(parents=True, exist_ok=True)

    # --- the driver ---

    def ensure(self, rule: Rule) -> DeviceRule:
        """Make the rule, or make the one of that name equal to it. Its names are learned first."""
        _check(rule)
        id, source = id_of(rule.name), str(ip_address(rule.source))
        with self._alone():
            found = self._rules()
            names = sorted({*rule.domains, *rule.allowed_domains})
            self._learn(names)
            before = found.get(id)
            counted = (0, 0) if before is None else (before.packets, before.bytes)
            old = None if before is None else before.card
            script = rule_made(rule, self._options.log_group, old, counted)
            if old is not None and old.source != source:
                # Gone from there and come here in one transaction.
                script += source_made(old.source, _of_source(found, old.source, without=id))
            ids = sorted({*_of_source(found, source), id})
            script += source_made(source, ids)
            self._run([*base(self._options.guard), *sets_for(names), *script])
        return DeviceRule(id, rule.name, source, rule.digest, counted[0])

    def remove(self, device_rule_id: str) -> None:
        """Take a rule away; fine if there is none."""
        with self._alone():
            found = self._rules()
            gone = found.get(device_rule_id)
            if gone is not None:
                source = gone.card.source
                left = _of_source(found, source, without=device_rule_id)
                self._run([*source_made(source, left), *rule_gone(device_rule_id)])

    def get(self, device_rule_id: str) -> DeviceRule | None:
        """A rule that is in force, by its id; what is only half there is not."""
        with self._alone():
            one = self._rules().get(device_rule_id)
            if one is None or not self._is_in_force(device_rule_id, one.card):
                return None
            return _told(device_rule_id, one)

    def list(self, prefix: str = PREFIX) -> Sequence[DeviceRule]:
        """All rules in force whose name begins so, by name."""
        with self._alone():
            asked = {id: one for id, one in self._rules().items() if one.card.name.startswith(prefix)}
            live = self._live_sources() if asked else frozenset()
            chains = self._chains() if asked else {}
            chosen = {
                id: one
                for id, one in asked.items()
                if one.card.source in live and _is_whole(id, one.card, chains)
            }
        return sorted((_told(id, one) for id, one in chosen.items()), key=lambda rule: rule.name)

    def deploy(self) -> Deployed:
        """Changes are in force when they are made."""
        return Deployed(was_needed=False)

    def health(self) -> Health:
        """Whether nftables answers, and what is in our table."""
        try:
            version = self._nft.version()
            with self._alone():
                rules = len(self._rules())
            return Health(
                is_ok=True, version=version, detail=f"{rules} rules, {len(self._followed()[0])} names"
            )
        except FirewallMistake as mistake:
            return Health(is_ok=False, detail=str(mistake))

    def close(self) -> None:
        """Nothing is held open between calls; closing is part of being a driver."""

    # --- what only this device has ---

    def learn(self, domains: Iterable[str]) -> None:
        """Find out where names lead before they are blocked, so that the first block ends what is running.

        A name never heard of costs a restart of dnsmasq; an operator gives all names of the registry at once.
        """
        with self._alone():
            self._rules()
            self._learn(domains)

    def look_up_again(self) -> int:
        """Ask once more where all known names lead; how many addresses there are. For gateways without dnsmasq."""
        with self._alone():
            self._looked_up.clear()
            return self._look_up(self._followed()[0])

    def keep_guard(self) -> None:
        """The guard of the options, in the table and in what dnsmasq refuses, also if it was changed on the gateway."""
        with self._alone():
            self._rules()
            self._is_prepared = False
            self._learn(())

    def _run(self, script: Sequence[Command]) -> None:
        """All of it or nothing."""
        try:
            self._nft.run(script)
        except Absent as error:
            self._forget()
            raise Conflict(f"another process changed our table: {error}") from error

    # --- names ---

    def _learn(self, domains: Iterable[str]) -> None:
        asked, (known, refused) = set(domains), self._followed()
        if not self._is_prepared or asked - known:
            # The table as dnsmasq expects it, also after the machine was restarted.
            self._run([*base(self._options.guard), *sets_for(sorted(known | asked))])
            self._is_prepared = True
        if asked - known or refused != self._refused():
            self._tidy()
            self._options.names.follow(known | asked, dnsmasq_sets, self._refused())
            # Last, because until then it is not certain that dnsmasq has read them.
            self._remember(known | asked)
        self._look_up(asked - self._looked_up)

    def _look_up(self, domains: Iterable[str]) -> int:
        found = self._options.names.look_up(sorted(domains))
        self._run([step for name in sorted(found) for step in addresses_for(name, found[name])])
        # Those that have no address yet are asked for again the next time.
        self._looked_up |= {name for name, addresses in found.items() if addresses}
        return sum(len(addresses) for addresses in found.values())

    def _tidy(self) -> None:
        """Take away sets of ports and ranges that no rule refers to any more; the kernel knows which those are."""
        found = self._nft.ask("-t", "list", "sets", "table", FAMILY, TABLE) or {}
        for name in (one["name"] for one in parts(found, "set")):
            if is_shared(name):
                with suppress(Conflict):
                    self._run(set_gone(name))

    def _refused(self) -> tuple[str, ...]:
        return ENCRYPTED_DNS_NAMES if self._options.guard.refuses_encrypted_dns else ()

    @property
    def _names_file(self) -> Path:
        return self._options.directory / "names.json"

    def _followed(self) -> tuple[frozenset[str], tuple[str, ...]]:
        """The names dnsmasq knows of, and those it refuses."""
        try:
            kept = json.loads(self._names_file.read_text())
        except FileNotFoundError:
            return frozenset(), ()
        return frozenset(kept["followed"]), tuple(kept["refused"])

    def _remember(self, domains: Iterable[str]) -> None:
        fresh = self._names_file.with_suffix(".new")
        fresh.write_text(json.dumps({"followed": sorted(domains), "refused": self._refused()}))
        os.replace(fresh, self._names_file)

    def _forget(self) -> None:
        """What was prepared is gone: prepare it again."""
        self._is_prepared = False
        self._looked_up.clear()

    # --- reading the table ---

    def _rules(self) -> dict[str, _Found]:
        """Every rule by its id, in force or not."""
        with made_inside(self._options.namespace, open_netfilter) as talk:
            counts = counters(talk, TABLE)
        if not counts and self._nft.ask("list", "map", FAMILY, TABLE, "sources4") is None:
            self._forget()
        cards = ((count, card(count.comment)) for count in counts if count.name.startswith("c_"))
        return {
            count.name[2:]: _Found(known, count.packets, count.bytes)
            for count, known in cards
            if known is not None
        }

    def _live_sources(self) -> frozenset[str]:
        """The addresses whose packets are judged: none if the way into our chains was flushed."""
        steps = [step for rule in self._chain("forward") for step in rule["expr"]]
        led = [v for v in (4, 6) if all(by_map(v, *way) in steps for way in WAYS_IN)]
        return frozenset(
            source
            for version in led
            for table in parts(self._nft.ask("list", "map", FAMILY, TABLE, f"sources{version}") or {}, "map")
            for source, _ in table.get("elem", ())
        )

    def _is_in_force(self, id: str, card: Card) -> bool:
        chains = {name: _steps(self._chain(name)) for name, _ in links(id, card.source)}
        return _is_whole(id, card, chains) and card.source in self._live_sources()

    def _chains(self) -> dict[str, Sequence[Command]]:
        """What is done in every chain, asked for at once."""
        found = parts(self._nft.ask("-t", "list", "table", FAMILY, TABLE) or {}, "rule")
        chains: dict[str, list[dict[str, Any]]] = {}
        for rule in found:
            chains.setdefault(rule["chain"], []).append(rule)
        return {name: _steps(rules) for name, rules in chains.items()}

    def _chain(self, name: str) -> Sequence[dict[str, Any]]:
        return parts(self._nft.ask("-t", "list", "chain", FAMILY, TABLE, name) or {}, "rule")

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """One process at a time reads and then writes; the kernel only makes each of the two atomic."""
        with open(self._options.directory / "lock", "w") as door:
            fcntl.flock(door, fcntl.LOCK_EX)
            yield


def _check(rule: Rule) -> None:
    """What nft would refuse anyway, with a message that says what to do."""
    try:
        ip_address(rule.source)
        for one in rule.ranges:
            ip_network(one)
    except ValueError as error:
        raise Rejected("a rule's source must be an address and its ranges networks") from error
    if {port.protocol for port in rule.ports} - {"TCP", "UDP"}:
        raise Rejected("ports are those of TCP or UDP")


def _told(id: str, one: _Found) -> DeviceRule:
    return DeviceRule(
        id=id,
        name=one.card.name,
        source=one.card.source,
        digest=one.card.digest,
        hits=one.packets,
        details={"bytes": str(one.bytes), "counter": f"c_{id}"},
    )


def _steps(rules: Sequence[dict[str, Any]]) -> Sequence[Command]:
    return [step for rule in rules for step in rule["expr"]]


def _is_whole(id: str, card: Card, chains: Mapping[str, Sequence[Command]]) -> bool:
    """Whether packets of the rule's address come to the rule, and are stopped there."""
    return all(step in chains.get(name, ()) for name, step in links(id, card.source))


def _of_source(found: dict[str, _Found], source: str, without: str = "") -> list[str]:
    return sorted(id for id, one in found.items() if one.card.source == source and id != without)
