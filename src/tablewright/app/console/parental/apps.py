"""The apps that can be blocked, by category, with what is known of them and what is not enforced, and why (PC-S14)."""

from fastapi import APIRouter, Depends, Request, Response

from tablewright.app.console.console import Crumb
from tablewright.app.console.forms import Form
from tablewright.app.console.parental.desk import HOME, Desk
from tablewright.app.console.parental.typed import shelves
from tablewright.systems.parental.compiler import left_out
from tablewright.systems.parental.errors import NotThere
from tablewright.systems.parental.model import BlockedApp

LIST = f"{HOME}/apps"


def apps_router(desk: Desk) -> APIRouter:
    router = desk.router()

    @router.get("/apps", dependencies=[Depends(desk.signed_in)])
    def apps(request: Request, find: str = "") -> Response:
        offered = desk.parental.registry.offered()
        return desk.page(
            request,
            "apps",
            title="Apps",
            form=Form({"find": find}),
            shelves=shelves(offered, find),
            count=len(offered),
        )

    @router.get("/apps/{name}", dependencies=[Depends(desk.signed_in)])
    def app(request: Request, name: str) -> Response:
        found = desk.parental.registry.app(name)
        if found is None:
            raise NotThere("APP", "No app of this name is known here.")
        children = desk.parental.families.children(desk.actor(request))
        return desk.page(
            request, "app", title=found.app_name, crumbs=(Crumb("Apps", LIST),), app=found, children=children,
            left_out=left_out(found, [BlockedApp(app_name=found.app_name)], ()),
        )  # fmt: skip

    return router
