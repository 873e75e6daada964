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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from tests.cli.command import COMMAND

ARTIFACTS = Path(__file__).parents[2] / "artifacts"
PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
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
    process = subprocess.Popen(
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


@pytest.fixture(scope="package")
def served() -> Iterator[Served]:
    """The app, seeded; ended when the tests of this folder are done."""
    with serving("--memory") as there:
        yield there


# For each file anew: Playwright keeps an event loop running in its thread, in which nobody else can start one.
@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        pytest.skip("no chromium on this machine; as root, `make test` installs it with apt-get")
    playwright = pytest.importorskip("playwright.sync_api", reason="no Playwright: pip install '.[test]'")
    with playwright.sync_playwright() as driver:
        launched = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture
def open_page(browser: Any, served: Served) -> Iterator[Open]:
    """A page of its own: `open_page("engineer_rosa", width=390, dark=True)`; fails on errors of the console."""
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
        context.set_default_timeout(15_000)
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
        if person is not None:
            page.goto("/sign-in")
            page.locator(f'.people button[value="{person}"]').click()
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
