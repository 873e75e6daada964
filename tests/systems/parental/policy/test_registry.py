"""The registry: the document's five apps and ours, read through a cache, kept by operators, never overwritten."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib import resources
from typing import Any

import pytest
from tests import targets
from tests.client.ways import WAYS
from tests.places import reached
from tests.systems.parental.talk import ANNA, OPERATOR, OTHER_PHONE, ZOE, Place, refuses
from tests.systems.talk import at_once

from tablewright.client import Call
from tablewright.kit.cache import Cache, MemoryCache
from tablewright.mapping import Consumer, Db
from tablewright.systems.parental import design as d
from tablewright.systems.parental.errors import VersionConflict
from tablewright.systems.parental.firewall.compiler import compile_rule, left_out
from tablewright.systems.parental.model import App, BlockedApp, IpRange, Port
from tablewright.systems.parental.policy import registry as apps
from tablewright.systems.parental.policy.destinations import check_domain, shared_name, widest
from tablewright.systems.parental.policy.registry import AUDITED_AS, LIFETIME, Registry
from tablewright.systems.parental.repository import Repository
from tablewright.world import real_world

Json = dict[str, Any]
# PC-14, as the document writes it.
DOCUMENTED = {
    "TikTok": (
        "Social Media", ["443/TCP", "80/TCP"], ["*.tiktok.com", "*.tiktokv.com", "*.musical.ly", "*.tiktokcdn.com"],
        ["23.211.0.0/16", "104.16.0.0/12"], "Short-form video social media platform", 1,
    ),
    "YouTube": (
        "Video Streaming", ["443/TCP"], ["*.youtube.com", "*.googlevideo.com", "*.ytimg.com"],
        ["172.217.0.0/16", "142.250.0.0/15"], None, None,
    ),
    "Instagram": (
        "Social Media", ["443/TCP"], ["*.instagram.com", "*.cdninstagram.com", "*.fbcdn.net"],
        ["31.13.0.0/16", "157.240.0.0/16"], None, None,
    ),
    "Snapchat": (
        "Social Media", ["443/TCP"], ["*.snapchat.com", "*.sc-cdn.net"], ["35.184.0.0/13"], None, None,
    ),
    "Fortnite": (
        "Gaming", ["443/TCP", "3478/UDP", "9000/UDP", "9001/UDP"], ["*.epicgames.com", "*.fortnite.com"], [], None,
        None,
    ),
}  # fmt: skip


@pytest.fixture(params=["embedded"])
def way(request: pytest.FixtureRequest) -> str:
    return "http" if request.config.getoption("--endpoint") else str(request.param)


every_way = pytest.mark.parametrize("way", sorted(WAYS), indirect=True)


@pytest.fixture
def registry(at: Place) -> Registry:
    made = Registry(at.parental.repository)
    made.load()
    return made


def new_app(**more: Any) -> Json:
    return {
        "appCategory": "Gaming",
        "defaultPorts": [{"port": 443, "protocol": "TCP"}],
        "domains": ["game.example.com"],
        "ipRanges": [],
        **more,
    }


def as_json(app: App, **more: Any) -> Json:
    """What an operator's form sends back, with a change."""
    shown = app.model_dump(mode="json", by_alias=True, exclude_none=True)
    return {name: value for name, value in shown.items() if name not in ("version", "dataVersion")} | more


def shown_ports(app: App) -> list[str]:
    return [f"{one.port}/{one.protocol}" for one in app.default_ports]


# --- the shipped list ---


def test_pc_14_the_file_has_the_five_documented_apps_word_for_word() -> None:
    text = resources.files("tablewright.systems.parental").joinpath("data/apps.json").read_text("utf-8")
    found = {
        one["appName"]: (
            one["appCategory"],
            [f"{port['port']}/{port['protocol']}" for port in one["defaultPorts"]],
            one["domains"],
            [each["cidr"] for each in one["ipRanges"]],
            one.get("description"),
            one.get("popularity"),
        )
        for one in json.loads(text)["apps"][:5]
    }
    assert found == DOCUMENTED


