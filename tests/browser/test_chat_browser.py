"""Zoo chat's pages in a real browser: a child chats, a parent decides, a zookeeper looks; on every screen."""

import re
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.browser.conftest import Keep, Open
from tests.browser.looks import looked_at

HOME = "/console/chat"
PAGES: dict[str | None, dict[str, str]] = {
    None: {
        "visitor": "",
        "sign-in": "/sign-in",
        "enter": "/enter",
        "notice": "/policy/notice",
        "retention": "/policy/retention",
        "safety": "/policy/safety",
    },
    "zoo_mia": {"animals": "", "chats": "/chats", "search": "/search?q=ru"},
    "zoo_ada": {
        "children": "/children",
        "child": "/children/zoo_mia",
        "consent": "/children/zoo_mia/consent",
        "limits": "/children/zoo_mia/limits",
        "memory": "/children/zoo_mia/memory",
        "access": "/children/zoo_mia/access",
        "data": "/children/zoo_mia/data",
        "export": "/children/zoo_mia/export.html",
        "erase": "/children/zoo_mia/erase",
        "family": "/families",
        "new-child": "/new-child",
        "new-family": "/new-family",
    },
    "zoo_kim": {
        "review": "/review",
        "zoo": "/zoo",
        "animal": "/zoo/penguin",
        "new-animal": "/new-animal",
        "guardrails": "/guardrails",
        "new-guardrail": "/new-guardrail",
    },
    "zoo_tayo": {
        "figures": "/admin",
        "quality": "/admin/quality",
        "migration": "/admin/migration",
        "compliance": "/compliance",
        "inspector": "/inspector",
    },
}


@pytest.mark.parametrize("person", PAGES)
def test_pages_of_zoo_chat_fit_every_screen_without_a_serious_barrier(
    open_page: Open, keep: Keep, person: str | None
) -> None:
    """ZC-X14."""
    page = open_page(person)
    for name, address in PAGES[person].items():
        assert page.goto(f"{HOME}{address}").status == 200, address
        looked_at(page, keep, f"chat-{name}")


def test_a_child_chats_and_reads_first_that_the_animal_is_a_program(open_page: Open, keep: Keep) -> None:
    page = open_page("zoo_noa")
    page.goto(HOME)
    page.get_by_role("button", name=re.compile("Pip")).click()
    page.get_by_text("Your parent can read this chat").wait_for()
    _say(page, "What do you eat?")
    page.get_by_text("I am a computer program").wait_for()
    _replied(page, 1)
    _say(page, "How fast can you swim?")
    _replied(page, 2)
    replies = page.locator(".theirs .bubble").all_inner_texts()
    assert replies[-1] != replies[-2]
    # What a reply has after a reload it has at once: thumbs, a report, take back and another answer.
    for button in ("Good answer", "Bad answer", "Report to a zookeeper"):
        page.locator(".theirs").last.get_by_role("button", name=button).wait_for()
    expect(page.locator(".last-turn")).to_have_count(1)
    for button in ("Take back", "Another answer"):
        page.locator(".last-turn").get_by_role("button", name=button).wait_for()
    looked_at(page, keep, "chat-talk")
    page.reload()
    expect(page.locator(".mine")).to_have_count(2)
    assert page.locator(".theirs .bubble").last.inner_text() == replies[-1]


def test_a_child_without_a_script_chats_too(open_page: Open) -> None:
    page = open_page("zoo_noa", script=False)
    page.goto(HOME)
    page.get_by_role("button", name=re.compile("Ella")).click()
    page.fill("#f-text", "Why are your ears so big?")
    page.get_by_role("button", name="Send").click()
    page.locator(".mine").wait_for()
    expect(page.locator(".theirs .bubble").last).to_contain_text("ear", ignore_case=True, use_inner_text=True)


def test_a_message_about_danger_is_answered_with_help_and_reaches_a_zookeeper(
    open_page: Open, keep: Keep
) -> None:
    child = open_page("zoo_noa")
    child.goto(HOME)
    child.get_by_role("button", name=re.compile("Leo")).click()
    _say(child, "I want to kill myself")
    child.get_by_text("988").wait_for()
    keeper = open_page("zoo_kim")
    keeper.goto(f"{HOME}/review")
    keeper.get_by_role("link", name=re.compile("Open this message")).first.click()
    keeper.get_by_role("heading", name="May be in danger").wait_for()
    looked_at(keeper, keep, "chat-flag")
    keeper.get_by_label("Note").fill("Spoke to the parent.")
    keeper.get_by_role("button", name="Mark as resolved").click()
    keeper.goto(f"{HOME}/review?state=resolved")
    keeper.get_by_text("Spoke to the parent.").wait_for()
    # The parent sees who looked, and why; and the day of the chat, on a small screen too.
    parent = open_page("zoo_rosa")
    parent.goto(f"{HOME}/children/zoo_noa/access")
    parent.get_by_text("review of a flag").first.wait_for()
    parent.get_by_text("(zookeeper)").first.wait_for()
    assert "message:" not in parent.locator("main").inner_text()
    parent.goto(f"{HOME}/children/zoo_noa/limits")
    parent.locator(".bars").wait_for()
    looked_at(parent, keep, "chat-limits-of-a-day")


