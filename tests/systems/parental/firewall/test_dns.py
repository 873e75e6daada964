"""Where names lead: what dnsmasq is told, and the little of DNS that is spoken. The real server: test_nftables.py."""

import socket
import struct
import threading
from collections.abc import Iterator
from ipaddress import ip_network
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablewright.systems.parental.firewall.dns import (
    AAAA,
    ENCRYPTED_DNS_ADDRESSES,
    ENCRYPTED_DNS_NAMES,
    A,
    Dnsmasq,
    Resolver,
    answer,
    dnsmasq_config,
    machines_server,
    question,
    restart_by,
)
from tablewright.systems.parental.firewall.driver import Unavailable
from tablewright.systems.parental.firewall.nft_script import dnsmasq_sets
from tablewright.systems.parental.policy.destinations import check_domain


def sets_of(name: str) -> list[str]:
    return [f"4#inet#t#{name}"]


def test_a_name_fills_its_own_set_and_those_of_the_names_above_it() -> None:
    """dnsmasq takes the longest name that fits and no other."""
    text = dnsmasq_config(["cdn.video.example", "video.example", "deovideo.example"], sets_of)
    assert text.splitlines()[1:] == [
        "nftset=/cdn.video.example/4#inet#t#cdn.video.example,4#inet#t#video.example",
        "nftset=/deovideo.example/4#inet#t#deovideo.example",
        "nftset=/video.example/4#inet#t#video.example",
    ]


def test_refused_names_do_not_exist() -> None:
    assert dnsmasq_config([], sets_of, ["dns.google"]).splitlines()[1:] == ["address=/dns.google/"]


def test_a_line_for_dnsmasq_is_short_enough_at_any_depth() -> None:
    names = [".".join(["a" * 30] * depth + ["video", "example"]) for depth in range(6)]
    assert max(map(len, dnsmasq_config(names, dnsmasq_sets).splitlines())) < 1024


def test_our_own_lists_are_names_and_networks() -> None:
    assert [check_domain(name) for name in ENCRYPTED_DNS_NAMES] == sorted(set(ENCRYPTED_DNS_NAMES))
    assert [str(ip_network(one)) for one in ENCRYPTED_DNS_ADDRESSES] == list(ENCRYPTED_DNS_ADDRESSES)


# --- the protocol ---


def record(kind: int, value: bytes) -> bytes:
    return b"\xc0\x0c" + struct.pack("!HHIH", kind, 1, 60, len(value)) + value


def answered(asked: bytes, *records: bytes) -> bytes:
    return asked[:2] + struct.pack("!5H", 0x8180, 1, len(records), 0, 0) + asked[12:] + b"".join(records)


def test_addresses_are_read_from_behind_an_alias() -> None:
    asked = question(7, "video.example", A)
    alias = record(5, b"\x03cdn\xc0\x0c")
    said = answered(
        asked, alias, record(A, bytes([198, 51, 100, 10])), record(AAAA, b"\x20\x01" + b"\0" * 14)
    )
    assert answer(said) == (7, frozenset(("198.51.100.10", "2001::")))


def test_a_question_is_no_answer() -> None:
    assert answer(question(7, "video.example", A)) == (-1, frozenset())


@given(st.binary(max_size=100))
def test_whatever_a_server_says_is_read_without_an_error(said: bytes) -> None:
    answer(said)
    answer(b"\0\1\x81\x80\0\1\0\2\0\0\0\0" + said)


# --- servers ---


@pytest.fixture
def server() -> Iterator[socket.socket]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as bound:
        bound.bind(("127.0.0.1", 0))
        bound.settimeout(5)
        yield bound


def test_what_was_answered_in_time_is_taken_and_the_rest_left_out(server: socket.socket) -> None:
    def serve() -> None:
        for _ in range(8):
            asked, who = server.recvfrom(512)
            if b"\x03www" not in asked and asked[-4:-2] == struct.pack("!H", A):
                server.sendto(b"nonsense", who)
                server.sendto(answered(asked, record(A, bytes([198, 51, 100, asked[13] % 256]))), who)

    thread = threading.Thread(target=serve)
    thread.start()
    found = Resolver("127.0.0.1", server.getsockname()[1], seconds=0.3).look_up(["a.example", "b.example"])
    thread.join()
    assert found == {"a.example": {f"198.51.100.{ord('a')}"}, "b.example": {f"198.51.100.{ord('b')}"}}


def test_a_question_that_was_lost_is_asked_again(server: socket.socket) -> None:
    def serve() -> None:
        server.recvfrom(512)  # the first of two questions is lost
        for _ in range(2):
            asked, who = server.recvfrom(512)
            server.sendto(answered(asked, record(A, bytes([198, 51, 100, 7]))), who)

    thread = threading.Thread(target=serve)
    thread.start()
    found = Resolver("127.0.0.1", server.getsockname()[1], seconds=0.3).ask(["a.example"])
    thread.join()
    assert found == {"a.example": {"198.51.100.7"}}


def test_without_any_answer_names_cannot_be_blocked_and_nobody_says_they_are(server: socket.socket) -> None:
    port = server.getsockname()[1]
    server.close()
    resolver = Resolver("127.0.0.1", port)
    with pytest.raises(Unavailable, match="no DNS server answers"):
        resolver.look_up(["a.example"])
    assert resolver.look_up([]) == {}
    assert Dnsmasq(Path("unused"), lambda: None, resolver).look_up(["a.example"]) == {}


def test_the_machines_own_server_is_asked_and_a_namespace_may_have_another(tmp_path: Path) -> None:
    (tmp_path / "netns" / "lan").mkdir(parents=True)
    with pytest.raises(Unavailable, match="no DNS server"):
        machines_server(etc=tmp_path)
    (tmp_path / "resolv.conf").write_text("search home\nnameserver fe80::1%eth0\nnameserver 192.0.2.2\n")
    assert machines_server("lan", etc=tmp_path) == "fe80::1"
    (tmp_path / "netns" / "lan" / "resolv.conf").write_text("nameserver 192.0.2.3\n")
    assert machines_server("lan", etc=tmp_path) == "192.0.2.3"
    assert machines_server(etc=tmp_path) == "fe80::1"


def test_a_restart_that_fails_says_how(tmp_path: Path) -> None:
    for words in (("false",), ("no-such-command-here",)):
        names = Dnsmasq(tmp_path / "names.conf", restart_by(words))
        with pytest.raises(Unavailable, match=words[0]):
            names.follow(["video.example"], sets_of, ())
    assert "nftset=/video.example/" in (tmp_path / "names.conf").read_text()
