"""The nftables driver against a real kernel: packets between namespaces, a real dnsmasq, real live streams."""

import contextlib
import fcntl
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from tests.systems.parental.firewall.contract import CHILD, HOSTS, SIBLING, Bench, apply, promises, rule, to
from tests.systems.parental.firewall.network import (
    CHILD6,
    DNS_SERVER,
    DOH_SERVER,
    DOH_SERVER6,
    GATEWAY,
    HOSTS6,
    STREAM,
    UDP_STREAM,
    Network,
    open_network,
    why_not,
)

from tablewright.systems.parental.firewall.dns import Resolver
from tablewright.systems.parental.firewall.driver import (
    PREFIX,
    BlockedFlow,
    Flow,
    PortOf,
    Rejected,
    Rule,
    Unavailable,
)
from tablewright.systems.parental.firewall.nflog import NflogReader
from tablewright.systems.parental.firewall.nft import TABLE
from tablewright.systems.parental.firewall.nft_script import source_chain
from tablewright.systems.parental.firewall.nftables import NftablesFirewall, NftOptions
from tablewright.systems.parental.model import DnsGuard
from tablewright.world import real_world

pytestmark = pytest.mark.skipif(why_not() is not None, reason=f"no real packets: {why_not()}")
UNANSWERED = "timed out|refused|unreachable|No route|not permitted"
# What a gateway has of its own: what is established goes through.
HOUSE_RULES = """
table inet house {
    chain forward {
        type filter hook forward priority filter; policy accept;
        ct state established,related counter accept
    }
}
"""


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Network]:
    with open_network(tmp_path_factory.mktemp("network")) as opened:
        yield opened


@dataclass(frozen=True, slots=True)
class NftBench:
    """The driver, and a child that looks names up before it goes there."""

    driver: NftablesFirewall
    network: Network
    options: NftOptions

    def is_blocked(self, flow: Flow) -> bool:
        host = flow.destination
        if flow.name:
            told = self.network.look_up(flow.name)
            assert host in told, f"{flow.name} is not {host} but {sorted(told)}"
        go = self.network.connects if flow.protocol == "TCP" else self.network.echoes
        return not go(host, flow.port, flow.source)

    def add_foreign(self) -> None:
        """The house's rules are there from the beginning."""

    def has_foreign(self) -> bool:
        return "established,related" in self.network.nft("list", "table", "inet", "house")

    def another(self, **changes: object) -> NftablesFirewall:
        """A driver of the same gateway, as another process would have it."""
        return NftablesFirewall(replace(self.options, **changes))  # type: ignore[arg-type]  # tests name fields


@pytest.fixture
def bench(network: Network, tmp_path: Path) -> Iterator[NftBench]:
    network.nft("flush", "ruleset")
    network.nft("-f", "-", text=HOUSE_RULES)
    options = NftOptions(directory=tmp_path, names=network.names(), namespace=network.gateway)
    yield NftBench(NftablesFirewall(options), network, options)
    network.nft("flush", "ruleset")


@promises
def test_the_driver_keeps_the_promise(bench: NftBench, promise: Callable[[Bench], None]) -> None:
    promise(bench)


# --- live streams ---


def test_a_live_stream_ends_at_both_ends_when_a_rule_comes(bench: NftBench) -> None:
    bench.network.look_up("video.example")
    with bench.network.connection(HOSTS["video.example"], STREAM) as stream:
        assert stream.recv(4)
        bench.driver.ensure(rule(ports=(PortOf("TCP", STREAM),)))
        with pytest.raises(ConnectionResetError):
            read_to_the_end(stream)
        assert bench.network.streams_cut.acquire(timeout=30)


def test_other_streams_go_on(bench: NftBench) -> None:
    with bench.network.connection(HOSTS["other.example"], STREAM) as stream:
        assert stream.recv(4)
        bench.driver.ensure(rule(ports=(PortOf("TCP", STREAM),)))
        assert all(stream.recv(4) for _ in range(20))
    assert bench.network.streams_cut.acquire(timeout=30)