def test_a_parent_reads_a_chat_and_is_in_the_list_of_who_looked(open_page: Open, keep: Keep) -> None:
    page = open_page("zoo_ada")
    page.goto(f"{HOME}/children/zoo_mia")
    page.get_by_role("link", name=re.compile("^Read")).first.click()
    page.get_by_role("heading", name="Messages").wait_for()
    looked_at(page, keep, "chat-transcript")
    page.goto(f"{HOME}/children/zoo_mia/access")
    page.get_by_role("cell", name="You").first.wait_for()


def test_a_child_signs_in_on_its_own_device_with_a_code_of_its_parent(open_page: Open, keep: Keep) -> None:
    parent, tablet = open_page("zoo_rosa"), open_page(None)
    parent.goto(f"{HOME}/children/zoo_noa/data")
    parent.get_by_role("button", name="Make a code").click()
    code = parent.locator(".code").inner_text()
    looked_at(parent, keep, "chat-child-code")
    tablet.goto(HOME)
    tablet.get_by_role("link", name="I have a code from my parents").click()
    tablet.get_by_label("Your code").fill(code)
    tablet.get_by_role("button", name="Go to the animals").click()
    tablet.get_by_role("button", name=re.compile("Pip")).wait_for()


def test_a_parent_adds_a_child_consents_with_a_code_and_withdraws(open_page: Open) -> None:
    page = open_page("zoo_ben")
    page.goto(f"{HOME}/new-child")
    page.get_by_label("First name or nickname").fill("Tom")
    page.get_by_label("Birth date").fill("2019-05-04")
    page.get_by_role("button", name="Add child").click()
    page.wait_for_url("**/consent")
    page.get_by_role("button", name="Continue").click()
    code = _code_in_demo_mail(page, "ben@zoo.example")
    page.get_by_label("Code").fill(code)
    page.get_by_role("button", name="Consent", exact=True).click()
    page.get_by_text("Your consent is recorded").wait_for()
    page.get_by_role("cell", name="Code by mail").wait_for()
    page.get_by_role("button", name="Withdraw").first.click()
    page.get_by_text("Withdrawn. It applies from now on.").wait_for()
    page.goto(f"{HOME}/children")
    page.get_by_text("Your consent is needed").wait_for()


def test_a_parent_erases_a_child_and_gets_a_certificate(open_page: Open, keep: Keep) -> None:
    page = open_page("zoo_rosa")
    page.goto(f"{HOME}/children/zoo_sam/data")
    page.get_by_role("link", name="Erase…").click()
    page.get_by_role("button", name="Erase Sam").click()
    page.get_by_text("This certificate lists what was removed").wait_for()
    looked_at(page, keep, "chat-certificate")
    assert page.request.get(f"{HOME}/children/zoo_sam").status == 404


def test_a_zookeeper_changes_an_animal_tries_it_and_goes_back_to_the_version_before(open_page: Open) -> None:
    page = open_page("zoo_kim")
    page.goto(f"{HOME}/zoo/elephant")
    page.get_by_label("Greeting").fill("Hello, little one!")
    page.get_by_label("A question to try").fill("How do you drink?")
    page.get_by_role("button", name="Try it").click()
    expect(page.locator(".card").first).to_contain_text("water", ignore_case=True, use_inner_text=True)
    page.get_by_role("button", name="Save as new version").click()
    page.get_by_text("Version 2 is in use.").first.wait_for()
    page.get_by_role("button", name="Use again").click()
    page.get_by_text("Version 1 is in use.").first.wait_for()


def test_an_administrator_sees_what_a_model_is_sent(open_page: Open, keep: Keep) -> None:
    child = open_page("zoo_mia")
    child.goto(f"{HOME}/chats")
    child.locator(".plain-list a").first.click()
    child.wait_for_url("**/talk/*")
    page = open_page("zoo_tayo")
    page.goto(f"{HOME}/inspector")
    page.get_by_label("Conversation ID").fill(child.url.rsplit("/", 1)[1])
    page.get_by_role("button", name="Inspect").click()
    page.locator("svg.budget").wait_for()
    expect(page.locator("svg.budget rect")).to_have_count(4)
    looked_at(page, keep, "chat-context")


def _say(page: Any, text: str) -> None:
    page.fill("#f-text", text)
    page.get_by_role("button", name="Send").click()


def _replied(page: Any, count: int) -> None:
    """Wait until the reply is whole: the button can be used again then."""
    page.wait_for_function(
        "count => document.querySelectorAll('.mine').length >= count"
        " && !document.querySelector('.write button').disabled",
        arg=count,
    )


def _code_in_demo_mail(page: Any, address: str) -> str:
    """The newest code; mail is delivered a moment after it was written."""
    box = page.get_by_role("link", name="Demo mail").get_attribute("href")
    mail = page.context.new_page()
    for _ in range(60):
        mail.goto(f"{box}?to={address}")
        found = re.search(r"code is:?\s+(\d{6})\b", mail.locator("main").inner_text())
        if found is not None:
            mail.close()
            return found[1]
        mail.wait_for_timeout(500)
    raise AssertionError("no code came")
