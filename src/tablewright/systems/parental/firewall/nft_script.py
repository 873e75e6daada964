"""The firewall's table in nftables, as commands for `nft -j -f`. Pure: what is done with them is nftables.py's.

    forward (before everybody else's): names of the ways around DNS, then by source to s_<address>, back to b_<address>
    s_<address>   lets DNS through; jumps to r_<id> of each rule of it    b_<address>  likewise to y_<id>
    r_<id>        the rule's ports: goto q_<id>                           y_<id>       the same for what comes back:
    q_<id>        the rule's destinations: goto x_<id>                    z_<id>       all but TCP is dropped
    x_<id>        what is allowed nevertheless returns; counted, logged; TCP reset, everything else refused
    d4_*, d6_*    the addresses of one name, filled by dnsmasq or by us
    p_*, n4_*     ports and ranges; rules share them, for a set of each rule's own makes nft very slow
    c_<id>        the rule's counter. Its comment is a RuleComment: name, digest and source.

Must hold: each list of commands is one transaction and may be repeated. Chains come before what established
connections are let through by, and both directions are cut, so a live stream ends at both ends; packets are judged by
their addresses alone, connection tracking has no say. A table whose traffic goes around the forward hook (flowtables,
hardware offload) cannot do this.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from ipaddress import ip_address

from tablewright.systems.parental.firewall import nft
from tablewright.systems.parental.firewall.dns import ENCRYPTED_DNS_ADDRESSES
from tablewright.systems.parental.firewall.driver import PortOf, Rejected, Rule
from tablewright.systems.parental.firewall.nft import Command
from tablewright.systems.parental.model import DnsGuard

# Before the usual filter (0) and after connections are found again (-200).
PRIORITY = -10
# How long an address is believed to belong to a name. A name that is looked up again later is learned again.
REMEMBERED = timedelta(days=7)
LABEL_LENGTH, COMMENT_LENGTH, SNAP_LENGTH = 60, 127, 96
_CHAINS = ("r", "q", "x", "y", "z")
_DNS = (PortOf("TCP", 53), PortOf("UDP", 53))
_TLS_DNS = (PortOf("TCP", 853), PortOf("UDP", 853), PortOf("UDP", 8853))
_HTTPS = (PortOf("TCP", 443), PortOf("UDP", 443))


@dataclass(frozen=True, slots=True)
class RuleComment:
    """What the comment of a rule's counter says of it."""

    name: str
    digest: str
    source: str

    def __str__(self) -> str:
        return f"{self.name} {self.digest or '-'} {self.source}"


def parse_comment(text: str) -> RuleComment | None:
    """What a counter's comment says; None if it is none of ours."""
    words = text.split(" ")
    return RuleComment(words[0], words[1].removeprefix("-"), words[2]) if len(words) == 3 else None


def id_of(name: str) -> str:
    """The id of a rule: the same for the same name."""
    return hashlib.sha256(name.encode()).hexdigest()[:16]


def set_of(domain: str, version: int) -> str:
    """The set that holds the addresses of a name."""
    return f"d{version}_{_short(domain)}"


def dnsmasq_sets(domain: str) -> tuple[str, str]:
    """The sets of a name as dnsmasq is told of them."""
    return (
        f"4#{nft.FAMILY}#{nft.TABLE}#{set_of(domain, 4)}",
        f"6#{nft.FAMILY}#{nft.TABLE}#{set_of(domain, 6)}",
    )


def source_chain(source: str) -> str:
    return "s_" + ip_address(source).packed.hex()


# --- transactions ---


def base(guard: DnsGuard) -> list[Command]:
    """The table and what is in it without any rule; where it is there already, it is put right."""
    made = [nft.add("table", family=nft.FAMILY, name=nft.TABLE)]
    made += [
        nft.add("map", name=f"{name}{version}", type=nft.TYPE[version], map="verdict", flags=["timeout"])
        for version in (4, 6)
        for name in ("sources", "backs")
    ]
    made += nft.chain("cut", {})
    # What comes back over TCP is let through: the child's answer to it is reset, and what the child's machine then
    # says of a connection it no longer has reaches the other end, so both know. Reset here, only that end would.
    made.append(nft.rule("cut", nft.match({"meta": {"key": "l4proto"}}, "tcp", "!="), {"drop": None}))
    made += nft.chain("refuse", {})
    made += [nft.rule("refuse", nft.is_tcp(), nft.RESET), nft.rule("refuse", nft.REFUSED)]
    made += nft.chain("forward", {"type": "filter", "hook": "forward", "prio": PRIORITY, "policy": "accept"})
    made.append(nft.rule("forward", nft.is_goodbye(), nft.ACCEPT))
    made += _ways_around(guard)
    for version in (4, 6):
        for side in ("daddr", "saddr"):
            made += [
                nft.rule("forward", match, nft.ACCEPT) for match in nft.within(version, side, guard.safe)
            ]
    for version in (4, 6):
        made.append(nft.rule("forward", nft.by_map(version, "saddr", "sources")))
        made.append(nft.rule("forward", nft.by_map(version, "daddr", "backs")))
    return [*made, *_redirect(guard)]