@every_way
def test_pc_14_the_five_are_stored_with_names_that_include_the_apex_and_shared_ranges_switched_off(
    registry: Registry, at: Place
) -> None:
    for name, (category, ports, domains, ranges, description, popularity) in DOCUMENTED.items():
        app = registry.app(name)
        assert app is not None
        assert (app.app_category, shown_ports(app)) == (category, ports)
        assert app.domains == [domain.removeprefix("*.") for domain in domains]  # PC-D19
        assert [one.cidr for one in app.ip_ranges] == ranges
        assert [one.enforce for one in app.ip_ranges] == [False] * len(ranges)  # PC-D10
        assert all(one.why for one in app.ip_ranges)
        assert (app.description, app.popularity) == (description, popularity)
        assert app.last_updated == at.clock.now()


def test_pc_s14_the_shared_range_of_tiktok_is_in_no_rule_and_the_reason_is_told(registry: Registry) -> None:
    app, asked = registry.app("TikTok"), [BlockedApp(app_name="TikTok")]
    rule = compile_rule(app, asked, [], "10.20.30.40", "PARENTAL_BLOCK_x_TikTok")
    assert rule is not None
    assert rule.ranges == ()
    why = {one.value: one.why for one in left_out(app, asked)}
    assert "Cloudflare" in why["104.16.0.0/12"]


def test_a_hundred_further_apps_are_shipped_with_category_and_source() -> None:
    found = apps.shipped_apps(real_world().now())
    ours = found[len(DOCUMENTED) :]
    assert len(ours) >= 100
    assert {app.source for app in found[: len(DOCUMENTED)]} == {"The design document"}
    assert all(app.source for app in ours)
    assert len({app.app_category for app in ours}) >= 10
    assert len({app.app_name.casefold() for app in found}) == len(found)


def test_every_name_and_port_of_a_shipped_app_has_its_source_and_the_file_says_what_that_means() -> None:
    text = resources.files("tablewright.systems.parental").joinpath("data/apps.json").read_text("utf-8")
    levels = json.loads(text)["sources"]
    told = {app.app_name: parts_of(app.source or "") for app in apps.shipped_apps(real_world().now())[5:]}
    assert {level for parts in told.values() for level in parts} == set(levels) - {"The design document"}
    for app in apps.shipped_apps(real_world().now())[5:]:
        parts = told[app.app_name]
        published = parts.get("Published by its maker", "")
        assert not published or "." in published.partition("(")[2], "the page is named"
        said = " ".join(parts.values())
        assert [name for name in app.domains if name not in said] == []
        web = {"443/TCP", "80/TCP"}
        others = {one.split("/")[0] for one in shown_ports(app) if one not in web} - {"443"}
        assert not published or not app.ip_ranges or "address" in published
        assert [port for port in others if port not in said and "ports" not in published] == []


def parts_of(source: str) -> dict[str, str]:
    """What is said of each source of an entry."""
    found = re.findall(r"(?:^|\. )([A-Z][^:.]+): (.+?)(?=\. [A-Z]|$)", source)
    assert len(found) == source.count(". ") + 1, source
    return dict(found)


@pytest.mark.parametrize("app", apps.shipped_apps(real_world().now())[5:], ids=lambda app: str(app.app_name))
def test_a_shipped_app_blocks_names_of_its_own_and_only_those(app: App) -> None:
    assert app.domains == [check_domain(name) for name in app.domains]
    assert sorted(app.domains) == list(widest(app.domains)), "one name includes another"
    assert [name for name in app.domains if shared_name(name)] == []
    assert [one.cidr for one in app.ip_ranges if not one.enforce] == []
    rule = compile_rule(app, [BlockedApp(app_name=app.app_name)], [], "10.0.0.1", "PARENTAL_BLOCK_x")
    assert rule is not None
    assert set(rule.domains) == set(app.domains)


def test_no_name_belongs_to_two_apps() -> None:
    owners: dict[str, list[str]] = {}
    for app in apps.shipped_apps(real_world().now()):
        for name in app.domains:
            owners.setdefault(name, []).append(app.app_name)
    assert {name: found for name, found in owners.items() if len(found) > 1} == {}


def test_pc_d20_encrypted_dns_and_vpns_can_be_blocked_and_plain_dns_stays_open(registry: Registry) -> None:
    app = registry.app("Encrypted DNS")
    rule = compile_rule(app, [BlockedApp(app_name="Encrypted DNS")], [], "10.0.0.1", "PARENTAL_BLOCK_x")
    assert rule is not None
    assert {(port.protocol, port.port) for port in rule.ports} == {
        ("TCP", 443), ("UDP", 443), ("TCP", 853), ("UDP", 853),
    }  # fmt: skip
    assert {"1.1.1.1/32", "8.8.8.8/32"} <= set(rule.ranges)


