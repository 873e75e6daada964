"""A real browser in front of a real `tablewright serve --memory`.

Playwright drives the chromium that Debian packages, as its headless shell where that is installed: the same engine
without the windows around it, at a third of the CPU time for each page. Without either, or without Playwright, the
tests are skipped and say so. With `--pictures` screenshots are kept in artifacts/ for people to look at; no test looks
at them, and taking them is a fifth of what a page costs.
"""

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from tests import fork_server
from tests.cli.command import COMMAND

HERE = Path(__file__).parent
ARTIFACTS = HERE.parents[1] / "artifacts"
PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
# Nearly all that runs in these pages runs once: to optimise it costs a twelfth of the time of a page.
ARGUMENTS = ("--no-sandbox", "--js-flags=--no-opt")
# How many milliseconds a page may take, which on a busy machine is long: the first that asks for /docs waited for 15 s.
PATIENCE = 60_000
Open: TypeAlias = Callable[..., Any]
Keep: TypeAlias = Callable[[Any, str], None]


@dataclass(frozen=True, slots=True)
class Served:
    """Where the app and its DynamoDB port are."""

    url: str
    dynamodb: str


@contextmanager
def serving(*options: str, **environment: str) -> Iterator[Served]:
    """The app as a user starts it, on free ports, while the block lasts."""
    process = fork_server.start(
        [*COMMAND, "serve", *options, "--port", "0", "--dynamodb-port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, **environment},
    )
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        lines.append(line)
        if "ready" in line:
            break
    try:
        pages = re.search(r"http://[\d.:]+", lines[0])  # of the console, or of the one system
        dynamodb = re.search(r"DynamoDB\s+(http://[\d.:]+)", "".join(lines))
        assert pages is not None, lines
        assert dynamodb is not None, lines
        yield Served(pages[0], dynamodb[1])
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0, "it ends cleanly"
    finally:
        if process.poll() is None:
            process.kill()
            process.wait(30)
        process.stdout.close()


# What the tests of this folder share, by the name of its fixture. Not of the scope of a session: a server that nobody
# asks any more still costs a hundredth of a core, and Playwright keeps an event loop running in its thread, in which
# nobody else can start one.
_shared: dict[str, Any] = {}
_open = ExitStack()


def _once(name: str, begun: Callable[[], AbstractContextManager[Any]]) -> Any:
    if name not in _shared:
        _shared[name] = _open.enter_context(begun())
    return _shared[name]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None]:
    """End what is shared when the next test is none of this folder."""
    try:
        return (yield)
    finally:
        if nextitem is None or HERE not in nextitem.path.parents:
            _shared.clear()
            _open.close()


@pytest.fixture(scope="module")
def served() -> Served:
    """The app, seeded; ended when the tests of this folder are done."""
    there: Served = _once("served", partial(serving, "--memory"))
    return there


@pytest.fixture(scope="module")
def browser() -> Any:
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        pytest.skip("no chromium on this machine; as root, `make test` installs it with apt-get")
    playwright = pytest.importorskip("playwright.sync_api", reason="no Playwright: pip install '.[test]'")
    return _once("browser", partial(_launched, playwright, program))


@contextmanager
def _launched(playwright: Any, program: str) -> Iterator[Any]:
    # A page that a click leads to is read while it still arrives: `expect` waits, `count` and `is_visible` do not.
    playwright.expect.set_options(timeout=PATIENCE)
    with playwright.sync_playwright() as driver:
        launched = driver.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield launched
        launched.close()


@pytest.fixture
def open_page(browser: Any, served: Served) -> Iterator[Open]:
    """An empty page of its own: `open_page("engineer_rosa", width=390, dark=True)`; fails on errors of the console."""
    contexts, wrong = [], []

    def opened(
        person: str | None = None, *, width: int = 1280, dark: bool = False, script: bool = True
    ) -> Any:
        context = browser.new_context(
            base_url=served.url,
            viewport={"width": width, "height": 900 if width > 600 else 844},
            color_scheme="dark" if dark else "light",
            java_script_enabled=script,
        )
        contexts.append(context)
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
        if person is not None:
            # As the button of the page does; that page has tests of its own, and here two pages less are drawn.
            signed_in = context.request.post("/sign-in", form={"person": person}, max_redirects=0)
            assert signed_in.status == 303
        return page

    yield opened
    for context in contexts:
        context.close()
    assert wrong == []


@pytest.fixture
def pictures(request: pytest.FixtureRequest) -> Path | None:
    """Where pictures are kept, if they were asked for."""
    if not request.config.getoption("--pictures"):
        return None
    ARTIFACTS.mkdir(exist_ok=True)
    return ARTIFACTS


@pytest.fixture
def keep(pictures: Path | None) -> Keep:
    """Keep a screenshot of the whole page, under a name, if pictures were asked for."""

    def kept(page: Any, name: str) -> None:
        if pictures is None:
            return
        try:
            page.screenshot(path=pictures / f"{name}.png", full_page=True)
        except Exception:  # on a busy machine chromium now and then has no frame to show: once more
            page.screenshot(path=pictures / f"{name}.png", full_page=True)

    return kept
