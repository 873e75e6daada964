"""What every page must be: free of serious barriers, and no wider than the screen."""

from typing import Any

from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]  # it has no types

GRAVE = ("serious", "critical")


def barriers(page: Any) -> list[str]:
    """Everything axe-core calls serious or worse, as sentences."""
    found = Axe().run(page).response["violations"]
    return [
        f"{each['id']}: {each['help']} at {each['nodes'][0]['html'][:120]}"
        for each in found
        if each["impact"] in GRAVE
    ]


def overflow(page: Any) -> int:
    """How many pixels the page is wider than the screen."""
    wide: int = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return wide