# --- loading (PC-17, PC-D16) ---


@every_way
def test_pc_d16_loading_again_changes_nothing_and_never_an_operators_edit(at: Place) -> None:
    registry = Registry(at.parental.repository)
    there = len(at.scan("ApplicationRegistry"))
    first = registry.load()
    before = at.scan("ApplicationRegistry")
    assert len(first.created) == len(before) - there > 0
    at.clock.move(LIFETIME)
    assert registry.load().created == registry.load().updated == ()
    assert at.scan("ApplicationRegistry") == before
    tiktok = registry.app("TikTok")
    assert tiktok is not None
    registry.save("TikTok", as_json(tiktok, domains=["tiktok.com"]), OPERATOR)
    registry.retire("Fortnite", OPERATOR)
    again = registry.load()
    assert sorted(again.kept) == ["Fortnite", "TikTok"]
    edited, retired = registry.app("TikTok"), registry.app("Fortnite")
    assert edited is not None
    assert retired is not None
    assert edited.domains == ["tiktok.com"]
    assert retired.retired


def test_a_newer_list_reaches_what_nobody_has_edited(registry: Registry, at: Place) -> None:
    now = at.clock.now()
    shipped = apps.shipped_apps(now)
    newer = [
        app.model_copy(
            update={"data_version": app.data_version + 1, "domains": [*app.domains, "new.example.com"]}
        )
        for app in shipped
        if app.app_name in ("TikTok", "YouTube")
    ]
    tiktok = registry.app("TikTok")
    assert tiktok is not None
    registry.save("TikTok", as_json(tiktok, description="Edited"), OPERATOR)
    done = registry.load(shipped=newer)
    assert (done.updated, done.kept) == (("YouTube",), ("TikTok",))
    youtube = registry.app("YouTube")
    assert youtube is not None
    assert youtube.domains[-1] == "new.example.com"
    assert registry.load(shipped=shipped).updated == ()  # an older list does not go back


def test_force_brings_the_shipped_entry_back(registry: Registry) -> None:
    tiktok = registry.app("TikTok")
    assert tiktok is not None
    registry.save("TikTok", as_json(tiktok, domains=["tiktok.com"]), OPERATOR)
    assert registry.load(force=True).updated == ("TikTok",)
    back = registry.app("TikTok")
    assert back is not None
    assert back.domains == tiktok.domains
    assert registry.load().kept == ()


def test_two_loads_at_once_make_each_app_once(at: Place) -> None:
    for item in at.scan("ApplicationRegistry"):
        key = {"appName": item["appName"]}
        at.call("DeleteItem", {"TableName": at.db.physical("ApplicationRegistry"), "Key": key})
    done = at_once([Registry(at.parental.repository).load for _ in range(4)], threads=4)
    assert [one for one in done if isinstance(one, Exception)] == []
    made = [name for one in done if isinstance(one, apps.Loaded) for name in one.created]
    assert len(made) == len(set(made)) == len(at.scan("ApplicationRegistry"))


# --- administration (PC-X15) ---


def test_pc_x15_an_app_is_added_changed_and_retired_and_each_is_on_record(
    registry: Registry, at: Place
) -> None:
    made = registry.save("My Game", new_app(domains=["*.Game.example.com", "game.example.com"]), OPERATOR)
    assert made.domains == ["game.example.com"]
    assert "My Game" in [app.app_name for app in registry.offered()]
    changed = registry.save("my game", new_app(domains=["other.example.com"]), OPERATOR, expected=1)
    assert (changed.app_name, changed.version, changed.domains) == ("My Game", 2, ["other.example.com"])
    retired = registry.retire("My Game", OPERATOR, expected=2)
    assert retired.retired
    assert "My Game" not in [app.app_name for app in registry.offered()]
    assert registry.app("My Game") is not None  # whose policy has it goes on
    entries = list(at.db.all(d.audit.of(AUDITED_AS)))
    assert sorted(entry.action for entry in entries) == ["app.add", "app.change", "app.retire"]
    assert {entry.actor for entry in entries} == {OPERATOR.name}


def test_a_change_of_what_somebody_else_changed_meanwhile_is_refused_with_what_it_is_now(
    registry: Registry,
) -> None:
    registry.save("My Game", new_app(), OPERATOR)
    registry.save("My Game", new_app(description="theirs"), OPERATOR, expected=1)
    with pytest.raises(VersionConflict) as refused:
        registry.save("My Game", new_app(description="ours"), OPERATOR, expected=1)
    assert isinstance(refused.value.current, App)
    assert refused.value.current.description == "theirs"
    with refuses("VERSION_CONFLICT"):
        registry.retire("My Game", OPERATOR, expected=1)
    with refuses("VERSION_CONFLICT"):
        registry.save("No Such Game", new_app(), OPERATOR, expected=3)


