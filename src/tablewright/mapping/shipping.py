"""Designs as what has to be there for them to run: their tables, and those that mapping keeps beside them."""

from collections.abc import Sequence

from tablewright.design import Design, Environment
from tablewright.design.shipments import Bare, Shipment
from tablewright.mapping.receipts import TABLE as RECEIPTS
from tablewright.mapping.stream_design import stream_consumers

# A receipt is put in the transaction it belongs to, and looked for by who asks whether something was done.
_RECEIPTS = Bare(RECEIPTS, ("GetItem", "PutItem"))


def shipment(name: str, designs: Sequence[Design], environment: Environment) -> Shipment:
    """A system in an environment: with receipts, and with the consumers' table if any table's changes are followed."""
    is_followed = any(table.followed for design in designs for table in design.tables.values())
    helpers = (stream_consumers,) if is_followed else ()
    return Shipment(name, environment, tuple(designs), helpers, (_RECEIPTS,))