def test_a_one_way_udp_stream_ends_though_the_child_says_nothing(bench: NftBench) -> None:
    with (
        bench.network.datagrams(HOSTS["video.example"], UDP_STREAM) as call,
        bench.network.datagrams(HOSTS["other.example"], UDP_STREAM) as other,
    ):
        call.send(b"ring")
        other.send(b"ring")
        assert call.recv(16) == other.recv(16) == b"call"
        bench.driver.ensure(rule(ports=(PortOf("UDP", UDP_STREAM),)))
        drain(call)
        call.settimeout(0.5)
        with pytest.raises(TimeoutError):
            call.recv(16)
        drain(other)
        assert other.recv(16) == b"call"


def read_to_the_end(stream: socket.socket) -> None:
    while stream.recv(65536):
        pass


def drain(talk: socket.socket) -> None:
    """Read what came before, without waiting for more."""
    talk.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        while True:
            talk.recv(2048)
    talk.settimeout(2.0)


# --- addresses and names ---


def test_ipv6_is_blocked_as_ipv4_is(bench: NftBench) -> None:
    apply(bench, rule(source=CHILD6, ranges=(f"{HOSTS6['plain.example']}/128",)))
    assert bench.network.look_up("cdn.video.example")
    assert not bench.network.connects(HOSTS6["video.example"], source=CHILD6)
    assert not bench.network.echoes(HOSTS6["cdn.video.example"], source=CHILD6)
    assert not bench.network.connects(HOSTS6["plain.example"], source=CHILD6)
    assert bench.network.connects(HOSTS6["other.example"], source=CHILD6)
    assert bench.network.connects(HOSTS["video.example"], source=CHILD)


def test_an_address_is_blocked_from_the_moment_its_name_is_answered(bench: NftBench) -> None:
    """Subdomains nobody named cannot be looked up beforehand: dnsmasq tells the firewall before it tells the child."""
    apply(bench, rule())
    assert bench.network.connects(HOSTS["cdn.video.example"])
    assert bench.network.look_up("cdn.video.example")
    assert not bench.network.connects(HOSTS["cdn.video.example"])


def test_an_allowed_name_passes_though_the_name_above_it_is_blocked(bench: NftBench) -> None:
    apply(bench, rule(allowed_domains=("cdn.video.example",)))
    assert bench.is_blocked(to("video.example"))
    assert not bench.is_blocked(to("cdn.video.example"))


def test_what_one_child_may_do_under_a_name_another_may_not(bench: NftBench) -> None:
    """The longer name is known to the DNS server for the one's sake, and still counts as under the shorter."""
    apply(bench, rule(), rule("000000000002_Video", source=SIBLING, allowed_domains=("cdn.video.example",)))
    assert not bench.is_blocked(to("cdn.video.example", source=SIBLING))
    assert bench.is_blocked(to("cdn.video.example"))


def test_names_that_are_known_need_no_restart_of_the_dns_server(bench: NftBench) -> None:
    bench.driver.learn(["video.example", "game.example"])
    starts = bench.network.dns_starts
    (id,) = apply(bench, rule())
    bench.driver.remove(id)
    apply(bench, rule(domains=("game.example", "video.example")))
    assert bench.network.dns_starts == starts
    assert not bench.network.connects(HOSTS["game.example"])


def test_without_dnsmasq_names_are_looked_up(bench: NftBench) -> None:
    plain = bench.another(names=Resolver("127.0.0.1", namespace=bench.network.gateway))
    plain.ensure(rule())
    assert not bench.network.connects(HOSTS["video.example"])
    assert plain.look_up_again() >= 2


def test_a_dns_server_that_does_not_come_back_fails_the_rule_and_the_next_try_makes_it(
    bench: NftBench,
) -> None:
    dead = replace(bench.network.names(), restart=bench.network.stop_dns, seconds_to_start=0.2)
    with pytest.raises(Unavailable, match="dnsmasq did not answer"):
        bench.another(names=dead).ensure(rule())
    assert bench.driver.list() == []
    apply(bench, rule())
    assert bench.is_blocked(to("cdn.video.example"))


