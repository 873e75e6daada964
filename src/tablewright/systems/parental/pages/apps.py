"""Apps that can be blocked, by category: their destinations, and what is not enforced and why (PC-S14)."""

from fastapi import APIRouter, Request, Response

from tablewright.edge.errors import NotFound
from tablewright.pages.forms import Form
from tablewright.pages.layout import Crumb
from tablewright.systems.parental.firewall.compiler import left_out
from tablewright.systems.parental.model import BlockedApp
from tablewright.systems.parental.pages.forms import shelves
from tablewright.systems.parental.pages.page import HOME, ParentalPages

LIST = f"{HOME}/apps"


def add_apps(router: APIRouter, pages: ParentalPages) -> None:
    @router.get("/apps")
    def apps(request: Request, find: str = "") -> Response:
        offered = pages.parental.registry.offered()
        return pages.page(
            request,
            "apps",
            title="Apps",
            form=Form({"find": find}),
            shelves=shelves(offered, find),
            count=len(offered),
        )

    @router.get("/apps/{name}")
    def app(request: Request, name: str) -> Response:
        found = pages.parental.registry.app(name)
        if found is None:
            raise NotFound("APP", "We don't know an app with this name.")
        children = pages.parental.families.children(pages.actor(request))
        return pages.page(
            request, "app", title=found.app_name, crumbs=(Crumb("Apps", LIST),), app=found, children=children,
            left_out=left_out(found, [BlockedApp(app_name=found.app_name)], ()),
        )  # fmt: skip
