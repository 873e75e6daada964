"""Rules: what of an app is blocked, in one form, and what never is."""

from __future__ import annotations

import re
from dataclasses import replace
from ipaddress import ip_network
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties.effort import effort
from tests.systems.parental.written import app

from tablewright.edge.errors import BadRequest
from tablewright.systems.parental import field_rules
from tablewright.systems.parental.firewall import compiler
from tablewright.systems.parental.firewall.compiler import compile_rule, left_out, rule_name
from tablewright.systems.parental.firewall.driver import PortOf, Rule
from tablewright.systems.parental.model import EVERYTHING, App, BlockedApp, IpRange
from tablewright.systems.parental.policy.destinations import (
    SHARED,
    SHARED_NAMES,
    check_cidr,
    check_domain,
    check_port,
    is_under,
    not_enforced,
)

TIKTOK = app(
    "TikTok",
    ["*.tiktok.com", "*.tiktokv.com", "*.musical.ly", "*.tiktokcdn.com"],
    ["443/TCP", "80/TCP"],
    ["23.211.0.0/16", "104.16.0.0/12"],
)
HTTPS, QUIC, HTTP = PortOf("TCP", 443), PortOf("UDP", 443), PortOf("TCP", 80)


def entry(name: str = "TikTok", **more: Any) -> BlockedApp:
    return BlockedApp.model_validate({"appName": name, **more})


def compiled(of: App | None, *asked: BlockedApp, allowed: tuple[str, ...] = ()) -> Rule:
    rule = compile_rule(of, asked or (entry(),), allowed, "10.20.30.40", "PARENTAL_BLOCK_x_y", "label")
    assert rule is not None
    return rule


# --- names ---


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("*.tiktok.com", "tiktok.com"),
        ("TikTok.COM.", "tiktok.com"),
        (" m.tiktok.com ", "m.tiktok.com"),
        ("*.BÜCHER.example", "xn--bcher-kva.example"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("例え.テスト", "xn--r8jz45g.xn--zckzah"),
        ("a_b.example.com", "a_b.example.com"),
        ("bbc.co.uk", "bbc.co.uk"),
        ("www.Cheat.example", "cheat.example"),
        ("*.www.bbc.co.uk", "bbc.co.uk"),
        ("www.co.uk", "www.co.uk"),
        ("www.com", "www.com"),
        ("www.shop.cheat.example", "shop.cheat.example"),
    ],
)
def test_pc_d19_a_domain_has_one_form(text: str, name: str) -> None:
    assert check_domain(text) == name
    assert check_domain(name) == name


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("https://tiktok.com/foo", "only the name"),
        ("tiktok.com:443", "only the name"),
        ("me@tiktok.com", "only the name"),
        ("10.20.30.40", "ipRanges"),
        ("com", "every site under it"),
        ("*.co.uk", "every site under it"),
        ("k12.ca.us", "every site under it"),
        ("*", "a name such as"),
        ("", "a name such as"),
        ("a.*.com", "a name such as"),
        ("-a.com", "a name such as"),
        ("a..com", "a name such as"),
        ("x" * 64 + ".com", "a name such as"),
        (".".join(["abcdefgh"] * 30), "a name such as"),
        ("xn--a.com", "can be registered"),
    ],
)
def test_pc_x14_what_is_no_domain_is_refused_with_its_field(text: str, words: str) -> None:
    with pytest.raises(BadRequest, match=words) as refused:
        check_domain(text, "domains[3]")
    assert (refused.value.code, refused.value.field) == ("INVALID_DOMAIN", "domains[3]")


def test_pc_d19_the_apex_and_its_subdomains_are_one_entry() -> None:
    rule = compiled(
        app(domains=["*.tiktok.com", "tiktok.com", "m.tiktok.com"]), entry(domains=["WWW.tiktok.com"])
    )
    assert rule.domains == ("tiktok.com",)


# --- ranges ---


@pytest.mark.parametrize(
    ("text", "cidr"),
    [
        ("203.0.113.0/24", "203.0.113.0/24"),
        ("203.0.113.7", "203.0.113.7/32"),
        ("2001:DB8::/48", "2001:db8::/48"),
        ("2001:db8:0:0::1", "2001:db8::1/128"),
    ],
)
def test_a_range_has_one_form(text: str, cidr: str) -> None:
    assert check_cidr(text) == cidr
    assert check_cidr(cidr) == cidr


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("300.1.2.3/8", "isn't a valid address range"),
        ("203.0.113.0/33", "isn't a valid address range"),
        ("tiktok.com", "isn't a valid address range"),
        ("", "isn't a valid address range"),
        ("23.211.4.0/16", "Did you mean 23.211.0.0/16"),
        ("127.0.0.0/8", "isn't an address that an app can have"),
        ("ff02::1", "isn't an address that an app can have"),
    ],
)
def test_pc_x14_a_bad_range_is_refused_with_its_field(text: str, words: str) -> None:
    with pytest.raises(BadRequest, match=words) as refused:
        check_cidr(text, "ipRanges[0]")
    assert (refused.value.code, refused.value.field) == ("INVALID_CIDR", "ipRanges[0]")


