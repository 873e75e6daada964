"""Campus Cloud's pages of one's own account and of admins, in a real browser, on every screen."""

import pytest
from tests.browser.conftest import Keep, Open
from tests.browser.screens import on_every_screen

HOME = "/console/campus"
PAGES = {
    None: {"sign-in": "/sign-in"},
    "student_lin": {
        "home": "",
        "notifications": "/notifications",
        "profile": "/profile",
        "search": "/search?q=week",
        "trash": "/trash",
    },
    "prof_brandt": {"home-of-staff": ""},
    "admin_kaya": {
        "users": "/admin/users",
        "user": "/admin/users/student_omar",
        "erase": "/admin/users/student_omar/erase",
        "quarantine": "/admin/quarantine",
        "storage": "/admin/storage",
    },
}


@on_every_screen
@pytest.mark.parametrize("person", PAGES)
def test_pages_of_the_account_and_of_admins_fit_every_screen_without_a_serious_barrier(
    open_page: Open, keep: Keep, person: str | None, width: int, dark: bool
) -> None:
    looks = pytest.importorskip("tests.browser.looks", reason="no axe-core: pip install '.[test]'")
    page = open_page(person, width=width, dark=dark)
    for name, address in PAGES[person].items():
        assert page.goto(f"{HOME}{address}").status == 200, address
        keep(page, f"campus-{name}-{width}-{'dark' if dark else 'light'}")
        assert looks.barriers(page) == [], address
        assert looks.overflow(page) <= 0, address
