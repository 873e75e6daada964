"""Opening the registry of apps; shared by the `parental registry` commands."""

from tablewright.cli.target import Target
from tablewright.cli.usage_error import UsageError
from tablewright.client import CallRefused
from tablewright.mapping import Db
from tablewright.systems.parental.design import PARENTAL, apps_table
from tablewright.systems.parental.policy.registry import Registry
from tablewright.systems.parental.repository import Repository


class NoRegistryTable(UsageError):
    """The target has no registry table; it is not created, since another target may have been meant."""

    def __init__(self, target: str, table: str) -> None:
        super().__init__(
            f"table {table} does not exist in {target}: parental controls have not been started there; "
            "`tablewright serve` creates it"
        )


def open_registry(target: Target) -> Registry:
    """The registry of apps in the target's tables."""

    db = Db(target.call, PARENTAL)
    name = db.physical(apps_table.table.name)
    try:
        target.call("DescribeTable", {"TableName": name})
    except CallRefused as refusal:
        if refusal.name != "ResourceNotFoundException":
            raise
        raise NoRegistryTable(target.name, name) from None
    return Registry(Repository(db, db.world))
