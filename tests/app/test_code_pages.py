"""The code of the engineers' pages runs as it is shown: copied from a page, against the port of the same server."""

import os
import re
import subprocess
import sysconfig
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.app.browsing import browsers
from tests.app.library import LIBRARY, Book

from tablewright import testing
from tablewright.app.runtime import open_app
from tablewright.app.serve import app_of
from tablewright.edge import serving_app

AWS = Path(sysconfig.get_path("scripts"))
ITEM = "/console/designs/item?table=shelves&k.PK=BOOK%23b007&k.SK=BOOK"
GRID = "/console/designs/items?table=shelves&partition=BOOK%23b007"
PATTERN = "/console/designs/library/patterns/"


@pytest.fixture(scope="module")
def rosa() -> Iterator[httpx.Client]:
    world = testing.Clock().world()
    with (
        open_app(memory=True, systems=(LIBRARY,), world=world, dynamodb_port=0) as runtime,
        serving_app(app_of(runtime)) as url,
        browsers(url) as enter,
    ):
        yield enter("engineer_rosa")


@pytest.fixture(autouse=True)
def no_account(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Neither keys nor a region are set: what is copied needs nothing else."""
    for name in (
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_DEFAULT_REGION",
        "AWS_REGION",
        "AWS_PROFILE",
    ):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "absent"))


def code_of(rosa: httpx.Client, path: str) -> dict[str, str]:
    """The tabs with code of a page, by language."""
    page = rosa.get(path).text
    tabs = next(
        each for each in re.findall(r'<fieldset class="tabset">.*?</fieldset>', page, re.S) if "boto3" in each
    )
    names = re.findall(r"<label [^>]+>([^<]+)</label>", tabs)
    texts = [unescape(each) for each in re.findall(r"<code>(.*?)</code>", tabs, re.S)]
    return dict(zip(names, texts, strict=True))


def run_python(text: str) -> dict[str, Any]:
    seen: dict[str, Any] = {}
    exec(text, seen)
    if "client" in seen:
        seen["client"].close()
    return seen


def test_the_code_of_an_item_reads_that_item(rosa: httpx.Client) -> None:
    code = code_of(rosa, ITEM)
    assert list(code) == ["boto3", "AWS CLI", "JavaScript", "Typed Python"]
    item = run_python(code["boto3"])["response"]["Item"]
    found = run_python(code["Typed Python"])["found"]
    assert isinstance(found, Book)
    assert (found.id, found.title) == (item["id"]["S"], item["title"]["S"]) == ("b007", "Volume 8")


@pytest.mark.parametrize(
    "asked",
    ["book_by_id?id=b007", "books_by_state?state=ON_SHELF", "notes_on?book=b000&since=2020-01-01T00:00:00Z"],
)
def test_the_code_of_a_pattern_finds_what_the_pattern_finds(rosa: httpx.Client, asked: str) -> None:
    code = code_of(rosa, PATTERN + asked)
    response, typed = run_python(code["boto3"])["response"], run_python(code["Typed Python"])
    stored = response["Items"] if "Items" in response else [response["Item"]]
    models = typed["page"].items if "page" in typed else [typed["found"]]
    assert len(stored) >= len(models) > 0
    assert [each.get("title", each.get("text"))["S"] for each in stored][: len(models)] == [
        getattr(each, "title", None) or each.text for each in models
    ]


def test_the_code_of_the_grid_reads_the_items_of_its_filter(rosa: httpx.Client) -> None:
    code = code_of(rosa, GRID)
    assert list(code) == ["boto3", "AWS CLI", "JavaScript"]
    assert [each["id"]["S"] for each in run_python(code["boto3"])["response"]["Items"]] == ["b007"]


def test_the_commands_of_a_page_print_the_item(rosa: httpx.Client) -> None:
    there = {**os.environ, "PATH": f"{AWS}:{os.environ['PATH']}", "AWS_PAGER": ""}
    text = code_of(rosa, ITEM)["AWS CLI"]
    done = subprocess.run(["sh", "-eu"], input=text, capture_output=True, text=True, env=there, timeout=120)
    assert done.returncode == 0, done.stderr
    assert '"S": "Volume 8"' in done.stdout
