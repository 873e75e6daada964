"""Hosting plans: `/products`."""

import hashlib
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from tablewright.edge.errors import NotFound
from tablewright.edge.etags import mark, public_cache, unchanged
from tablewright.edge.routes import Router
from tablewright.kit.http import Cursor, IfMatch, listed, marked, matched, page_of
from tablewright.systems.portal.access import Admin, Caller, is_staff, staff
from tablewright.systems.portal.api import bodies
from tablewright.systems.portal.api.bodies import VARY, PageSize
from tablewright.systems.portal.model import PriceChange
from tablewright.systems.portal.portal import Portal


def products(portal: Portal) -> APIRouter:
    api = Router(tags=["products"])
    catalogue, now = portal.catalogue, portal.repository.now

    @api.get("/products", response_model_exclude_none=True)
    def list_products(
        request: Request,
        response: Response,
        caller: Caller,
        include_inactive: Annotated[bool, Query(alias="includeInactive")] = False,
        size: PageSize = None,
        after: Cursor = None,
    ) -> Any:
        """Everything for sale. Staff may include drafts and deleted products, in pages."""
        if include_inactive:
            page = catalogue.products(staff(request), active=None, size=size, after=after)
            return page_of(page, lambda product: bodies.product_view(product, now()))
        shown = [bodies.public_product(product, now()) for product in catalogue.for_sale()]
        return _cached(request, response, listed(shown))

    @api.post("/products", status_code=201)
    def create_product(body: bodies.NewProduct, response: Response, actor: Admin) -> bodies.ProductView:
        product, warnings = catalogue.create_product(dict(body), actor)
        return marked(response, bodies.product_view(product, now(), warnings))

    @api.get("/products/{id}", response_model_exclude_none=True)
    def get_product(id: str, request: Request, response: Response, caller: Caller) -> Any:
        """One product; staff sees all its fields."""
        if is_staff(caller):
            return marked(response, bodies.product_view(catalogue.product(id, deleted=True), now()))
        product = catalogue.product(id)
        if product.draft:
            raise NotFound("product")
        return _cached(request, response, bodies.public_product(product, now()))

    @api.put("/products/{id}")
    def change_product(
        id: str, body: bodies.ProductChange, response: Response, actor: Admin, match: IfMatch = None
    ) -> bodies.ProductView:
        """Change the fields that are sent; `active: false` takes the product off sale."""
        version = matched(match, catalogue.product(id, deleted=True).version)
        product, warnings = catalogue.change_product(id, body.changes(), actor, version)
        return marked(response, bodies.product_view(product, now(), warnings))

    @api.get("/products/{id}/campaigns", response_model_exclude_none=False)
    def campaigns_of_product(id: str, caller: Caller) -> list[bodies.PublicCampaign]:
        offers = catalogue.offers_of(id, public=not is_staff(caller))
        return [bodies.public_campaign(offer) for offer in offers]

    @api.get("/products/{id}/prices")
    def prices_of_product(id: str, actor: Admin) -> list[PriceChange]:
        """Every price since the product was created."""
        catalogue.product(id, deleted=True)
        return catalogue.prices(id)

    return api


def _cached(request: Request, response: Response, body: Any) -> Any:
    """A public body, or 304 for a caller who has it."""
    version = hashlib.sha256(body.model_dump_json().encode()).hexdigest()[:32]
    response_304 = unchanged(request, version, cache_control=public_cache())
    if response_304 is not None:
        return response_304
    mark(response, version, cache_control=public_cache())
    response.headers["Vary"] = VARY
    return body