@pytest.mark.parametrize("port", [0, -1, 65536])
def test_pc_x14_a_bad_port_is_refused_with_its_field(port: int) -> None:
    with pytest.raises(BadRequest) as refused:
        check_port(port, "ports[0].port")
    assert (refused.value.code, refused.value.field) == ("INVALID_PORT", "ports[0].port")


def test_pc_s14_ranges_where_others_live_too_are_not_in_the_rule_and_it_is_said_why() -> None:
    assert compiled(TIKTOK).ranges == ()
    why = {one.value: one.why for one in left_out(TIKTOK, [entry()])}
    assert why == {
        "23.211.0.0/16": "shared: the network of Akamai, which carries many sites",
        "104.16.0.0/12": "shared: the network of Cloudflare, which carries many sites",
    }


@pytest.mark.parametrize(
    ("cidr", "is_enforced"),
    [
        ("198.51.96.0/20", True),
        ("198.51.96.0/19", False),
        ("2001:db8::/44", True),
        ("2001:db8::/43", False),
        ("104.16.1.1/32", False),
        ("2606:4700::1/128", False),
    ],
)
def test_pc_d10_wide_and_shared_ranges_are_not_enforced_by_default(cidr: str, is_enforced: bool) -> None:
    assert (not_enforced(cidr) is None) == is_enforced
    assert IpRange(cidr=cidr).enforce == is_enforced
    asked = entry("Own", ipRanges=[cidr], domains=["example.com"])
    assert compiled(None, asked).ranges == ((str(ip_network(cidr)),) if is_enforced else ())


def test_pc_d10_an_operator_may_decide_otherwise_either_way() -> None:
    ranges = (IpRange(cidr="104.16.0.0/12", enforce=True), IpRange(cidr="203.0.113.0/24", enforce=False))
    assert compiled(app(ranges=ranges)).ranges == ("104.16.0.0/12",)
    (left,) = left_out(app(ranges=ranges), [entry()])
    assert (left.value, left.why) == ("203.0.113.0/24", "switched off by an operator")


def test_ranges_that_lie_in_each_other_or_side_by_side_are_one() -> None:
    ranges = ("203.0.113.0/25", "203.0.113.128/25", "203.0.113.7", "2001:db8::/48", "2001:db8::/64")
    assert compiled(app(ranges=ranges)).ranges == ("203.0.113.0/24", "2001:db8::/48")


def test_the_list_of_shared_networks_is_in_canonical_form() -> None:
    for cidrs in SHARED.values():
        for cidr in cidrs:
            assert str(ip_network(cidr)) == cidr
    for name in SHARED_NAMES:
        assert check_domain(name) == name


def test_what_was_kept_and_is_no_range_or_name_is_left_out_and_told() -> None:
    odd = app(domains=["tiktok.com", "not a name"], ranges=["nonsense"])
    rule = compiled(odd)
    assert (rule.domains, rule.ranges) == (("tiktok.com",), ())
    assert [(one.kind, one.value) for one in left_out(odd, [entry()])] == [
        ("domain", "not a name"), ("range", "nonsense")
    ]  # fmt: skip


# --- ports ---


def test_pc_d20_quic_is_blocked_wherever_https_is() -> None:
    assert compiled(TIKTOK).ports == (HTTP, HTTPS, QUIC)
    assert compiled(app(ports=["3478/UDP"])).ports == (PortOf("UDP", 3478),)


def test_pc_d18_what_a_policy_gives_is_added_to_what_the_registry_says() -> None:
    one = entry(ports=[{"port": 8080}], domains=["*.example.com"], ipRanges=["203.0.113.0/24"])
    rule = compiled(TIKTOK, one, entry(domains=["example.org"]))
    assert rule.ports == (HTTP, HTTPS, PortOf("TCP", 8080), QUIC)
    assert {"example.com", "example.org", "tiktok.com"} < set(rule.domains)
    assert rule.ranges == ("203.0.113.0/24",)


def test_a_policys_own_domains_are_a_rule_of_their_own() -> None:
    """Schedules for domains no registry knows; without ports they are blocked on every port."""
    rule = compiled(None, entry("Our list", domains=["*.example.com"]))
    assert (rule.domains, rule.ports) == (("example.com",), ())
    rule = compiled(None, entry("Our list", domains=["example.com"], ports=[{"port": 443}]))
    assert rule.ports == (HTTPS, QUIC)


