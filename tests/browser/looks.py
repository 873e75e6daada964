"""What every page must be: free of serious barriers, and no wider than the screen."""

from typing import Any

from axe_playwright_python.base import AXE_SCRIPT  # type: ignore[import-untyped]  # it has no types

GRAVE = ("serious", "critical")


def barriers(page: Any) -> list[str]:
    """Everything axe-core calls serious or worse, as sentences."""
    page.evaluate(AXE_SCRIPT)
    # Only what is wrong comes back: to carry the rest took a fifth of the time.
    found: list[list[str]] = page.evaluate(
        """() => axe.run({ resultTypes: ["violations"] }).then(found => found.violations.map(
             each => [each.id, each.help, each.impact, each.nodes[0].html]))"""
    )
    return [f"{id}: {help} at {html[:120]}" for id, help, impact, html in found if impact in GRAVE]


def overflow(page: Any) -> int:
    """How many pixels the page is wider than the screen."""
    wide: int = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return wide
