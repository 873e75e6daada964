"""What every driver must keep, as tests: each is a function of a bench, which is a driver and a way to try it.

test_contract.py runs all of them for every bench. A bench's `tries` sends what the device can really be sent: packets
between namespaces, or the question to a packet evaluator. Names and addresses are those of the little internet below,
which every bench must know.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

import pytest

from tablewright.systems.parental.firewall.compiler import digest
from tablewright.systems.parental.firewall.driver import PREFIX, FirewallDriver, Flow, PortOf, Rule

# Where the names lead. Ports that are open everywhere: TCP 80, 443, 8080; UDP 443, 9000.
HOSTS = {
    "video.example": "198.51.100.10",
    "cdn.video.example": "198.51.100.11",
    "game.example": "198.51.100.20",
    "school.example": "198.51.100.30",
    "other.example": "198.51.100.40",
    # An address of its own, in a range that is blocked by number.
    "plain.example": "198.51.100.130",
}
CHILD, SIBLING = "10.20.30.40", "10.20.30.41"
WEB = (PortOf("TCP", 80), PortOf("TCP", 443), PortOf("UDP", 443))


class Bench(Protocol):
    """A driver, and a child behind its device."""

    @property
    def driver(self) -> FirewallDriver: ...

    def is_blocked(self, flow: Flow) -> bool:
        """Whether what a child sends is stopped, after a deployment if the device needs one."""

    def add_foreign(self) -> None:
        """Put a rule of somebody else on the device."""

    def has_foreign(self) -> bool:
        """Whether that rule is still as it was."""


def rule(name: str = "000000000001_Video", **content: object) -> Rule:
    """A rule that blocks video.example for the child, unless told otherwise."""
    given = {"source": CHILD, "domains": ("video.example",), "ports": WEB, "label": "Video", **content}
    made = Rule(name=PREFIX + name, **given)  # type: ignore[arg-type]  # tests name fields as they please
    return replace(made, digest=digest(made))


def to(name: str, port: int = 443, protocol: str = "TCP", source: str = CHILD) -> Flow:
    """A child goes to a name of the little internet."""
    return Flow(source=source, destination=HOSTS[name], protocol=protocol, port=port, name=name)


def apply(bench: Bench, *rules: Rule) -> list[str]:
    """Rules on the device and in force; their ids."""
    ids = [bench.driver.ensure(one).id for one in rules]
    deployed = bench.driver.deploy()
    assert bench.driver.needs_deploy or not deployed.was_needed
    return ids


def take_away(bench: Bench, *ids: str) -> None:
    for id in ids:
        bench.driver.remove(id)
    bench.driver.deploy()


def a_rule_blocks_its_domain_and_everything_under_it(bench: Bench) -> None:
    assert not bench.is_blocked(to("video.example"))
    apply(bench, rule())
    assert bench.is_blocked(to("video.example"))
    assert bench.is_blocked(to("cdn.video.example"))


def only_what_a_rule_names_is_blocked(bench: Bench) -> None:
    apply(bench, rule())
    assert bench.is_blocked(to("video.example"))
    assert not bench.is_blocked(to("other.example"))
    assert not bench.is_blocked(to("video.example", source=SIBLING))
    assert not bench.is_blocked(to("video.example", port=8080))


def quic_is_blocked_where_the_rule_says_udp(bench: Bench) -> None:
    apply(bench, rule(ports=(PortOf("TCP", 443), PortOf("UDP", 443))))
    assert bench.is_blocked(to("video.example", 443, "UDP"))
    assert not bench.is_blocked(to("video.example", 9000, "UDP"))


def a_rule_without_ports_blocks_every_port(bench: Bench) -> None:
    apply(bench, rule(ports=()))
    assert bench.is_blocked(to("video.example", 8080))
    assert bench.is_blocked(to("video.example", 9000, "UDP"))


def a_range_is_blocked_by_number(bench: Bench) -> None:
    apply(bench, rule(domains=(), ranges=("198.51.100.128/25",)))
    assert bench.is_blocked(to("plain.example"))
    assert not bench.is_blocked(to("video.example"))


def everything_is_blocked_but_what_is_allowed(bench: Bench) -> None:
    apply(bench, rule("000000000002_everything", domains=(), ports=(), allowed_domains=("school.example",)))
    assert bench.is_blocked(to("video.example"))
    assert bench.is_blocked(to("other.example", 9000, "UDP"))
    assert not bench.is_blocked(to("school.example"))
    assert not bench.is_blocked(to("other.example", source=SIBLING))


def asking_twice_leaves_one_rule(bench: Bench) -> None:
    first = bench.driver.ensure(rule())
    second = bench.driver.ensure(rule())
    assert first.id == second.id
    assert [one.name for one in bench.driver.list()] == [rule().name]


def a_rule_of_the_same_name_is_made_equal(bench: Bench) -> None:
    before, after = rule(), rule(domains=("game.example",))
    apply(bench, before)
    assert bench.is_blocked(to("video.example"))
    (id,) = apply(bench, after)
    assert bench.is_blocked(to("game.example"))
    assert not bench.is_blocked(to("video.example"))
    found = bench.driver.get(id)
    assert found is not None
    assert found.digest == after.digest
    assert len(bench.driver.list()) == 1


def a_rule_follows_to_another_address(bench: Bench) -> None:
    apply(bench, rule())
    (id,) = apply(bench, rule(source=SIBLING))
    assert bench.is_blocked(to("video.example", source=SIBLING))
    assert not bench.is_blocked(to("video.example"))
    assert [(one.id, one.source) for one in bench.driver.list()] == [(id, SIBLING)]


def removing_frees_and_leaves_the_other_rules(bench: Bench) -> None:
    video, game = apply(bench, rule(), rule("000000000002_Game", domains=("game.example",), label="Game"))
    take_away(bench, video)
    assert not bench.is_blocked(to("video.example"))
    assert bench.is_blocked(to("game.example"))
    assert bench.driver.get(video) is None
    assert [one.id for one in bench.driver.list()] == [game]


def removing_what_is_not_there_is_fine(bench: Bench) -> None:
    (id,) = apply(bench, rule())
    take_away(bench, id, id)
    assert bench.driver.list() == []
    assert bench.driver.get(id) is None


def what_a_device_tells_of_a_rule_is_what_it_was_given(bench: Bench) -> None:
    asked = rule()
    made = bench.driver.ensure(asked)
    assert (made.name, made.source, made.digest) == (asked.name, asked.source, asked.digest)
    read = bench.driver.get(made.id)
    assert read is not None
    assert (read.id, read.name, read.source, read.digest) == (made.id, asked.name, asked.source, asked.digest)
    assert [one.name for one in bench.driver.list(asked.name[: len(PREFIX) + 4])] == [asked.name]
    assert bench.driver.list(PREFIX + "no_such") == []


def what_others_put_there_stays(bench: Bench) -> None:
    bench.add_foreign()
    (id,) = apply(bench, rule())
    take_away(bench, id)
    assert bench.driver.list() == []
    assert bench.has_foreign()


def removing_one_of_two_addresses_leaves_the_other(bench: Bench) -> None:
    mine, theirs = apply(bench, rule(), rule("000000000003_Video", source=SIBLING))
    take_away(bench, mine)
    assert not bench.is_blocked(to("video.example"))
    assert bench.is_blocked(to("video.example", source=SIBLING))
    assert [one.id for one in bench.driver.list()] == [theirs]


def a_device_that_answers_says_so(bench: Bench) -> None:
    health = bench.driver.health()
    assert health.is_ok, health.detail
    assert health.version


CONTRACT: tuple[Callable[[Bench], None], ...] = (
    a_rule_blocks_its_domain_and_everything_under_it,
    only_what_a_rule_names_is_blocked,
    quic_is_blocked_where_the_rule_says_udp,
    a_rule_without_ports_blocks_every_port,
    a_range_is_blocked_by_number,
    everything_is_blocked_but_what_is_allowed,
    asking_twice_leaves_one_rule,
    a_rule_of_the_same_name_is_made_equal,
    a_rule_follows_to_another_address,
    removing_frees_and_leaves_the_other_rules,
    removing_one_of_two_addresses_leaves_the_other,
    removing_what_is_not_there_is_fine,
    what_a_device_tells_of_a_rule_is_what_it_was_given,
    what_others_put_there_stays,
    a_device_that_answers_says_so,
)
promises = pytest.mark.parametrize("promise", CONTRACT, ids=lambda promise: promise.__name__)
