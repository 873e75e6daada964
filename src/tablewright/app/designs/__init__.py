"""The engineers' pages: designs, access patterns that can be run, items as stored.

designs.py (designs, tables, entities), pictures.py (pictures of them), findings.py (what the design checker says; its
rules), document_check.py (check a document), uploads.py (add it to the console), patterns.py (run one), cost.py (what a
month costs), heat.py (which keys are hot), browse.py (items as a grid), item_pages.py (one item, and its changes),
csv_pages.py (items as CSV), partiql_pages.py (one statement), secrets.py (masked fields), metrics.py (figures over
time), alarms.py (alarms and their states), store.py (tables, jobs), mail.py (mail kept here, or where it is sent).
"""

from tablewright.app.designs.alarms import add_alarms
from tablewright.app.designs.browse import add_browsing
from tablewright.app.designs.cost import add_costs
from tablewright.app.designs.csv_pages import add_csv
from tablewright.app.designs.designs import add_designs
from tablewright.app.designs.document_check import add_document_check
from tablewright.app.designs.findings import add_findings, add_rules
from tablewright.app.designs.heat import add_heat
from tablewright.app.designs.item_pages import add_item_pages
from tablewright.app.designs.mail import add_mail
from tablewright.app.designs.metrics import add_metrics
from tablewright.app.designs.partiql_pages import add_partiql
from tablewright.app.designs.patterns import add_patterns
from tablewright.app.designs.pictures import add_pictures
from tablewright.app.designs.search import finder
from tablewright.app.designs.store import add_store
from tablewright.app.designs.uploads import add_uploads
from tablewright.app.own_designs import is_own
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
    own = (add_store, add_mail, add_metrics, add_alarms, add_rules, add_document_check, add_uploads)
    items = (add_browsing, add_item_pages, add_csv, add_partiql)
    for add in (*own, *items, add_designs, add_pictures, add_findings, add_costs, add_heat, add_patterns):
        add(router, runtime, console, allowed)
    return Area(
        NAME,
        "Designs",
        "designs",
        "blue",
        (
            Nav("All designs", icon="designs"),
            Nav("Check a design", "check", (), icon="check"),
            Nav("Items", "items", (), icon="table"),
            Nav("Metrics", "metrics", (), icon="chart"),
            Nav("Alarms", "alarms", (), icon="bell"),
            Nav("Store and jobs", "store", (), icon="store"),
            Nav("Mail", "mail", (), icon="mail"),
        ),
        router,
        about="Tables, keys, access patterns with what they cost, and the items themselves.",
        search=finder(runtime, is_demo=console.is_demo),
        finds="a table, an entity, an access pattern",
        listed=lambda: own_designs(runtime, console.is_demo),
        listed_title="Your designs",
        also=(
            ("/console/running", "store"),
            ("/console/designs/item", "items"),
            ("/console/designs/partiql", "items"),
        ),
        is_workbench=True,
    )


def own_designs(runtime: Runtime, is_demo: bool) -> list[Nav]:
    """The user's own designs in the menu: those the server was started with, and uploaded ones."""
    started = [
        design.name for each in runtime.running if is_own(each.system) for design in each.system.designs
    ]
    roles = () if is_demo else (ENGINEER,)
    return [Nav(name, name, roles, icon="designs") for name in (*started, *runtime.uploads.all())]
