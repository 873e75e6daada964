"""The words of nftables in JSON: commands, and the parts rules are made of. Which rules: nft_script.py. Pure."""

from collections.abc import Iterable, Sequence
from ipaddress import IPv4Network, IPv6Network, collapse_addresses, ip_network
from typing import Any

from tablewright.systems.parental.firewall.driver import PortOf
from tablewright.systems.parental.firewall.nft import Command

FAMILY, TABLE = "inet", "tablewright_parental"
TYPE = {4: "ipv4_addr", 6: "ipv6_addr"}
_IP = {4: "ip", 6: "ip6"}
_NETWORK: dict[int, type[Any]] = {4: IPv4Network, 6: IPv6Network}

RESET: Command = {"reject": {"type": "tcp reset"}}
REFUSED: Command = {"reject": {"type": "icmpx", "expr": "admin-prohibited"}}
ACCEPT: Command = {"accept": None}


def ports(wanted: Sequence[PortOf]) -> list[Command]:
    """Elements of a set of ports."""
    return [{"concat": [port.protocol.lower(), port.port]} for port in wanted]


def at_ports(wanted: Sequence[PortOf], side: str) -> Command:
    return match(protocol_and_port(side), {"set": ports(wanted)})


def protocol_and_port(side: str) -> Command:
    return {"concat": [{"meta": {"key": "l4proto"}}, {"payload": {"protocol": "th", "field": side}}]}


def within(version: int, side: str, ranges: Iterable[str]) -> list[Command]:
    """A match of addresses in ranges of this version; none if there are no such ranges."""
    found = prefixes(version, ranges)
    return [match(address(version, side), {"set": found})] if found else []


def prefixes(version: int, ranges: Iterable[str]) -> list[Command]:
    """Elements of a set of ranges, which may not overlap."""
    apart = collapse_addresses(_NETWORK[version](one) for one in ranges if ip_network(one).version == version)
    return [{"prefix": {"addr": str(one.network_address), "len": one.prefixlen}} for one in apart]


def by_map(version: int, side: str, name: str) -> Command:
    return {"vmap": {"key": address(version, side), "data": f"@{name}{version}"}}


def address(version: int, side: str) -> Command:
    return {"payload": {"protocol": _IP[version], "field": side}}


def ip_version(version: int) -> Command:
    return match({"meta": {"key": "nfproto"}}, f"ipv{version}")


def is_tcp() -> Command:
    return match({"meta": {"key": "l4proto"}}, "tcp")


def is_goodbye() -> Command:
    """A reset: it carries nothing, and tells the other end."""
    return match({"payload": {"protocol": "tcp", "field": "flags"}}, "rst", "in")


def match(left: Command, right: Any, how: str = "==") -> Command:
    return {"match": {"op": how, "left": left, "right": right}}


def goto(chain: str) -> Command:
    return {"goto": {"target": chain}}


def chain(name: str, hook: Command) -> list[Command]:
    """A chain, there and empty."""
    return [add("chain", name=name, **hook), {"flush": {"chain": named(name)}}]


def rule(chain: str, *expressions: Command) -> Command:
    return {"add": {"rule": {"family": FAMILY, "table": TABLE, "chain": chain, "expr": [*expressions]}}}


def add(kind: str, **fields: Any) -> Command:
    place = {} if kind == "table" else {"family": FAMILY, "table": TABLE}
    return {"add": {kind: {**place, **fields}}}


def named(name: str) -> Command:
    return {"family": FAMILY, "table": TABLE, "name": name}