def test_saving_what_is_there_already_writes_nothing(registry: Registry) -> None:
    tiktok = registry.app("TikTok")
    assert tiktok is not None
    assert registry.save("TikTok", as_json(tiktok), OPERATOR) == tiktok
    assert registry.load().kept == ()


@pytest.mark.parametrize(
    ("fields", "code", "field"),
    [
        (new_app(domains=["not a domain"]), "INVALID_DOMAIN", "domains[0]"),
        (new_app(domains=["ok.example.com", "com"]), "INVALID_DOMAIN", "domains[1]"),
        (new_app(ipRanges=["10.0.0.1/8"]), "INVALID_CIDR", "ipRanges[0].cidr"),
        (new_app(defaultPorts=[{"port": 0, "protocol": "TCP"}]), "INVALID_PORT", "defaultPorts[0].port"),
        (new_app(defaultPorts=[{"port": 1, "protocol": "ICMP"}]), "INVALID_APP", "defaultPorts.0.protocol"),
        (new_app(domains=[]), "INVALID_APP", "domains"),
        (new_app(popularity=0), "INVALID_APP", "popularity"),
        (new_app(appCategory=" "), "INVALID_NAME", "appCategory"),
        (new_app(colour="red"), "INVALID_APP", "colour"),
        (new_app(domains=[f"d{n}.example.com" for n in range(201)]), "LIMIT_EXCEEDED", "domains"),
    ],
)
def test_pc_x14_a_mistake_in_an_app_names_its_field(
    registry: Registry, fields: Json, code: str, field: str
) -> None:
    with refuses(code, field):
        registry.save("My Game", fields, OPERATOR)
    assert registry.app("My Game") is None


@pytest.mark.parametrize("name", ["", "a#b", "*", "x" * 81])
def test_a_name_that_cannot_be_one_is_refused(registry: Registry, name: str) -> None:
    with refuses("INVALID_APP", "appName"):
        registry.save(name, new_app(), OPERATOR)


def test_pc_d10_an_operator_may_decide_for_a_range_what_the_rule_decides_otherwise(
    registry: Registry,
) -> None:
    wide = {"cidr": "128.116.0.0/17", "enforce": True}
    app = registry.save("My Game", new_app(ipRanges=[wide, "128.116.0.0/17", "104.16.1.0/24"]), OPERATOR)
    assert [(one.cidr, one.enforce) for one in app.ip_ranges] == [
        ("128.116.0.0/17", False),  # said twice: the last word counts
        ("104.16.1.0/24", False),
    ]
    app = registry.save("My Game", new_app(ipRanges=[wide]), OPERATOR)
    assert app.ip_ranges == [IpRange(cidr="128.116.0.0/17", enforce=True)]
    assert app.default_ports == [Port(port=443)]


def test_nobody_retires_what_is_not_there(registry: Registry) -> None:
    with refuses("APP_NOT_FOUND"):
        registry.retire("No Such Game", OPERATOR)


def test_pc_x15_before_a_change_it_is_told_which_policies_and_children_it_is_about(
    registry: Registry, at: Place
) -> None:
    sarah, zoes = at.child(), at.child(ZOE, OTHER_PHONE)
    first = at.policy(sarah, "TikTok", "YouTube")
    second = at.policy(sarah, "TikTok")
    third = at.policy(zoes, "TikTok", by=ZOE)
    at.policy(sarah, "YouTube")
    gone = at.policy(sarah, "TikTok")
    at.parental.policies.delete(sarah, gone.policy_id, ANNA)
    found = registry.affected("tiktok")
    assert {one.policy_id for one in found.policies if one.child == sarah.child} == {
        first.policy_id, second.policy_id,
    }  # fmt: skip
    assert len(found.policies) == 3
    assert third in found.policies
    assert sorted(found.children) == sorted([sarah.child, zoes.child])
    assert registry.affected("Fortnite").policies == ()


# --- the cache (PC-16, PC-D34) ---


class Counting:
    """A line to the tables that counts the scans."""

    def __init__(self, call: Call) -> None:
        self._call, self.scans = call, 0

    def __call__(self, verb: str, request: Any) -> Any:
        self.scans += verb == "Scan"
        return self._call(verb, request)