def sets_for(domains: Iterable[str]) -> list[Command]:
    """The sets of names."""
    return [
        nft.add(
            "set", name=set_of(name, version), type=nft.TYPE[version], timeout=int(REMEMBERED.total_seconds())
        )
        for name in domains
        for version in (4, 6)
    ]


def addresses_for(domain: str, addresses: Iterable[str]) -> list[Command]:
    """Addresses a name leads to, put into its sets."""
    by_version: dict[int, list[str]] = {4: [], 6: []}
    for address in sorted(addresses):
        by_version[ip_address(address).version].append(address)
    return [
        nft.add("element", name=set_of(domain, v), elem=found) for v, found in by_version.items() if found
    ]


def rule_commands(
    rule: Rule, group: int, old: RuleComment | None = None, counted: tuple[int, int] = (0, 0)
) -> list[Command]:
    """A rule's own chains and counter; `old` is the comment it had, if any, and `counted` its packets and bytes."""
    id, version = id_of(rule.name), ip_address(rule.source).version
    new = RuleComment(rule.name, rule.digest, str(ip_address(rule.source)))
    if len(str(new)) > COMMENT_LENGTH or len(str(new).split(" ")) != 3:
        raise Rejected("a rule's name and digest must be one word each and fit into a comment of nftables")
    made = _shared_sets(rule, version) + [step for kind in _CHAINS for step in nft.chain(f"{kind}_{id}", {})]
    if old is not None and old != new:
        # A comment cannot be changed; what was counted goes on.
        made.append({"delete": {"counter": nft.named(f"c_{id}")}})
    made.append(nft.add("counter", name=f"c_{id}", comment=str(new), packets=counted[0], bytes=counted[1]))
    for allowed in rule.allowed_domains:
        made.append(nft.rule(f"x_{id}", _in_set(version, "daddr", allowed), {"return": None}))
        made.append(nft.rule(f"z_{id}", _in_set(version, "saddr", allowed), {"return": None}))
    log = {"log": {"prefix": log_prefix(rule), "group": group, "snaplen": SNAP_LENGTH}}
    made.append(nft.rule(f"x_{id}", {"counter": f"c_{id}"}, log, nft.goto("refuse")))
    ways = (("r", "dport", "q", "daddr", f"x_{id}"), ("y", "sport", "z", "saddr", "cut"))
    for first, port, second, side, end in ways:
        made.append(nft.rule(f"{first}_{id}", *_ports(rule, port), nft.goto(f"{second}_{id}")))
        made += [
            nft.rule(f"{second}_{id}", match, nft.goto(end)) for match in _destinations(rule, version, side)
        ]
    return made


def source_commands(source: str, ids: Sequence[str]) -> list[Command]:
    """The chains of an address, with the rules it has; without any, they go."""
    version, there, back = ip_address(source).version, source_chain(source), "b" + source_chain(source)[1:]
    made = [*nft.chain(there, {}), *nft.chain(back, {})]
    elements = [
        {**nft.named(f"{name}{version}"), "elem": [[source, {"jump": {"target": chain}}]]}
        for name, chain in (("sources", there), ("backs", back))
    ]
    # Added before they are deleted: deleting a missing element is an error.
    made += [{"add": {"element": element}} for element in elements]
    if ids:
        return [*made, *_jumps(there, back, ids)]
    made += [{"delete": {"element": element}} for element in elements]
    return [*made, *({"delete": {"chain": nft.named(chain)}} for chain in (there, back))]


def links(id: str, source: str) -> list[tuple[str, Command]]:
    """What must be in which chain, so that packets of an address come to a rule and are stopped there, but DNS."""
    there = source_chain(source)
    back = "b" + there[1:]
    return [
        (there, nft.ACCEPT),
        (back, nft.ACCEPT),
        (there, {"jump": {"target": f"r_{id}"}}),
        (f"r_{id}", nft.goto(f"q_{id}")),
        (f"q_{id}", nft.goto(f"x_{id}")),
        (f"x_{id}", nft.goto("refuse")),
        ("refuse", nft.REFUSED),
        (back, {"jump": {"target": f"y_{id}"}}),
        (f"y_{id}", nft.goto(f"z_{id}")),
        (f"z_{id}", nft.goto("cut")),
        ("cut", {"drop": None}),
    ]


def rule_removal(id: str) -> list[Command]:
    """A rule's chains and counter taken away; nothing may jump to them any more."""
    chains = [f"{kind}_{id}" for kind in _CHAINS]
    made = [command for chain in chains for command in nft.chain(chain, {})]
    made += [{"delete": {"chain": nft.named(chain)}} for chain in chains]
    return [*made, {"delete": {"counter": nft.named(f"c_{id}")}}]


