"""The fake is judged by a client it was not made for: `fmcapi` as it is on PyPI, end to end.

It looks at the machine's clock and waits in real time, so the fake lives in the real world here, with deployments that
take no time.
"""

import logging
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.systems.parental.firewall import fake_fmc
from tests.systems.parental.firewall.contract import CHILD, SIBLING, rule, to
from tests.systems.parental.firewall.fake_fmc import PASSWORD, USER, FakeFmc, Served

from tablewright.systems.parental.firewall.cisco_fmc import CiscoFmc
from tablewright.systems.parental.firewall.driver import Flow
from tablewright.systems.parental.firewall.fmc_deployments import Waits
from tablewright.world import real_world

# It is written for older Pythons: escapes in its strings and its clock are told off by newer ones.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::SyntaxWarning"),
    pytest.mark.filterwarnings("ignore:Unverified HTTPS request"),
]


@pytest.fixture(scope="module")
def fmcapi() -> Any:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("fmcapi")


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    fmc = FakeFmc(real_world())
    fmc.deploy_takes = fmc.listed_after = timedelta(0)
    root = logging.getLogger()
    level = root.level
    with fake_fmc.serving(fmc, tmp_path) as served:
        yield served
    # The client sets the level of everybody's logger.
    root.setLevel(level)


def signed_in(fmcapi: Any, served: Served, **options: Any) -> Any:
    given = {"username": USER, "password": PASSWORD, "wait_time": 0, "logging_level": "WARNING", **options}
    return fmcapi.FMC(host=served.address, **given)


def test_policy_objects_rule_and_deployment_of_a_stranger_s_client(fmcapi: Any, served: Served) -> None:
    fmc = served.fmc
    with signed_in(fmcapi, served, autodeploy=True) as api:
        assert api.serverVersion == fmc.version
        host = fmcapi.Hosts(fmc=api, name="child", value=CHILD)
        host.post()
        network = fmcapi.Networks(fmc=api, name="video", value="198.51.100.0/28")
        network.post()
        made = fmcapi.AccessRules(
            fmc=api, acp_id=fmc.policy_id, name="PARENTAL_BLOCK_+1555", action="BLOCK", enabled=True
        )
        made.source_network(action="add", name="child")
        made.destination_network(action="add", name="video")
        made.post()
        # It changes names it does not like, without a word: the reason why nothing is looked up by name alone.
        assert [one["name"] for one in fmc.rules[fmc.policy_id]] == ["PARENTAL_BLOCK__1555"]
        assert not fmc.is_blocked(to("video.example"))
    assert fmc.is_blocked(to("video.example"))
    assert not fmc.is_blocked(to("video.example", source=SIBLING))
    assert not fmc.is_blocked(to("game.example"))


def test_lists_pages_and_duplicates_of_a_stranger_s_client(fmcapi: Any, served: Served) -> None:
    served.fmc.requests_per_minute = 1000
    with signed_in(fmcapi, served, autodeploy=False, limit=3) as api:
        assert fmcapi.Hosts(fmc=api).get()["items"] == []
        for number in range(8):
            fmcapi.Hosts(fmc=api, name=f"host{number}", value=f"10.0.0.{number}").post()
        assert len(fmcapi.Hosts(fmc=api).get()["items"]) == 8
        assert not fmcapi.Hosts(fmc=api, name="host1", value="10.0.0.99").post()
        assert "Duplicate" in api.error_response["error"]["messages"][0]["description"]
        found = fmcapi.Hosts(fmc=api, name="host5")
        found.get()
        found.delete()
        assert len(fmcapi.Hosts(fmc=api).get()["items"]) == 7


def test_a_stranger_s_client_and_ours_see_the_same_dynamic_objects(fmcapi: Any, served: Served) -> None:
    driver = CiscoFmc(
        fake_fmc.connection(served), served.fmc.policy_id, real_world(), waits=Waits(poll=0.01, listed=1.0)
    )
    try:
        made = driver.ensure(rule())
        assert driver.deploy().was_needed
        with signed_in(fmcapi, served, autodeploy=False) as api:
            marker = fmcapi.DynamicObject(fmc=api, name=rule().name)
            assert marker.get()["id"] == made.id
            rules = fmcapi.AccessRules(fmc=api, acp_id=served.fmc.policy_id).get()["items"]
            source = rules[0]["sourceDynamicObjects"]["objects"][0]
            theirs = fmcapi.DynamicObjectMappings(fmc=api)
            theirs.handle_mappings(action="add", value=[SIBLING], name=source["name"])
            theirs.post()
        assert served.fmc.is_blocked(to("video.example", source=SIBLING))
        assert [one.source for one in driver.list() if "unowned" in one.name] == [SIBLING]
    finally:
        driver.close()


def test_hit_counts_of_a_stranger_s_client(fmcapi: Any, served: Served) -> None:
    fmc = served.fmc
    with signed_in(fmcapi, served, autodeploy=True) as api:
        made = fmcapi.AccessRules(fmc=api, acp_id=fmc.policy_id, name="all", action="BLOCK", enabled=True)
        made.post()
    fmc.send(Flow(CHILD, "198.51.100.1"))
    fmc.send(Flow(CHILD, "198.51.100.2"))
    with signed_in(fmcapi, served, autodeploy=False) as api:
        counts = fmcapi.HitCounts(fmc=api, acp_id=fmc.policy_id, device_id=fmc.device.id).get()
    assert [one["hitCount"] for one in counts["items"]] == [2]


def test_a_wrong_password_of_a_stranger_s_client(fmcapi: Any, served: Served) -> None:
    with pytest.raises(SystemExit):
        signed_in(fmcapi, served, password="wrong").__enter__()
