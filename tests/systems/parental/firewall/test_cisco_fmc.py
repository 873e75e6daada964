"""The driver for Cisco's Management Center beyond the contract: deployments, limits, tokens, and what may go wrong."""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.systems.parental.firewall import fake_fmc
from tests.systems.parental.firewall.contract import CHILD, HOSTS, SIBLING, WEB, rule, to
from tests.systems.parental.firewall.fake_fmc import PASSWORD, FakeFmc, Served

from tablewright.systems.parental.firewall.cisco_fmc import CiscoFmc
from tablewright.systems.parental.firewall.compiler import SAFE
from tablewright.systems.parental.firewall.driver import (
    PREFIX,
    Conflict,
    FirewallMistake,
    Flow,
    PortOf,
    RateLimited,
    Rejected,
    Rule,
    Unavailable,
    stops,
)
from tablewright.systems.parental.firewall.fmc_deployments import Waits
from tablewright.systems.parental.firewall.fmc_rules import Ref, access_rules, content_of
from tablewright.testing import Clock
from tablewright.world import real_world

DAY = timedelta(days=1)


@dataclass
class Site:
    """A fake, a clock for it and us, and drivers on demand."""

    clock: Clock
    served: Served
    stack: ExitStack

    @property
    def fmc(self) -> FakeFmc:
        return self.served.fmc

    def pause(self, seconds: float) -> None:
        self.clock.move(timedelta(seconds=seconds))

    def driver(self, connection: dict[str, Any] | None = None, **changes: Any) -> CiscoFmc:
        changes = {"access_policy_id": self.fmc.policy_id, **changes}
        reached = replace(fake_fmc.connection(self.served), **(connection or {}))
        made = CiscoFmc(reached, world=self.clock.world(), sleep=self.pause, **changes)
        self.stack.callback(made.close)
        return made

    def sent(self, since: int = 0, method: str = "", path: str = "") -> list[tuple[str, str, int]]:
        return [one for one in self.fmc.log[since:] if one[0].startswith(method) and path in one[1]]

    def deployments(self) -> int:
        return len(self.fmc.tasks)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    clock = Clock()
    with ExitStack() as stack:
        served = stack.enter_context(fake_fmc.serving(FakeFmc(clock.world()), tmp_path))
        yield Site(clock, served, stack)


# --- deployments ---


def test_a_window_that_opens_again_needs_no_deployment_and_two_writes(site: Site) -> None:
    driver = site.driver()
    driver.remove(driver.ensure(rule()).id)
    assert driver.deploy().was_needed
    before = len(site.fmc.log)
    made = driver.ensure(rule())
    assert site.fmc.is_blocked(to("video.example"))
    assert made.details["inForce"] == "yes"
    assert [one[0] for one in site.sent(before, "P")] == ["POST", "POST"]
    driver.remove(made.id)
    assert not site.fmc.is_blocked(to("video.example"))
    assert not driver.deploy().was_needed
    assert site.deployments() == 1


def test_an_address_that_changes_needs_no_deployment(site: Site) -> None:
    driver = site.driver()
    driver.ensure(rule())
    driver.deploy()
    driver.ensure(rule(source=SIBLING))
    assert site.fmc.is_blocked(to("video.example", source=SIBLING))
    assert not site.fmc.is_blocked(to("video.example"))
    assert not driver.deploy().was_needed


def test_a_child_more_for_the_same_app_needs_no_deployment(site: Site) -> None:
    driver = site.driver()
    driver.ensure(rule())
    driver.deploy()
    driver.ensure(rule("000000000009_Video", source="2001:db8::7"))
    assert site.fmc.is_blocked(to("video.example", source="2001:db8::7"))
    assert not driver.deploy().was_needed
    assert len(driver.list()) == 2


def test_a_family_s_list_of_allowed_sites_makes_no_new_access_rules_where_it_makes_no_difference(
    site: Site,
) -> None:
    driver = site.driver()
    driver.ensure(rule(allowed_domains=("school.example",)))
    driver.deploy()
    driver.ensure(
        rule("000000000009_Video", source=SIBLING, allowed_domains=("club.example", "school.example"))
    )
    assert site.fmc.is_blocked(to("video.example", source=SIBLING))
    assert not driver.deploy().was_needed


