"""Where names lead: how a firewall that knows addresses learns those of the names it blocks.

dnsmasq, as the gateway's DNS server, puts the addresses it answers with into sets of the firewall before the child has
the answer (`Dnsmasq`). Where there is none, names are looked up now and then (`Resolver`), which finds less: subdomains
that no rule names are not found. Must hold: a name is learned by its own set and by those of all names above it, for
dnsmasq takes the longest name that fits and no other. Elsewhere: the sets (nft_script.py), closing the ways around
(nftables).

What is known of dnsmasq 2.90: only forwarded answers fill sets, cached ones and its own host records do not; it reads
`nftset` at its start only, and it forgets its cache then, which is what we want; lines end at 1024 characters.
"""

import os
import socket
import struct
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Protocol

from tablewright.systems.parental.firewall.driver import Unavailable
from tablewright.systems.parental.firewall.namespace import made_inside
from tablewright.systems.parental.policy.destinations import is_under

# What dnsmasq is told about a name: the sets its addresses go into, as `4#inet#table#set`.
SetsOf = Callable[[str], Sequence[str]]
A, AAAA = 1, 28
_AT_ONCE = 40  # dnsmasq forwards 150 questions at a time

# Services that answer DNS inside HTTPS or TLS, so that the network does not see the names; and the names by which
# browsers and phones ask whether they may use them: "no such name" means no. Our own list, of what the services say.
ENCRYPTED_DNS_NAMES = (
    "adguard-dns.com", "cloudflare-dns.com", "dns.adguard.com", "dns.google", "dns.nextdns.io", "dns.quad9.net",
    "dns0.eu", "doh.cleanbrowsing.org", "doh.opendns.com", "mask-h2.icloud.com", "mask.icloud.com", "one.one.one.one",
    "use-application-dns.net",
)  # fmt: skip
ENCRYPTED_DNS_ADDRESSES = (
    "1.0.0.0/30", "1.1.1.0/29", "8.8.4.4/32", "8.8.8.8/32", "9.9.9.9/32", "9.9.9.10/31", "45.90.28.0/24",
    "45.90.30.0/24", "94.140.14.14/31", "94.140.15.15/32", "149.112.112.112/32", "185.228.168.0/24",
    "185.228.169.0/24", "193.110.81.0/32", "208.67.220.220/32", "208.67.222.222/32", "2001:4860:4860::8844/128",
    "2001:4860:4860::8888/128", "2606:4700:4700::1001/128", "2606:4700:4700::1111/128", "2620:119:35::35/128",
    "2620:119:53::53/128", "2620:fe::9/128", "2620:fe::fe/128", "2a07:a8c0::/32", "2a10:50c0::ad1:ff/128",
)  # fmt: skip


class Names(Protocol):
    """Who finds out where names lead."""

    def follow(self, domains: Iterable[str], sets_of: SetsOf, refused: Sequence[str]) -> None:
        """From now on put what these names (and all under them) lead to into their sets; answer `refused` with no."""

    def look_up(self, domains: Iterable[str]) -> Mapping[str, frozenset[str]]:
        """The addresses each of these names has now, as far as they were told in time."""


@dataclass(frozen=True, slots=True)
class Resolver:
    """Names by asking a server for them; without one it is the machine's own."""

    server: str = ""
    port: int = 53
    namespace: str | None = None
    seconds: float = 1.0
    tries: int = 2

    def follow(self, domains: Iterable[str], sets_of: SetsOf, refused: Sequence[str]) -> None:
        """Nothing to prepare: what `look_up` found is all there is."""

    def look_up(self, domains: Iterable[str]) -> Mapping[str, frozenset[str]]:
        """What each name and its `www.` lead to; Unavailable if the server does not say anything at all."""
        wanted = list(domains)
        found = self.heard(wanted)
        if wanted and not found:
            # To go on would be to say that names are blocked of which not one address is known.
            raise Unavailable("no DNS server answers, so names cannot be blocked")
        return found

    def heard(self, domains: Iterable[str]) -> Mapping[str, frozenset[str]]:
        """The same, of those names about which the server said something in time."""
        asked = [(name, host) for name in domains for host in (name, f"www.{name}")]
        found: dict[str, frozenset[str]] = {}
        for start in range(0, len(asked), _AT_ONCE):
            some = asked[start : start + _AT_ONCE]
            answers = self.ask([host for _, host in some])
            for name, host in some:
                if host in answers:
                    found[name] = found.get(name, frozenset()) | answers[host]
        return found

    def ask(self, hosts: Sequence[str]) -> Mapping[str, frozenset[str]]:
        """The addresses of hosts; those the server said nothing about in time are left out."""
        questions = [(host, kind) for host in hosts for kind in (A, AAAA)]
        heard: dict[str, frozenset[str]] = {}
        with made_inside(self.namespace, self._socket) as talk:
            talk.settimeout(self.seconds)
            waiting = set(range(len(questions)))
            for _ in range(self.tries):  # a datagram may be lost
                try:
                    for number in sorted(waiting):
                        talk.send(question(number, *questions[number]))
                    while waiting:
                        number, addresses = answer(talk.recv(4096))
                        if number in waiting:
                            waiting.remove(number)
                            host = questions[number][0]
                            heard[host] = heard.get(host, frozenset()) | addresses
                except TimeoutError:
                    continue
                except OSError:
                    break  # no more answers
        return heard

    def _socket(self) -> socket.socket:
        server = self.server or machines_server(self.namespace)
        family = socket.AF_INET6 if ip_address(server).version == 6 else socket.AF_INET
        talk = socket.socket(family, socket.SOCK_DGRAM)
        try:
            talk.connect((server, self.port))
        except OSError as error:
            talk.close()
            raise Unavailable(f"the DNS server cannot be reached: {error.strerror}") from error
        return talk


