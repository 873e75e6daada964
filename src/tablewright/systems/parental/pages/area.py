"""The area of parental controls: what parents see of their children, and the operator's pages.

page.py is what the parents' pages are made with; family.py deletion.py add_child.py overview.py policies.py
dashboard.py history.py privacy.py apps.py are the pages; forms.py reads the policy editor, charts.py draws,
words.py has the sentences, search.py searches. operator.py has the operator's pages.
"""

from tablewright.edge.identity.guards import FindPrincipal
from tablewright.edge.routes import gather
from tablewright.kit.tables import Actor
from tablewright.pages.area import Area, Nav
from tablewright.pages.layout import Console
from tablewright.systems.parental.pages.add_child import joining_router
from tablewright.systems.parental.pages.apps import apps_router
from tablewright.systems.parental.pages.dashboard import dashboard_router
from tablewright.systems.parental.pages.deletion import closing_router
from tablewright.systems.parental.pages.family import family_router
from tablewright.systems.parental.pages.history import records_router
from tablewright.systems.parental.pages.operator import OPERATOR_PAGES, operator_router
from tablewright.systems.parental.pages.overview import overview_router
from tablewright.systems.parental.pages.page import pages_of
from tablewright.systems.parental.pages.policies import policies_router
from tablewright.systems.parental.pages.privacy import privacy_router
from tablewright.systems.parental.pages.search import finder
from tablewright.systems.parental.parental import Parental

_OTHERS = ("operator", "network")  # roles without a family
PAGES = (
    Nav("Family", "", (), _OTHERS, icon="people"),
    Nav("Notices", "notices", (), _OTHERS, icon="bell"),
    Nav("Activity", "activity", (), _OTHERS, icon="history"),
    Nav("Apps", "apps", (), _OTHERS, icon="apps"),
    *OPERATOR_PAGES,
)


def parental_area(parental: Parental, console: Console, who: FindPrincipal) -> Area:
    """The area of SYSTEM.pages."""
    pages = pages_of(parental, console, who)
    router = family_router(pages)
    # joining_router first: otherwise `children/new` would be read as a child.
    parts = (
        joining_router(pages),
        closing_router(pages),
        policies_router(pages),
        dashboard_router(pages),
        records_router(pages),
        privacy_router(pages),
        apps_router(pages),
        overview_router(pages),
        operator_router(parental, console, who),
    )
    gather(router, parts)
    return Area(
        "parental",
        "Parental controls",
        "shield",
        "violet",
        PAGES,
        router,
        about="Parents decide what their children can't use and when; firewalls enforce it.",
        search=finder(parental),
        finds="a child, an app or a rule",
        admits=lambda email: bool(parental.guardians.invited(Actor(email, "", email=email))),
    )
