"""What the commands about the registry of apps share: the registry at a place, and what is said where there is none."""

from typing import TYPE_CHECKING

from tablewright.cli.where import Misused, Place

if TYPE_CHECKING:  # heavy, and nothing heavy is imported before a command runs
    from tablewright.systems.parental.registry import Registry


class NoRegistryThere(Misused):
    """Tables among which there is no registry of apps; none is made for somebody who may have meant another place."""

    def __init__(self, place: str, table: str) -> None:
        super().__init__(
            f"there is no table {table} in {place}: parental controls have not been started there. "
            "`tablewright serve` makes their tables"
        )


def registry_at(place: Place) -> "Registry":
    """The registry of apps among the tables of a place."""
    from tablewright.client import CallRefused
    from tablewright.mapping import Db
    from tablewright.systems.parental.design import PARENTAL, apps_table
    from tablewright.systems.parental.registry import Registry
    from tablewright.systems.parental.repository import Repository

    db = Db(place.call, PARENTAL)
    name = db.physical(apps_table.table.name)
    try:
        place.call("DescribeTable", {"TableName": name})
    except CallRefused as refusal:
        if refusal.name != "ResourceNotFoundException":
            raise
        raise NoRegistryThere(place.name, name) from None
    return Registry(Repository(db, db.world))