@dataclass(frozen=True, slots=True)
class Dnsmasq:
    """Names by a dnsmasq which reads `config` (conf-file or conf-dir in its own) and is restarted by `restart`."""

    config: Path
    restart: Callable[[], None]
    resolver: Resolver = Resolver("127.0.0.1")
    seconds_to_start: float = 10.0

    def follow(self, domains: Iterable[str], sets_of: SetsOf, refused: Sequence[str]) -> None:
        """Written whole or not at all; when this returns, the server answers by the new file."""
        fresh = self.config.with_name(f".{self.config.name}.new")
        fresh.write_text(dnsmasq_config(domains, sets_of, refused))
        os.replace(fresh, self.config)
        self.restart()
        self._await()

    def look_up(self, domains: Iterable[str]) -> Mapping[str, frozenset[str]]:
        """What the names lead to, asked of dnsmasq itself. If it does not know, it fills the sets when it does."""
        return self.resolver.heard(domains)

    def _await(self) -> None:
        end = time.monotonic() + self.seconds_to_start
        while time.monotonic() < end:
            # An answer of any kind will do; a server that is not there refuses at once, so this does not spin.
            if self.resolver.ask(["localhost"]):
                return
            time.sleep(0.02)
        raise Unavailable("dnsmasq did not answer after its restart")


def machines_server(namespace: str | None = None, etc: Path = Path("/etc")) -> str:
    """The DNS server that the machine, or a network namespace of it, is told to ask."""
    files = [etc / "netns" / namespace / "resolv.conf"] if namespace is not None else []
    for file in (*files, etc / "resolv.conf"):
        lines = file.read_text().splitlines() if file.exists() else []
        words = (line.split() for line in lines if line.startswith("nameserver "))
        for _, server, *_ in words:
            return server.partition("%")[0]
    raise Unavailable("this machine has no DNS server to ask (resolv.conf names none)")


def restart_by(words: Sequence[str], seconds: float = 30.0) -> Callable[[], None]:
    """A restart by a command, such as ("systemctl", "restart", "dnsmasq")."""

    def restart() -> None:
        try:
            subprocess.run(words, check=True, capture_output=True, timeout=seconds)
        except (OSError, subprocess.SubprocessError) as error:
            raise Unavailable(f"dnsmasq could not be restarted by '{' '.join(words)}': {error}") from error

    return restart


def dnsmasq_config(domains: Iterable[str], sets_of: SetsOf, refused: Sequence[str] = ()) -> str:
    """What dnsmasq reads. A name fills its own set and those of the names above it; those refused do not exist."""
    known = sorted(set(domains))
    lines = ["# Written by tablewright; changes are overwritten."]
    for name in known:
        above = [other for other in known if is_under(name, other)]
        sets = ",".join(one for other in above for one in sets_of(other))
        lines.append(f"nftset=/{name}/{sets}")
    lines += [f"address=/{name}/" for name in refused]
    return "\n".join(lines) + "\n"


# --- the protocol, as far as it is needed ---


def question(number: int, host: str, kind: int) -> bytes:
    """A question for the addresses of a host."""
    labels = b"".join(bytes([len(label)]) + label.encode() for label in host.split("."))
    return struct.pack("!6H", number, 0x0100, 1, 0, 0, 0) + labels + b"\0" + struct.pack("!2H", kind, 1)


def answer(packet: bytes) -> tuple[int, frozenset[str]]:
    """The number of the question, and every address told, under whatever alias; -1 for what is not an answer."""
    try:
        number, flags, questions, records, _, _ = struct.unpack_from("!6H", packet)
        if not flags & 0x8000:
            return -1, frozenset()
        place = 12
        for _ in range(questions):
            place = _after_name(packet, place) + 4
        found = set()
        for _ in range(records):
            place = _after_name(packet, place)
            kind, _, _, length = struct.unpack_from("!2HIH", packet, place)
            place += 10
            if kind in (A, AAAA):
                found.add(str(ip_address(packet[place : place + length])))
            place += length
        return number, frozenset(found)
    except (struct.error, IndexError, ValueError):
        return -1, frozenset()


def _after_name(packet: bytes, place: int) -> int:
    while (length := packet[place]) != 0:
        if length >= 0xC0:
            return place + 2
        place += 1 + length
    return place + 1