def test_what_is_not_deployed_says_so_and_does_not_block(site: Site) -> None:
    driver = site.driver()
    made = driver.ensure(rule())
    assert made.details["inForce"] == "not deployed"
    assert not site.fmc.is_blocked(to("video.example"))
    driver.deploy()
    read = driver.get(made.id)
    assert read is not None
    assert read.details == {"inForce": "yes", "label": "Video"}


def test_the_old_content_blocks_until_the_new_one_is_deployed(site: Site) -> None:
    driver = site.driver()
    driver.ensure(rule())
    driver.deploy()
    driver.ensure(rule(domains=("game.example", "video.example")))
    assert site.fmc.is_blocked(to("video.example"))
    assert not site.fmc.is_blocked(to("game.example"))
    driver.deploy()
    assert site.fmc.is_blocked(to("video.example"))
    assert site.fmc.is_blocked(to("game.example"))
    # The address left the old content: nothing is found that nobody answers for, and it goes with the rule.
    (found,) = driver.list()
    driver.remove(found.id)
    assert all(not addresses for addresses in site.fmc.mappings.values())


def test_a_rule_removed_before_its_change_was_deployed_frees_both_contents(site: Site) -> None:
    driver = site.driver()
    driver.ensure(rule())
    driver.deploy()
    driver.remove(driver.ensure(rule(domains=("game.example",))).id)
    assert not site.fmc.is_blocked(to("video.example"))
    assert all(not addresses for addresses in site.fmc.mappings.values())


def test_what_others_have_pending_is_not_deployed_unless_we_need_it(site: Site) -> None:
    driver = site.driver()
    driver.ensure(rule())
    driver.deploy()
    theirs = {
        **fake_fmc.FOREIGN,
        "destinationNetworks": {"literals": [{"type": "Network", "value": "192.0.2.0/24"}]},
    }
    site.fmc._insert(site.fmc.policy_id, [theirs], {})
    driver.ensure(rule(source=SIBLING))
    assert not driver.deploy().was_needed
    assert not site.fmc.is_blocked(Flow(CHILD, "192.0.2.1"))


def test_a_deployment_that_fails_is_told_and_tried_again(site: Site) -> None:
    driver = site.driver()
    driver.ensure(rule())
    site.fmc.next_deployments_fail = 1
    with pytest.raises(Unavailable, match="device did not answer"):
        driver.deploy()
    assert not site.fmc.is_blocked(to("video.example"))
    assert driver.deploy().was_needed
    assert site.fmc.is_blocked(to("video.example"))


def test_a_deployment_that_takes_too_long_is_asked_after_again(site: Site) -> None:
    driver = site.driver(waits=Waits(deployment=60.0))
    site.fmc.deploy_takes = timedelta(seconds=150)
    driver.ensure(rule())
    with pytest.raises(Unavailable, match="longer"):
        driver.deploy()
    with pytest.raises(Unavailable, match="longer"):
        driver.deploy()
    assert driver.deploy().was_needed
    assert site.deployments() == 1
    assert site.fmc.is_blocked(to("video.example"))


def test_a_process_that_starts_during_another_s_deployment_waits_its_turn(site: Site) -> None:
    first, second = site.driver(waits=Waits(deployment=5.0)), site.driver()
    first.ensure(rule())
    with pytest.raises(Unavailable):
        first.deploy()
    second.ensure(rule("000000000002_Game", domains=("game.example",)))
    site.pause(20)
    with pytest.raises(Conflict, match="is running"):
        second.deploy()
    site.pause(120)
    second.deploy()
    assert site.fmc.is_blocked(to("game.example"))
    assert site.fmc.is_blocked(to("video.example"))


def test_a_deployment_whose_answer_was_lost_is_not_taken_for_done(site: Site) -> None:
    driver = site.driver()
    driver.ensure(rule())
    site.fmc.next_deployments_fail = 1

    def lose(method: str, path: str) -> None:
        if path.endswith("deploymentrequests"):
            raise Lost

    site.fmc.after_write = lose
    with pytest.raises(Unavailable, match="no answer"):
        driver.deploy()
    site.fmc.after_write = lambda method, path: None
    with pytest.raises(Conflict, match="is running"):
        driver.deploy()
    site.pause(120)
    assert driver.deploy().was_needed
    assert site.fmc.is_blocked(to("video.example"))


