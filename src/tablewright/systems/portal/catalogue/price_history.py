"""The price history of products, from their changes.

The service writes an entry with each change of a price; this is for changes made around it, on the table itself.
Must hold: the same change twice is one entry (CP-D33).
"""

from tablewright.mapping.consumer.records import Change
from tablewright.systems.portal import design as d
from tablewright.systems.portal import rules
from tablewright.systems.portal.model import Product
from tablewright.systems.portal.repository import Repository


def on_product_change(repository: Repository, change: Change[Product]) -> bool:
    """A product's change in the price history; whether it was new there."""
    if change.after is None:
        return False
    steps = rules.price_steps(change.before, change.after)
    return any([repository.db.get_or_create(d.prices.create(step))[1] for step in steps])
