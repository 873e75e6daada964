"""A picture: its parts, its title and the sentences that say the same to readers who do not see it. Pure.

On a page its colours come from app/static/pictures.css; a file has them in it, for light and dark.
Must hold: that stylesheet names colours only as `light-dark(#..., #...)`, so that both can be taken out of it.
Elsewhere: how SVG is written (pages/charts.py).
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal, TypeAlias

from markupsafe import Markup

from tablewright.design.templates import Part, Template
from tablewright.pages.charts import element, svg, text

HUES = 6
MONO, LETTER = 7.3, 8.2  # the width of a letter of a key, and of a name
_PAIR = re.compile(r"light-dark\((#\w+), (#\w+)\)")

Target: TypeAlias = Literal["entities", "patterns"]
Link: TypeAlias = Callable[[Target, str], str]


def no_links(target: Target, name: str) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture of `width` by `height` pixels. `name` is that of its file, without an ending."""

    name: str
    title: str
    about: str
    width: float
    height: float
    parts: tuple[Markup, ...]

    def inline(self) -> Markup:
        """For a page that has the stylesheet. It may have links, so it is a group and not an image."""
        return self._drawn(self.parts, "group")

    def document(self) -> str:
        """For a file of its own."""
        ground = element("rect", kind="p-ground", width=self.width, height=self.height)
        style = element("style", Markup(_style()))
        drawn = self._drawn((style, ground, *self.parts), "img", xmlns="http://www.w3.org/2000/svg")
        return f'<?xml version="1.0" encoding="UTF-8"?>\n{drawn}\n'

    def _drawn(self, parts: Iterable[Markup], role: str, **more: object) -> Markup:
        words = element("desc", self.about, id=f"{self.name}-about")
        named = {"role": role, "width": self.width, "height": self.height, **more}
        described = {"aria_describedby": f"{self.name}-about"}
        return svg(
            self.width,
            self.height,
            self.title,
            [hint(self.title), words, *parts],
            "picture",
            **named,
            **described,
        )


@cache
def _style() -> str:
    """The stylesheet for a file: in light colours, and in dark ones where a screen is dark."""
    given = files("tablewright.app").joinpath("static/pictures.css").read_text("utf-8")
    rules = re.sub(r"/\*.*?\*/\s*", "", given, flags=re.DOTALL)
    light, dark = (_PAIR.sub(rf"\{group}", rules) for group in (1, 2))
    return f"\n{light}@media screen and (prefers-color-scheme: dark) {{\n{dark}}}\n"


# --- what pictures are made of ---


def hint(words: str) -> Markup:
    """What a pointer shows of the element it is the first child of."""
    return element("title", words)


def hue(place: int) -> str:
    """The class of a colour; colours repeat, so a name always stands beside one."""
    return f"hue-{place % HUES + 1}"


def linked(href: str, content: Markup) -> Markup:
    return element("a", content, href=href) if href else content


def label(x: float, y: float, words: str, href: str = "", kind: str = "p-name") -> Markup:
    """A name, which may be a link."""
    return linked(href, text(kind, x, y, words))


def key_text(x: float, y: float, template: Template | None) -> Markup:
    """A template in one line, its parts set off from its literals."""
    if template is None:
        return text("p-note", x, y, "no sort key")
    pieces = (
        element("tspan", str(piece), kind="p-part") if isinstance(piece, Part) else Markup("{}").format(piece)
        for piece in template.pieces
    )
    return element("text", *pieces, kind="p-key", x=x, y=y)


def shortened(words: str, most: int) -> str:
    return words if len(words) <= most else words[: most - 1] + "…"


def longest(words: Iterable[str]) -> int:
    return max(map(len, words), default=0)
