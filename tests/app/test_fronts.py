"""Each system is a product of its own: name, menu, search and sign-in; only the bar of the demo leads to others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime

import httpx
import pytest
from tests.app.browsing import Enter, browsers, ticking
from tests.app.crawler import shape_of
from tests.app.portal_forms import send, words_of
from tests.app.small import SMALL

from tablewright import testing
from tablewright.app.mail import Directory
from tablewright.app.runtime import Runtime, open_app
from tablewright.app.serve import app_of
from tablewright.edge import serving_app
from tablewright.kit.system import System
from tablewright.systems.campus.seed import LIN
from tablewright.systems.chat.seed import ADA, MIA
from tablewright.systems.parental.seed import ANNA
from tablewright.systems.travel.seed import MAYA

NOW = datetime(2026, 11, 16, 8, 0, tzinfo=UTC)
TITLES = {
    "portal": "Customer portal",
    "parental": "Parental controls",
    "campus": "Campus Cloud",
    "travel": "Skratch",
    "chat": "Zoo chat",
}
WORKBENCH = ("/", "/docs", "/problems", "/search", "/console/designs", "/console/running/x")
PASSWORD = "correct horse battery"

# Who opens each front, and a page of it that they are shown.
PEOPLE = [
    ("portal", "", "/console/portal"),
    ("portal", "Lerato Mokoena", "/console/portal/account"),
    ("portal", "Sipho Dlamini", "/console/portal/tenants"),
    ("portal", "Thandi Nkosi", "/console/portal/outbox"),
    ("parental", "", "/console/parental/sign-in"),
    ("parental", "Anna Miller", "/console/parental"),
    ("parental", "Sam Wright", "/console/parental"),
    ("parental", "Olga Petrova", "/console/parental/devices"),
    ("campus", "", "/console/campus/sign-in"),
    ("campus", "Lin Zhao", "/console/campus"),
    ("campus", "Tessa Alvarez", "/console/campus"),
    ("campus", "Prof. Jonas Brandt", "/console/campus"),
    ("campus", "Kaya Demir", "/console/campus/admin/users"),
    ("travel", "", "/console/travel/sign-in"),
    ("travel", "Maya Okonkwo", "/console/travel"),
    ("travel", "Ines Duarte", "/console/travel/sync"),
    ("chat", "", "/console/chat/sign-in"),
    ("chat", "Mia", "/console/chat"),
    ("chat", "Ada Okafor", "/console/chat"),
    ("chat", "Kim Larsen", "/console/chat"),
    ("chat", "Tayo Adeyemi", "/console/chat"),
]


@pytest.fixture(scope="module")
def runtime() -> Iterator[Runtime]:
    with open_app(memory=True, systems=SMALL, world=ticking(testing.Clock(NOW)), jobs=False) as opened:
        yield opened


@pytest.fixture(scope="module")
def demo(runtime: Runtime) -> Iterator[Enter]:
    with serving_app(app_of(runtime)) as url, browsers(url) as entered:
        yield entered


@pytest.fixture(scope="module")
def accounts(runtime: Runtime) -> Iterator[Enter]:
    with serving_app(app_of(runtime, is_demo=False)) as url, browsers(url) as entered:
        yield entered


def subject_of(runtime: Runtime, name: str) -> str | None:
    return next((one.subject for one in runtime.people if one.name == name), None)


def without_bar(page: httpx.Response) -> str:
    return re.sub(r'<aside class="demo-bar".*?</aside>', "", page.text, flags=re.DOTALL)


def title_of(page: httpx.Response) -> str:
    found = re.search(r"<title>(.*?)</title>", page.text)
    assert found is not None
    return found[1]


def links_of(page: httpx.Response) -> set[str]:
    """Where links and forms of a page lead, without the bar of the demo and files."""
    found = re.findall(r'\s(?:href|action|formaction|hx-get)="([^"#]+)', without_bar(page))
    return {link.replace("&amp;", "&") for link in found if not link.startswith("/static/")}


def is_within(link: str, system: str) -> bool:
    home = f"/console/{system}"
    return re.match(rf"{home}(?![\w-])|/{system}/|/sign-(in|out)$|https://|mailto:|\?", link) is not None


def pages_of(client: httpx.Client, system: str, start: str) -> Iterator[httpx.Response]:
    """Every page of a kind that a reader reaches by links, from one page on."""
    waiting, seen = [start], {shape_of(start)}
    while waiting:
        page = client.get(waiting.pop(0))
        if not page.headers["content-type"].startswith("text/html"):
            continue
        yield page
        for link in sorted(links_of(page)):
            if link.startswith(f"/console/{system}") and shape_of(link) not in seen:
                seen.add(shape_of(link))
                waiting.append(link)


@pytest.mark.parametrize(("system", "person", "start"), PEOPLE)
def test_no_page_of_a_front_leads_to_another_system_or_the_workbench(
    demo: Enter, runtime: Runtime, system: str, person: str, start: str
) -> None:
    others = [title for name, title in TITLES.items() if name != system]
    count = 0
    for page in pages_of(demo(subject_of(runtime, person)), system, start):
        count += 1
        assert [link for link in links_of(page) if not is_within(link, system)] == [], page.url
        is_part = "<!doctype html>" not in page.text  # of a page, which a script swaps
        assert is_part or title_of(page).endswith(TITLES[system]), page.url
        words = re.sub(r"<[^>]+>", " ", without_bar(page))
        assert [word for word in (*others, "Tablewright", "Designs") if word in words] == [], page.url
    assert count >= (4 if person else 1)


@pytest.mark.parametrize("system", TITLES)
def test_without_the_demo_a_front_has_no_bar(accounts: Enter, system: str) -> None:
    for path in (f"/console/{system}", f"/console/{system}/sign-in"):
        page = accounts().get(path)
        assert "demo-bar" not in page.text
        assert [link for link in links_of(page) if not is_within(link, system)] == []


@pytest.mark.parametrize("system", TITLES)
def test_errors_wear_the_front_of_their_system(demo: Enter, system: str) -> None:
    home = f"/console/{system}"
    for page in (demo().get(f"{home}/no/such/page"), demo().get(f"{home}/staff/sign-in")):
        assert (page.status_code, title_of(page)) == (404, f"Page not found · {TITLES[system]}")
        assert [link for link in links_of(page) if not is_within(link, system)] == []


def test_the_workbench_links_to_the_systems_and_shows_none_of_their_pages(demo: Enter) -> None:
    page = demo("engineer_rosa").get("/")
    assert title_of(page) == "Home · Tablewright"
    for name in TITLES:
        assert f'href="/console/{name}"' in page.text
        assert f'href="/console/{name}/' not in page.text
    for path in ("/console/designs", "/console/designs/mail", "/console/designs/store", "/docs"):
        assert f'href="{path}"' in page.text
    assert title_of(demo("engineer_rosa").get("/console/designs/items")) == "Items · Tablewright"


# --- the demo bar ---


@pytest.mark.parametrize(("system", "person", "start"), PEOPLE)
def test_the_bar_says_who_one_is_and_offers_the_people_of_the_front(
    demo: Enter, runtime: Runtime, system: str, person: str, start: str
) -> None:
    page = demo(subject_of(runtime, person)).get(start)
    bar = re.search(r'<aside class="demo-bar".*?</aside>', page.text, re.DOTALL)
    assert bar is not None
    assert (person or "Not signed in") in bar[0]
    offered = set(re.findall(r'name="person" value="([^"]+)"', bar[0]))
    assert offered <= {one.subject for one in runtime.people if one.system == system}
    assert offered
    assert 'href="/">Workbench</a>' in bar[0]


def test_the_bar_of_the_workbench_offers_everybody_and_leads_them_home(demo: Enter, runtime: Runtime) -> None:
    client = demo("engineer_rosa")
    page = client.get("/docs")
    offered = set(re.findall(r'name="person" value="([^"]+)"', page.text))
    assert offered == {one.subject for one in runtime.people} - {"engineer_rosa"}
    landed = send(client, page, "/sign-in", person=ANNA.subject)
    assert landed.url.path == "/console/parental"


def test_a_switch_keeps_the_page_unless_it_is_for_other_roles(demo: Enter) -> None:
    client = demo("admin_thandi")
    orders, outbox = client.get("/console/portal/orders"), client.get("/console/portal/outbox")
    assert send(client, orders, "/sign-in", person="support_sipho").url.path == "/console/portal/orders"
    assert send(client, outbox, "/sign-in", person="support_sipho").url.path == "/console/portal/tenants"


# --- search ---


@pytest.mark.parametrize(
    ("system", "person", "text", "found"),
    [
        ("portal", "admin_thandi", "orders", "/console/portal/orders"),
        ("parental", ANNA.subject, "tikt", "/console/parental/apps/TikTok"),
        ("campus", LIN, "computer", "/console/campus/courses/CS101-2026-AUTUMN"),
        ("travel", MAYA, "timeline", "/console/travel/timeline"),
        ("chat", ADA, "mia", f"/console/chat/children/{MIA}"),
    ],
)
def test_a_search_finds_what_is_in_its_own_front(
    demo: Enter, system: str, person: str, text: str, found: str
) -> None:
    client = demo(person)
    assert f'action="/console/{system}/search"' in client.get(f"/console/{system}").text
    page = client.get(f"/console/{system}/search", params={"q": text})
    assert f'href="{found}"' in page.text
    assert title_of(page) == f"Search · {TITLES[system]}"
    assert f'href="{found}"' not in re.sub(
        r"<nav.*?</nav>", "", client.get(f"/search?q={text}").text, flags=re.DOTALL
    )


# --- staff without the demo ---


@pytest.mark.parametrize(
    ("system", "role", "home"),
    [
        ("portal", "admin", "/overview"),
        ("parental", "operator", "/devices"),
        ("campus", "admin", "/admin/users"),
        ("campus", "instructor", ""),
        ("travel", "admin", "/sync"),
        ("chat", "zookeeper", "/review"),
        ("chat", "administrator", "/review"),
    ],
)
def test_staff_signs_in_at_the_front_and_begins_at_its_own_pages(
    accounts: Enter, runtime: Runtime, system: str, role: str, home: str
) -> None:
    email, base = f"{role}@{system}.example", f"/console/{system}"
    runtime.accounts.add(email, roles=[f"{system}.{role}"])
    client = accounts()
    door = client.get(f"{base}/sign-in")
    staff = re.search(r'href="([^"]+)">Staff sign-in</a>', door.text)
    assert (staff is None) == (system in ("parental", "campus", "chat")), "there everybody has an account"
    asked = client.get(staff[1]) if staff is not None else door
    assert [link for link in links_of(asked) if not is_within(link, system)] == []
    sent = send(client, asked, asked.url.path, email=email)
    runtime.deliver()
    assert isinstance(runtime.mail.way, Directory)
    code = re.search(r"\b\d{6}\b", runtime.mail.way.letters(email)[0].body)
    assert code is not None
    landed = send(client, sent, f"{asked.url.path}/code", code=code[0])
    assert (landed.status_code, landed.url.path) == (200, base + home)
    assert "You are signed in." in words_of(landed)


# --- one system alone ---


@pytest.fixture(scope="module", params=SMALL, ids=lambda system: system.name)
def alone(request: pytest.FixtureRequest) -> Iterator[tuple[System, Runtime, Enter]]:
    system: System = request.param
    world = ticking(testing.Clock(NOW))
    with (
        open_app(memory=True, systems=(system,), world=world, jobs=False) as opened,
        serving_app(app_of(opened, has_workbench=False)) as url,
        browsers(url) as entered,
    ):
        yield system, opened, entered


def test_a_system_alone_is_at_the_root(alone: tuple[System, Runtime, Enter]) -> None:
    system, runtime, enter = alone
    page = enter().get("/")
    assert page.url.path.startswith(f"/console/{system.name}")
    assert title_of(page).endswith(system.title)
    assert enter().get("/sign-in").url.path == f"/console/{system.name}/sign-in"
    person = runtime.people[0]
    assert enter(person.subject).get("/").url.path.startswith(f"/console/{system.name}")
    for path in ("/health", "/ready", "/openapi.json", "/.well-known/jwks.json", "/demo/mail"):
        assert enter().get(path).status_code == 200, path


def test_beside_a_system_alone_nothing_answers(alone: tuple[System, Runtime, Enter]) -> None:
    system, runtime, enter = alone
    client = enter(runtime.people[0].subject)
    others = [name for name in TITLES if name != system.name]
    paths = [path for path in WORKBENCH if path != "/"] + [
        f"{prefix}/{name}{rest}"
        for name in others
        for prefix, rest in (("/console", ""), ("/console", "/sign-in"), ("", "/v1"), ("", "/v1.0"))
    ]
    for path in paths:
        page = client.get(path)
        assert (page.status_code, title_of(page)) == (404, f"Page not found · {system.title}"), path
    assert client.post("/sign-in", data={"person": "engineer_rosa"}).status_code == 422
    described = client.get("/openapi.json").json()
    assert described["info"]["title"] == system.title
    assert {path.split("/")[1] for path in described["paths"]} <= {
        system.name,
        "oauth",
        "health",
        "ready",
        ".well-known",
    }
    assert ">Workbench</a>" not in client.get("/").text


def test_of_a_system_alone_only_its_tables_jobs_and_mail_run(alone: tuple[System, Runtime, Enter]) -> None:
    system, runtime, _ = alone
    tables = {table for design, _ in runtime.designs.values() for table in design.tables}
    assert set(runtime.call("ListTables", {})["TableNames"]) >= tables
    assert set(runtime.designs) == {design.name for design in system.designs} | {"house", "house_alarms"}
    assert {post.system for post in runtime.posts} == {system.name, "house"}
    assert {due.system for due in runtime.schedule.listed()} <= {system.name, "house"}
