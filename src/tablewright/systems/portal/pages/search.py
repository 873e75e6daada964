"""The portal's results of a search: customers, orders, campaigns and plans for staff; plans and offers for everyone.

Customers and orders are searched by part of an address, by number or amount, among the newest (limits:
systems/portal/search.py); their own lists search further. Must hold: a caller only finds what they may read.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from tablewright.edge import Principal
from tablewright.edge.errors import CallerError
from tablewright.english import money
from tablewright.kit.tables import Actor
from tablewright.pages.area import Hit
from tablewright.systems.portal.access import actor_of, is_staff
from tablewright.systems.portal.pages.page import CAMPAIGN_WORDS, HOME, ORDER_WORDS
from tablewright.systems.portal.pages.products import state_of
from tablewright.systems.portal.portal import Portal
from tablewright.systems.portal.search import search_orders, search_tenants

_FEWEST_LETTERS = 2
# A search runs every few letters, so it reads fewer records than the lists do.
_LOOKED_THROUGH = 200
_HITS = 5


def finder(portal: Portal) -> Callable[[Principal, str], Sequence[Hit]]:
    def search(caller: Principal, text: str) -> Sequence[Hit]:
        wanted = text.strip()
        if len(wanted) < _FEWEST_LETTERS:
            return ()
        if not is_staff(caller):
            return tuple(_sold(portal, wanted.casefold()))
        return (
            *_tenants(portal, wanted),
            *_orders(portal, wanted),
            *_campaigns(portal, actor_of(caller), wanted.casefold()),
            *_products(portal, actor_of(caller), wanted.casefold()),
        )

    return search


def _tenants(portal: Portal, text: str) -> Iterator[Hit]:
    for found in search_tenants(portal, text, limit=_LOOKED_THROUGH).items[:_HITS]:
        yield Hit(found.email, f"{HOME}/tenants/{found.id}", f"Customer, {found.status.lower()}")


def _orders(portal: Portal, text: str) -> Iterator[Hit]:
    for found in search_orders(portal, text, limit=_LOOKED_THROUGH).items[:_HITS]:
        about = f"Order, {ORDER_WORDS[found.order_status]}, {money(found.total, 'ZAR')}"
        yield Hit(found.order_number, f"{HOME}/orders/{found.order_id}", about)


def _campaigns(portal: Portal, reader: Actor, text: str) -> Iterator[Hit]:
    offers, _ = portal.catalogue.offers(reader, active=None, size=100)
    for offer in offers:
        if text in f"{offer.campaign.code} {offer.campaign.description}".casefold():
            about = f"Campaign, {CAMPAIGN_WORDS[offer.state][0]}. {offer.campaign.description}"
            yield Hit(offer.campaign.code, f"{HOME}/campaigns/{offer.campaign.code}/details", about)


def _products(portal: Portal, reader: Actor, text: str) -> Iterator[Hit]:
    for product in portal.catalogue.products(reader, active=None, size=100).items:
        if text in product.name.casefold() or text == product.id:
            price = money(portal.catalogue.price_now(product), "ZAR")
            yield Hit(product.name, f"{HOME}/products/{product.id}", f"Plan, {state_of(product)[0]}, {price}")


def _sold(portal: Portal, text: str) -> Iterator[Hit]:
    for product in portal.catalogue.for_sale():
        if text in product.name.casefold():
            price = money(portal.catalogue.price_now(product), "ZAR")
            yield Hit(product.name, f"{HOME}/checkout?plan={product.id}", f"{price}. {product.description}")
    with suppress(CallerError):
        offer = portal.catalogue.landing(text)
        if offer.state != "SCHEDULED":
            yield Hit(
                offer.campaign.code, f"{HOME}/campaigns/{offer.campaign.code}", offer.campaign.description
            )
