"""Campus Cloud's area: pages for students and teachers, and for admins.

home.py and profile.py are everyone's; admin.py and admin_records.py are for admins. All of them use page.py.
"""

from tablewright.edge.identity.guards import FindPrincipal
from tablewright.edge.routes import gather
from tablewright.pages.area import Area, Nav
from tablewright.pages.layout import Console
from tablewright.systems.campus.campus import Campus
from tablewright.systems.campus.pages.admin import admin_router
from tablewright.systems.campus.pages.admin_records import admin_records_router
from tablewright.systems.campus.pages.assignments import assignments_router
from tablewright.systems.campus.pages.courses import courses_router
from tablewright.systems.campus.pages.files import files_router
from tablewright.systems.campus.pages.gradebook import gradebook_router
from tablewright.systems.campus.pages.grades import grades_router
from tablewright.systems.campus.pages.home import home_router
from tablewright.systems.campus.pages.links import links_router
from tablewright.systems.campus.pages.marks import marks_router
from tablewright.systems.campus.pages.page import HOME, CampusPages
from tablewright.systems.campus.pages.profile import profile_router
from tablewright.systems.campus.pages.regrades import regrades_router
from tablewright.systems.campus.pages.releases import releases_router
from tablewright.systems.campus.pages.rubrics import rubrics_router
from tablewright.systems.campus.pages.search import finder
from tablewright.systems.campus.pages.shares import shares_router
from tablewright.systems.campus.pages.submit import submit_router
from tablewright.systems.campus.pages.teams import teams_router

PAGES = (
    Nav("Home", "", (), icon="home"),
    Nav("My files", "files", (), icon="docs"),
    Nav("Shared with me", "shared", (), icon="people"),
    Nav("Links", "links", (), icon="globe"),
    Nav("Trash", "trash", (), icon="box"),
    Nav("Courses", "courses", (), icon="cap"),
    Nav("Notifications", "notifications", (), icon="bell"),
    Nav("Profile", "profile", (), icon="person"),
    Nav("Users", "admin/users", ("admin",), icon="people"),
    Nav("All courses", "admin/courses", ("admin",), icon="apps"),
    Nav("Quarantine", "admin/quarantine", ("admin",), icon="alert"),
    Nav("Storage", "admin/storage", ("admin",), icon="chart"),
    Nav("Audit log", "admin/audit", ("admin",), icon="history"),
)


def campus_area(campus: Campus, console: Console, who: FindPrincipal) -> Area:
    """The area of SYSTEM.pages."""
    pages = CampusPages(console, who, campus)
    router = home_router(pages)
    gather(
        router,
        (
            profile_router(pages),
            admin_router(pages),
            admin_records_router(pages),
            courses_router(pages),
            assignments_router(pages),
            submit_router(pages),
            teams_router(pages),
            marks_router(pages),
            releases_router(pages),
            rubrics_router(pages),
            regrades_router(pages),
            grades_router(pages),
            gradebook_router(pages),
            files_router(pages),
            shares_router(pages),
            links_router(pages),
        ),
    )
    return Area(
        "campus",
        "Campus Cloud",
        "cap",
        "green",
        PAGES,
        router,
        about="Files, shares, assignments and grades for students and their teachers.",
        search=finder(campus),
        finds="a file, a course or an assignment",
        admits=campus.users.admits,
        also=(
            (f"{HOME}/admin/roster", "admin/courses"),
            (f"{HOME}/folders", "files"),
            (f"{HOME}/shares", "shared"),
            (f"{HOME}/assignments", "courses"),
            (f"{HOME}/submissions", "courses"),
            (f"{HOME}/regrades", "courses"),
        ),
    )
