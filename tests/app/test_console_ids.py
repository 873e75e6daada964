"""Every page of the console: ids are there once, and every label belongs to a field of the page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from html import unescape
from html.parser import HTMLParser

import httpx
import pytest
from tests.app.browsing import Enter, browsers
from tests.app.small import SMALL

from tablewright.app.people import THE_ENGINEER
from tablewright.app.runtime import open_app
from tablewright.app.serve import app_of
from tablewright.edge import serving_app

MOST = 120  # pages of a person
PEOPLE = (
    "parent_anna", "operator_olga", "admin_thandi", "student_lin", "prof_brandt", "admin_kaya", "traveller_maya",
    THE_ENGINEER.subject,
)  # fmt: skip


class _Page(HTMLParser):
    """Ids, the fields that labels name, and links of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.labelled: list[str] = []
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if "id" in given:
            self.ids.append(given["id"])
        if tag == "label" and "for" in given:
            self.labelled.append(given["for"])
        if tag == "a" and "href" in given:
            self.links.append(given["href"])


@pytest.fixture(scope="module")
def enter() -> Iterator[Enter]:
    with (
        open_app(memory=True, systems=SMALL, jobs=False) as runtime,
        serving_app(app_of(runtime)) as url,
        browsers(url) as entered,
    ):
        yield entered


def _pages(client: httpx.Client) -> Iterator[tuple[str, _Page]]:
    todo, seen = ["/"], set[str]()
    while todo and len(seen) < MOST:
        address = todo.pop(0)
        shape = re.sub(r"[0-9a-f]{8}[0-9a-f-]*|\d+", "#", address.partition("?")[0])
        if shape in seen:
            continue
        seen.add(shape)
        answer = client.get(address)
        if not answer.headers.get("content-type", "").startswith("text/html"):
            continue
        page = _Page(answer.text)
        yield address, page
        todo += [
            one
            for one in (unescape(link).partition("#")[0] for link in page.links)
            if one.startswith("/console")
        ]


@pytest.mark.parametrize("person", PEOPLE)
def test_ids_are_unique_and_labels_have_their_fields_on_every_page(enter: Enter, person: str) -> None:
    wrong, looked_at = [], 0
    for address, page in _pages(enter(person)):
        looked_at += 1
        twice = [id for id, count in Counter(page.ids).items() if count > 1]
        alone = [name for name in page.labelled if name not in page.ids]
        if twice or alone:
            wrong.append((address, twice, alone))
    assert wrong == []
    assert looked_at > 10
