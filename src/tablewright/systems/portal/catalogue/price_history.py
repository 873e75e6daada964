"""The price history of products: what a change adds to it.

The catalogue writes the entries with each change; the follower of the stream covers changes made directly on the table.
Must hold: a change that is delivered twice makes one entry (CP-D33).
"""

from datetime import datetime
from decimal import Decimal

from tablewright.mapping.consumer.records import Change
from tablewright.systems.portal import design as d
from tablewright.systems.portal import rules
from tablewright.systems.portal.model import PriceChange, Product
from tablewright.systems.portal.repository import Repository


def on_product_change(repository: Repository, change: Change[Product]) -> bool:
    """Add a product's change to the price history; whether anything was added."""
    if change.after is None:
        return False
    steps = price_steps(change.before, change.after)
    return any([repository.db.get_or_create(d.prices.create(step))[1] for step in steps])


def price_steps(before: Product | None, after: Product) -> list[PriceChange]:
    """What a change of a product adds to its price history: a scheduled price that came, then the change itself.

    Depends on the two records only, so every reader of the change makes the same entries.
    """
    if before is None:
        return [_step(after, None, after.price, after.date_last_updated, after.last_updated_by)]
    steps = []
    price = before.price
    due = before.next_price_from
    came = due is not None and due <= after.date_last_updated and after.next_price_from != due
    if came and due is not None and before.next_price is not None and before.next_price != price:
        steps.append(_step(after, price, before.next_price, due, rules.SCHEDULE))
        price = before.next_price
    if after.price != price:
        steps.append(_step(after, price, after.price, after.date_last_updated, after.last_updated_by))
    return steps


def _step(product: Product, old: Decimal | None, new: Decimal, at: datetime, by: str) -> PriceChange:
    return PriceChange(
        product_id=product.id,
        product_version=product.version,
        at=at,
        old_price=old,
        new_price=new,
        currency=product.currency,
        changed_by=by,
    )