def counting(at: Place) -> tuple[Repository, Counting]:
    line = Counting(at.call)
    db = Db(line, d.PARENTAL, world=at.clock.world(), environment=at.db.environment)
    return Repository(db, at.clock.world()), line


def test_pc_16_the_list_is_read_from_the_table_once_in_300_seconds(at: Place, registry: Registry) -> None:
    repository, line = counting(at)
    cached = Registry(repository)
    for _ in range(20):
        assert cached.app("tiktok") is not None
        assert len(cached.all()) >= 105
    assert line.scans == 1
    at.clock.move(LIFETIME)
    cached.all()
    assert line.scans == 2


def test_who_writes_reads_what_they_wrote_at_once(registry: Registry) -> None:
    version = registry.version()
    registry.save("My Game", new_app(), OPERATOR)
    assert registry.app("My Game") is not None
    assert registry.version() != version


def test_a_read_that_was_under_way_during_a_change_is_not_kept(at: Place, registry: Registry) -> None:
    """It read the old list, the change came, and only then would it keep what it read: for 300 seconds."""
    repository, line = counting(at)
    cached = Registry(repository)
    real = line._call

    def change_meanwhile(verb: str, request: Any) -> Any:
        answer = real(verb, request)
        if verb == "Scan" and line.scans == 1:
            registry.save("My Game", new_app(), OPERATOR)
            cached.forget()  # as the stream tells it
        return answer

    line._call = change_meanwhile
    assert cached.app("My Game") is None
    assert cached.app("My Game") is not None


# --- two nodes (PC-S12) ---


@contextmanager
def following(*consumers: Consumer) -> Iterator[None]:
    """Followers that run as they do in a service."""
    stop = threading.Event()
    threads = [threading.Thread(target=consumer.run, args=(stop,)) for consumer in consumers]
    for consumer in consumers:
        consumer.create_tables()
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def within(seconds: float, holds: Callable[[], bool]) -> float:
    """How long it took until it held."""
    began = time.monotonic()
    while not holds():
        assert time.monotonic() - began < seconds, f"not within {seconds} s"
        time.sleep(0.02)
    return time.monotonic() - began


def propagates(caches: tuple[Cache, Cache], names: tuple[str, ...]) -> None:
    """A change through one node is seen on the other within 5 s, and by who follows changes."""
    with reached("embedded", targets.endpoint, real_world(), d.PARENTAL) as place:
        db = Db(place.call, d.PARENTAL, environment=place.environment)
        repository = Repository(db, db.world)
        here, there = (Registry(repository, cache) for cache in caches)
        heard: list[str] = []
        here.load()
        told = [
            (here, there)[number % 2].follower(
                lambda change: heard.append(change.after.app_name if change.after else ""), node=name
            )
            for number, name in enumerate(names)
        ]
        tiktok = there.app("TikTok")
        assert tiktok is not None
        assert here.app("TikTok") == tiktok
        with following(*told):
            more = as_json(tiktok, domains=[*tiktok.domains, "*.tiktokcdn-us.com"])
            here.save("TikTok", more, OPERATOR)
            within(30, lambda: "tiktokcdn-us.com" in (there.app("TikTok") or tiktok).domains)
            assert there.version() == here.version()
            within(30, lambda: "TikTok" in heard)


def test_pc_s12_a_change_is_seen_on_every_node_within_5_seconds() -> None:
    world = real_world()
    propagates((MemoryCache[bytes](world), MemoryCache[bytes](world)), ("node-a", "node-b"))


def test_a_node_that_heard_of_no_change_is_right_again_when_its_time_is_over(at: Place) -> None:
    here, deaf = Registry(at.parental.repository), Registry(at.parental.repository)
    here.load()
    assert deaf.app("My Game") is None
    here.save("My Game", new_app(), OPERATOR)
    assert deaf.app("My Game") is None
    at.clock.move(LIFETIME)
    assert deaf.app("My Game") is not None


def test_a_cache_in_memory_stays_small(at: Place) -> None:
    kept = MemoryCache[bytes](replace(real_world(), now=at.clock.now), most=10)
    for n in range(100):
        kept.set(f"key {n}", "0", b"value", LIFETIME)
    assert sum(kept.get(f"key {n}", "0") is not None for n in range(100)) <= 10
    assert kept.get("key 99", "0") == b"value"