# --- the ways around ---


def test_pc_d20_what_a_child_sends_from_the_port_of_dns_is_blocked_like_all_else(bench: NftBench) -> None:
    video, other = HOSTS["video.example"], HOSTS["other.example"]
    apply(bench, rule())
    with bench.network.connection(other, 443, source_port=53) as talk:
        talk.sendall(b"hello")
        assert talk.recv(16) == b"hello"
    with pytest.raises(OSError, match=r"refused|reset"):
        bench.network.connection(video, 443, source_port=53)
    with bench.network.datagrams(video, 443, source_port=53) as talk:
        talk.settimeout(0.5)
        talk.send(b"hello")
        with pytest.raises(OSError, match=UNANSWERED):
            talk.recv(16)


def test_pc_x5_a_child_to_whom_everything_is_blocked_may_ask_for_names(bench: NftBench) -> None:
    apply(bench, rule(domains=(), ports=()))
    assert not bench.network.connects(HOSTS["other.example"])
    assert HOSTS["other.example"] in bench.network.look_up("other.example", server=DNS_SERVER)


def test_pc_d20_a_guarded_child_has_no_other_dns_than_ours_not_even_one_it_was_asking(
    bench: NftBench,
) -> None:
    question = b"\x00\x07\x01\x00\x00\x01" + bytes(6) + b"\x05other\x07example\x00\x00\x01\x00\x01"
    with bench.network.datagrams(DNS_SERVER, 53) as asked:
        asked.send(question)
        assert asked.recv(512)[:2] == question[:2]
        bench.another(guard=DnsGuard(guarded=["10.20.30.0/24"])).keep_guard()
        asked.settimeout(0.5)
        asked.send(question)
        with pytest.raises(OSError, match=UNANSWERED):
            asked.recv(512)


def test_questions_to_other_dns_servers_are_answered_by_the_gateway(bench: NftBench) -> None:
    assert bench.network.look_up("video.example", server=DOH_SERVER) == frozenset()
    bench.another(guard=DnsGuard(guarded=["10.20.30.0/24", "fd00:20::/64"])).ensure(rule())
    assert HOSTS["video.example"] in bench.network.look_up("video.example", server=DOH_SERVER)
    assert HOSTS["cdn.video.example"] in bench.network.look_up("cdn.video.example", server=DOH_SERVER)
    assert bench.is_blocked(replace(to("cdn.video.example"), name=""))


def test_encrypted_dns_is_refused_where_that_is_asked_for(bench: NftBench) -> None:
    assert bench.network.connects(DOH_SERVER, 443)
    assert bench.network.connects(HOSTS["other.example"], 853)
    guard = DnsGuard(guarded=["10.20.30.0/24"], refuses_encrypted_dns=True)
    bench.another(guard=guard).learn(())
    assert not bench.network.connects(DOH_SERVER, 443)
    assert not bench.network.connects(HOSTS["other.example"], 853)
    assert bench.network.connects(HOSTS["other.example"], 443)
    assert bench.network.look_up("dns.google") == frozenset()
    assert bench.network.look_up("other.example")


def test_questions_over_ipv6_to_other_dns_servers_are_answered_by_the_gateway(bench: NftBench) -> None:
    assert bench.network.look_up("video.example", server=DOH_SERVER6) == frozenset()
    bench.another(guard=DnsGuard(guarded=["10.20.30.0/24"])).learn(())
    assert bench.network.look_up("video.example", server=DOH_SERVER6) == frozenset(), (
        "IPv6 is not guarded yet"
    )
    bench.another(guard=DnsGuard(guarded=["10.20.30.0/24", "fd00:20::/64"])).ensure(rule(source=CHILD6))
    assert HOSTS6["video.example"] in bench.network.look_up("video.example", server=DOH_SERVER6)
    assert bench.network.look_up("cdn.video.example", server=DOH_SERVER6)
    assert not bench.network.connects(HOSTS6["cdn.video.example"], source=CHILD6)


