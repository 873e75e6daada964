"""What nftables stopped, read from the kernel: NFLOG over netlink, in plain Python.

Rules log under "name label" (nft_script.log_prefix). A program that is refused tries again and again, and what it sends
is repeated below it too: told is each connection once, by its addresses and ports, until it was silent for a while.
Must hold: a packet that is not ours is skipped, never an error. What the kernel could not keep is counted in
`lost`, for its buffer is finite. Elsewhere: what is made of the events (blocked/ingest.py).
"""

import errno
import os
import select
import socket
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import ip_address

from tablewright.systems.parental.firewall.driver import PREFIX, BlockedFlow, Unavailable
from tablewright.systems.parental.firewall.namespace import made_inside
from tablewright.systems.parental.firewall.netlink import (
    ACKNOWLEDGE,
    attribute,
    attributes,
    messages,
    open_netfilter,
    refusal,
    request,
)
from tablewright.systems.parental.firewall.nftables import LOG_GROUP
from tablewright.world import World

# linux/netfilter/nfnetlink_log.h
_PACKET, _CONFIGURE = (4 << 8) | 0, (4 << 8) | 1
_COMMAND, _MODE, _TIMEOUT, _BATCH = 1, 2, 4, 5
_BIND, _COPY_PACKET = 1, 2
_PAYLOAD, _PREFIX_OF = 9, 10
_PROTOCOLS = {6: "TCP", 17: "UDP", 1: "ICMP", 58: "ICMP"}
_EXTENSIONS = frozenset((0, 43, 44, 60))
SILENCE = timedelta(minutes=1)
# The kernel tells of packets when there are so many, or after so many hundredths of a second.
FLUSHED_AT, FLUSHED_AFTER = 32, 10


@dataclass(frozen=True, slots=True)
class Packet:
    """Where a packet came from and was going to. Ports are 0 where there are none."""

    source: str
    source_port: int
    destination: str
    port: int
    protocol: str


@dataclass(frozen=True, slots=True)
class Logged:
    """A packet in the log, with what the rule that stopped it says of itself."""

    prefix: str
    packet: Packet


class Distinct:
    """Tells the first packet of a connection from those after it."""

    def __init__(self, silence: timedelta = SILENCE) -> None:
        self._silence = silence
        self._seen: dict[tuple[str, Packet], datetime] = {}

    def flows(self, logged: Iterable[Logged], now: datetime) -> list[BlockedFlow]:
        """The connections among packets that were not told yet."""
        self._seen = {key: at for key, at in self._seen.items() if at > now - self._silence}
        found = []
        for one in logged:
            name, _, label = one.prefix.partition(" ")
            if not name.startswith(PREFIX):
                continue
            key = (name, one.packet)
            if key not in self._seen:
                to = one.packet
                found.append(BlockedFlow(now, name, label, to.source, to.destination, to.protocol, to.port))
            self._seen[key] = now
        return found


class NflogReader:
    """An open ear at the kernel's log. One reader for each group and namespace; it needs CAP_NET_ADMIN."""

    def __init__(self, world: World, group: int = LOG_GROUP, namespace: str | None = None) -> None:
        self.lost = 0
        self._world = world
        self._distinct = Distinct()
        self._socket = made_inside(namespace, open_netfilter)
        try:
            self._configure(group)
        except OSError as error:
            self._socket.close()
            raise Unavailable(f"NFLOG group {group} cannot be read: {error.strerror}") from error

    def read(self, seconds: float = 1.0) -> list[BlockedFlow]:
        """What was blocked since the last call; waits so long for something to happen."""
        waited, logged = seconds, list[Logged]()
        while select.select([self._socket], [], [], waited)[0]:
            try:
                logged += packets(self._socket.recv(1 << 17))
            except OSError as error:
                if error.errno != errno.ENOBUFS:
                    raise Unavailable(f"NFLOG cannot be read any more: {error.strerror}") from error
                self.lost += 1
            waited = 0.0
        return self._distinct.flows(logged, self._world.now())

    def close(self) -> None:
        self._socket.close()

    def __enter__(self) -> "NflogReader":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _configure(self, group: int) -> None:
        # In one message: packets may come as soon as it is bound.
        settings = (
            attribute(_COMMAND, bytes([_BIND]))
            + attribute(_MODE, struct.pack("!IBx", 0xFFFF, _COPY_PACKET))
            + attribute(_TIMEOUT, struct.pack("!I", FLUSHED_AFTER))
            + attribute(_BATCH, struct.pack("!I", FLUSHED_AT))
        )
        self._socket.send(request(_CONFIGURE, ACKNOWLEDGE, socket.AF_UNSPEC, group, settings))
        for message in messages(self._socket.recv(1 << 16)):
            if code := refusal(message):
                raise OSError(code, os.strerror(code))


# --- the kernel's words, read without trust ---


def packets(said: bytes) -> list[Logged]:
    """The packets a message of the kernel tells of."""
    found = []
    for message in messages(said):
        if message.kind != _PACKET:
            continue
        told = attributes(message.body[4:])
        packet = packet_in(told.get(_PAYLOAD, b""))
        if packet is not None:
            prefix = told.get(_PREFIX_OF, b"").rstrip(b"\0").decode("utf-8", "replace")
            found.append(Logged(prefix, packet))
    return found


def packet_in(payload: bytes) -> Packet | None:
    """The addresses and ports of an IP packet; None if it is none, or too short to tell."""
    try:
        match payload[0] >> 4:
            case 4:
                protocol, place = payload[9], (payload[0] & 15) * 4
                source, destination = payload[12:16], payload[16:20]
                is_first = struct.unpack_from("!H", payload, 6)[0] & 0x1FFF == 0
            case 6:
                protocol, place, is_first = _after_extensions(payload)
                source, destination = payload[8:24], payload[24:40]
            case _:
                return None
        has_ports = protocol in (6, 17) and is_first
        from_port, to_port = struct.unpack_from("!2H", payload, place) if has_ports else (0, 0)
        name = _PROTOCOLS.get(protocol, str(protocol))
        return Packet(str(ip_address(source)), from_port, str(ip_address(destination)), to_port, name)
    except (IndexError, ValueError, struct.error):
        return None


def _after_extensions(payload: bytes) -> tuple[int, int, bool]:
    """The protocol of an IPv6 packet, where it begins, and whether it is the first fragment."""
    protocol, place, is_first = payload[6], 40, True
    while protocol in _EXTENSIONS:
        if protocol == 44:
            is_first, length = struct.unpack_from("!H", payload, place + 2)[0] >> 3 == 0, 8
        else:
            length = (payload[place + 1] + 1) * 8
        protocol, place = payload[place], place + length
    return protocol, place, is_first
