"""What the kernel logs, read: packets of all shapes, and connections told once. The kernel itself: test_nftables.py."""

import struct
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablewright.systems.parental.firewall.driver import PREFIX
from tablewright.systems.parental.firewall.nflog import Distinct, Logged, Packet, packet_in, packets

NOW = datetime(2026, 3, 1, 20, tzinfo=UTC)
NAME = f"{PREFIX}0123456789ab_Video"
TCP = Packet("10.20.30.40", 40000, "198.51.100.10", 443, "TCP")


def ipv4(protocol: int, rest: bytes, options: bytes = b"", fragment: int = 0) -> bytes:
    length = 5 + len(options) // 4
    head = struct.pack("!BBHHHBBH", 0x40 | length, 0, 0, 0, fragment, 64, protocol, 0)
    return head + bytes([10, 20, 30, 40, 198, 51, 100, 10]) + options + rest


def ipv6(protocol: int, rest: bytes) -> bytes:
    source, destination = (
        bytes.fromhex("fd000020" + "0" * 22 + "40"),
        bytes.fromhex("20010db8" + "0" * 22 + "10"),
    )
    return struct.pack("!IHBB", 6 << 28, len(rest), protocol, 64) + source + destination + rest


PORTS = struct.pack("!HH", 40000, 443) + b"\0" * 16


def message(kind: int, *attributes: tuple[int, bytes]) -> bytes:
    """A netlink message as the kernel writes it."""
    body = b"\0" * 4
    for number, value in attributes:
        length = 4 + len(value)
        body += struct.pack("=HH", length, number) + value + b"\0" * (-length % 4)
    return struct.pack("=IHHII", 16 + len(body), kind, 0, 0, 0) + body


@pytest.mark.parametrize(
    ("payload", "packet"),
    [
        (ipv4(6, PORTS), TCP),
        (ipv4(17, PORTS), Packet("10.20.30.40", 40000, "198.51.100.10", 443, "UDP")),
        (ipv4(6, PORTS, options=b"\1" * 8), TCP),
        (ipv4(1, PORTS), Packet("10.20.30.40", 0, "198.51.100.10", 0, "ICMP")),
        (ipv4(17, PORTS, fragment=100), Packet("10.20.30.40", 0, "198.51.100.10", 0, "UDP")),
        (ipv6(6, PORTS), Packet("fd00:20::40", 40000, "2001:db8::10", 443, "TCP")),
        (ipv6(0, b"\x06\0" + b"\0" * 6 + PORTS), Packet("fd00:20::40", 40000, "2001:db8::10", 443, "TCP")),
        (ipv6(44, b"\x11\0\0\x08" + b"\0" * 4 + PORTS), Packet("fd00:20::40", 0, "2001:db8::10", 0, "UDP")),
        (ipv4(47, b""), Packet("10.20.30.40", 0, "198.51.100.10", 0, "47")),
        (ipv4(6, b"\1"), None),
        (b"", None),
        (b"\x95" * 60, None),
    ],
    ids=[
        "tcp", "udp", "options", "icmp", "later fragment", "ipv6", "ipv6 hop by hop", "ipv6 later fragment",
        "another protocol", "cut short", "nothing", "no ip",
    ],
)  # fmt: skip
def test_a_packet_is_read_by_its_addresses_and_ports(payload: bytes, packet: Packet | None) -> None:
    assert packet_in(payload) == packet


def test_a_message_of_the_kernel_may_hold_several_packets_and_other_things() -> None:
    one = message(4 << 8, (10, NAME.encode() + b" Video\0"), (9, ipv4(6, PORTS)))
    other = message(4 << 8, (9, ipv4(17, PORTS)))
    said = one + message(2) + other + message(4 << 8, (9, b"?"))
    assert [(told.prefix, told.packet.protocol) for told in packets(said)] == [
        (f"{NAME} Video", "TCP"),
        ("", "UDP"),
    ]


@given(st.binary(max_size=200))
def test_whatever_is_said_is_read_without_an_error(said: bytes) -> None:
    packets(said)
    packet_in(said)
    packets(message(4 << 8, (9, said)))


def test_a_connection_is_told_once_however_often_it_is_tried() -> None:
    log = Distinct()
    another = Packet("10.20.30.40", 40001, "198.51.100.10", 443, "TCP")
    tried = [Logged(f"{NAME} Video and more", packet) for packet in (TCP, TCP, another, TCP)]
    flows = log.flows(tried, NOW)
    assert [(flow.rule, flow.label, flow.port) for flow in flows] == [(NAME, "Video and more", 443)] * 2
    assert log.flows(tried, NOW + timedelta(seconds=50)) == []


def test_a_connection_that_was_silent_for_long_is_another_one() -> None:
    log, tried = Distinct(timedelta(minutes=1)), [Logged(NAME, TCP)]
    assert len(log.flows(tried, NOW)) == 1
    assert log.flows(tried, NOW + timedelta(seconds=59)) == []
    assert log.flows(tried, NOW + timedelta(seconds=118)) == []
    assert len(log.flows(tried, NOW + timedelta(seconds=178))) == 1


def test_what_others_log_is_not_ours() -> None:
    assert Distinct().flows([Logged("HOUSE dropped", TCP), Logged("", TCP)], NOW) == []
