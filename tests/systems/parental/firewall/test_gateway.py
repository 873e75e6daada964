"""How a gateway is set up by its file."""

import json
from pathlib import Path

import pytest

from tablewright.systems.parental.firewall.dns import Dnsmasq, Resolver
from tablewright.systems.parental.firewall.driver import Rejected
from tablewright.systems.parental.firewall.namespace import command, made_inside
from tablewright.systems.parental.firewall.nftables import FILE, NftOptions, options_in
from tablewright.systems.parental.model import DnsGuard


def written(home: Path, **settings: object) -> Path:
    (home / FILE).write_text(json.dumps(settings))
    return home


def test_without_a_file_names_are_learned_from_the_machines_dns_server(tmp_path: Path) -> None:
    assert options_in(tmp_path, "lan") == NftOptions(
        tmp_path, names=Resolver(namespace="lan"), namespace="lan"
    )


def test_the_file_says_how_the_gateway_is_driven(tmp_path: Path) -> None:
    home = written(
        tmp_path,
        namespace="home",
        dnsmasq={"config": str(tmp_path / "names.conf"), "restart": ["true"]},
        logGroup=7,
    )
    guard = DnsGuard(
        safe=["192.0.2.0/28"], guarded=["10.20.0.0/16", "fd00:20::/64"], refuses_encrypted_dns=True
    )
    options = options_in(home, "lan", guard)
    assert isinstance(options.names, Dnsmasq)
    assert options.names.resolver == Resolver("127.0.0.1", namespace="home")
    assert options.names.config == tmp_path / "names.conf"
    options.names.restart()
    assert options.guard == guard
    assert (options.namespace, options.log_group) == ("home", 7)


@pytest.mark.parametrize(
    ("settings", "where"),
    [
        ({"guarded": ["10.20.0.0/16"]}, "guarded: operators set this with the firewall"),
        ({"dnsmasq": {"config": "x", "restart": []}}, "dnsmasq.restart"),
        ({"dnsServer": "dns.example"}, "dnsServer"),
        ({"logGroup": -1}, "logGroup"),
        ({"logGROUP": 5}, "logGROUP"),
    ],
)
def test_a_mistake_in_the_file_is_named_by_its_place(
    tmp_path: Path, settings: dict[str, object], where: str
) -> None:
    with pytest.raises(Rejected, match=where):
        options_in(written(tmp_path, **settings))


def test_a_file_that_is_no_json_is_refused(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("{")
    with pytest.raises(Rejected, match="the file"):
        options_in(tmp_path)


@pytest.mark.parametrize("namespace", ["-all", "../lan", "lan; true", ""])
def test_a_namespace_is_a_name_and_nothing_else(namespace: str) -> None:
    with pytest.raises(Rejected):
        command(namespace, ["true"])
    with pytest.raises(Rejected):
        made_inside(namespace, lambda: None)
