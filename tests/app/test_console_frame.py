"""The frame: signing in, what is on the left, errors as pages, messages, files."""

import re

import httpx
import pytest
from fastapi import APIRouter
from tests.app.browsing import Enter
from tests.app.library import isbn

from tablewright.app.runtime import Runtime
from tablewright.app.serve import app_of
from tablewright.edge import serving_app
from tablewright.pages.area import Area, Nav
from tablewright.pages.assets import assets_of
from tablewright.pages.layout import FLASH
from tablewright.pages.paths import own_path


def text_of(page: httpx.Response) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page.text))


def test_the_first_page_says_what_there_is_and_how_to_reach_it(enter: Enter) -> None:
    page = enter().get("/")
    assert "This server runs a complete DynamoDB, the apps built on it, and this console." in page.text
    assert page.status_code == 200
    words = text_of(page)
    for expected in (
        "Lending library",
        "Sign in as a demo user",
        "View a design",
        "The DynamoDB port is turned off",
    ):
        assert expected in words


def test_the_people_of_the_demo_are_listed_with_what_they_see(enter: Enter) -> None:
    words = text_of(enter().get("/sign-in"))
    for expected in (
        "Ines Mota",
        "Librarian",
        "All books, to change.",
        "Tom Okafor",
        "Rosa Lindqvist",
        "Engineer",
    ):
        assert expected in words


