"""A firewall's secret is sent to the firewall it is for, and to no other host (PC-E1, PC-X1)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.systems.parental.firewall.fake_fmc import PASSWORD, USER, FakeFmc, Served, serving
from tests.systems.parental.talk import OPERATOR, SECRET, Api, Place
from tests.systems.talk import given, refused

from tablewright.edge.errors import Refused
from tablewright.systems.parental import design as d
from tablewright.systems.parental.firewall.device_secrets import DeviceSecrets
from tablewright.systems.parental.firewall.devices import Devices, open_driver
from tablewright.systems.parental.firewall.driver import Unavailable
from tablewright.systems.parental.firewall.endpoints import BadEndpoint, endpoint, is_local
from tablewright.systems.parental.firewall.fmc_client import Connection, FmcClient
from tablewright.systems.parental.model import Device
from tablewright.systems.parental.parental import open_parental

BAD_ADDRESSES = [
    "fmc.example:0",
    "fmc.example:65536",
    "fmc.example:443x",
    "fmc.example:",
    "fmc.example\r\nX-Extra: 1",
    "fmc.example\n",
    " fmc.example",
    "fmc .example",
    "user@fmc.example",
    "user:password@fmc.example",
    "http://fmc.example",
    "ftp://fmc.example",
    "https://fmc.example/path",
    "fmc.example?x=1",
    "fmc.example#x",
    "[fe80::1%eth0]",
    "[::1",
    "127.1",
    "2130706433",
    "0x7f000001",
    "é.example",
    "-fmc.example",
    "fmc..example",
    "a" * 64 + ".example",
]
LOCAL = [
    "127.0.0.1",
    "localhost",
    "fmc.localhost",
    "169.254.169.254",
    "[::1]:443",
    "[fe80::1]",
    "0.0.0.0",
    "[::ffff:127.0.0.1]",
]


def _fmc(id: str = "fmc", address: str = "fmc.example", secret: str | None = "fmc-login") -> Device:
    return Device(
        device_id=id, kind="cisco_fmc", name=id, address=address, access_policy_id="p", secret_name=secret
    )


def _written(home: Path, name: str, *lines: str) -> None:
    home.mkdir(exist_ok=True)
    (home / name).write_text("\n".join(lines))
    (home / name).chmod(0o600)


@pytest.fixture
def secrets(at: Place, tmp_path: Path) -> DeviceSecrets:
    _written(tmp_path / "secrets", "fmc-login", f"{USER}:{PASSWORD}", "fmc.example")
    return DeviceSecrets(tmp_path / "secrets")


@pytest.fixture
def devices(at: Place, secrets: DeviceSecrets, tmp_path: Path) -> Iterator[Devices]:
    world = at.clock.world()
    opened = Devices(at.parental.repository, open_driver(tmp_path / "devices", world, secrets.of), secrets)
    yield opened
    opened.close()


def test_a_secret_is_not_sent_to_a_host_of_the_operators_own(
    at: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = at.clock.world()
    for name in ("real", "evil"):
        (tmp_path / name).mkdir()
    with (
        ExitStack() as stack,
        serving(FakeFmc(world), tmp_path / "real") as real,
        serving(FakeFmc(world), tmp_path / "evil") as evil,
    ):
        # Both have a certificate that is trusted, as an attacker's own host has.
        trusted = tmp_path / "ca.pem"
        trusted.write_text(real.ca_file.read_text() + evil.ca_file.read_text())
        monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
        _written(tmp_path / "secrets", "fmc-login", f"{USER}:{PASSWORD}", real.address)
        secrets = DeviceSecrets(tmp_path / "secrets")
        devices = Devices(
            at.parental.repository, open_driver(tmp_path, at.clock.world(), secrets.of), secrets
        )
        stack.callback(devices.close)
        devices.add(_fmc(address=real.address).model_copy(update={"access_policy_id": real.fmc.policy_id}))
        assert devices.health("fmc").is_ok
        with pytest.raises(Refused):
            devices.add(_fmc("evil", evil.address))
        # Also where the row is there, however it came.
        at.db.write(d.devices.create(_fmc("evil", evil.address)))
        told = devices.health("evil")
        assert not told.is_ok
        assert PASSWORD not in told.detail
        assert _asked(evil) == 0
        assert _asked(real) > 0


def _asked(fmc: Served) -> int:
    return len(fmc.fmc.log)


def test_a_secret_is_for_the_host_in_its_file(devices: Devices, secrets: DeviceSecrets) -> None:
    devices.add(_fmc())
    assert secrets.of(_fmc()).password == PASSWORD
    for other in (_fmc("evil", "evil.example"), _fmc("evil", "fmc.example:8443")):
        with pytest.raises(Refused) as refusal:
            devices.add(other)
        assert (refusal.value.code, refusal.value.field) == ("SECRET_OF_ANOTHER_HOST", "secretName")
        with pytest.raises(Unavailable):
            secrets.of(other)
    # The same host, for another access policy.
    devices.add(_fmc("second", "https://FMC.example:443"))


@pytest.mark.parametrize("lines", [(), (f"{USER}:{PASSWORD}",), (f"{USER}:{PASSWORD}", "a b")])
def test_a_secret_that_names_no_host_is_sent_to_none(
    devices: Devices, secrets: DeviceSecrets, tmp_path: Path, lines: tuple[str, ...]
) -> None:
    late = _fmc(secret="fmc-late")
    if lines:
        _written(tmp_path / "secrets", "fmc-late", *lines)
    devices.add(late)
    with pytest.raises(Unavailable) as unused:
        secrets.of(late)
    assert PASSWORD not in str(unused.value)
    assert not devices.health("fmc").is_ok
    # The device that named it first has no claim to it.
    _written(tmp_path / "secrets", "fmc-late", f"{USER}:{PASSWORD}", "other.example")
    with pytest.raises(Unavailable, match=r"is for other\.example:443"):
        secrets.of(late)


def test_another_address_needs_a_secret_of_its_own_or_its_file_written_again(
    devices: Devices, tmp_path: Path
) -> None:
    devices.add(_fmc())
    with pytest.raises(Refused, match=r"is for fmc\.example:443"):
        devices.change("fmc", address="moved.example")
    assert devices.get("fmc").address == "fmc.example"
    _written(tmp_path / "secrets", "fmc-login", f"{USER}:{PASSWORD}", "moved.example")
    assert devices.change("fmc", address="moved.example").address == "moved.example"
    _written(tmp_path / "secrets", "fmc-2", f"{USER}:{PASSWORD}", "third.example")
    assert devices.change("fmc", address="third.example", secret_name="fmc-2").address == "third.example"


# --- addresses ---


@pytest.mark.parametrize("address", BAD_ADDRESSES)
def test_an_address_that_is_none_is_refused(at: Place, api: Api, address: str) -> None:
    body = {"deviceId": "x", "name": "X", "kind": "cisco_fmc", "address": address, "accessPolicyId": "p"}
    answer = api.post("/devices", body, by=OPERATOR)
    assert (*refused(answer), answer.json()["field"]) == (422, "INVALID_ADDRESS", "address")
    with pytest.raises(BadEndpoint):
        endpoint(address)


@pytest.mark.parametrize("address", BAD_ADDRESSES)
def test_health_of_a_firewall_with_a_bad_address_is_an_answer(
    at: Place, devices: Devices, address: str
) -> None:
    at.db.write(d.devices.create(_fmc(address=address)))
    told = devices.health("fmc")
    assert not told.is_ok
    assert told.detail


@pytest.mark.parametrize("kind", ["nftables", "simulated"])
@pytest.mark.parametrize("address", ["a b", "a\r\nb", "../x", "x/y", "a@b", " "])
def test_other_kinds_have_addresses_without_odd_letters_too(api: Api, kind: str, address: str) -> None:
    body = {"deviceId": "x", "name": "X", "kind": kind, "address": address}
    assert refused(api.post("/devices", body, by=OPERATOR)) == (422, "INVALID_ADDRESS")
    given(api.post("/devices", {**body, "address": "children"}, by=OPERATOR), 201)
    assert refused(api.patch("/devices/x", {"address": address}, by=OPERATOR)) == (422, "INVALID_ADDRESS")


@pytest.mark.parametrize("address", LOCAL)
def test_the_server_itself_and_its_link_are_reached_only_if_the_secret_names_them(
    devices: Devices, tmp_path: Path, address: str
) -> None:
    assert is_local(endpoint(address).host)
    with pytest.raises(Refused) as refusal:
        devices.add(_fmc(address=address))
    assert (refusal.value.code, refusal.value.field) == ("SECRET_OF_ANOTHER_HOST", "secretName")
    _written(tmp_path / "secrets", "fmc-login", f"{USER}:{PASSWORD}", address)
    assert devices.add(_fmc(address=address)).address == address


def test_a_name_that_leads_to_the_server_itself_is_sent_nothing(at: Place, tmp_path: Path) -> None:
    with serving(FakeFmc(at.clock.world()), tmp_path) as fmc:
        connection = Connection(fmc.address, USER, PASSWORD, ca_file=fmc.ca_file, may_be_local=False)
        client = FmcClient(connection, at.clock.world())
        with pytest.raises(Unavailable, match="leads to this machine"):
            client.platform("/info/serverversion")
        client.close()
        assert _asked(fmc) == 0


def test_the_routes_use_the_secrets_of_the_service(at: Place, secrets: DeviceSecrets, tmp_path: Path) -> None:
    drivers = open_driver(tmp_path, at.clock.world(), secrets.of)
    parental = open_parental(
        at.db, at.clock.world(), SECRET, at.parental.issue, drivers=drivers, secrets=secrets
    )
    parental.devices.add(_fmc())
    with pytest.raises(Refused):
        parental.devices.add(_fmc("evil", "evil.example"))
