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
from tablewright.systems.parental.pages.add_child import add_new_child
from tablewright.systems.parental.pages.apps import add_apps
from tablewright.systems.parental.pages.dashboard import add_dashboard
from tablewright.systems.parental.pages.deletion import add_deletion
from tablewright.systems.parental.pages.family import add_family
from tablewright.systems.parental.pages.history import add_records
from tablewright.systems.parental.pages.operator import OPERATOR_PAGES, operator_router
from tablewright.systems.parental.pages.overview import add_overview
from tablewright.systems.parental.pages.page import pages_of
from tablewright.systems.parental.pages.policies import add_policies
from tablewright.systems.parental.pages.privacy import add_privacy
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
    router = pages.private_router()
    # add_new_child first: otherwise `children/new` would be read as a child.
    for add in (
        add_family,
        add_new_child,
        add_deletion,
        add_policies,
        add_dashboard,
        add_records,
        add_privacy,
        add_apps,
        add_overview,
    ):
        add(router, pages)
    gather(router, (operator_router(parental, console, who),))
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
