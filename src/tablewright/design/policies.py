"""Who may do what to a shipment's tables, from its access patterns: IAM policies of least privilege, as data.

`roles(shipment)` says which roles there are; statements.py writes one as JSON, terraform/roles.py as HCL.

service    what mapping sends for the designs: reads and writes of items, Query on the table or on exactly the indexes
           that patterns name, Scan only of tables that are read whole, streams only of tables that are followed
deployer   tables and their settings, backups, exports; no items
restorer   puts a table back under another name (`...-restored...`); Amazon asks for rights to items of that one
backup     what AWS Backup does to the tables, by itself
and one for each role that patterns name, if each of its patterns begins its partition with a literal: reads, and only
of keys that begin so (`dynamodb:LeadingKeys`).

Must hold: no Allow has a wildcard in an action, or names a table that is not the shipment's. There is no reader of
"everything that is not personal": a condition on attribute names holds for the whole table, keys of a shared table
carry ids of people, and what a design does not call personal is not thereby harmless. Who shall read for analytics is
given patterns with a role, or the weekly file.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from tablewright.design.parts import DELIMITER
from tablewright.design.patterns import Plan
from tablewright.design.shape import Shape
from tablewright.design.shipments import NotShippable, Shipment
from tablewright.design.statements import ENCRYPTED, On, Points, Role, Statement, Vault
from tablewright.design.tables import Table
from tablewright.design.templates import Part

READS = ("GetItem", "BatchGetItem")
WRITES = ("PutItem", "UpdateItem", "DeleteItem", "ConditionCheckItem")
STREAMS = ("DescribeStream", "GetRecords", "GetShardIterator", "ListStreams")
SETTINGS = (
    "CreateTable", "UpdateTable", "DescribeTable",
    "UpdateTimeToLive", "DescribeTimeToLive",
    "UpdateContinuousBackups", "DescribeContinuousBackups",
    "TagResource", "UntagResource", "ListTagsOfResource",
    "CreateBackup", "ExportTableToPointInTime",
)  # fmt: skip
LISTS = ("ListTables", "ListBackups", "ListExports", "DescribeLimits")
# Amazon restores a table with the caller's own right to read and write the new one.
RESTORED_ITEMS = (
    "BatchWriteItem", "DeleteItem", "GetItem", "PutItem", "Query", "Scan", "UpdateItem",
)  # fmt: skip
RESTORED = "-restored*"
BACKUP = "backup"


def roles(shipment: Shipment) -> tuple[Role, ...]:
    """Every role of a shipment, the service's first."""
    found = [service(shipment), *_of_patterns(shipment), deployer(shipment), restorer(shipment)]
    if shipment.environment.backups is not None:
        found.append(backup(shipment))
    for name, count in Counter(role.name for role in found).items():
        if count > 1:
            raise NotShippable(
                shipment.title, f"the role '{name}' is there already", "call that of the patterns otherwise"
            )
    return tuple(found)


# --- the service ---


def service(shipment: Shipment) -> Role:
    items: dict[tuple[str, ...], list[On]] = {}
    for table in shipment.tables:
        items.setdefault(items_of(shipment, table), []).append(On(table.name))
    queried = [target for table in shipment.tables for target in queried_of(shipment, table)]
    streams = [On(table.name, "/stream/*") for table in shipment.tables if table.followed]
    found = [
        (f"Items{number}", actions, targets) for number, (actions, targets) in enumerate(items.items(), 1)
    ]
    found += [("Queries", ("Query",), queried), ("Changes", STREAMS, streams)]
    statements = (
        Statement(sid, _dynamodb(actions), _everywhere(shipment, targets))
        for sid, actions, targets in found
        if actions and targets
    )
    about = "What the system itself does: items, by its access patterns."
    return Role("service", about, (*statements, ENCRYPTED))


def _everywhere(shipment: Shipment, targets: Sequence[On]) -> tuple[On, ...]:
    """Targets, and what they are in the regions of replicas: who takes over there is the same service."""
    elsewhere = (
        replace(target, region=region) for region in shipment.environment.replicas for target in targets
    )
    return (*targets, *elsewhere)


