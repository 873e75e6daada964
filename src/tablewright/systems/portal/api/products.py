"""Hosting plans: `/products`."""

import hashlib
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response

from tablewright.edge import Principal
from tablewright.edge.etags import if_match, mark, public_cache, unchanged
from tablewright.edge.problems import not_found
from tablewright.systems.portal.api import bodies
from tablewright.systems.portal.api.bodies import Page
from tablewright.systems.portal.api.common import (
    VARY,
    Doors,
    IfMatch,
    PageSize,
    StartAt,
    actor_of,
    expected,
    fields_of,
    page_of,
    staff_of,
)
from tablewright.systems.portal.model import PriceChange
from tablewright.systems.portal.portal import Portal


def products(portal: Portal, doors: Doors) -> APIRouter:
    api = APIRouter(tags=["products"])
    catalogue, now = portal.catalogue, portal.repository.now

    @api.get("/products", response_model_exclude_none=True)
    def list_products(
        request: Request,
        response: Response,
        caller: Annotated[Principal, Depends(doors.anyone)],
        include_inactive: Annotated[bool, Query(alias="includeInactive")] = False,
        size: PageSize = None,
        after: StartAt = None,
    ) -> Any:
        """Everything for sale. Staff may include drafts and deleted products, in pages."""
        if include_inactive:
            actor = staff_of(caller)
            page = catalogue.products(actor, active=None, size=size, after=after)
            return page_of([bodies.product_view(p, now()) for p in page.items], page.next)
        shown = [bodies.public_product(product, now()) for product in catalogue.for_sale()]
        body: Page[bodies.PublicProduct] = page_of(shown, None)
        version = _fingerprint(body)
        response_304 = unchanged(request, version, cache_control=public_cache())
        if response_304 is not None:
            return response_304
        mark(response, version, cache_control=public_cache())
        response.headers["Vary"] = VARY
        return body

    @api.post("/products", status_code=201)
    def create_product(
        body: bodies.NewProduct, response: Response, caller: Annotated[Principal, Depends(doors.admin)]
    ) -> bodies.ProductView:
        product, warnings = catalogue.create_product(fields_of(body), actor_of(caller))
        mark(response, product.version)
        return bodies.product_view(product, now(), warnings)

    @api.get("/products/{id}", response_model_exclude_none=True)
    def get_product(
        id: str, request: Request, response: Response, caller: Annotated[Principal, Depends(doors.anyone)]
    ) -> Any:
        """One product; staff sees all its fields."""
        if caller.roles & {"admin", "support"}:
            product = catalogue.product(id, deleted=True)
            mark(response, product.version)
            return bodies.product_view(product, now())
        product = catalogue.product(id)
        if product.draft:
            raise not_found("PRODUCT_NOT_FOUND", "There is no such product.")
        seen = bodies.public_product(product, now())
        version = _fingerprint(seen)
        response_304 = unchanged(request, version, cache_control=public_cache())
        if response_304 is not None:
            return response_304
        mark(response, version, cache_control=public_cache())
        response.headers["Vary"] = VARY
        return seen

    @api.put("/products/{id}")
    def change_product(
        id: str,
        body: bodies.ProductChange,
        response: Response,
        caller: Annotated[Principal, Depends(doors.admin)],
        match: IfMatch = None,
    ) -> bodies.ProductView:
        """Change the fields that are sent; `active: false` takes the product off sale."""
        current = catalogue.product(id, deleted=True)
        if_match(match, current.version)
        changes = body.changes()
        product, warnings = catalogue.change_product(
            id, changes, actor_of(caller), expected(match, current.version)
        )
        mark(response, product.version)
        return bodies.product_view(product, now(), warnings)

    @api.get("/products/{id}/campaigns", response_model_exclude_none=False)
    def campaigns_of_product(
        id: str, caller: Annotated[Principal, Depends(doors.anyone)]
    ) -> list[bodies.PublicCampaign]:
        public = not caller.roles & {"admin", "support"}
        return [bodies.public_campaign(offer) for offer in catalogue.offers_of(id, public=public)]

    @api.get("/products/{id}/prices")
    def prices_of_product(id: str, caller: Annotated[Principal, Depends(doors.admin)]) -> list[PriceChange]:
        """Every price since the product was created."""
        catalogue.product(id, deleted=True)
        return catalogue.prices(id)

    return api


def _fingerprint(body: Any) -> str:
    return hashlib.sha256(body.model_dump_json().encode()).hexdigest()[:32]
