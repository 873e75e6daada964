"""The program `nft`: scripts it runs, answers it gives, what its errors mean, and its JSON: commands and their parts.

Must hold: a script is one transaction; what goes wrong is a FirewallMistake. Elsewhere: the scripts (nft_script.py).
"""

import json
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, collapse_addresses, ip_network
from typing import Any

from tablewright.systems.parental.firewall.driver import (
    Conflict,
    FirewallMistake,
    PortOf,
    Rejected,
    Unavailable,
)
from tablewright.systems.parental.firewall.namespace import command

Command = dict[str, Any]
FAMILY, TABLE = "inet", "tablewright_parental"
TYPE = {4: "ipv4_addr", 6: "ipv6_addr"}
_IP = {4: "ip", 6: "ip6"}
_NETWORK: dict[int, type[Any]] = {4: IPv4Network, 6: IPv6Network}

RESET: Command = {"reject": {"type": "tcp reset"}}
REFUSED: Command = {"reject": {"type": "icmpx", "expr": "admin-prohibited"}}
ACCEPT: Command = {"accept": None}


class Absent(FirewallMistake):
    """nft says that there is no such table, chain or set."""


@dataclass(frozen=True, slots=True)
class Nft:
    """nft in a network namespace; None is where we are."""

    namespace: str | None
    seconds: float

    def run(self, script: Sequence[Command]) -> None:
        """All of it or nothing."""
        if script:
            self._said("-j", "-f", "-", text=json.dumps({"nftables": script}))

    def ask(self, *words: str) -> dict[str, Any] | None:
        """What nft answers; None if there is no such thing."""
        try:
            return dict(json.loads(self._said("-j", *words)))
        except Absent:
            return None

    def version(self) -> str:
        return self._said("--version").strip()

    def _said(self, *words: str, text: str = "") -> str:
        asked = command(self.namespace, ["nft", *words])
        try:
            done = subprocess.run(
                asked, input=text, capture_output=True, text=True, timeout=self.seconds, check=False
            )
        except FileNotFoundError as error:
            raise Unavailable(f"{error.filename} is not installed on the gateway") from error
        except subprocess.TimeoutExpired as error:
            raise Unavailable(f"nft gave no answer in {self.seconds:g} s") from error
        if done.returncode != 0:
            raise mistake(done.stderr)
        return done.stdout


def parts(answer: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    """What an answer tells of one kind: its rules, its sets."""
    return [part[kind] for part in answer.get("nftables", ()) if kind in part]


def mistake(said: str) -> FirewallMistake:
    """What nft complained of, as the contract names it."""
    words = " ".join(said.split()) or "nft failed without a message"
    if "Cannot open network namespace" in words:
        return Unavailable(f"the gateway's network is not there: {words}")
    if "Operation not permitted" in words:
        return Unavailable(f"this process may not change the gateway's network: {words}")
    if "No such file or directory" in words:
        return Absent(words)
    if "resource busy" in words.lower():
        return Conflict(words)
    if "Invalid argument" in words or "syntax error" in words or "Could not parse" in words:
        return Rejected(words)
    return Unavailable(words)


# --- commands and their parts, in JSON ---


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