def items_of(shipment: Shipment, table: Table) -> tuple[str, ...]:
    """What mapping can do to single items, or all items, of a table."""
    for bare in shipment.bare:
        if bare.table == table:
            return bare.actions
    shapes = shipment.shapes(table)
    if not shapes:
        return _guarded(shipment, table)
    # A batch carries no condition: what can be discarded blindly goes into one, and what is cleared out of a range.
    batches = any(map(_is_batched, shapes)) or On(table.name) in queried_of(shipment, table)
    return (*READS, *WRITES, *(("BatchWriteItem",) if batches else ()), *(("Scan",) if table.whole else ()))


def _is_batched(shape: Shape) -> bool:
    return not shape.unique


def _guarded(shipment: Shipment, table: Table) -> tuple[str, ...]:
    """A table of nothing but guards: they are written and removed with what they guard, and looked up."""
    shapes = [shape for design in shipment.every_design for shape in design.shapes]
    kept = any(unique.table == table for shape in shapes for unique in shape.unique)
    return (*READS, "PutItem", "DeleteItem", "ConditionCheckItem") if kept else ()


def queried_of(shipment: Shipment, table: Table) -> list[On]:
    """The table and the indexes that patterns of the designs ask."""
    return _asked(plan for plan in _plans(shipment) if plan.table == table)


def operations_of(shipment: Shipment, table: Table) -> tuple[str, ...]:
    """The operations by which Amazon counts what is done to a table: transactions, for which IAM has no action, too."""
    actions = items_of(shipment, table)
    transactions = ("TransactWriteItems",) if "PutItem" in actions else ()
    reads = ("TransactGetItems",) if "GetItem" in actions else ()
    queries = ("Query",) if queried_of(shipment, table) else ()
    return (*(a for a in actions if a != "ConditionCheckItem"), *queries, *transactions, *reads)


# --- those that patterns name ---


def _of_patterns(shipment: Shipment) -> list[Role]:
    names = dict.fromkeys(name for plan in _plans(shipment) for name in plan.roles)
    found = (_reader(shipment, name) for name in sorted(names))
    return [role for role in found if role is not None]


def _reader(shipment: Shipment, name: str) -> Role | None:
    """A role that reads what its patterns read; None where one of them may begin with anything."""
    plans = [plan for plan in _plans(shipment) if name in plan.roles]
    if any(leading(plan) is None for plan in plans):
        return None
    statements = []
    for table in shipment.tables:
        here = [plan for plan in plans if plan.table == table]
        gets = [plan for plan in here if plan.kind == "get"]
        if gets:
            statements.append(_keyed(shipment, "Items", READS, On(table.name), gets))
        for target in _asked(here):
            mine = [plan for plan in here if plan.kind == "query" and _target(plan) == target]
            part = target.under.rpartition("/")[2]
            statements.append(_keyed(shipment, f"Queries{_words(part)}", ("Query",), target, mine))
    about = f"Reads what patterns of the role '{name}' read, and no other keys."
    return Role(name, about, (*statements, ENCRYPTED))


def leading(plan: Plan) -> str | None:
    """What every partition of a pattern is or begins with, as IAM writes it (`GEO#*`); None if that is nothing.

    A prefix ends with the delimiter: `GEO*` would be GEOGRAPHY too.
    """
    if len(plan.pk) != 1:
        return None
    pieces = [piece for piece in plan.pk[0].pieces if not _writes_nothing(piece)]
    head = pieces[0] if isinstance(pieces[0], str) else ""
    # In IAM's patterns these stand for something else.
    if not head or any(sign in head for sign in "*?$"):
        return None
    if len(pieces) == 1:
        return head
    whole, delimiter, _ = head.rpartition(DELIMITER)
    return f"{whole}{delimiter}*" if delimiter else None


def _writes_nothing(piece: str | Part) -> bool:
    return isinstance(piece, Part) and piece.codec.pattern == ""


