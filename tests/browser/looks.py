"""What every page must be on every screen: free of serious barriers, and no wider than the screen."""

from typing import Any

import pytest
from tests.browser.conftest import Keep

GRAVE = ("serious", "critical")

# Two of the four combinations: what is too wide does not depend on the colours, nor a contrast on the width.
SCREENS = ((1280, 900, "light"), (390, 844, "dark"))


def looked_at(page: Any, keep: Keep, name: str) -> None:
    """A page on every screen, one after the other: kept for people to look at, and held to what every page must be."""
    page.wait_for_load_state()  # a click that led here waits for its first bytes
    for width, height, scheme in SCREENS:
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme)
        keep(page, f"{name}-{width}-{scheme}")
        assert barriers(page) == [], (name, width)
        assert overflow(page) <= 0, (name, width)
    page.set_viewport_size({"width": SCREENS[0][0], "height": SCREENS[0][1]})
    page.emulate_media(color_scheme=SCREENS[0][2])


def barriers(page: Any) -> list[str]:
    """Everything axe-core calls serious or worse, as sentences."""
    if page.evaluate("typeof axe") == "undefined":
        axe = pytest.importorskip("axe_playwright_python.base", reason="no axe-core: pip install '.[test]'")
        page.evaluate(axe.AXE_SCRIPT)
        # The browser has it for the pages that follow: it compiles it once, and half a megabyte is sent once.
        page.add_init_script(axe.AXE_SCRIPT)
    # Only what is wrong comes back: to carry the rest took a fifth of the time. Rules of less weight are not tried, nor
    # are selectors made, nor style sheets fetched for a rule that is not among them.
    found: list[list[str]] = page.evaluate(
        """grave => {
             const less = axe._audit.rules.filter(rule => !grave.includes(rule.impact));
             const rules = Object.fromEntries(less.map(rule => [rule.id, { enabled: false }]));
             const told = { resultTypes: ["violations"], selectors: false, preload: false };
             return axe.run({ ...told, rules }).then(found => found.violations.map(
               each => [each.id, each.help, each.impact, each.nodes[0].html]));
           }""",
        GRAVE,
    )
    return [f"{id}: {help} at {html[:120]}" for id, help, impact, html in found if impact in GRAVE]


def overflow(page: Any) -> int:
    """How many pixels the page is wider than the screen."""
    wide: int = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return wide
