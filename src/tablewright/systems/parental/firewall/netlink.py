"""The kernel's firewall asked and heard directly, over netlink: messages, attributes, and the counters of a table.

nft reads the whole table before it tells of its counters, which takes seconds with some thousand rules; the kernel
tells of them in milliseconds. Must hold: the kernel's data is not trusted, a truncated message is not an error.
Elsewhere: packets in the log (nflog.py), everything that changes something (nft itself, nftables.py).
"""

import errno
import os
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from tablewright.systems.parental.firewall.driver import Unavailable

# linux/netlink.h, linux/netfilter/nfnetlink.h, nf_tables.h
REQUEST, ACKNOWLEDGE, DUMP, INTERRUPTED = 0x1, 0x4, 0x300, 0x10
ERROR, DONE = 2, 3
_NETFILTER = 12
_GET_OBJECTS, _NEW_OBJECT = (10 << 8) | 19, (10 << 8) | 18
_OF_TABLE, _NAME, _TYPE, _DATA, _USERDATA = 1, 2, 3, 4, 8
_COUNTER, _BYTES, _PACKETS = 1, 1, 2
_INET = 1
_HEAD = struct.Struct("=IHHII")
_BUFFER = 4 << 20
_TRIES = 20


@dataclass(frozen=True, slots=True)
class Message:
    """A message of the kernel: what kind, with which flags, and what it says after the header."""

    kind: int
    flags: int
    body: bytes


@dataclass(frozen=True, slots=True)
class Count:
    """A counter of a table."""

    name: str
    comment: str
    packets: int
    bytes: int


def open_netfilter() -> socket.socket:
    """A way to the kernel's firewall."""
    try:
        opened = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETFILTER)
    except (AttributeError, OSError) as error:
        raise Unavailable(f"this machine has no netfilter to talk to: {error}") from error
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER)
    opened.bind((0, 0))
    return opened


def request(kind: int, flags: int, family: int, number: int, attributes: bytes) -> bytes:
    """A question or an order; `number` is the group it is about, where there are groups."""
    body = struct.pack("!BBH", family, 0, number) + attributes
    return _HEAD.pack(_HEAD.size + len(body), kind, REQUEST | flags, 0, 0) + body


def attribute(kind: int, value: bytes) -> bytes:
    length = 4 + len(value)
    return struct.pack("=HH", length, kind) + value + b"\0" * (-length % 4)


def messages(said: bytes) -> Iterator[Message]:
    """The messages in what was heard at once."""
    place = 0
    while place + _HEAD.size <= len(said):
        length, kind, flags, _, _ = _HEAD.unpack_from(said, place)
        if length < _HEAD.size:
            return
        yield Message(kind, flags, said[place + _HEAD.size : place + length])
        place += (length + 3) & ~3


def attributes(body: bytes) -> dict[int, bytes]:
    """What a message says, by kind."""
    found, place = {}, 0
    while place + 4 <= len(body):
        length, kind = struct.unpack_from("=HH", body, place)
        if length < 4:
            break
        found[kind & 0x3FFF] = body[place + 4 : place + length]
        place += (length + 3) & ~3
    return found


def refusal(message: Message) -> int:
    """The error number of a message; 0 for one that is none."""
    if message.kind != ERROR or len(message.body) < 4:
        return 0
    return -int(struct.unpack_from("=i", message.body)[0])


def counters(talk: socket.socket, table: str) -> list[Count]:
    """The named counters of an `inet` table; none if there is no such table."""
    asked = attribute(_OF_TABLE, table.encode() + b"\0") + attribute(_TYPE, struct.pack("!I", _COUNTER))
    for _ in range(_TRIES):
        try:
            talk.send(request(_GET_OBJECTS, DUMP, _INET, 0, asked))
            heard = _dumped(talk)
        except OSError as error:
            raise Unavailable(f"the kernel does not return its counters: {error.strerror}") from error
        # The firewall was changed while we were reading: what was heard may be half of two states.
        if not any(message.flags & INTERRUPTED for message in heard):
            return [_count(message) for message in heard if message.kind == _NEW_OBJECT]
    raise Unavailable("the firewall is being changed faster than it can be read")


def _dumped(talk: socket.socket) -> list[Message]:
    heard: list[Message] = []
    while True:
        for message in messages(talk.recv(1 << 17)):
            code = refusal(message)
            if code == errno.ENOENT:
                return heard
            if code:
                raise Unavailable(f"the kernel does not return its counters: {os.strerror(code)}")
            heard.append(message)
            if message.kind == DONE:
                return heard


def _count(message: Message) -> Count:
    told = attributes(message.body[4:])
    data = attributes(told.get(_DATA, b""))
    return Count(
        name=_text(told.get(_NAME, b"")),
        comment=_comment(told.get(_USERDATA, b"")),
        packets=int.from_bytes(data.get(_PACKETS, b"")),
        bytes=int.from_bytes(data.get(_BYTES, b"")),
    )


def _comment(userdata: bytes) -> str:
    """nft keeps a comment as the first of its own data: kind 0, a length, the text."""
    is_comment = len(userdata) > 2 and userdata[0] == 0
    return _text(userdata[2 : 2 + userdata[1]]) if is_comment else ""


def _text(value: bytes) -> str:
    return value.rstrip(b"\0").decode("utf-8", "replace")