def test_one_policy_that_means_every_port_is_not_narrowed_by_another() -> None:
    narrow = entry("Our list", domains=["example.com"], ports=[{"port": 443}])
    assert compiled(None, narrow, entry("Our list", domains=["example.com"])).ports == ()


def test_pc_x5_dns_is_never_blocked() -> None:
    asked = [entry(ports=[{"port": 53, "protocol": "UDP"}])]
    assert PortOf("UDP", 53) not in compiled(TIKTOK, *asked).ports
    assert [one.value for one in left_out(TIKTOK, asked) if one.kind == "port"] == ["53/UDP"]


# --- what is never blocked ---


def test_pc_x5_what_a_family_allows_beats_what_is_blocked() -> None:
    school = app(domains=["youtube.com", "ytimg.com"])
    rule = compiled(school, allowed=("*.YTIMG.com", "learn.youtube.com"))
    assert rule.domains == ("youtube.com",)
    assert {"ytimg.com", "learn.youtube.com"} < set(rule.allowed_domains)
    (left,) = left_out(school, [entry()], ["ytimg.com"])
    assert (left.value, left.why) == ("ytimg.com", "the family always allows ytimg.com")


def test_pc_x5_a_domain_under_an_allowed_one_is_allowed() -> None:
    assert compiled(
        app(domains=["games.school.example", "tiktok.com"]), allowed=("school.example",)
    ).domains == ("tiktok.com",)


def test_pc_x5_the_way_to_help_and_to_the_carrier_is_never_blocked() -> None:
    asked = [entry("Own", domains=["sos.epdg.epc.mnc001.mcc262.pub.3gppnetwork.org", "childline.org.uk"])]
    assert compile_rule(None, asked, [], "10.0.0.1", "n") is None
    assert len(left_out(None, asked)) == 2
    assert set(compiler.SAFE) <= set(compiled(TIKTOK).allowed_domains)


def test_a_name_that_very_many_sites_share_is_not_blocked_whole() -> None:
    asked = entry("Own", domains=["cloudfront.net", "d123.cloudfront.net"])
    assert compiled(None, asked).domains == ("d123.cloudfront.net",)
    (left,) = left_out(None, [asked])
    assert (left.kind, left.value) == ("domain", "cloudfront.net")


@pytest.mark.parametrize(
    ("of", "asked", "allowed"),
    [
        (app(domains=["tiktok.com"]), [entry()], ["tiktok.com"]),
        (app(domains=[], ranges=["104.16.0.0/12"]), [entry()], []),
        (app(domains=[], ports=["443/TCP"]), [entry()], []),
        (app(ports=["53/UDP"]), [entry()], []),
        (None, [entry("Unknown")], []),
        (None, [], []),
        (None, [entry(EVERYTHING, ports=[{"port": 53, "protocol": "TCP"}])], []),
    ],
)
def test_where_nothing_is_left_to_block_there_is_no_rule_instead_of_one_for_everything(
    of: App | None, asked: list[BlockedApp], allowed: list[str]
) -> None:
    assert compile_rule(of, asked, allowed, "10.20.30.40", "PARENTAL_BLOCK_x_y") is None


def test_everything_is_a_rule_without_destinations_that_still_lets_the_allowed_pass() -> None:
    rule = compiled(None, entry(EVERYTHING), allowed=("school.example", *compiler.domains_of(TIKTOK)))
    assert (rule.domains, rule.ranges, rule.ports) == ((), (), ())
    assert {"school.example", "tiktok.com", "3gppnetwork.org"} < set(rule.allowed_domains)


# --- names and digests ---


def test_pc_d21_a_rules_name_tells_nobody_who_the_child_is() -> None:
    name = rule_name(b"secret", "+15551234567", "TikTok", "10.20.30.40")
    assert re.fullmatch(r"PARENTAL_BLOCK_[0-9a-f]{12}_TikTok", name)
    assert "5551234567" not in name
    assert name == rule_name(b"secret", "+15551234567", "TikTok", "10.20.30.40")


def test_a_rules_name_differs_by_secret_child_app_and_address() -> None:
    names = {
        rule_name(b"secret", "+15551234567", "TikTok", "10.20.30.40"),
        rule_name(b"other", "+15551234567", "TikTok", "10.20.30.40"),
        rule_name(b"secret", "+15551234567~2", "TikTok", "10.20.30.40"),
        rule_name(b"secret", "+15551234567", "Tik Tok", "10.20.30.40"),
        rule_name(b"secret", "+15551234567", "Tik-Tok", "10.20.30.40"),
        rule_name(b"secret", "+15551234567", "TikTok", "10.20.30.41"),
    }
    assert len(names) == 6


