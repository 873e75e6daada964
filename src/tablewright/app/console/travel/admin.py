"""For who runs Skratch: what is in conflict or failed, the geography, an account by its address.

Must hold: an admin sees that something is wrong and where, never what its owner wrote; each look at an account is
written into that account's own record. Elsewhere: the same for programs (systems/travel/routes/admin.py).
"""

from datetime import timedelta
from itertools import islice
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from tablewright.app.console.area import Nav
from tablewright.app.console.console import Crumb
from tablewright.app.console.forms import Form, posted
from tablewright.app.console.travel.desk import ADMIN, HOME, Desk
from tablewright.edge.routes import gather
from tablewright.systems.travel.admin_views import admin_operation
from tablewright.systems.travel.errors import TravelMistake
from tablewright.systems.travel.model import REGION_TYPES, OpenStatus

ADMIN_PAGES = (
    Nav("Sync", "sync", (ADMIN,)),
    Nav("Geography", "geography", (ADMIN,)),
    Nav("Accounts", "accounts", (ADMIN,)),
)
SYNC, ACCOUNTS = f"{HOME}/sync", f"{HOME}/accounts"
PAGE = 25
ERASURES = 50
STATUSES: tuple[tuple[OpenStatus, str], ...] = (
    ("conflict", "In conflict"),
    ("failed", "Failed"),
)


def admin_router(desk: Desk) -> APIRouter:
    router = desk.router()
    gather(router, (part(desk) for part in (_sync, _geography, _accounts)))
    return router


def _sync(desk: Desk) -> APIRouter:
    router = desk.router()

    @router.get("/sync", dependencies=[Depends(desk.admin)])
    def sync(request: Request, status: OpenStatus = "conflict", after: str | None = None) -> Response:
        page = desk.travel.sync.by_status(status, desk.caller(request).subject, PAGE, after)
        return desk.page(
            request,
            "admin_sync",
            title="Sync",
            tabs=[(title, f"{SYNC}?status={value}", value == status) for value, title in STATUSES],
            operations=[admin_operation(operation) for operation in page.items],
            next=page.next,
        )

    return router


def _geography(desk: Desk) -> APIRouter:
    router = desk.router()
    places = desk.travel.places

    @router.get("/geography", dependencies=[Depends(desk.admin)])
    def geography(request: Request) -> Response:
        known = desk.travel.geography
        return desk.page(
            request,
            "admin_geography",
            title="Geography",
            release=places.release(),
            is_published=places.is_published(),
            version=known.data_version,
            updated=known.last_updated,
            kinds=[
                (kind, len(known.of(kind)), known.denominator(kind), len(known.retired[kind]))
                for kind in REGION_TYPES
            ],
        )

    @router.post("/geography", dependencies=[Depends(desk.admin)])
    def publish(request: Request) -> Response:
        written = places.publish()
        words = f"Published: {written:,} items written." if written else "It was published already."
        return desk.console.go(f"{HOME}/geography", words.replace(",", "\u202f"))

    return router


def _accounts(desk: Desk) -> APIRouter:
    router = desk.router()
    accounts, repository = desk.travel.accounts, desk.travel.repository

    @router.get("/accounts", dependencies=[Depends(desk.admin)])
    def look(request: Request) -> Response:
        return page(request, Form())

    @router.post("/accounts", dependencies=[Depends(desk.admin)])
    def find(request: Request, form: Annotated[Form, Depends(posted)]) -> Response:
        """Posted, so that no address is in an address bar or a log."""
        typed = form.get("who").strip()
        try:
            owner = accounts.owner_of_email(typed) if "@" in typed else accounts.owner_of_hash(typed)
        except TravelMistake as mistake:
            return page(request, form.wrong("who", mistake.message), 400)
        if owner is None:
            return page(request, form.wrong("who", "Nobody signs in with this."), 404)
        return desk.console.go(f"{ACCOUNTS}/{owner}")

    @router.get("/accounts/{user_id}", dependencies=[Depends(desk.admin)])
    def account(user_id: str, request: Request) -> Response:
        profile = repository.profile(user_id)
        caller = desk.caller(request)
        repository.db.write(repository.audit(user_id, "looked at by support", caller.subject, ADMIN))
        return desk.page(
            request,
            "admin_account",
            title="Account",
            crumbs=(Crumb("Accounts", ACCOUNTS),),
            profile=profile,
            devices=desk.travel.devices.of(user_id, revoked=True),
            record=accounts.audit(user_id, 15).items,
        )

    @router.post("/accounts/{user_id}/recount", dependencies=[Depends(desk.admin)])
    def recount(user_id: str) -> Response:
        repository.profile(user_id)
        drift = desk.travel.statistics.repair(user_id)
        words = "The counters were right." if drift is None else "The counters were wrong and are right now."
        return desk.console.go(f"{ACCOUNTS}/{user_id}", words)

    @router.post("/accounts/{user_id}/minor", dependencies=[Depends(desk.admin)])
    def minor(user_id: str, request: Request, form: Annotated[Form, Depends(posted)]) -> Response:
        is_minor = form.get("is_minor") == "yes"
        accounts.set_minor(user_id, is_minor, desk.caller(request).subject, ADMIN)
        words = "The map is private from now on." if is_minor else "It is no child's account any more."
        return desk.console.go(f"{ACCOUNTS}/{user_id}", words)

    def page(request: Request, form: Form, status: int = 200) -> Response:
        until = desk.now() + timedelta(days=365)
        erasures = list(islice(desk.travel.privacy.erasures(until=until), ERASURES))
        return desk.page(
            request, "admin_accounts", title="Accounts", status=status, form=form, erasures=erasures
        )

    return router
