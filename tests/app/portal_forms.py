"""A browser without a script, as far as the portal's tests need one: what a page says, and its forms as sent."""

import re
from dataclasses import dataclass, field
from html import unescape
from html.parser import HTMLParser

import httpx


def words_of(page: httpx.Response) -> str:
    """What a reader sees: no tags, and one kind of space."""
    text = re.sub(r"<(style|script)\b.*?</\1>", " ", page.text, flags=re.S)
    plain = re.sub(r"<[^>]+>", " ", text)
    for sign, letter in (("&#39;", "'"), ("&#34;", '"'), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")):
        plain = plain.replace(sign, letter)
    return re.sub(r"[\s\u00a0\u202f]+", " ", plain)


@dataclass
class PageForm:
    """A form of a page: where it is sent, and what stands in it."""

    action: str
    values: dict[str, str | list[str]] = field(default_factory=dict)

    def put(self, name: str, value: str) -> None:
        before = self.values.get(name)
        if before is None:
            self.values[name] = value
        else:
            self.values[name] = [*(before if isinstance(before, list) else [before]), value]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.forms: list[PageForm] = []
        self._select: tuple[str, list[tuple[str, bool]]] | None = None
        self._area: tuple[str, str] | None = None
        self._open = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        name, value = given.get("name") or "", given.get("value") or ""
        if tag == "form":
            self.forms.append(PageForm(given.get("action") or ""))
            self._open = True
        if not self._open or (not name and tag != "option"):
            return
        kind = given.get("type")
        if tag == "input" and (kind not in ("checkbox", "radio") or "checked" in given):
            self.forms[-1].put(name, value if kind != "checkbox" or "value" in given else "on")
        elif tag == "select":
            self._select = (name, [])
        elif tag == "option" and self._select is not None:
            self._select[1].append((value, "selected" in given))
        elif tag == "textarea":
            self._area = (name, "")

    def handle_data(self, data: str) -> None:
        if self._area is not None:
            self._area = (self._area[0], self._area[1] + data)

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea" and self._area is not None:
            self.forms[-1].put(*self._area)
            self._area = None
        elif tag == "select" and self._select is not None:
            name, options = self._select
            chosen = next(
                (value for value, is_chosen in options if is_chosen), options[0][0] if options else ""
            )
            self.forms[-1].put(name, chosen)
            self._select = None
        elif tag == "form":
            self._open = False


def forms_of(page: httpx.Response) -> list[PageForm]:
    reader = _Reader()
    reader.feed(page.text)
    return reader.forms


def send(
    browser: httpx.Client, page: httpx.Response, action: str, **typed: str | list[str]
) -> httpx.Response:
    """Fill in the page's form that goes to `action` and send it: what is not typed stays as the page has it."""
    form = next(form for form in forms_of(page) if form.action == action)
    return browser.post(action, data={**form.values, **typed})


def mistakes_of(page: httpx.Response) -> dict[str, str]:
    """What stands beside each field that is wrong, by the field's label."""
    found = {}
    for block in re.findall(r'<div class="field wrong">(.*?)\n</div>', page.text, flags=re.S):
        label = re.search(r"<label[^>]*>(.*?)</label>", block, flags=re.S)
        said = re.search(r'<p class="field-error"[^>]*>(.*?)</p>', block, flags=re.S)
        if label is not None and said is not None:
            bare = re.sub(r'<span class="optional">.*?</span>', "", label[1])
            found[_plain(bare)] = _plain(said[1])
    return found


def _plain(markup: str) -> str:
    return unescape(re.sub(r"<[^>]+>", "", re.sub(r"<svg.*?</svg>", "", markup, flags=re.S))).strip()