def test_what_came_while_a_deployment_was_given_up_on_is_deployed_too(site: Site) -> None:
    driver = site.driver(waits=Waits(deployment=60.0))
    driver.ensure(rule())
    with pytest.raises(Unavailable, match="longer"):
        driver.deploy()
    driver.ensure(rule("000000000002_Game", domains=("game.example",)))
    with pytest.raises(Unavailable, match="longer"):
        driver.deploy()
    driver.deploy()
    assert site.fmc.is_blocked(to("game.example"))


def test_what_somebody_else_deployed_is_not_deployed_again(site: Site) -> None:
    first, second = site.driver(), site.driver()
    first.ensure(rule())
    second.deploy()
    assert not first.deploy().was_needed
    assert site.deployments() == 1


def test_contents_nobody_needs_for_a_month_go_with_the_next_deployment(site: Site) -> None:
    driver = site.driver()
    driver.remove(driver.ensure(rule()).id)
    driver.ensure(rule("000000000002_Game", domains=("game.example",), label="Game"))
    driver.deploy()
    assert len(_our_names(site)) == 5
    site.clock.move(40 * DAY)
    assert not driver.deploy().was_needed
    assert len(_our_names(site)) == 5
    driver.ensure(rule("000000000003_Other", domains=("other.example",), label="Other"))
    driver.deploy()
    assert site.fmc.is_blocked(to("game.example"))
    assert site.fmc.is_blocked(to("other.example"))
    assert len([one for one in site.fmc.rules[site.fmc.policy_id] if "Video" in one["name"]]) == 0
    assert len(_our_names(site)) == 6


def _our_names(site: Site) -> list[str]:
    return [one["name"] for one in site.fmc.objects["dynamicobjects"].values()]


# --- what others do ---


def _disable(site: Site) -> None:
    site.fmc.rules[site.fmc.policy_id][0]["enabled"] = False


def _delete_rules(site: Site) -> None:
    site.fmc.rules[site.fmc.policy_id].clear()


def _delete_record(site: Site) -> None:
    known = site.fmc.objects["dynamicobjects"]
    for id in [id for id, one in known.items() if one["name"].startswith("PARENTAL_APP_")]:
        del known[id]


def _unmap(site: Site) -> None:
    site.fmc.mappings.clear()


@pytest.mark.parametrize("harm", [_disable, _delete_rules, _delete_record, _unmap])
def test_what_somebody_changed_is_told_and_made_whole(site: Site, harm: Callable[[Site], None]) -> None:
    driver = site.driver()
    made = driver.ensure(rule())
    driver.deploy()
    harm(site)
    site.fmc._changed(site.fmc.policy_id)
    site.clock.move(timedelta(minutes=2))
    (listed,) = driver.list()
    read = driver.get(made.id)
    assert read is not None
    assert listed.digest == read.digest == ""
    driver.ensure(rule())
    driver.deploy()
    assert site.fmc.is_blocked(to("video.example"))
    assert [(one.id, one.digest) for one in driver.list()] == [(made.id, rule().digest)]


def test_an_address_nobody_answers_for_is_listed_and_can_be_removed(site: Site) -> None:
    driver = site.driver()
    driver.ensure(rule())
    driver.deploy()
    for addresses in site.fmc.mappings.values():
        addresses.add(SIBLING)
    (unowned,) = [one for one in driver.list() if "unowned" in one.name]
    assert unowned.source == SIBLING
    assert driver.get(unowned.id) == unowned
    driver.remove(unowned.id)
    assert driver.get(unowned.id) is None
    assert not site.fmc.is_blocked(to("video.example", source=SIBLING))
    assert site.fmc.is_blocked(to("video.example"))


