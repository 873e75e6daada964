"""Opening the registry of apps; shared by the `parental registry` commands."""

from tablewright.cli.output import UsageError
from tablewright.cli.target import Target
from tablewright.mapping import Db
from tablewright.systems.parental.design import PARENTAL, apps_table
from tablewright.systems.parental.policy.registry import Registry
from tablewright.systems.parental.repository import Repository


def open_registry(target: Target) -> Registry:
    """The registry of apps in the target's tables."""
    db = Db(target.call, PARENTAL)
    name = db.physical(apps_table.table.name)
    if target.find_table(name) is None:  # not created: another target may have been meant
        raise UsageError(
            f"table {name} does not exist in {target.name}: parental controls have not been started there; "
            "`tablewright serve` creates it"
        )
    return Registry(Repository(db, db.world))
