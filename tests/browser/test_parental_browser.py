"""Parental controls in a real browser: a parent blocks an app for bedtime and the firewall drops its packets.

The app runs in this process, with everything that runs by itself, on a clock that is real but for where it began: so a
test can wait for bedtime, and ask the simulated firewall itself what it would drop.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.browser.conftest import PATIENCE, Keep, Open, Served
from tests.browser.looks import looked_at

from tablewright.app.runtime import Runtime, open_app
from tablewright.app.serve import app_of
from tablewright.app.systems import PARENTAL
from tablewright.edge import serving_app
from tablewright.systems.parental.firewall.driver import Flow
from tablewright.systems.parental.parental import Parental
from tablewright.systems.parental.seed import ADA, SARAH, TOM, seed
from tablewright.world import real_world

HOME = "/console/parental"
ANNA, CHIDI, SAM, ROSA = "parent_anna", "parent_chidi", "support_sam", "engineer_rosa"
# A Monday at 21:10 in New York.
EVENING = datetime(2026, 11, 17, 2, 10, tzinfo=UTC)


@dataclass
class Clock:
    """Real time, from another beginning."""

    ahead: timedelta

    def now(self) -> datetime:
        return real_world().now() + self.ahead

    def move_to(self, moment: datetime) -> None:
        self.ahead = moment - real_world().now()


@pytest.fixture(scope="module")
def clock() -> Clock:
    return Clock(EVENING - real_world().now())


@pytest.fixture(scope="module")
def runtime(clock: Clock) -> Iterator[Runtime]:
    small = replace(PARENTAL, seed=lambda parental, told: seed(parental, told, families=0))
    world = replace(real_world(), now=clock.now)
    with open_app(memory=True, systems=(small,), world=world) as opened:
        yield opened


@pytest.fixture(scope="module")
def parental(runtime: Runtime) -> Parental:
    found: Parental = runtime.running[0].service
    return found


@pytest.fixture(scope="module")
def served(runtime: Runtime) -> Iterator[Served]:
    with serving_app(app_of(runtime)) as url:
        yield Served(url, "")


def child(phone: str, rest: str = "") -> str:
    return f"{HOME}/children/{phone}{rest}"


def drops(parental: Parental, source: str, name: str) -> bool:
    """Whether the firewall would stop a connection: asked of the device itself."""
    device = parental.devices.simulated("ftd-device-001")
    assert device is not None
    return device.is_blocked(Flow(source=source, name=name, port=443))


def _until(page: Any, is_so: Any, tries: int = 100) -> None:
    for _ in range(tries):
        if is_so():
            return
        page.wait_for_timeout(100)
    raise AssertionError("it did not come to be")


# --- every page on every screen ---


PAGES = {
    "family": "",
    "child-new": "/children/new",
    "child": f"/children/{SARAH}",
    "child-tom": f"/children/{TOM}",
    "policies": f"/children/{TOM}/policies",
    "policy-new": f"/children/{SARAH}/policies/new",
    "dashboard": f"/children/{TOM}/dashboard",
    "dashboard-today": f"/children/{TOM}/dashboard?days=1",
    "dashboard-month": f"/children/{TOM}/dashboard?days=30",
    "history": f"/children/{SARAH}/history",
    "settings": f"/children/{SARAH}/settings",
    "number": f"/children/{SARAH}/number",
    "release": f"/children/{SARAH}/release",
    "erase": f"/children/{SARAH}/erase",
    "notices": "/notices",
    "activity": "/activity",
    "apps": "/apps",
    "apps-found": "/apps?find=tik",
    "app": "/apps/TikTok",
}


def test_parents_pages_fit_every_screen_without_a_serious_barrier(open_page: Open, keep: Keep) -> None:
    page = open_page(ANNA)
    for name, path in PAGES.items():
        assert page.goto(HOME + path).status == 200, path
        looked_at(page, keep, f"parental-{name}")
    page.goto(HOME)
    page.get_by_role("link", name="Settings").click()
    page.get_by_role("heading", name=re.compile("^Settings for")).wait_for()
    looked_at(page, keep, "parental-family-settings")
    page.get_by_role("link", name="Delete…").click()
    page.get_by_text("Delete now, permanently").click()
    looked_at(page, keep, "parental-family-close")
    page.goto(child(TOM, "/policies"))
    page.locator(".policy h2 a").first.click()
    page.locator("#week").wait_for()
    looked_at(page, keep, "parental-policy")
    page.go_back()
    page.locator(".policy").first.get_by_role("link", name="Delete").click()
    page.get_by_role("button", name="Delete rule").wait_for()
    looked_at(page, keep, "parental-policy-delete")


def test_mistakes_and_open_parts_fit_every_screen(open_page: Open, keep: Keep) -> None:
    page = open_page(ANNA)
    page.goto(child(SARAH))
    page.get_by_text("Show as a table").click()
    page.get_by_text("Add an exception").click()
    page.get_by_text("Pause until…").click()
    looked_at(page, keep, "parental-child-open")
    page.goto(f"{HOME}/activity")
    for summary in page.locator(".entry summary").all()[:6]:
        summary.click()
    looked_at(page, keep, "parental-activity-open")


def test_a_mistake_stands_beside_its_field_on_every_screen(browser: Any, served: Served, keep: Keep) -> None:
    # The answer is a refusal, which chromium writes into its console: so this page is not held to an empty one.
    with browser.new_context(base_url=served.url) as context:
        page = context.new_page()
        page.goto("/sign-in")
        page.locator(f'.people button[value="{ANNA}"]').click()
        page.goto(child(SARAH, "/policies/new"))
        page.get_by_role("button", name="Add your own sites").click()
        page.locator("#o0-name").fill("Puzzle site")
        page.locator("#o0-to").fill("what is this!")
        page.locator("summary", has_text="Gaming").click()
        page.locator('[name="w0-end"]').fill("07:30")
        with page.expect_response(re.compile("/policies/new$")) as answer:
            page.get_by_role("button", name="Save and activate").click()
        assert answer.value.status == 400
        page.locator("#e-o0-to").wait_for()
        looked_at(page, keep, "parental-policy-wrong")


def test_pages_of_others_fit_every_screen(open_page: Open, keep: Keep) -> None:
    support = open_page(SAM)
    support.goto(HOME)
    looked_at(support, keep, "parental-support")
    support.locator("#f-phoneNumber").fill(ADA)
    support.locator("#f-reason").fill("Ticket 15: is it on?")
    support.get_by_role("button", name="Look up", exact=True).click()
    support.get_by_text("You are viewing this as support").wait_for()
    looked_at(support, keep, "parental-child-for-support")
    nobody = open_page(ROSA)
    nobody.goto(HOME)
    nobody.get_by_role("button", name="Create family").wait_for()
    looked_at(nobody, keep, "parental-no-family")


# --- how it is used ---


def test_a_finger_scrolls_the_week_and_draws_in_it_after_a_rest(open_page: Open) -> None:
    page = open_page(ANNA, width=390)
    page.goto(child(SARAH, "/policies/new"))
    touch = page.context.new_cdp_session(page)
    touch.send("Emulation.setTouchEmulationEnabled", {"enabled": True})

    def finger(kind: str, *at: float) -> None:
        points = [{"x": at[0], "y": at[1]}] if at else []
        touch.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": points})

    def drag(*, rests: bool) -> None:
        page.locator("#week").scroll_into_view_if_needed()
        box = page.locator("[data-week] svg").bounding_box()
        column, top, hour = box["width"] / 7, box["y"] + 24, 14
        finger("Start", box["x"] + 1.5 * column, top + 14 * hour + 2)
        if rests:
            page.locator(".week-draw").first.wait_for(state="attached")
        for part in range(1, 9):
            finger("Move", box["x"] + 1.5 * column, top + (14 + part / 4) * hour - 2)
        finger("End")

    for _ in range(5):  # on a busy machine a finger may rest before it moves, and then it draws
        drag(rests=False)
        if page.locator("[data-time-row]").count() == 1:
            break
        page.reload()
    expect(page.locator("[data-time-row]")).to_have_count(1)
    drag(rests=True)
    page.locator("#week").get_by_text("14:00 to 16:00, Tuesday").wait_for()


def test_a_time_is_drawn_in_the_week_with_the_mouse(open_page: Open, keep: Keep) -> None:
    page = open_page(ANNA)
    page.goto(child(SARAH, "/policies/new"))
    box = page.locator("[data-week] svg").bounding_box()
    column, top, hour = box["width"] / 7, box["y"] + 24, 14
    page.mouse.move(box["x"] + 0.5 * column, top + 16 * hour + 2)
    page.mouse.down()
    page.mouse.move(box["x"] + 2.5 * column, top + 18 * hour - 2, steps=5)
    keep(page, "parental-drawing")
    page.mouse.up()
    page.locator("#week").get_by_text("16:00 to 18:00, Monday to Wednesday").wait_for()
    assert page.locator('[name="w1-start"]').input_value() == "16:00"
    page.locator("[data-time-row]").nth(1).get_by_role("button", name="Remove this time").click()
    page.locator("#week li", has_text="16:00 to 18:00").wait_for(state="detached")
    page.locator("[data-time-row]").nth(0).get_by_role("button", name="Remove this time").click()
    page.locator("#week").get_by_text("No times yet.").wait_for()
    box = page.locator("[data-week] svg").bounding_box()
    top = box["y"] + 24
    page.mouse.move(box["x"] + 4.5 * column, top + 21 * hour + 2)
    page.mouse.down()
    page.mouse.move(box["x"] + 5.5 * column, top + 29 * hour - 2, steps=5)
    keep(page, "parental-drawing-past-midnight")
    page.mouse.up()
    page.locator("#week").get_by_text("21:00 to 05:00 the next day, Friday and Saturday").wait_for()
    page.get_by_role("button", name="School, 08:00 to 15:00").click()
    page.locator("#week").get_by_text("08:00 to 15:00, Monday to Friday").wait_for()
    page.get_by_role("radio", name="Always").check()
    page.locator("#week").get_by_text("All day, every day.").wait_for()
    expect(page.locator("[data-time-rows]")).to_be_hidden()


def test_a_policy_is_written_without_a_script(open_page: Open, parental: Parental) -> None:
    page = open_page(CHIDI, script=False)
    page.goto(child(ADA, "/policies/new"))
    page.locator("#f-find").fill("minecraft")
    page.get_by_role("button", name="Find", exact=True).click()
    page.locator(".pick", has_text="Minecraft").first.click()
    page.get_by_role("button", name="School, 08:00 to 15:00").click()
    page.get_by_role("button", name="Add your own sites").click()
    page.locator("#o0-name").fill("Comics")
    page.locator("#o0-to").fill("https://comics.example/today")
    page.locator("[data-time-row]").first.get_by_role("button", name="Remove this time").click()
    expect(page.locator("[data-time-row]")).to_have_count(1)
    page.locator("#f-notes").fill("No script")
    page.get_by_role("button", name="Save and activate").click()
    page.get_by_text("Rule saved.").wait_for()
    ada = parental.repository.child_of_phone(ADA)
    assert ada is not None
    (policy,) = [one for one in parental.policies.of_child(ada) if one.notes == "No script"]
    assert [entry.app_name for entry in policy.blocked_apps] == ["Minecraft", "Comics"]
    assert policy.blocked_apps[1].domains == ["comics.example"]
    assert [(one.start_time, one.end_time) for one in policy.time_windows] == [("08:00", "15:00")]


def test_everything_is_blocked_with_the_keyboard_alone(open_page: Open, parental: Parental) -> None:
    page = open_page(ANNA)
    page.goto(child(TOM))
    page.get_by_role("button", name="Block everything for an hour").press("Enter")
    page.locator(".flash", has_text=re.compile(r"block everything until 22:\d\d")).wait_for()
    page.locator(".states-list li", has_text="Everything").locator(".badge.good").wait_for(timeout=PATIENCE)
    assert drops(parental, "10.20.30.41", "anything.example")
    page.get_by_role("button", name="End now").first.press("Enter")
    page.get_by_text("Exception ended.").wait_for()
    page.locator("summary", has_text="Pause until").press("Enter")
    page.locator(".drop #pause-until").fill("2026-11-17T08:00")
    page.locator(".drop #pause-until").press("Enter")
    page.locator(".flash", has_text="Tom's rules are paused until tomorrow at 08:00.").wait_for()
    _until(page, lambda: not drops(parental, "10.20.30.41", "anything.example"))
    page.get_by_role("button", name="End the pause now").press("Enter")
    page.get_by_text("Pause ended.").wait_for()


def test_a_child_is_added_with_the_code_of_the_demo(open_page: Open, keep: Keep) -> None:
    page = open_page(CHIDI)
    page.goto(HOME)
    page.get_by_role("link", name="Add a child").click()
    page.locator("#f-phoneNumber").fill("+49 151 9999 001")
    page.get_by_role("button", name="Send code").click()
    keep(page, "parental-joining-code")
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Demo mail").click()
    mail = opened.value
    arrived = mail.locator(".mails li", has_text="Your code is").first  # the page refreshes until it arrives
    code = re.search(r"Your code is (\d{6})", arrived.inner_text())
    assert code is not None
    page.locator("#f-code").fill(code[1])
    page.locator("#f-childName").fill("Emeka")
    page.locator("#f-childName").press("Enter")  # Enter adds the child; it does not send another code
    page.get_by_text("Emeka was added.").wait_for()


# --- the story; it comes last, as it moves the clock on ---


def test_a_parent_blocks_an_app_for_bedtime_and_the_firewall_drops_it(
    open_page: Open, keep: Keep, parental: Parental, clock: Clock
) -> None:
    address, site = "10.20.30.40", "www.netflix.com"
    clock.move_to(datetime(2026, 11, 17, 2, 56, tzinfo=UTC))  # 21:56 in New York
    page = open_page(ANNA)
    page.goto(HOME)
    page.get_by_role("link", name="Sarah").click()
    with page.expect_navigation():  # the script of the page is there once it is loaded
        page.get_by_role("link", name="New rule").click()
    page.locator("#f-find").fill("netfl")
    page.locator(".pick", has_text="Netflix").locator("visible=true").first.click()
    page.locator("#f-notes").fill("Bedtime")
    page.locator("#week").get_by_text("22:00 to 06:00 the next day, every day").wait_for()
    keep(page, "parental-story-1-editor")
    page.get_by_role("button", name="Save and activate").click()
    page.get_by_text("Rule saved.").wait_for()
    page.get_by_text("will be blocked at 22:00").first.wait_for()
    keep(page, "parental-story-2-before")
    assert not drops(parental, address, site)
    expect(page.locator(".states-list li", has_text="Netflix")).to_have_count(0)

    clock.move_to(datetime(2026, 11, 17, 3, 0, 1, tzinfo=UTC))  # 22:00 in New York
    row = page.locator(".states-list li", has_text="Netflix")
    row.locator(".badge.good").wait_for(timeout=PATIENCE)  # the page looks again by itself
    assert drops(parental, address, site)
    assert not drops(parental, address, "www.wikipedia.org")
    assert not drops(parental, "10.40.7.15", site)  # somebody else's child
    expect(row).to_contain_text("Because of “Bedtime”.", use_inner_text=True)
    # The clock goes on while the page waits.
    expect(page.locator("#clock")).to_contain_text(re.compile(r"Monday, 22:0\d"), use_inner_text=True)
    expect(page.locator("#picture")).to_contain_text(re.compile(r"now 22:0\d"))
    keep(page, "parental-story-3-enforced")

    row.get_by_role("button", name="Allow Netflix for 30 minutes").click()
    page.locator(".flash", has_text="allow Netflix until 22:3").wait_for()
    page.locator(".states-list li", has_text="Netflix").wait_for(state="detached", timeout=PATIENCE)
    _until(page, lambda: not drops(parental, address, site))
    keep(page, "parental-story-4-allowed")

    clock.move_to(datetime(2026, 11, 17, 3, 31, tzinfo=UTC))  # it ends by itself
    page.locator(".states-list li", has_text="Netflix").locator(".badge.good").wait_for(timeout=PATIENCE)
    assert drops(parental, address, site)

    page.goto(child(SARAH, "/history"))
    shown = page.locator("tbody tr", has_text="Netflix")
    assert [text.split()[4] for text in shown.all_inner_texts()] == ["Block", "Unblock", "Block"]
    keep(page, "parental-story-5-history")


# --- what makes a family of somebody who has none, so it comes last ---


def test_the_zone_of_a_first_child_is_the_browsers_own(open_page: Open) -> None:
    page = open_page(ROSA)
    page.goto(HOME)
    page.locator("#f-name").fill("The Rosas")
    page.get_by_role("button", name="Create family").click()
    page.get_by_role("button", name="Create family").wait_for(state="detached")
    zone = page.context.new_cdp_session(page)
    zone.send("Emulation.setTimezoneOverride", {"timezoneId": "Europe/Berlin"})
    page.goto(f"{HOME}/children/new")
    page.locator("#f-phoneNumber").fill("+15550009999")
    page.get_by_role("button", name="Send code").click()
    expect(page.locator("#f-timezone")).to_have_value("Europe/Berlin")