def test_encrypted_dns_over_ipv6_is_refused_where_that_is_asked_for(bench: NftBench) -> None:
    def gets_through(host: str, port: int) -> bool:
        return bench.network.connects(host, port, source=CHILD6)

    other = HOSTS6["other.example"]
    assert gets_through(DOH_SERVER6, 443)
    assert gets_through(other, 853)
    bench.another(guard=DnsGuard(guarded=["fd00:20::/64"], refuses_encrypted_dns=True)).learn(())
    assert not gets_through(DOH_SERVER6, 443)
    assert not gets_through(other, 853)
    assert gets_through(other, 443)
    assert bench.network.connects(DOH_SERVER, 443), "IPv4 is not guarded here"


def test_a_gateway_that_no_longer_guards_lets_questions_pass(bench: NftBench) -> None:
    bench.another(guard=DnsGuard(guarded=["10.20.30.0/24"], refuses_encrypted_dns=True)).learn(())
    bench.driver.learn(["video.example"])
    assert bench.network.look_up("video.example", server=DOH_SERVER) == frozenset()
    assert bench.network.connects(DOH_SERVER, 443)


def test_a_guard_that_somebody_took_out_of_the_table_is_kept_again(bench: NftBench) -> None:
    driver = bench.another(guard=DnsGuard(guarded=["10.20.30.0/24"], refuses_encrypted_dns=True))
    driver.keep_guard()
    assert not bench.network.connects(DOH_SERVER, 443)
    bench.network.nft("flush", "chain", "inet", TABLE, "forward")
    assert bench.network.connects(DOH_SERVER, 443)
    driver.keep_guard()
    assert not bench.network.connects(DOH_SERVER, 443)


def test_what_the_device_keeps_as_safe_is_never_blocked(bench: NftBench) -> None:
    guard = DnsGuard(safe=[f"{HOSTS['school.example']}/32"])
    bench.another(guard=guard).ensure(rule(domains=(), ports=()))
    assert bench.network.connects(HOSTS["school.example"])
    assert not bench.network.connects(HOSTS["other.example"])
    assert bench.network.look_up("other.example", server=GATEWAY)


# --- counting ---


def test_hits_are_counted_for_each_rule_and_stay_when_it_changes(bench: NftBench) -> None:
    mine, theirs = apply(bench, rule(), rule("000000000002_Video", source=SIBLING))
    for _ in range(3):
        assert not bench.network.connects(HOSTS["video.example"])
    apply(bench, rule(domains=("game.example", "video.example")))
    assert not bench.network.connects(HOSTS["video.example"])
    assert {one.id: one.hits for one in bench.driver.list()} == {mine: 4, theirs: 0}


def test_blocked_connections_are_told_once_each(bench: NftBench) -> None:
    apply(bench, rule(), rule("000000000002_Video", source=CHILD6, label="Video six"))
    video, video6 = HOSTS["video.example"], HOSTS6["video.example"]
    with NflogReader(real_world(), namespace=bench.network.gateway) as log:
        assert not bench.network.connects(video)
        assert not bench.network.connects(video)
        assert bench.network.connects(HOSTS["other.example"])
        with bench.network.datagrams(video, 443) as quic:
            for _ in range(5):
                with contextlib.suppress(OSError):
                    quic.send(b"hello")
        assert not bench.network.connects(video6, source=CHILD6)
        flows = told_by(log, 4)
    assert [(one.label, one.source, one.destination, one.protocol, one.port) for one in flows] == [
        ("Video", CHILD, video, "TCP", 443),
        ("Video", CHILD, video, "TCP", 443),
        ("Video", CHILD, video, "UDP", 443),
        ("Video six", CHILD6, video6, "TCP", 443),
    ]
    assert {one.rule for one in flows} == {rule().name, f"{PREFIX}000000000002_Video"}
    assert log.lost == 0


def told_by(log: NflogReader, count: int) -> list[BlockedFlow]:
    """So many flows, and no more after them."""
    flows: list[BlockedFlow] = []
    end = time.monotonic() + 5
    while len(flows) < count and time.monotonic() < end:
        flows += log.read(0.5)
    return [*flows, *log.read(0.3)]