def _keyed(
    shipment: Shipment, what: str, actions: Sequence[str], target: On, plans: Sequence[Plan]
) -> Statement:
    keys = sorted({key for plan in plans if (key := leading(plan)) is not None})
    # ForAllValues also holds of no values at all: a request that names no key must not pass.
    condition: dict[str, dict[str, object]] = {
        "ForAllValues:StringLike": {"dynamodb:LeadingKeys": keys},
        "Null": {"dynamodb:LeadingKeys": "false"},
    }
    sid = f"{_words(target.table)}{what}"
    return Statement(sid, _dynamodb(actions), _everywhere(shipment, [target]), condition=condition)


# --- those who keep the tables ---


def deployer(shipment: Shipment) -> Role:
    tables = [On(table.name) for table in shipment.tables]
    deletes = () if shipment.environment.deletion_protection else ("DeleteTable",)
    under = [On(table.name, part) for table in shipment.tables for part in ("/backup/*", "/export/*")]
    return Role(
        "deployer",
        "Tables and their settings, backups and exports; never an item.",
        (
            Statement("Tables", _dynamodb((*SETTINGS, *deletes)), tuple(tables)),
            Statement("BackupsAndExports", _dynamodb(("DescribeBackup", "DescribeExport")), tuple(under)),
            Statement("Lists", _dynamodb(LISTS), ("*",)),
            ENCRYPTED,
        ),
    )


def restorer(shipment: Shipment) -> Role:
    tables = [On(table.name) for table in shipment.own]
    copies = [On(table.name, "/backup/*") for table in shipment.own]
    restored = [On(table.name, RESTORED) for table in shipment.own]
    looks = ("DescribeTable", "DescribeContinuousBackups")
    sources = ["RestoreTableToPointInTime", "RestoreTableFromBackup"]
    if shipment.environment.backups is not None:
        sources.append("RestoreTableFromAwsBackup")
    return Role(
        "restorer",
        "Puts a table back under another name, which ends in -restored and whatever one likes.",
        (
            Statement("FromAMoment", _dynamodb(("RestoreTableToPointInTime", *looks)), tuple(tables)),
            Statement("FromABackup", _dynamodb(("RestoreTableFromBackup", "DescribeBackup")), tuple(copies)),
            Statement(
                "IntoAnother", _dynamodb((*sources, "DescribeTable", *RESTORED_ITEMS)), tuple(restored)
            ),
            ENCRYPTED,
        ),
        ("backup.amazonaws.com",) if shipment.environment.backups is not None else (),
    )


def backup(shipment: Shipment) -> Role:
    tables = [On(table.name) for table in shipment.own]
    copies = [On(table.name, "/backup/*") for table in shipment.own]
    environment = shipment.environment
    elsewhere = environment.backups.copy_to if environment.backups is not None else None
    vaults = (Vault(), Vault(copy=True)) if elsewhere else (Vault(),)
    points = [Points(region) for region in (environment.region, elsewhere) if region]
    makes = ("DescribeTable", "ListTagsOfResource", "CreateBackup", "StartAwsBackupJob")
    moves = ("backup:DescribeBackupVault", "backup:CopyFromBackupVault", "backup:CopyIntoBackupVault")
    return Role(
        BACKUP,
        "What AWS Backup does to the tables, by itself.",
        (
            Statement("Copies", _dynamodb(makes), tuple(tables)),
            Statement("OldCopies", _dynamodb(("DescribeBackup", "DeleteBackup")), tuple(copies)),
            Statement("Vaults", moves, vaults),
            Statement("Tags", ("backup:TagResource",), tuple(points)),
        ),
        ("backup.amazonaws.com",),
    )


# --- parts ---


def _plans(shipment: Shipment) -> list[Plan]:
    return [plan for design in shipment.every_design for plan in design.plans]


def _asked(plans: Iterable[Plan]) -> list[On]:
    """What queries are asked of, the table before its indexes."""
    found = {_target(plan) for plan in plans if plan.kind == "query"}
    return sorted(found, key=lambda target: target.under)


def _target(plan: Plan) -> On:
    return On(plan.table.name, f"/index/{plan.index.name}" if plan.index is not None else "")


def _dynamodb(actions: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"dynamodb:{action}" for action in actions)


def _words(name: str) -> str:
    """A name as a Sid has it: letters and digits only."""
    words = "".join(c if c.isalnum() else " " for c in name).split()
    return "".join(word[0].upper() + word[1:] for word in words)
