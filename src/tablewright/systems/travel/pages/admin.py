"""The admin pages of Skratch: operations in conflict or refused, the geography, an account by its address.

Must hold: an admin sees that something is wrong and where, never what its owner wrote; opening an account is recorded
in that account's audit log. Elsewhere: the same for programs (systems/travel/api/admin.py).
"""

from datetime import timedelta
from itertools import islice
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from tablewright.edge.errors import CallerError
from tablewright.english import plural
from tablewright.pages.area import Nav
from tablewright.pages.forms import Form, posted
from tablewright.pages.layout import Crumb
from tablewright.systems.travel.access import ADMIN
from tablewright.systems.travel.api.admin_bodies import admin_operation
from tablewright.systems.travel.model import REGION_TYPES, OpenStatus
from tablewright.systems.travel.pages.page import HOME, TravelPages

ADMIN_PAGES = (
    Nav("Sync", "sync", (ADMIN,), icon="sync"),
    Nav("Geography", "geography", (ADMIN,), icon="globe"),
    Nav("Accounts", "accounts", (ADMIN,), icon="people"),
)
SYNC, ACCOUNTS = f"{HOME}/sync", f"{HOME}/accounts"
PAGE = 25
ERASURES = 50
STATUSES: tuple[tuple[OpenStatus, str], ...] = (
    ("conflict", "In conflict"),
    ("failed", "Failed"),
)


def add_admin(router: APIRouter, pages: TravelPages) -> None:
    for add in (_add_sync, _add_geography, _add_accounts):
        add(router, pages)


def _add_sync(router: APIRouter, pages: TravelPages) -> None:
    @router.get("/sync")
    def sync(request: Request, status: OpenStatus = "conflict", after: str | None = None) -> Response:
        page = pages.travel.sync.by_status(status, pages.caller(request).subject, PAGE, after)
        return pages.page(
            request,
            "admin_sync",
            title="Sync",
            tabs=[(title, f"{SYNC}?status={value}", value == status) for value, title in STATUSES],
            operations=[admin_operation(operation) for operation in page.items],
            next=page.next,
        )


def _add_geography(router: APIRouter, pages: TravelPages) -> None:
    places = pages.travel.places

    @router.get("/geography")
    def geography(request: Request) -> Response:
        known = pages.travel.geography
        return pages.page(
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

    @router.post("/geography")
    def publish(request: Request) -> Response:
        written = places.publish()
        words = (
            f"Published: {plural(written, 'item')} written."
            if written
            else "This version is already published."
        )
        return pages.console.go(f"{HOME}/geography", words)


def _add_accounts(router: APIRouter, pages: TravelPages) -> None:
    accounts, repository = pages.travel.accounts, pages.travel.repository

    @router.get("/accounts")
    def look(request: Request) -> Response:
        return page(request, Form())

    @router.post("/accounts")
    def find(request: Request, form: Annotated[Form, Depends(posted)]) -> Response:
        """A POST, so that no e-mail address gets into an address bar or a log."""
        typed = form.get("who").strip()
        try:
            owner = accounts.owner_of_email(typed) if "@" in typed else accounts.owner_of_hash(typed)
        except CallerError as mistake:
            return page(request, form.wrong("who", mistake.message), 400)
        if owner is None:
            return page(request, form.wrong("who", "No account has this address."), 404)
        return pages.console.go(f"{ACCOUNTS}/{owner}")

    @router.get("/accounts/{user_id}")
    def account(user_id: str, request: Request) -> Response:
        profile = repository.profile(user_id)
        caller = pages.caller(request)
        repository.db.write(repository.audit(user_id, "viewed by support", caller.subject, ADMIN))
        return pages.page(
            request,
            "admin_account",
            title="Account",
            crumbs=(Crumb("Accounts", ACCOUNTS),),
            profile=profile,
            devices=pages.travel.devices.of(user_id, revoked=True),
            record=accounts.audit(user_id, 15).items,
        )

    @router.post("/accounts/{user_id}/recount")
    def recount(user_id: str) -> Response:
        repository.profile(user_id)
        drift = pages.travel.statistics.repair(user_id)
        words = (
            "The counters were correct."
            if drift is None
            else "The counters were wrong and have been corrected."
        )
        return pages.console.go(f"{ACCOUNTS}/{user_id}", words)

    @router.post("/accounts/{user_id}/minor")
    def minor(user_id: str, request: Request, form: Annotated[Form, Depends(posted)]) -> Response:
        is_minor = form.get("is_minor") == "yes"
        accounts.set_minor(user_id, is_minor, pages.caller(request).subject, ADMIN)
        words = (
            "Marked as a child account. The map is private now."
            if is_minor
            else "Marked as an adult account."
        )
        return pages.console.go(f"{ACCOUNTS}/{user_id}", words)

    def page(request: Request, form: Form, status: int = 200) -> Response:
        until = pages.now() + timedelta(days=365)
        erasures = list(islice(pages.travel.privacy.erasures(until=until), ERASURES))
        return pages.page(
            request, "admin_accounts", title="Accounts", status=status, form=form, erasures=erasures
        )
