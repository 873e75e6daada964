"""The design that an address names, or that has a table; how commands name it."""

from tablewright.app.runtime import Runtime
from tablewright.design import Design, Table
from tablewright.edge.problems import not_found
from tablewright.mapping import Db


def find_design(runtime: Runtime, name: str) -> tuple[Design, Db]:
    """The design and the Db that runs it; 404 if there is none."""
    found = runtime.designs.get(name)
    if found is None:
        raise not_found("NO_SUCH_DESIGN", "There is no design of this name here.")
    return found


def command_name(runtime: Runtime, design: Design) -> str:
    """What a command takes for this design: a system, or the file it came from; "" for one of the app's own."""
    upload = runtime.uploads.all().get(design.name)
    if upload is not None:
        return upload.file
    systems = (each.system for each in runtime.running if design in each.system.designs)
    return next((system.source or system.name for system in systems), "")


def table_of(runtime: Runtime, physical: str) -> tuple[Design | None, Table | None]:
    """The design and table behind a physical name, on whichever side of a migration, if any design has it."""
    for design, db in runtime.designs.values():
        for table in design.tables.values():
            if physical in runtime.names_of(db, table.name):
                return design, table
    return None, None
