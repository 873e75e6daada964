"""A little network of three namespaces, child - gateway - internet, with real packets between them.

The internet is contract.HOSTS: each host answers on TCP 80, 443, 8080, 853 and UDP 443, 9000; TCP 8443 sends for ever,
and so does UDP 9001 once it was greeted. Its DNS server knows the names. The gateway forwards, and its own DNS server
is restarted by `Network.restart_dns`. Sockets are made inside the namespaces by the test's own process.
"""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from tests.systems.parental.firewall.contract import CHILD, HOSTS, SIBLING

from tablewright.systems.parental.firewall.dns import Dnsmasq, Resolver
from tablewright.systems.parental.firewall.namespace import command, made_inside

GATEWAY, GATEWAY6 = "10.20.30.1", "fd00:20::1"
CHILD6 = "fd00:20::40"
# The same hosts in IPv6, and three that are no names of the little internet.
DNS_SERVER, DOH_SERVER, DOH_SERVER6 = "198.51.100.53", "8.8.8.8", "2001:4860:4860::8888"
HOSTS6 = {name: f"2001:db8:51::{number}" for number, name in enumerate(HOSTS, 16)}
TCP_PORTS, UDP_PORTS = (80, 443, 853, 8080), (443, 9000)
STREAM, UDP_STREAM = 8443, 9001
PATIENCE = 2.0


@cache
def why_not() -> str | None:
    """Why this machine cannot have such a network; None if it can."""
    missing = [name for name in ("ip", "nft", "dnsmasq") if shutil.which(name) is None]
    if missing:
        return f"{', '.join(missing)} not installed (apt-get install nftables iproute2 dnsmasq-base)"
    probe = f"tw{os.getpid()}probe"
    if _said(["ip", "netns", "add", probe]) is not None:
        return "this machine does not let us make network namespaces"
    try:
        refusal = _said(["ip", "netns", "exec", probe, "nft", "add", "table", "inet", "probe"])
        return None if refusal is None else f"nftables does not work in a namespace here: {refusal}"
    finally:
        run("ip", "netns", "del", probe)


def _said(words: Sequence[str]) -> str | None:
    """What a command complained of; None if it did not."""
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else done.stderr.strip() or "failed"


def run(*words: str, text: str | None = None) -> str:
    """A command that must work."""
    done = subprocess.run(words, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(words)}: {done.stderr}"
    return done.stdout


@dataclass
class Network:
    """The three namespaces, by name, and what runs in them."""

    home: Path
    child: str
    gateway: str
    internet: str
    dns: subprocess.Popen[bytes] | None = None
    dns_starts: int = 0
    streams_cut: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))

    # --- the gateway ---

    def nft(self, *words: str, text: str | None = None) -> str:
        return run(*command(self.gateway, ["nft", *words]), text=text)

    def names(self) -> Dnsmasq:
        """The gateway's DNS server, as the driver is given it."""
        resolver = Resolver("127.0.0.1", namespace=self.gateway)
        return Dnsmasq(self.home / "names.conf", self.restart_dns, resolver)

    def restart_dns(self) -> None:
        self.stop_dns()
        (self.home / "names.conf").touch()
        words = ["--conf-file=" + str(self.home / "names.conf"), f"--server={DNS_SERVER}", "--bind-dynamic"]
        self.dns = _dnsmasq(self.gateway, words)
        self.dns_starts += 1

    def stop_dns(self) -> None:
        if self.dns is not None:
            _stop(self.dns)
            self.dns = None

    # --- what a child does ---

    def look_up(self, name: str, server: str = GATEWAY) -> frozenset[str]:
        """What a child hears when it asks a server for a name."""
        return Resolver(server, namespace=self.child).ask([name]).get(name, frozenset())

    def connects(self, host: str, port: int = 443, source: str = CHILD) -> bool:
        """Whether a child can talk to a host over TCP."""
        try:
            with self.connection(host, port, source) as talk:
                talk.sendall(b"hello")
                return talk.recv(16) == b"hello"
        except OSError:
            return False

    def connection(self, host: str, port: int, source: str = CHILD, source_port: int = 0) -> socket.socket:
        """A child's TCP connection; OSError if it is refused or nobody answers."""
        talk = self._socket(socket.SOCK_STREAM, source, source_port)
        try:
            talk.connect((host, port))
        except OSError:
            talk.close()
            raise
        return talk

    def datagrams(self, host: str, port: int, source: str = CHILD, source_port: int = 0) -> socket.socket:
        """A child's UDP socket towards a host."""
        talk = self._socket(socket.SOCK_DGRAM, source, source_port)
        talk.connect((host, port))
        return talk

    def echoes(self, host: str, port: int = 443, source: str = CHILD) -> bool:
        """Whether a host answers a child over UDP."""
        with self.datagrams(host, port, source) as talk:
            try:
                talk.send(b"hello")
                return talk.recv(16) == b"hello"
            except OSError:
                return False

    def _socket(self, kind: int, source: str, source_port: int) -> socket.socket:
        talk = made_inside(self.child, lambda: socket.socket(_family(source), kind))
        talk.settimeout(PATIENCE)
        talk.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        talk.bind((source, source_port))
        return talk