def test_signing_in_keeps_a_cookie_no_script_can_read_and_leads_home(url: str) -> None:
    answer = httpx.post(f"{url}/sign-in", data={"person": "lib_ines"}, headers={"Accept": "text/html"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/console/library")
    session = next(line for line in answer.headers.get_list("set-cookie") if not line.startswith(FLASH))
    assert "HttpOnly" in session
    assert "SameSite=lax" in session


def test_one_may_switch_to_somebody_else_and_sign_out(enter: Enter) -> None:
    browser = enter("lib_ines")
    assert "Ines Mota" in browser.get("/").text
    browser.post("/sign-in", data={"person": "reader_tom"})
    page = browser.get("/").text
    assert 'aria-label="Tom Okafor: switch person"' in page
    assert 'aria-label="Tom Okafor: sign out"' in page
    browser.post("/sign-out")
    assert 'href="/sign-in"' in browser.get("/").text


def test_nobody_else_than_the_people_of_the_demo_can_be_chosen(enter: Enter) -> None:
    page = enter().post("/sign-in", data={"person": "admin"})
    assert page.status_code == 422
    assert "There is no such demo user" in page.text


def test_another_site_cannot_sign_anybody_in(url: str) -> None:
    answer = httpx.post(
        f"{url}/sign-in", data={"person": "lib_ines"}, headers={"Origin": "https://evil.example"}
    )
    assert answer.status_code == 403


@pytest.mark.parametrize(
    ("given", "kept"),
    [("/console/library?q=1", True), ("//evil.example", False), ("https://evil.example", False), ("/\\evil", False),
     ("", False), ("/\tx", False), ("//[", False), ("/\\[", False), ("/[", True)],
)  # fmt: skip
def test_only_paths_of_ours_are_gone_back_to(given: str, kept: bool) -> None:
    assert own_path(given) == (given if kept else "")


def test_who_is_not_signed_in_is_asked_to_and_comes_back(enter: Enter) -> None:
    browser = enter()
    page = browser.get("/console/designs/items?table=shelves")
    assert page.url.path == "/sign-in"
    back = re.search(r'name="next" value="([^"]+)"', page.text)
    assert back is not None
    after = browser.post("/sign-in", data={"person": "engineer_rosa", "next": back[1]})
    assert str(after.url).endswith("/console/designs/items?table=shelves")


def test_a_page_for_another_role_is_refused_as_a_page(enter: Enter) -> None:
    page = enter("reader_tom").get("/console/library/add")
    assert page.status_code == 403
    assert "You don&#39;t have access" in page.text
    assert page.headers["content-type"].startswith("text/html")


def test_the_left_shows_only_the_pages_of_ones_role(enter: Enter) -> None:
    link = 'href="/console/library/add"'
    assert link in enter("lib_ines").get("/console/library").text
    assert link not in enter("reader_tom").get("/console/library").text


def test_a_fault_of_ours_is_a_page_with_a_request_id_and_without_its_words(enter: Enter) -> None:
    page = enter("lib_ines").get("/console/library/fault")
    assert page.status_code == 500
    assert page.headers["x-request-id"] in page.text
    assert "secret words" not in page.text


def test_an_error_of_the_domain_is_told_in_the_systems_words(enter: Enter) -> None:
    page = enter("lib_ines").get("/console/library/stale")
    assert page.status_code == 412
    assert "It has changed since you read it." in page.text


def test_a_wrong_parameter_is_told_as_a_page(enter: Enter) -> None:
    page = enter("lib_ines").get("/console/library?state=EATEN")
    assert page.status_code == 422
    assert "ON_SHELF" in text_of(page)


def test_a_path_that_is_nowhere_is_a_page_for_a_browser_and_a_problem_for_a_program(url: str) -> None:
    page = httpx.get(f"{url}/nowhere", headers={"Accept": "text/html"})
    assert (page.status_code, page.headers["content-type"]) == (404, "text/html; charset=utf-8")
    problem = httpx.get(f"{url}/nowhere", headers={"Accept": "application/json"})
    assert problem.json()["code"] == "NO_SUCH_PATH"


@pytest.mark.parametrize(
    ("asked", "led"),
    [
        ("/console", "/"),
        ("/console/", "/console"),
        ("/console/library/", "/console/library"),
        ("/console//example.com//", "/console//example.com"),
    ],
)
def test_an_address_that_is_nearly_a_pages_leads_there(url: str, asked: str, led: str) -> None:
    answer = httpx.get(f"{url}{asked}", headers={"Accept": "text/html"})
    assert (answer.status_code in (303, 307), answer.headers["location"]) == (True, led)


@pytest.mark.parametrize("asked", ["//example.com/", "/library/"])
def test_no_other_address_with_a_slash_too_many_leads_anywhere(url: str, asked: str) -> None:
    assert httpx.get(f"{url}{asked}", headers={"Accept": "text/html"}).status_code == 404


def test_an_address_that_only_takes_forms_is_a_page_for_a_browser(url: str) -> None:
    page = httpx.get(f"{url}/sign-out", headers={"Accept": "text/html"})
    assert (page.status_code, page.headers["content-type"]) == (405, "text/html; charset=utf-8")
    assert page.headers["allow"] == "POST"
    assert httpx.get(f"{url}/sign-out").headers["content-type"] == "application/problem+json"


def test_what_was_done_is_said_once_on_the_next_page(enter: Enter) -> None:
    browser = enter("lib_ines")
    page = browser.post("/console/library/add", data={"isbn": isbn(500), "title": "Dune", "price": "5"})
    assert "Dune is on the shelf." in page.text
    assert "Dune is on the shelf." not in browser.get("/console/library").text


def test_a_made_up_message_is_not_shown(enter: Enter) -> None:
    browser = enter()
    for cookie in ("nonsense", "W1siZXZpbCIsICJ4Il1d"):
        browser.cookies.set(FLASH, cookie)
        assert 'class="flash' not in browser.get("/").text


def test_what_was_typed_wrongly_is_kept_and_told_beside_its_field(enter: Enter) -> None:
    page = enter("lib_ines").post(
        "/console/library/add", data={"isbn": "12", "title": "<Dune>", "price": "5"}
    )
    assert "&lt;Dune&gt;" in page.text
    assert '<p>Please fix <a href="#e-isbn">1 field</a>.</p>' in page.text


def test_a_danger_is_confirmed_before_it_happens(enter: Enter) -> None:
    page = enter("lib_ines").get("/console/library/add")
    assert "A book is added." in page.text
    assert "Cancel</a>" in page.text


def test_the_search_of_the_workbench_finds_pages_tables_and_patterns(enter: Enter) -> None:
    browser = enter("engineer_rosa")
    assert "Table shelves" in browser.get("/search", params={"q": "shelves"}).text
    assert "Pattern books_by_state" in browser.get("/search", params={"q": "books state"}).text
    assert "Volume 7" not in browser.get("/search", params={"q": "volume"}).text
    assert "No results" in browser.get("/search", params={"q": "zebra"}).text
    assert "<script>" not in browser.get("/search", params={"q": "<script>"}).text.replace("<script src", "")


def test_the_search_of_a_system_finds_its_pages_and_what_its_area_finds_itself(enter: Enter) -> None:
    browser, path = enter("lib_ines"), "/console/library/search"
    assert "Volume 7" in browser.get(path, params={"q": "volume"}).text
    assert '<li><a href="/console/library/add">Add</a></li>' in browser.get(path, params={"q": "add"}).text
    assert "No results" in browser.get(path, params={"q": "shelves"}).text


def test_a_system_without_a_sign_in_page_of_its_own_gets_one(enter: Enter) -> None:
    door = enter().get("/console/library/add")
    assert door.url.path == "/console/library/sign-in"
    assert "<title>Sign in to Library</title>" in door.text


def test_files_are_kept_for_a_year_under_the_hash_of_their_content(enter: Enter) -> None:
    browser = enter()
    page = browser.get("/").text
    for name in re.findall(r'(?:href|src)="(/static/[^"]+)"', page):
        answer = browser.get(name)
        assert answer.status_code == 200
        assert "immutable" in answer.headers["cache-control"]
    assert browser.get("/static/console.000000000000.css").status_code == 404


def test_the_stylesheet_is_small_and_htmx_comes_with_its_licence() -> None:
    assets = assets_of("tablewright.pages")
    assert len(assets["console.css"].content) < 30_000
    assert "vendor/htmx-2.0.11.min.js" in assets
    assert b"BSD" in assets["vendor/htmx-LICENSE.txt"].content


def test_pages_are_not_kept_by_caches_and_allow_no_inline_script(enter: Enter) -> None:
    page = enter().get("/")
    assert page.headers["cache-control"] == "no-store"
    assert "default-src 'self'" in page.headers["content-security-policy"]
    assert not re.search(r"\sstyle=|\son\w+=|<script>", page.text)


def test_where_the_demo_is_off_nobody_can_sign_in_as_its_people(runtime: Runtime) -> None:
    with serving_app(app_of(runtime, is_demo=False)) as url:
        answer = httpx.post(f"{url}/sign-in", data={"person": "lib_ines"}, headers={"Accept": "text/html"})
        assert answer.status_code == 403
        assert "Ines Mota" not in httpx.get(f"{url}/sign-in", headers={"Accept": "text/html"}).text
        librarian = {"Authorization": f"Bearer {runtime.token_for(runtime.people[0])}", "Accept": "text/html"}
        engineer = {"Authorization": f"Bearer {runtime.token_for(runtime.people[-1])}", "Accept": "text/html"}
        for token in (librarian, engineer):
            # Made by the same issuer, in the time of the demo or beside it.
            answer = httpx.get(f"{url}/console/designs", headers=token)
            assert (answer.status_code, answer.headers["location"][:9]) == (303, "/sign-in?")
        books = httpx.post(f"{url}/library/v1/books", json={}, headers={**librarian, "Accept": "*/*"})
        assert (books.status_code, books.json()["code"]) == (401, "LOGIN_ENDED")


def test_the_page_with_the_longest_path_is_the_one_one_is_on() -> None:
    area = Area(
        "shop",
        "Shop",
        "shop",
        "teal",
        (Nav("Front"), Nav("Carts", "carts")),
        APIRouter(),
        also=(("/x", "carts"),),
    )
    assert area.page_at("/console/shop") == Nav("Front")
    assert area.page_at("/console/shop/carts/7") == Nav("Carts", "carts")
    assert area.page_at("/console/shop/cartsandhorses") == Nav("Front")
    assert area.page_at("/x/1") == Nav("Carts", "carts")
    assert area.has("/x/1")
    assert not area.has("/console/shopping")
