"""Campus Cloud's area: pages for students and teachers, and for admins.

home.py and profile.py are everyone's; admin.py and admin_records.py are for admins. All of them use page.py.
"""

from tablewright.edge.identity.guards import FindPrincipal
from tablewright.pages.area import Area, Nav
from tablewright.pages.layout import Console
from tablewright.systems.campus.campus import Campus
from tablewright.systems.campus.pages.admin import add_admin
from tablewright.systems.campus.pages.admin_records import add_admin_records
from tablewright.systems.campus.pages.assignments import add_assignments
from tablewright.systems.campus.pages.courses import add_courses
from tablewright.systems.campus.pages.files import add_files
from tablewright.systems.campus.pages.gradebook import add_gradebook
from tablewright.systems.campus.pages.grades import add_grades
from tablewright.systems.campus.pages.home import add_home
from tablewright.systems.campus.pages.links import add_links
from tablewright.systems.campus.pages.marks import add_marks
from tablewright.systems.campus.pages.page import HOME, CampusPages
from tablewright.systems.campus.pages.profile import add_profile
from tablewright.systems.campus.pages.regrades import add_regrades
from tablewright.systems.campus.pages.releases import add_releases
from tablewright.systems.campus.pages.rubrics import add_rubrics
from tablewright.systems.campus.pages.search import finder
from tablewright.systems.campus.pages.shares import add_shares
from tablewright.systems.campus.pages.submit import add_submit
from tablewright.systems.campus.pages.teams import add_teams

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
    router = pages.router()
    for add in (
        add_home,
        add_profile,
        add_admin,
        add_admin_records,
        add_courses,
        add_assignments,
        add_submit,
        add_teams,
        add_marks,
        add_releases,
        add_rubrics,
        add_regrades,
        add_grades,
        add_gradebook,
        add_files,
        add_shares,
        add_links,
    ):
        add(router, pages)
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
