"""Campus Cloud's pages of one's own account and of admins, in a real browser, on every screen."""

import pytest
from tests.browser.conftest import Keep, Open
from tests.browser.looks import looked_at

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
        "all-courses": "/admin/courses",
        "admin-roster": "/admin/roster",
        "audit": "/admin/audit",
    },
}


@pytest.mark.parametrize("person", PAGES)
def test_pages_of_the_account_and_of_admins_fit_every_screen_without_a_serious_barrier(
    open_page: Open, keep: Keep, person: str | None
) -> None:
    page = open_page(person)
    for name, address in PAGES[person].items():
        assert page.goto(f"{HOME}{address}").status == 200, address
        looked_at(page, keep, f"campus-{name}")
