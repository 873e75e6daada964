"""A request with slots for digits: the form in which a workload is handed to the load generator.

A template is built once; before each send the generator writes fresh digits into its slots, so nothing is
parsed or printed under load. Must hold: `filled` here and `fill` in load.c agree on every serial.
Elsewhere: what the requests say (workloads.py).
"""

import json
import struct
from dataclasses import dataclass

from benchmarks.signing import BLANK, HOST, Keys, signing

Json = dict[str, object]


@dataclass(frozen=True, slots=True)
class Slot:
    """Digits inside a text: ((serial + delta) // divide * multiply) % modulo, zero-padded to `width`."""

    offset: int
    width: int
    modulo: int
    delta: int = 0
    divide: int = 1
    multiply: int = 1

    def digits(self, serial: int) -> bytes:
        value = (serial + self.delta) // self.divide * self.multiply % self.modulo
        return b"%0*d" % (self.width, value)


@dataclass(frozen=True, slots=True)
class Template:
    """A request with slots; request n has the serial first + n * stride."""

    verb: str
    body: bytes
    slots: tuple[Slot, ...]
    stride: int


class Draft:
    """Text being written: `digits` reserves a slot and gives the placeholder to put into a string."""

    def __init__(self) -> None:
        self._wanted: dict[str, Slot] = {}

    def digits(
        self, width: int, *, modulo: int = 10**12, delta: int = 0, divide: int = 1, multiply: int = 1
    ) -> str:
        name = f"~{len(self._wanted):0{width - 2}d}~"
        assert len(name) == width, "a slot is too narrow for its number"
        self._wanted[name] = Slot(-1, width, modulo, delta, divide, multiply)
        return name

    def template(self, verb: str, request: Json, stride: int = 1) -> Template:
        body = json.dumps(request, separators=(",", ":")).encode()
        slots = [
            Slot(body.index(name.encode()), slot.width, slot.modulo, slot.delta, slot.divide, slot.multiply)
            for name, slot in self._wanted.items()
        ]
        return Template(verb, body, tuple(slots), stride)


def filled(template: Template, serial: int) -> bytes:
    body = bytearray(template.body)
    for slot in template.slots:
        body[slot.offset : slot.offset + slot.width] = slot.digits(serial)
    return bytes(body)


def packed(template: Template, keys: Keys | None) -> bytes:
    """The file that load.c reads; with `keys` every request is signed."""
    sign = signing(keys, template.verb)
    head = (
        f"POST / HTTP/1.1\r\nHost: {HOST}\r\nContent-Type: application/x-amz-json-1.0\r\n"
        f"X-Amz-Target: {sign.target}\r\nX-Amz-Date: {sign.stamp}\r\n"
        f"Authorization: {sign.authorization()}\r\nContent-Length: {len(template.body)}\r\n\r\n"
    ).encode()
    slots = b"".join(
        struct.pack("<QQQQII", s.delta, s.divide, s.multiply, s.modulo, s.offset + len(head), s.width)
        for s in template.slots
    )
    request = head + template.body
    file = struct.pack("<III", len(template.slots), template.stride, len(request)) + slots + request
    return file if keys is None else file + sign.packed(head.index(BLANK.encode()), len(head))
