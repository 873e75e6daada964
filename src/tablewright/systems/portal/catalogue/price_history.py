"""The price history of products, from the stream of changes.

The service writes an entry with each price change; this covers changes made directly on the table.
Must hold: a change that is delivered twice makes one entry (CP-D33).
"""

from tablewright.mapping.consumer.records import Change
from tablewright.systems.portal import design as d
from tablewright.systems.portal import rules
from tablewright.systems.portal.model import Product
from tablewright.systems.portal.repository import Repository


def on_product_change(repository: Repository, change: Change[Product]) -> bool:
    """Add a product's change to the price history; whether anything was added."""
    if change.after is None:
        return False
    steps = rules.price_steps(change.before, change.after)
    return any([repository.db.get_or_create(d.prices.create(step))[1] for step in steps])