@contextmanager
def open_network(home: Path) -> Iterator[Network]:
    """The network, and nothing left of it afterwards."""
    names = child, gateway, internet = tuple(f"tw{os.getpid()}{part}" for part in ("child", "gw", "net"))
    network = Network(home, child, gateway, internet)
    with ExitStack() as stack:
        for name in names:
            run("ip", "netns", "add", name)
            stack.callback(run, "ip", "netns", "del", name)
        _wire(network)
        known = [f"--host-record={name},{HOSTS[name]},{HOSTS6[name]}" for name in HOSTS]
        upstream = [*known, f"--listen-address={DNS_SERVER}", "--bind-interfaces"]
        stack.callback(_stop, _dnsmasq(network.internet, upstream))
        stack.enter_context(_internet(network))
        stack.callback(network.stop_dns)
        network.restart_dns()
        _await_names(network)
        yield network


def _await_names(network: Network) -> None:
    """Both servers of names have started, and a name goes all the way."""
    end = time.monotonic() + 30
    while not network.look_up("other.example"):
        assert time.monotonic() < end, "the network's DNS servers do not answer"
        time.sleep(0.02)


def _wire(network: Network) -> None:
    """Cables and addresses. The internet has one cable and many addresses on it."""
    child, gateway, internet = network.child, network.gateway, network.internet
    run("ip", "link", "add", "up0", "netns", child, "type", "veth", "peer", "name", "lan", "netns", gateway)
    run(
        "ip", "link", "add", "up0", "netns", internet, "type", "veth", "peer", "name", "wan", "netns", gateway
    )
    hosts = [*HOSTS.values(), *HOSTS6.values(), DNS_SERVER]
    addresses = [
        *((child, "up0", one, "24") for one in (CHILD, SIBLING)),
        (child, "up0", CHILD6, "64"),
        (gateway, "lan", GATEWAY, "24"),
        (gateway, "lan", GATEWAY6, "64"),
        (gateway, "wan", "198.51.100.1", "24"),
        (gateway, "wan", "2001:db8:51::1", "64"),
        *((internet, "up0", one, "64" if ":" in one else "24") for one in hosts),
        (internet, "lo", DOH_SERVER, "32"),
        (internet, "lo", DOH_SERVER6, "128"),
    ]
    for name in (child, gateway, internet):
        lines = [
            f"address add {one}/{bits} dev {link}" for where, link, one, bits in addresses if where == name
        ]
        lines = [f"{line} nodad" if ":" in line else line for line in lines]
        links = ("lan", "wan") if name == gateway else ("up0",)
        # Link-local addresses too: IPv6 does not go anywhere in the second it takes to find out that nobody has them.
        run(
            *command(name, ["sysctl", "-qw", *(f"net.ipv6.conf.{on}.accept_dad=0" for on in ("all", *links))])
        )
        lines += [f"link set {link} up" for link in ("lo", *links)]
        run("ip", "-n", name, "-batch", "-", text="\n".join(lines) + "\n")
    run("ip", "-n", child, "route", "add", "default", "via", GATEWAY)
    run("ip", "-n", child, "-6", "route", "add", "default", "via", GATEWAY6)
    run("ip", "-n", internet, "route", "add", "default", "via", "198.51.100.1")
    run("ip", "-n", internet, "-6", "route", "add", "default", "via", "2001:db8:51::1")
    run("ip", "-n", gateway, "route", "add", DOH_SERVER, "via", HOSTS["other.example"])
    run("ip", "-n", gateway, "-6", "route", "add", DOH_SERVER6, "via", HOSTS6["other.example"])
    forward = ["sysctl", "-qw", "net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1"]
    run(*command(gateway, forward))


