"""Plans (products in the code), for staff: the catalogue with drafts and plans off sale; one plan with its prices.

Must hold: the form says what a new price applies to (new orders and running campaigns, not existing orders); a change
is refused if the version that was shown is no longer current.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from fastapi import APIRouter, Depends, Request, Response

from tablewright.edge.errors import CallerError, Refused
from tablewright.kit.tables import Actor
from tablewright.pages.forms import Form, FormWrong, Posted
from tablewright.pages.layout import Crumb, Tone
from tablewright.pages.lists import here
from tablewright.systems.portal import field_rules, rules
from tablewright.systems.portal.access import Admin, admin, staff
from tablewright.systems.portal.errors import Changed
from tablewright.systems.portal.model import AuditEntry, Product
from tablewright.systems.portal.pages.charts import price_history
from tablewright.systems.portal.pages.forms import (
    TypedProduct,
    fields_of,
    form_of_stored,
    refused,
    too_late,
    typed,
    version_of,
)
from tablewright.systems.portal.pages.page import HOME, PortalPages

LIST = f"{HOME}/products"
_LISTED = Crumb("Plans", LIST)
SHOWN: dict[str, bool | None] = {"": None, "active": True, "deleted": False}


def add_products(router: APIRouter, pages: PortalPages) -> None:
    # "new" before what would read it as an id
    for add in (_add_forms, _add_lists, _add_actions):
        add(router, pages)


def state_of(product: Product) -> tuple[str, str]:
    """A word and its colour."""
    if not product.active:
        return "off sale", "bad"
    return ("draft", "warn") if product.draft else ("for sale", "good")


def _add_lists(router: APIRouter, pages: PortalPages) -> None:
    catalogue, repository = pages.portal.catalogue, pages.portal.repository

    @router.get("/products", dependencies=[Depends(staff)])
    def list_products(request: Request, show: str = "", after: str | None = None) -> Response:
        page = catalogue.products(pages.actor(request), active=SHOWN.get(show), size=100, after=after or None)
        return pages.page(
            request,
            "products",
            title="Plans",
            products=[(product, catalogue.price_now(product), state_of(product)) for product in page.items],
            next=here(request, after=page.next) if page.next else None,
            show=show,
        )

    @router.get("/products/{id}", dependencies=[Depends(staff)])
    def product(request: Request, id: str) -> Response:
        found = catalogue.product(id, deleted=True)
        steps = catalogue.prices(id)
        now = repository.now()
        to_come = (
            (found.next_price, found.next_price_from)
            if found.next_price is not None
            and found.next_price_from is not None
            and found.next_price_from > now
            else None
        )
        return pages.page(
            request,
            "product",
            title=found.name,
            crumbs=(_LISTED,),
            product=found,
            state=state_of(found),
            price=catalogue.price_now(found),
            steps=list(reversed(steps)),
            picture=price_history(steps, now, to_come),
            to_come=to_come,
            offers=catalogue.offers_of(id, public=False),
            history=pages.list(request, repository.history("products", id), size=10),
            vat=rules.VAT,
        )


def form_of_product(pages: PortalPages, product: Product, reader: Actor) -> Form:
    # A scheduled price that has started is the price, also before the job has applied it.
    product = rules.settled(product, pages.portal.repository.now())
    form = form_of_stored(product, pages.portal, "products", product.id, reader)
    if product.next_price_from is None:
        return form
    local = product.next_price_from.astimezone(rules.ZONE).replace(tzinfo=None)
    return Form({**form.values, "nextPriceFrom": local.isoformat(timespec="minutes")})


def _add_forms(router: APIRouter, pages: PortalPages) -> None:
    catalogue = pages.portal.catalogue

    def show(
        request: Request,
        form: Form,
        product: Product | None = None,
        status: int = 200,
        changes_since: tuple[AuditEntry, ...] = (),
    ) -> Response:
        crumbs = (_LISTED, Crumb(product.name, f"{LIST}/{product.id}")) if product else (_LISTED,)
        return pages.page(
            request, "product_form", title="Edit" if product else "New plan", crumbs=crumbs, status=status,
            form=form, product=product, changes_since=changes_since, rules=field_rules,
        )  # fmt: skip

    @router.get("/products/new", dependencies=[Depends(admin)])
    def new(request: Request) -> Response:
        return show(request, Form({"billingCycle": "monthly"}))

    @router.post("/products/new")
    def create(request: Request, actor: Admin, form: Posted) -> Response:
        try:
            made, warnings = catalogue.create_product(_given(form, pages.portal.repository.now()), actor)
        except (FormWrong, CallerError) as mistake:
            return show(request, refused(form, mistake), status=mistake.status)
        return pages.console.go(f"{LIST}/{made.id}", *_told(f"Plan {made.name} created.", warnings))

    @router.get("/products/{id}/edit", dependencies=[Depends(admin)])
    def edit(request: Request, id: str) -> Response:
        product = catalogue.product(id, deleted=True)
        return show(request, form_of_product(pages, product, pages.actor(request)), product)

    @router.post("/products/{id}/edit")
    def save(request: Request, id: str, actor: Admin, form: Posted) -> Response:
        stored = catalogue.product(id, deleted=True)
        try:
            given = _given(form, pages.portal.repository.now(), stored)
            changes = _unless_same_minute(given, stored)
            _, warnings = catalogue.change_product(id, changes, actor, version_of(form))
        except Changed:
            stored = catalogue.product(id, deleted=True)
            late = too_late(pages.portal, "products", id, stored, form, actor)
            return show(request, late.form, stored, 412, late.changes_since)
        except (FormWrong, CallerError) as mistake:
            return show(request, refused(form, mistake), stored, mistake.status)
        return pages.console.go(f"{LIST}/{id}", *_told("Saved.", warnings))


def _given(form: Form, now: datetime, stored: Product | None = None) -> dict[str, Any]:
    def rule(values: dict[str, Any]) -> Iterator[Refused]:
        yield from field_rules.product_mistakes(values)
        since = values.get("next_price_from")
        if stored is None or not _is_same_minute(since, stored):
            yield from field_rules.schedule_mistakes(since, now)

    return fields_of(typed(form, TypedProduct, rule, draft=form.is_ticked("draft")))


def _unless_same_minute(changes: dict[str, Any], stored: Product) -> dict[str, Any]:
    """A form has minutes only: an unchanged time keeps its seconds, so that it is not a change."""
    if _is_same_minute(changes["next_price_from"], stored):
        return {**changes, "next_price_from": stored.next_price_from}
    return changes


def _is_same_minute(given: datetime | None, stored: Product) -> bool:
    kept = stored.next_price_from
    return given is not None and kept is not None and given == kept.replace(second=0, microsecond=0)


def _told(said: str, warnings: list[str]) -> tuple[str, Tone]:
    return " ".join((said, *warnings)), "note" if warnings else "good"


def _add_actions(router: APIRouter, pages: PortalPages) -> None:
    def switch(id: str, actor: Actor, form: Form, active: bool) -> None:
        pages.portal.catalogue.change_product(id, {"active": active}, actor, version_of(form))

    @router.post("/products/{id}/delete")
    def delete(id: str, actor: Admin, form: Posted) -> Response:
        switch(id, actor, form, False)
        said = "Taken off sale. Existing orders and campaigns don't change. You can restore the plan here."
        return pages.console.go(f"{LIST}/{id}", said, "note")

    @router.post("/products/{id}/restore")
    def restore(id: str, actor: Admin, form: Posted) -> Response:
        switch(id, actor, form, True)
        return pages.console.go(f"{LIST}/{id}", "Plan restored.")
