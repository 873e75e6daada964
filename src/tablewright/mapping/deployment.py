"""Designs as what has to be there for them to run: their tables, and those that mapping keeps beside them."""

from collections.abc import Sequence

from tablewright.design import Design, Environment
from tablewright.design.deployment import AuxiliaryTable, Deployment
from tablewright.mapping.consumer.design import stream_consumers
from tablewright.mapping.receipts import TABLE as RECEIPTS

# A receipt is put in the transaction it belongs to, and looked for by who asks whether something was done.
_RECEIPTS = AuxiliaryTable(RECEIPTS, ("GetItem", "PutItem"))


def deployment_of(name: str, designs: Sequence[Design], environment: Environment) -> Deployment:
    """A system in an environment: with receipts, and with the consumers' table if any table's changes are followed."""
    is_followed = any(table.followed for design in designs for table in design.tables.values())
    helpers = (stream_consumers,) if is_followed else ()
    return Deployment(name, environment, tuple(designs), helpers, (_RECEIPTS,))