def is_shared(name: str) -> bool:
    """Whether a set holds ports or ranges; anonymous sets, which have names too, do not."""
    return name.startswith(("p_", "n4_", "n6_"))


def set_removal(name: str) -> list[Command]:
    """A set taken away; the kernel refuses if a rule refers to it."""
    return [{"delete": {"set": nft.named(name)}}]


def log_prefix(rule: Rule) -> str:
    """What the log says of a packet the rule stopped: its name and its label (see nflog.py)."""
    return f"{rule.name} {rule.label[:LABEL_LENGTH]}".strip()


# --- parts of rules ---


def _ways_around(guard: DnsGuard) -> list[Command]:
    """To those whose DNS is ours to answer no other is left; DNS inside TLS or HTTPS only if that was asked for."""
    refuse, made = nft.goto("refuse"), []
    for version in (4, 6):
        # A new question never comes here (`_redirect`): this is one of before, or something that calls itself DNS.
        ways = (("saddr", "dport", refuse), ("daddr", "sport", nft.goto("cut")))
        made += [
            nft.rule("forward", guarded, nft.at_ports(_DNS, port), end)
            for side, port, end in ways
            for guarded in nft.within(version, side, guard.guarded)
        ]
    if not guard.refuses_encrypted_dns:
        return made
    for version in (4, 6):
        for guarded in nft.within(version, "saddr", guard.guarded):
            services = nft.within(version, "daddr", ENCRYPTED_DNS_ADDRESSES)
            made.append(nft.rule("forward", guarded, nft.at_ports(_TLS_DNS, "dport"), refuse))
            made += [
                nft.rule("forward", guarded, one, nft.at_ports(_HTTPS, "dport"), refuse) for one in services
            ]
    return made


def _redirect(guard: DnsGuard) -> list[Command]:
    """Redirects DNS queries to the gateway. Without guarded networks the chain is deleted, it may exist from before."""
    hook = {"type": "nat", "hook": "prerouting", "prio": -105, "policy": "accept"}
    made = nft.chain("dns", hook)
    if not guard.guarded:
        return [*made, {"delete": {"chain": nft.named("dns")}}]
    # To change a port nft wants the protocol matched on its own.
    protocols = nft.match({"meta": {"key": "l4proto"}}, {"set": ["tcp", "udp"]})
    port = nft.match({"payload": {"protocol": "th", "field": "dport"}}, 53)
    return made + [
        nft.rule("dns", guarded, protocols, port, {"redirect": {"port": 53}})
        for version in (4, 6)
        for guarded in nft.within(version, "saddr", guard.guarded)
    ]


def _shared_sets(rule: Rule, version: int) -> list[Command]:
    """The sets of a rule's ports and ranges, shared with rules that have the same."""
    made = []
    if rule.ports:
        kind = ["inet_proto", "inet_service"]
        made.append(nft.add("set", name=_ports_set(rule), type=kind, elem=nft.ports(rule.ports)))
    prefixes = nft.prefixes(version, rule.ranges)
    if prefixes:
        name = _ranges_set(rule, version)
        made.append(nft.add("set", name=name, type=nft.TYPE[version], flags=["interval"], elem=prefixes))
    return made


def _ports_set(rule: Rule) -> str:
    return "p_" + _short(" ".join(f"{port.protocol}/{port.port}" for port in rule.ports))


def _ranges_set(rule: Rule, version: int) -> str:
    return f"n{version}_" + _short(" ".join(rule.ranges))


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _destinations(rule: Rule, version: int, side: str) -> list[Command]:
    """What a rule is about, a match each; one that matches all for a rule about everything, and one that matches
    nothing where all it is about is of the other version: who looks whether a rule is whole finds no empty chain."""
    if not (rule.domains or rule.ranges):
        return [nft.ip_version(version)]
    made = [_in_set(version, side, name) for name in rule.domains]
    if nft.prefixes(version, rule.ranges):
        made.append(nft.match(nft.address(version, side), f"@{_ranges_set(rule, version)}"))
    return made or [nft.ip_version(10 - version)]


def _ports(rule: Rule, side: str) -> list[Command]:
    return [nft.match(nft.protocol_and_port(side), f"@{_ports_set(rule)}")] if rule.ports else []


def _in_set(version: int, side: str, domain: str) -> Command:
    return nft.match(nft.address(version, side), f"@{set_of(domain, version)}")


def _jumps(there: str, back: str, ids: Sequence[str]) -> list[Command]:
    """The rules of an address. DNS is never blocked: the address's own questions, and the answers to them. What it
    sends *from* that port is not an answer, or it could send everything from there."""
    made = [
        nft.rule(there, nft.at_ports(_DNS, "dport"), nft.ACCEPT),
        nft.rule(back, nft.at_ports(_DNS, "sport"), nft.ACCEPT),
    ]
    for id in ids:
        made.append(nft.rule(there, {"jump": {"target": f"r_{id}"}}))
        made.append(nft.rule(back, {"jump": {"target": f"y_{id}"}}))
    return made
