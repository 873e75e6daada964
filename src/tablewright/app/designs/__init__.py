"""The engineers' pages: designs, access patterns that can be run, items as stored.

designs.py (designs, tables, entities), patterns.py (run one), cost.py (what a month costs), browse.py (items),
secrets.py (masked fields), metrics.py (figures over time), store.py (tables, jobs), mail.py (mail kept here, or where
it is sent).
"""

from tablewright.app.designs.browse import add_browsing
from tablewright.app.designs.cost import add_costs
from tablewright.app.designs.designs import add_designs
from tablewright.app.designs.mail import add_mail
from tablewright.app.designs.metrics import add_metrics
from tablewright.app.designs.patterns import add_patterns
from tablewright.app.designs.search import finder
from tablewright.app.designs.store import add_store
from tablewright.app.people import ENGINEER
from tablewright.app.runtime import Runtime
from tablewright.edge import require
from tablewright.edge.identity.guards import FindPrincipal
from tablewright.pages.area import Area, Nav
from tablewright.pages.layout import Console

NAME = "designs"


def engineer(find: FindPrincipal, is_demo: bool) -> FindPrincipal:
    """Callers who may see everything: engineers with a second factor; in the demo, every signed-in user."""
    return require(find) if is_demo else require(find, ENGINEER, mfa=True)


def designs_area(runtime: Runtime, console: Console, allowed: FindPrincipal) -> Area:
    router = console.router()
    # The store's own pages come first: their paths would else be read as the name of a design.
    for add in (add_store, add_mail, add_browsing, add_metrics, add_designs, add_costs, add_patterns):
        add(router, runtime, console, allowed)
    return Area(
        NAME,
        "Designs",
        "designs",
        "blue",
        (
            Nav("All designs", icon="designs"),
            Nav("Items", "items", (), icon="table"),
            Nav("Metrics", "metrics", (), icon="chart"),
            Nav("Store and jobs", "store", (), icon="store"),
            Nav("Mail", "mail", (), icon="mail"),
        ),
        router,
        about="Tables, keys, access patterns with what they cost, and the items themselves.",
        search=finder(runtime),
        finds="a table, an entity, an access pattern",
        also=(("/console/running", "store"),),
        is_workbench=True,
    )
