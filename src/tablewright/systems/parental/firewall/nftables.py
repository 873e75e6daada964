"""A Linux gateway as the firewall: one nftables table of our own; no other is touched.

Each change is one transaction of the kernel, so there is no moment with half a rule. Rules are found again by their
counters' comments (nft_script.py); what names lead to is learned by dns.py; packets that were stopped are told by
nflog.py. Must hold: the contract of every driver (driver.py); a table that was flushed is reported as having no
rules, and is created again by the next `ensure`; several processes may drive one gateway.

Known limits: names are blocked by the addresses they lead to, so what shares an address with a blocked name is blocked
on the same ports (a family's allowed names are not); a client that brings its own DNS is only seen if the gateway
answers all of it (`DnsGuard`), and until then what a server answers on port 53 counts as DNS, which is never blocked.

A gateway is set up by the file `gateway.json` beside what the driver keeps. The machine's administrator writes it: it
names commands that are run, so it cannot be sent to the service. All of it may be left out:

    {"namespace": "lan",
     "dnsmasq": {"config": "/etc/dnsmasq.d/tablewright.conf", "restart": ["systemctl", "restart", "dnsmasq"]},
     "dnsServer": "127.0.0.1", "logGroup": 5}
"""

import fcntl
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from tablewright.systems.parental.firewall.dns import (
    ENCRYPTED_DNS_NAMES,
    Dnsmasq,
    Names,
    Resolver,
    restart_by,
)
from tablewright.systems.parental.firewall.driver import (
    PREFIX,
    Conflict,
    DeviceRule,
    FirewallDriver,
    FirewallMistake,
    Health,
    Rejected,
    Rule,
)
from tablewright.systems.parental.firewall.namespace import made_inside
from tablewright.systems.parental.firewall.netlink import counters, open_netfilter
from tablewright.systems.parental.firewall.nft import FAMILY, TABLE, Absent, Command, Nft, by_map, parts
from tablewright.systems.parental.firewall.nft_script import (
    RuleComment,
    addresses_for,
    base,
    dnsmasq_sets,
    id_of,
    is_shared,
    links,
    parse_comment,
    rule_commands,
    rule_removal,
    set_removal,
    sets_for,
    source_commands,
)
from tablewright.systems.parental.model import DnsGuard

LOG_GROUP = 5
FILE = "gateway.json"
_OF_THE_DEVICE = frozenset(("safe", "guarded", "refusesEncryptedDns"))
_NOT_HERE = "operators set this with the firewall; remove it"
_Address = Annotated[str, AfterValidator(lambda text: str(ip_address(text)))]
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

    comment: RuleComment
    packets: int
    bytes: int


class NftablesFirewall(FirewallDriver):
    """The driver of a Linux gateway. It needs the right to change its network (CAP_NET_ADMIN)."""

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
            old = None if before is None else before.comment
            script = rule_commands(rule, self._options.log_group, old, counted)
            if old is not None and old.source != source:
                # Gone from there and come here in one transaction.
                script += source_commands(old.source, _of_source(found, old.source, without=id))
            ids = sorted({*_of_source(found, source), id})
            script += source_commands(source, ids)
            self._run([*base(self._options.guard), *sets_for(names), *script])
        return DeviceRule(id, rule.name, source, rule.digest, counted[0])

    def remove(self, device_rule_id: str) -> None:
        with self._alone():
            found = self._rules()
            gone = found.get(device_rule_id)
            if gone is not None:
                source = gone.comment.source
                left = _of_source(found, source, without=device_rule_id)
                self._run([*source_commands(source, left), *rule_removal(device_rule_id)])

    def get(self, device_rule_id: str) -> DeviceRule | None:
        """A rule that is in force, by its id; what is only half there is not."""
        with self._alone():
            one = self._rules().get(device_rule_id)
            if one is None or not self._is_in_force(device_rule_id, one.comment):
                return None
            return _device_rule(device_rule_id, one)

    def list(self, prefix: str = PREFIX) -> Sequence[DeviceRule]:
        """All rules in force whose name begins so, by name."""
        with self._alone():
            asked = {id: one for id, one in self._rules().items() if one.comment.name.startswith(prefix)}
            live = self._live_sources() if asked else frozenset()
            chains = self._chains() if asked else {}
            chosen = {
                id: one
                for id, one in asked.items()
                if one.comment.source in live and _is_unchanged(id, one.comment, chains)
            }
        return sorted((_device_rule(id, one) for id, one in chosen.items()), key=lambda rule: rule.name)

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
                    self._run(set_removal(name))

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
        comments = ((count, parse_comment(count.comment)) for count in counts if count.name.startswith("c_"))
        return {
            count.name[2:]: _Found(known, count.packets, count.bytes)
            for count, known in comments
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

    def _is_in_force(self, id: str, comment: RuleComment) -> bool:
        chains = {name: _steps(self._chain(name)) for name, _ in links(id, comment.source)}
        return _is_unchanged(id, comment, chains) and comment.source in self._live_sources()

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


def _device_rule(id: str, one: _Found) -> DeviceRule:
    return DeviceRule(
        id=id,
        name=one.comment.name,
        source=one.comment.source,
        digest=one.comment.digest,
        hits=one.packets,
        details={"bytes": str(one.bytes), "counter": f"c_{id}"},
    )


def _steps(rules: Sequence[dict[str, Any]]) -> Sequence[Command]:
    return [step for rule in rules for step in rule["expr"]]


def _is_unchanged(id: str, comment: RuleComment, chains: Mapping[str, Sequence[Command]]) -> bool:
    """Whether packets of the rule's address come to the rule, and are stopped there."""
    return all(step in chains.get(name, ()) for name, step in links(id, comment.source))


def _of_source(found: dict[str, _Found], source: str, without: str = "") -> list[str]:
    return sorted(id for id, one in found.items() if one.comment.source == source and id != without)


# --- how a gateway is set up ---


class _Setting(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", frozen=True)


class _DnsmasqSetting(_Setting):
    config: Path
    restart: tuple[str, ...] = Field(min_length=1)


class _Gateway(_Setting):
    namespace: str | None = None
    dnsmasq: _DnsmasqSetting | None = None
    dns_server: _Address | None = None
    log_group: int = Field(default=LOG_GROUP, ge=0, le=65535)


def options_in(directory: Path, namespace: str | None = None, guard: DnsGuard | None = None) -> NftOptions:
    """The options of the gateway whose directory this is; a namespace in the file goes before the one given."""
    file = directory / FILE
    try:
        given = _Gateway.model_validate_json(file.read_bytes()) if file.exists() else _Gateway()
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        words = _NOT_HERE if where in _OF_THE_DEVICE else first["msg"]
        raise Rejected(f"{FILE} of the gateway is wrong at {where}: {words}") from error
    inside = given.namespace or namespace
    return NftOptions(
        directory=directory,
        names=_names(given, inside),
        guard=guard or DnsGuard(),
        namespace=inside,
        log_group=given.log_group,
    )


def _names(given: _Gateway, namespace: str | None) -> Names:
    if given.dnsmasq is None:
        return Resolver(given.dns_server or "", namespace=namespace)
    resolver = Resolver(given.dns_server or "127.0.0.1", namespace=namespace)
    return Dnsmasq(given.dnsmasq.config, restart_by(given.dnsmasq.restart), resolver)