def test_an_address_two_rules_want_stays_blocked_until_both_are_gone(site: Site) -> None:
    driver = site.driver()
    first, second = driver.ensure(rule()), driver.ensure(rule("000000000002_Video"))
    driver.deploy()
    driver.remove(first.id)
    assert site.fmc.is_blocked(to("video.example"))
    driver.remove(second.id)
    assert not site.fmc.is_blocked(to("video.example"))


def test_an_object_of_somebody_else_under_our_name_is_a_conflict_and_stays(site: Site) -> None:
    site.fmc._save("dynamicobjects", "theirs", {"name": rule().name, "objectType": "IP"})
    with pytest.raises(Conflict, match="not ours"):
        site.driver().ensure(rule())
    assert site.driver().list() == []
    site.driver().remove("theirs")
    assert "theirs" in site.fmc.objects["dynamicobjects"]


def test_two_drivers_leave_one_rule(site: Site) -> None:
    first, second = site.driver(), site.driver()
    first.list(), second.list()
    assert first.ensure(rule()).id == second.ensure(rule()).id
    second.remove(second.list()[0].id)
    # What the first remembers is no longer so; it must not leave an address without a marker.
    first.ensure(rule())
    (found,) = second.list()
    assert found.digest == rule().digest


# --- crashes and lost answers ---


class Lost(Exception):
    """The connection breaks."""


STORIES: dict[str, Callable[[CiscoFmc], object]] = {
    "new": lambda driver: driver.ensure(rule("000000000002_Game", domains=("game.example",), ports=())),
    "moved": lambda driver: driver.ensure(rule(source=SIBLING)),
    "changed": lambda driver: (driver.ensure(rule(domains=("game.example",))), driver.deploy()),
    "removed": lambda driver: driver.remove(next(iter(driver.list())).id if driver.list() else "none"),
}


@pytest.mark.parametrize("story", STORIES)
@pytest.mark.parametrize("is_done", [True, False], ids=["answer-lost", "request-lost"])
def test_whatever_write_is_lost_asking_again_comes_to_the_same_end(
    site: Site, story: str, is_done: bool
) -> None:
    """Each write of a story in turn is lost on the way there or back; a new process asks again."""
    site.fmc.requests_per_minute = 10**6
    fast = {"requests_per_minute": 10**6}
    setup = site.driver(fast)
    lost = 0
    while True:
        setup.ensure(rule())
        setup.deploy()
        count = [0]

        def hook(method: str, path: str, count: list[int] = count, at: int = lost) -> None:
            count[0] += 1
            if count[0] == at + 1:
                raise Lost

        broken = site.driver(fast)
        setattr(site.fmc, "after_write" if is_done else "during_write", hook)
        was_lost = False
        try:
            STORIES[story](broken)
        except Unavailable:
            was_lost = True
        site.fmc.after_write = site.fmc.during_write = lambda method, path: None
        for one in setup.list():
            assert "unowned" not in one.name
        # A deployment whose answer was lost goes on without us.
        site.pause(200)
        again = site.driver(fast)
        STORIES[story](again)
        again.deploy()
        _is_as_told(site, again)
        for one in again.list():
            again.remove(one.id)
        assert all(not addresses for addresses in site.fmc.mappings.values())
        if not was_lost:
            break
        lost += 1
        _forget(site)
        setup = site.driver(fast)
    assert lost >= 2


def _is_as_told(site: Site, driver: CiscoFmc) -> None:
    found = driver.list()
    assert len({one.name for one in found}) == len(found)
    for one in found:
        assert one.digest, one.details
        assert one.details["inForce"] == "yes"
    held = {address for addresses in site.fmc.mappings.values() for address in addresses}
    assert held == {one.source for one in found}


def _forget(site: Site) -> None:
    """An FMC without anything of ours, so that the next round sets it all up again."""
    site.fmc.rules[site.fmc.policy_id].clear()
    for known in (site.fmc.objects["dynamicobjects"], site.fmc.objects["fqdns"], site.fmc.mappings):
        known.clear()
    site.fmc._changed(site.fmc.policy_id)


# --- tokens, limits, TLS ---


