"""The operator's pages: firewalls, failures, rules compared with devices, the app registry, queues.

operator_page.py is their base; the pages are operator_devices.py operator_failures.py operator_rules.py
operator_registry.py operator_queues.py.
"""

from fastapi import APIRouter

from tablewright.edge.identity.guards import FindPrincipal
from tablewright.pages.area import Nav
from tablewright.pages.layout import Console
from tablewright.systems.parental.pages.operator_devices import add_devices
from tablewright.systems.parental.pages.operator_failures import add_failures
from tablewright.systems.parental.pages.operator_page import pages_of
from tablewright.systems.parental.pages.operator_queues import add_queues
from tablewright.systems.parental.pages.operator_registry import add_registry
from tablewright.systems.parental.pages.operator_rules import add_rules
from tablewright.systems.parental.parental import Parental

ROLES = ("operator",)
OPERATOR_PAGES = (
    Nav("Firewalls", "devices", ROLES, icon="shield"),
    Nav("Failures", "failures", ROLES, icon="alert"),
    Nav("Rules", "rules", ROLES, icon="pattern"),
    Nav("App registry", "registry", ROLES, icon="apps"),
    Nav("Quarantine", "quarantine", ROLES, icon="box"),
    Nav("Background jobs", "tasks", ROLES, icon="clock"),
)


def operator_router(parental: Parental, console: Console, who: FindPrincipal) -> APIRouter:
    """All pages for network operators."""
    pages = pages_of(parental, console, who)
    router = pages.private_router()
    for add in (add_devices, add_failures, add_rules, add_registry, add_queues):
        add(router, pages)
    return router
