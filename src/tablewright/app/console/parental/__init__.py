"""The area of parental controls: what parents see of their children, and the operator's pages.

desk.py is what the parents' pages are made with; family.py closing.py joining.py overview.py policies.py dashboard.py
records.py privacy.py apps.py are the pages; typed.py reads the policy editor, moments.py times that are typed,
pictures.py draws, wording.py speaks, finding.py searches. operator.py and what it names are for who runs the network.
"""

from tablewright.app.console.area import Area, Nav
from tablewright.app.console.console import Console
from tablewright.app.console.parental.apps import apps_router
from tablewright.app.console.parental.closing import closing_router
from tablewright.app.console.parental.dashboard import dashboard_router
from tablewright.app.console.parental.desk import desk_of
from tablewright.app.console.parental.family import family_router
from tablewright.app.console.parental.finding import finder
from tablewright.app.console.parental.joining import joining_router
from tablewright.app.console.parental.operator import OPERATOR_PAGES, operator_router
from tablewright.app.console.parental.overview import overview_router
from tablewright.app.console.parental.policies import policies_router
from tablewright.app.console.parental.privacy import privacy_router
from tablewright.app.console.parental.records import records_router
from tablewright.edge.identity.guards import FindPrincipal
from tablewright.edge.routes import gather
from tablewright.systems.parental.repository import Actor
from tablewright.systems.parental.service import Parental

_OTHERS = ("operator", "network")  # whose pages are others
PAGES = (
    Nav("Family", "", (), _OTHERS),
    Nav("Notices", "notices", (), _OTHERS),
    Nav("Activity", "activity", (), _OTHERS),
    Nav("Apps", "apps", (), _OTHERS),
    *OPERATOR_PAGES,
)


def parental_area(parental: Parental, console: Console, who: FindPrincipal) -> Area:
    """The area of System.area."""
    desk = desk_of(parental, console, who)
    router = family_router(desk)
    # joining_router first: `children/new` would else be read as a child.
    parts = (
        joining_router(desk),
        closing_router(desk),
        policies_router(desk),
        dashboard_router(desk),
        records_router(desk),
        privacy_router(desk),
        apps_router(desk),
        overview_router(desk),
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
        about="What children may not use, and when: written by parents, enforced on firewalls.",
        search=finder(parental),
        finds="a child, an app",
        has_door=True,
        admits=lambda email: bool(parental.guardians.invited(Actor(email, "", email=email))),
    )