# --- a gateway is not alone ---


@pytest.mark.parametrize("chain", ["s", "r", "q", "x", "y", "z", "refuse", "cut", "forward"])
def test_pc_43_a_rule_with_a_chain_that_somebody_emptied_is_told_of_no_more_until_it_is_made_again(
    bench: NftBench, chain: str
) -> None:
    (id,) = apply(bench, rule())
    name = {"s": source_chain(CHILD)}.get(chain, chain if len(chain) > 1 else f"{chain}_{id}")
    bench.network.nft("flush", "chain", "inet", TABLE, name)
    assert (bench.driver.list(), bench.driver.get(id)) == ([], None)
    apply(bench, rule())
    assert [one.id for one in bench.driver.list()] == [id]
    assert bench.driver.get(id) is not None
    assert not bench.network.connects(HOSTS["video.example"])


def test_a_rule_about_nothing_of_its_version_is_whole(bench: NftBench) -> None:
    (id,) = apply(bench, rule(domains=(), ranges=("2001:db8:51::/64",)))
    assert [one.id for one in bench.driver.list()] == [id]
    assert bench.network.connects(HOSTS["other.example"])


def test_a_table_that_was_flushed_has_no_rules_and_is_made_anew(bench: NftBench) -> None:
    (id,) = apply(bench, rule())
    bench.network.nft("flush", "table", "inet", TABLE)
    assert bench.driver.get(id) is None
    assert bench.driver.list() == []
    bench.network.nft("flush", "ruleset")
    assert bench.driver.list() == []
    assert apply(bench, rule()) == [id]
    assert not bench.network.connects(HOSTS["video.example"])


def test_sets_that_no_rule_refers_to_do_not_pile_up(bench: NftBench) -> None:
    for number in range(5):
        apply(bench, rule(domains=(f"name{number}.example",), ranges=(f"198.51.100.{128 + number}/32",)))
    sets = bench.network.nft("-t", "list", "sets", "table", "inet", TABLE)
    assert len(re.findall(r"set n4_\w+", sets)) <= 2
    assert len(re.findall(r"set p_\w+", sets)) == 1


def test_two_processes_may_drive_one_gateway(bench: NftBench) -> None:
    bench.driver.learn(["video.example"])
    rules = [rule(f"00000000000{number}_Video") for number in range(8)]
    drivers = [bench.another(), bench.another()]

    def work(driver: NftablesFirewall, mine: list[Rule]) -> None:
        for one in mine:
            driver.ensure(one)

    work_of_each = zip(drivers, (rules[:4], rules[4:]), strict=True)
    threads = [threading.Thread(target=work, args=each) for each in work_of_each]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = bench.driver.list()
    assert [one.name for one in found] == [one.name for one in rules]
    assert [bench.driver.get(one.id) for one in found] == found


def test_while_another_process_is_at_it_one_waits(bench: NftBench) -> None:
    bench.driver.learn(["video.example"])
    work = threading.Thread(target=bench.driver.ensure, args=(rule(),))
    with open(bench.options.directory / "lock", "w") as door:
        fcntl.flock(door, fcntl.LOCK_EX)
        work.start()
        work.join(timeout=0.7)
        assert work.is_alive()
    work.join()
    assert len(bench.driver.list()) == 1


def test_what_is_no_rule_is_rejected_and_changes_nothing(bench: NftBench) -> None:
    for wrong in (rule(source="nobody"), rule("two words"), rule(ports=(PortOf("SCTP", 1),))):
        with pytest.raises(Rejected):
            bench.driver.ensure(wrong)
    assert bench.driver.list() == []


def test_a_gateway_that_is_not_there_says_so(tmp_path: Path) -> None:
    driver = NftablesFirewall(NftOptions(directory=tmp_path, namespace="no-such-place"))
    assert not driver.health().is_ok
    with pytest.raises(Unavailable):
        driver.ensure(rule())