@given(st.text(max_size=80))
@effort(50)
def test_pc_d21_every_rule_name_is_safe_for_devices(name: str) -> None:
    made = rule_name(b"secret", "+15551234567", name)
    assert re.fullmatch(r"PARENTAL_BLOCK_[0-9a-f]{12}_[A-Za-z0-9_-]+", made)
    assert len(made) <= 50


def test_a_long_name_is_cut_without_a_dash_left_over() -> None:
    made = rule_name(b"secret", "+15551234567", "A" * 21 + " and more")
    assert made.endswith("_" + "A" * 21)


def test_everything_has_a_name_people_can_read() -> None:
    assert rule_name(b"secret", "+15551234567", EVERYTHING).endswith("_everything")


def test_equal_content_has_an_equal_digest_whatever_the_order_in_which_it_was_written() -> None:
    one = compiled(app(domains=["b.com", "a.com"], ports=["80/TCP", "443/TCP"]), allowed=("x.org", "y.org"))
    other = compiled(
        app(domains=["*.a.com", "B.com", "a.com"], ports=["443/TCP", "80/TCP"]), allowed=("y.org", "x.org")
    )
    assert one == other


def test_a_digest_stays_the_same_from_one_version_of_ours_to_the_next() -> None:
    """Devices keep it: if it changed by itself, every rule there would be made again."""
    rule = Rule("name", "10.0.0.1", ("a.com",), (HTTPS, QUIC), ("203.0.113.0/24",), ("b.com",), "label")
    assert compiler.digest(rule) == "23263261fad3f17b7d54538f6e9f8cb9"


@pytest.mark.parametrize(
    "change",
    [
        {"name": "n"}, {"source": "10.0.0.9"}, {"domains": ("a.com",)}, {"ports": (HTTP,)},
        {"ranges": ("203.0.113.0/24",)}, {"allowed_domains": ()}, {"label": "other"},
    ],
)  # fmt: skip
def test_a_digest_tells_every_difference(change: dict[str, Any]) -> None:
    rule = compiled(TIKTOK)
    assert compiler.digest(replace(rule, **change)) != rule.digest


def test_an_address_has_one_form_too() -> None:
    rule = compile_rule(TIKTOK, [entry()], [], "2001:DB8:0::1", "n")
    assert rule is not None
    assert rule.source == "2001:db8::1"


def test_the_history_is_told_what_a_rule_blocks() -> None:
    assert compiler.applied(compiled(app(ranges=["203.0.113.0/24"]))) == {
        "domains": ["tiktok.com"], "ports": ["443/TCP", "443/UDP"], "ranges": ["203.0.113.0/24"]
    }  # fmt: skip


def test_an_entry_is_kept_in_one_form() -> None:
    raw = entry(
        domains=["*.Example.com", "example.com"], ipRanges=["203.0.113.7"], ports=[{"port": 1}, {"port": 1}]
    )
    assert field_rules.checked_apps([raw]) == [
        entry(domains=["example.com"], ipRanges=["203.0.113.7/32"], ports=[{"port": 1}])
    ]


@pytest.mark.parametrize(
    ("bad", "field"),
    [
        ({"domains": ["a.com", "nope"]}, "blockedApps[0].domains[1]"),
        ({"ipRanges": ["1.2.3.4/99"]}, "blockedApps[0].ipRanges[0]"),
        ({"ports": [{"port": 443}, {"port": 0}]}, "blockedApps[0].ports[1].port"),
    ],
)
def test_pc_x14_a_mistake_in_an_entry_names_its_field(bad: dict[str, Any], field: str) -> None:
    with pytest.raises(BadRequest) as refused:
        field_rules.checked_apps([entry(**bad)])
    assert refused.value.field == field


names = st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=3).map(
    lambda parts: ".".join([*parts, "com"])
)


@given(st.lists(names, max_size=6), st.lists(names, max_size=4))
@effort(150)
def test_a_name_is_in_the_rule_or_left_out_never_both_never_neither(
    blocked: list[str], allowed: list[str]
) -> None:
    of = app(domains=blocked)
    rule = compile_rule(of, [entry()], allowed, "10.0.0.1", "n")
    left = {one.value for one in left_out(of, [entry()], allowed)}
    in_rule = () if rule is None else rule.domains
    for name in blocked:
        is_allowed = any(is_under(name, one) for one in allowed)
        assert (name in left) == is_allowed
        assert is_allowed or any(is_under(name, one) for one in in_rule)
    assert not any(is_under(name, one) for name in in_rule for one in allowed)