def _dnsmasq(namespace: str, words: Sequence[str]) -> subprocess.Popen[bytes]:
    always = ["dnsmasq", "--keep-in-foreground", "--no-resolv", "--no-hosts", "--user=root", "--pid-file="]
    given = (
        words if any(word.startswith("--conf-file") for word in words) else ["--conf-file=/dev/null", *words]
    )
    return subprocess.Popen(
        command(namespace, [*always, *given]), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    process.wait(timeout=10)


# --- the internet ---


@contextmanager
def _internet(network: Network) -> Iterator[None]:
    """Every host's servers, a thread each."""
    with ExitStack() as stack:
        over = threading.Event()
        threads = []
        for port in (*TCP_PORTS, STREAM):
            listener = stack.enter_context(_listening(network.internet, port))
            threads.append(threading.Thread(target=_accept, args=(listener, port, over, network.streams_cut)))
        for port in UDP_PORTS:
            # One for each address: an answer must come from the address that was asked.
            for host in (*HOSTS.values(), *HOSTS6.values()):
                bound = stack.enter_context(_bound(network.internet, host, port))
                threads.append(threading.Thread(target=_echo, args=(bound, over)))
        for host in (HOSTS["video.example"], HOSTS["other.example"]):
            bound = stack.enter_context(_bound(network.internet, host, UDP_STREAM))
            threads.append(threading.Thread(target=_pour, args=(bound, over)))
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            over.set()
            for thread in threads:
                thread.join()


def _listening(namespace: str, port: int) -> socket.socket:
    listener = made_inside(namespace, lambda: socket.create_server(("::", port), family=socket.AF_INET6,
                                                                   dualstack_ipv6=True))  # fmt: skip
    listener.settimeout(0.1)
    return listener


def _bound(namespace: str, host: str, port: int) -> socket.socket:
    bound = made_inside(namespace, lambda: socket.socket(_family(host), socket.SOCK_DGRAM))
    bound.bind((host, port))
    bound.settimeout(0.1)
    return bound


def _accept(
    listener: socket.socket, port: int, over: threading.Event, streams_cut: threading.Semaphore
) -> None:
    """One connection after the other; a stream says at its end that it was cut."""
    while not over.is_set():
        with contextlib.suppress(TimeoutError):
            talk, _ = listener.accept()
            with talk:
                talk.settimeout(PATIENCE)
                if port == STREAM:
                    _stream(talk, over)
                    streams_cut.release()
                else:
                    with contextlib.suppress(OSError):
                        talk.sendall(talk.recv(16))


def _stream(talk: socket.socket, over: threading.Event) -> None:
    with contextlib.suppress(OSError):
        while not over.wait(0.01):
            talk.sendall(b"film")


def _echo(bound: socket.socket, over: threading.Event) -> None:
    while not over.is_set():
        with contextlib.suppress(OSError):
            said, who = bound.recvfrom(2048)
            bound.sendto(said, who)


def _pour(bound: socket.socket, over: threading.Event) -> None:
    """To whom it was greeted by last, for ever, whatever they say."""
    listener: Any = None
    bound.settimeout(0.01)
    while not over.is_set():
        with contextlib.suppress(OSError):
            listener = bound.recvfrom(16)[1]
        if listener is not None:
            with contextlib.suppress(OSError):
                bound.sendto(b"call", listener)


def _family(address: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ip_address(address).version == 6 else socket.AF_INET