def test_a_token_is_renewed_three_times_and_then_the_driver_signs_in_again(site: Site) -> None:
    driver = site.driver()
    for _ in range(9):
        assert driver.health().is_ok
        site.clock.move(timedelta(minutes=29, seconds=30))
    signs = [path.rsplit("/", 1)[-1] for _, path, _ in site.sent(path="/auth/")]
    assert signs == [
        "generatetoken",
        *["refreshtoken"] * 3,
        "generatetoken",
        *["refreshtoken"] * 3,
        "generatetoken",
    ]
    assert all(status < 400 for _, _, status in site.fmc.log)


def test_a_token_the_fmc_forgot_is_replaced(site: Site) -> None:
    driver = site.driver()
    assert driver.health().is_ok
    site.fmc.forget_tokens()
    driver.ensure(rule())
    assert [one.name for one in driver.list()] == [rule().name]


def test_an_expired_token_that_cannot_be_renewed_is_replaced(site: Site) -> None:
    driver = site.driver()
    assert driver.health().is_ok
    site.clock.move(timedelta(hours=2))
    site.fmc.forget_tokens()
    assert driver.health().is_ok


def test_a_wrong_password_is_told_without_saying_it(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    driver = site.driver({"password": "hunter2-secret"})
    with pytest.raises(Unavailable, match="refuses our user name and password") as told:
        driver.ensure(rule())
    health = driver.health()
    assert not health.is_ok
    reached = fake_fmc.connection(site.served)
    for text in (str(told.value), health.detail, caplog.text, repr(reached)):
        assert "hunter2" not in text
        assert PASSWORD not in text


def test_a_certificate_of_an_unknown_authority_is_refused(site: Site) -> None:
    health = site.driver({"ca_file": None}).health()
    assert not health.is_ok
    assert "not trusted" in health.detail
    assert site.fmc.log == []


def test_a_ca_file_that_is_not_there_is_told(site: Site, tmp_path: Path) -> None:
    with pytest.raises(Rejected, match="CA file"):
        site.driver({"ca_file": tmp_path / "none.pem"})


def test_an_address_without_tls_is_refused(site: Site) -> None:
    with pytest.raises(Rejected, match=r"not an address|a port is"):
        site.driver({"address": "http://fmc.example"})


def test_no_more_requests_leave_than_the_fmc_takes(site: Site) -> None:
    driver = site.driver()
    for number in range(70):
        driver.ensure(rule(f"{number:012x}_Video", source=f"10.0.0.{number}"))
    assert len(site.fmc.log) > 120
    assert site.sent()[0][2] == 204
    assert not [one for one in site.fmc.log if one[2] == 429]


def test_an_impatient_call_says_when_it_may_work(site: Site) -> None:
    driver = site.driver({"patience": 1.0})
    with pytest.raises(RateLimited) as told:
        _look_often(driver, 130)
    assert 1 < told.value.retry_after <= 60
    site.pause(told.value.retry_after)
    assert driver.health().is_ok


def _look_often(driver: CiscoFmc, times: int) -> None:
    for _ in range(times):
        assert driver.get("none") is None


def test_the_time_the_fmc_names_is_kept_when_others_used_up_its_requests(site: Site) -> None:
    site.fmc.says_when = True
    driver = site.driver()
    assert driver.health().is_ok
    site.pause(10)
    site.fmc.sent.extend([site.clock.now()] * 117)
    waits: list[float] = []

    def pause(seconds: float) -> None:
        waits.append(seconds)
        site.pause(seconds)

    driver._fmc._sleep = pause
    made = driver.ensure(rule())
    assert [one for one in site.fmc.log if one[2] == 429]
    assert waits[0] == 50
    assert driver.get(made.id) is not None


def test_another_s_write_is_waited_for(site: Site) -> None:
    driver = site.driver()
    site.fmc.writing.acquire()
    waits = []

    def pause(seconds: float) -> None:
        waits.append(seconds)
        site.pause(seconds)
        if len(waits) == 2:
            site.fmc.writing.release()

    driver._fmc._sleep = pause
    driver.ensure(rule())
    assert len(waits) == 2
    assert 1 <= waits[0] < 2 <= waits[1] < 3


def test_our_own_threads_never_write_at_the_same_time(site: Site) -> None:
    driver = site.driver()
    assert driver.health().is_ok
    # Each write is held long enough for another to meet it.
    site.fmc.during_write = lambda method, path: time.sleep(0.02)
    threads = [
        threading.Thread(target=driver._fmc.post, args=("/object/dynamicobjectmappings", {}))
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [one[2] for one in site.sent(method="POST", path="mappings")] == [201] * 6


def test_an_fmc_that_is_not_there_is_unavailable(site: Site) -> None:
    driver = site.driver({"address": "127.0.0.1:1"})
    with pytest.raises(Unavailable, match="no answer"):
        driver.ensure(rule())
    assert not driver.health().is_ok


# --- what the FMC says no to ---


def test_a_policy_that_is_not_there_is_told(site: Site) -> None:
    driver = site.driver(access_policy_id="00000000-0000-0000-0000-000000000000")
    assert "policy id" in driver.health().detail
    with pytest.raises(Rejected):
        driver.ensure(rule())


def test_a_policy_without_a_device_cannot_be_deployed(site: Site) -> None:
    policy = site.fmc.add_policy("Nobody's")
    driver = site.driver(access_policy_id=policy["id"])
    driver.ensure(rule())
    with pytest.raises(Rejected, match="assigned to no device"):
        driver.deploy()


def test_what_the_fmc_will_never_take_is_rejected_without_an_address_in_the_words(site: Site) -> None:
    driver = site.driver()
    with pytest.raises(Rejected) as told:
        driver.ensure(rule(source="10.20.30.999"))
    assert "10.20.30" not in str(told.value)
    assert "(address)" in str(told.value)


def test_a_payload_the_fmc_does_not_take_is_not_sent(site: Site) -> None:
    driver = site.driver()
    names = tuple(f"{'x' * 200}{number}.example" for number in range(11_000))
    with pytest.raises(Rejected, match="2048000"):
        driver.ensure(rule(domains=names))
    assert not site.sent(path="/accessrules", method="POST")


def test_a_rule_about_dns_only_is_rejected_and_not_taken_for_every_port(site: Site) -> None:
    with pytest.raises(Rejected, match="DNS"):
        site.driver().ensure(rule(ports=(PortOf("UDP", 53),)))


def test_more_names_than_a_condition_takes_are_several_access_rules(site: Site) -> None:
    driver = site.driver()
    names = (*(f"site{number:03}.example" for number in range(178)), "video.example")
    driver.ensure(rule(domains=names))
    driver.deploy()
    assert site.fmc.is_blocked(to("video.example"))
    assert site.fmc.is_blocked(Flow(CHILD, "198.51.100.99", name="www.site177.example"))
    assert not site.fmc.is_blocked(to("other.example"))


def test_more_objects_than_a_page_are_all_found(site: Site) -> None:
    driver = site.driver()
    for number in range(1050):
        site.fmc._save("dynamicobjects", f"x{number}", {"name": f"PARENTAL_A{number}", "objectType": "IP"})
    driver.ensure(rule())
    assert [one.name for one in site.driver().list()] == [rule().name]


# --- what is blocked ---


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_an_exception_of_one_rule_never_frees_what_another_blocks(site: Site, order: tuple[int, int]) -> None:
    rules = (
        rule(),
        rule("000000000002_everything", domains=(), ports=(), label="*", allowed_domains=("video.example",)),
    )
    driver = site.driver()
    for at in order:
        driver.ensure(rules[at])
        driver.deploy()
    assert site.fmc.is_blocked(to("video.example"))
    assert not site.fmc.is_blocked(to("video.example", port=8080))
    assert site.fmc.is_blocked(to("other.example", port=8080))


def test_our_rules_stand_together_in_the_mandatory_section(site: Site) -> None:
    theirs = {**fake_fmc.FOREIGN, "action": "ALLOW"}
    site.fmc._insert(site.fmc.policy_id, [theirs], {"section": "default"})
    driver = site.driver()
    driver.ensure(rule("000000000002_everything", domains=(), ports=()))
    driver.ensure(rule())
    driver.deploy()
    rules = site.fmc.rules[site.fmc.policy_id]
    assert [one["section"] for one in rules] == ["mandatory"] * (len(rules) - 1) + ["default"]
    assert site.fmc.is_blocked(to("video.example"))


def test_while_everything_is_blocked_names_are_looked_up_and_calls_for_help_pass(site: Site) -> None:
    driver = site.driver()
    driver.ensure(rule("000000000002_everything", domains=(), ports=(), allowed_domains=tuple(sorted(SAFE))))
    driver.deploy()
    assert not site.fmc.is_blocked(Flow(CHILD, "192.0.2.53", "UDP", 53))
    assert not site.fmc.is_blocked(Flow(CHILD, "192.0.2.99", "UDP", 4500))
    assert not site.fmc.is_blocked(Flow(CHILD, "192.0.2.98", name="chat.childhelp.org"))
    assert site.fmc.is_blocked(Flow(CHILD, "192.0.2.97", name="video.example"))
    assert site.fmc.is_blocked(Flow(CHILD, "192.0.2.97", "UDP", 443))


def test_quic_of_a_blocked_child_falls_back_to_tcp_everywhere(site: Site) -> None:
    driver = site.driver()
    driver.ensure(rule())
    driver.deploy()
    assert site.fmc.is_blocked(to("cdn.video.example", 443, "UDP"))
    assert site.fmc.is_blocked(to("other.example", 443, "UDP"))
    assert not site.fmc.is_blocked(to("other.example"))
    assert not site.fmc.is_blocked(to("other.example", 443, "UDP", source=SIBLING))


NAMES = st.sampled_from(sorted(HOSTS))
RANGES = st.sampled_from(["198.51.100.0/28", "198.51.100.128/25", "198.51.100.16/28"])
ALLOWED = st.frozensets(
    st.sampled_from(["cdn.video.example", "school.example", "video.example", "plain.example"])
)
PORTS = st.sampled_from([(), WEB, (PortOf("TCP", 443),), (PortOf("TCP", 8080), PortOf("UDP", 9000))])


@st.composite
def families(draw: st.DrawFn) -> list[Rule]:
    """Rules of one child: each with the family's allowed names."""
    allowed = tuple(sorted(draw(ALLOWED)))
    made = []
    for number in range(draw(st.integers(1, 3))):
        domains = tuple(sorted(draw(st.frozensets(NAMES, max_size=2))))
        ranges = tuple(sorted(draw(st.frozensets(RANGES, max_size=2))))
        content: dict[str, Any] = {"domains": domains, "ranges": ranges, "ports": draw(PORTS)}
        made.append(
            rule(f"00000000000{number}_App", label=f"App{number}", allowed_domains=allowed, **content)
        )
    return made


BLOCKED_UNDER_WHAT_IS_ALLOWED = rule(
    label="App0", domains=("cdn.video.example",), ports=(), allowed_domains=("video.example",)
)


@settings(max_examples=150, deadline=None)
@given(families(), NAMES, st.sampled_from([53, 80, 443, 8080]), st.sampled_from([CHILD, SIBLING]))
@example([BLOCKED_UNDER_WHAT_IS_ALLOWED], "cdn.video.example", 80, CHILD)
def test_over_tcp_access_rules_mean_what_the_rules_mean(
    rules: list[Rule], name: str, port: int, source: str
) -> None:
    fmc = FakeFmc(real_world())
    for one in sorted(rules, key=lambda one: content_of(one).rank):
        content = content_of(one)
        fqdns = {domain: Ref(f"fqdn-{domain}", domain, "FQDN") for domain in content.fqdns()}
        fmc.device.objects |= {ref.id: {"type": "FQDN", "value": ref.name} for ref in fqdns.values()}
        fmc.device.rules += access_rules(content, Ref(content.key, "source", "DynamicObject"), fqdns)
        fmc.mappings[content.key] = {CHILD}
    flow = to(name, port, source=source)
    assert fmc.is_blocked(flow) == any(stops(one, flow) for one in rules)


def test_every_mistake_of_the_driver_is_one_the_reconciler_knows(site: Site) -> None:
    driver = site.driver()

    def fail(method: str, path: str) -> None:
        raise Lost

    site.fmc.during_write = fail
    with pytest.raises(FirewallMistake):
        driver.ensure(rule())
    assert driver.list(PREFIX) == []
