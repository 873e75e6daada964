"""IAM policies of least privilege for a deployment's tables, from its access patterns, as data.

`roles(deployment)` lists the roles; iam.py writes one as JSON, terraform/roles.py as HCL.

service    what mapping sends for the designs: reads and writes of items, Query on the table or on exactly the indexes
           that patterns name, Scan only of tables that are read whole, streams only of tables that are followed; and
           objects of the bucket, where the environment has one
deployer   tables and their settings, backups, exports; no items
restorer   puts a table back under another name (`...-restored...`); Amazon asks for rights to items of that one
backup     what AWS Backup does to the tables on its schedule
and one for each role that patterns name, if each of its patterns begins its partition with a literal: reads, and only
of keys that begin so (`dynamodb:LeadingKeys`). A role with tags (`Design.principal`) reads exactly the partitions that
are made of the tags of the principal.

Must hold: no Allow has a wildcard in an action, or names a table that is not the deployment's. There is no reader of
"everything that is not personal": a condition on attribute names holds for the whole table, keys of a shared table
carry ids of people, and what a design does not call personal is not thereby harmless. For analytics, give a role
to patterns, or use the weekly file.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from tablewright.design.deployment import Deployment, NotDeployable
from tablewright.design.iam import (
    ENCRYPTED,
    Bucket,
    RecoveryPoints,
    Role,
    Statement,
    TableTarget,
    Target,
    Vault,
)
from tablewright.design.key_codecs import DELIMITER
from tablewright.design.patterns import Plan
from tablewright.design.tables import Table
from tablewright.design.templates import Template

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
# What a store of objects does (kit/objects/s3.py); every version is deleted by its id.
OBJECTS = (
    "GetObject", "PutObject", "DeleteObjectVersion", "RestoreObject",
    "AbortMultipartUpload", "ListMultipartUploadParts",
)  # fmt: skip
OBJECT_LISTS = ("ListBucket", "ListBucketVersions", "ListBucketMultipartUploads")
LISTS = ("ListTables", "ListBackups", "ListExports", "DescribeLimits")
# Amazon restores a table with the caller's own right to read and write the new one.
RESTORED_ITEMS = ("BatchWriteItem", "DeleteItem", "GetItem", "PutItem", "Query", "Scan", "UpdateItem")
RESTORED = "-restored*"
BACKUP = "backup"


def roles(deployment: Deployment) -> tuple[Role, ...]:
    """Every role of a deployment, the service's first."""
    found = [service(deployment), *_pattern_roles(deployment), deployer(deployment), restorer(deployment)]
    if deployment.environment.backups is not None:
        found.append(backup(deployment))
    for name, count in Counter(role.name for role in found).items():
        if count > 1:
            why = f"the role '{name}' is defined already"
            raise NotDeployable(deployment.title, why, "rename the role of the patterns")
    return tuple(found)


# --- the service ---


def service(deployment: Deployment) -> Role:
    items: dict[tuple[str, ...], list[TableTarget]] = {}
    for table in deployment.tables:
        items.setdefault(item_actions(deployment, table), []).append(TableTarget(table.name))
    queried = [target for table in deployment.tables for target in query_targets(deployment, table)]
    streams = _under((table for table in deployment.tables if table.followed), "/stream/*")
    found = [(f"Items{at}", actions, targets) for at, (actions, targets) in enumerate(items.items(), 1)]
    searched = [target for table in deployment.tables for target in search_targets(deployment, table)]
    found += [("Queries", ("Query",), queried), ("Changes", STREAMS, streams)]
    # Conditions on keys or attributes would deny it: a statement of its own, without any.
    found.append(("Searches", ("SearchVectors",), searched))
    statements = (
        _statement(sid, actions, _everywhere(deployment, targets))
        for sid, actions, targets in found
        if actions and targets
    )
    about = "What the system itself does: items, by its access patterns."
    return Role("service", about, (*statements, *_objects(deployment), ENCRYPTED))


def _objects(deployment: Deployment) -> Iterator[Statement]:
    if deployment.environment.objects is not None:
        yield Statement("Objects", tuple(f"s3:{action}" for action in OBJECTS), (Bucket("/*"),))
        yield Statement("ObjectLists", tuple(f"s3:{action}" for action in OBJECT_LISTS), (Bucket(),))


def _everywhere(deployment: Deployment, targets: Sequence[TableTarget]) -> tuple[TableTarget, ...]:
    """Targets, and what they are in the regions of replicas: who takes over there is the same service."""
    elsewhere = (
        replace(target, region=region) for region in deployment.environment.replicas for target in targets
    )
    return (*targets, *elsewhere)


def item_actions(deployment: Deployment, table: Table) -> tuple[str, ...]:
    """What mapping can do to single items, or all items, of a table."""
    for auxiliary in deployment.auxiliary:
        if auxiliary.table == table:
            return auxiliary.actions
    shapes = deployment.shapes(table)
    if not shapes:
        return _guard_actions(deployment, table)
    # A batch carries no condition: what can be discarded blindly goes into one, and what is cleared out of a range.
    discards = any(not shape.unique for shape in shapes)
    batches = discards or TableTarget(table.name) in query_targets(deployment, table)
    return (*READS, *WRITES, *(("BatchWriteItem",) if batches else ()), *(("Scan",) if table.whole else ()))


def _guard_actions(deployment: Deployment, table: Table) -> tuple[str, ...]:
    """A table of nothing but guards: they are written and removed with what they guard, and looked up."""
    shapes = [shape for design in deployment.every_design for shape in design.shapes]
    kept = any(unique.table == table for shape in shapes for unique in shape.unique)
    return (*READS, "PutItem", "DeleteItem", "ConditionCheckItem") if kept else ()


def query_targets(deployment: Deployment, table: Table) -> list[TableTarget]:
    """The table and the indexes that patterns of the designs ask."""
    return _targets(plan for plan in _plans(deployment) if plan.table == table)


def search_targets(deployment: Deployment, table: Table) -> list[TableTarget]:
    """The vector indexes that searches of the designs name."""
    names = {
        plan.index.name
        for design in deployment.every_design
        for plan in design.searches
        if plan.index.table == table
    }
    return [TableTarget(table.name, f"/index/{name}") for name in sorted(names)]


def operations(deployment: Deployment, table: Table) -> tuple[str, ...]:
    """The operations by which Amazon counts what is done to a table: transactions, for which IAM has no action, too."""
    actions = item_actions(deployment, table)
    transactions = ("TransactWriteItems",) if "PutItem" in actions else ()
    reads = ("TransactGetItems",) if "GetItem" in actions else ()
    queries = ("Query",) if query_targets(deployment, table) else ()
    return (*(a for a in actions if a != "ConditionCheckItem"), *queries, *transactions, *reads)


# --- those that patterns name ---


def _pattern_roles(deployment: Deployment) -> list[Role]:
    names = sorted({name for plan in _plans(deployment) for name in plan.roles})
    return [role for name in names if (role := _reader(deployment, name)) is not None]


def _reader(deployment: Deployment, name: str) -> Role | None:
    """A role that reads what its patterns read; None where one of them may begin with anything."""
    plans = [plan for plan in _plans(deployment) if name in plan.roles]
    tags = _tags(deployment, name)
    if any(leading_key(plan, tags) is None for plan in plans):
        return None
    statements = []
    for table in deployment.tables:
        here = [plan for plan in plans if plan.table == table]
        gets = [plan for plan in here if plan.kind == "get"]
        if gets:
            statements.append(_keyed(deployment, "Items", READS, TableTarget(table.name), gets, tags))
        for target in _targets(here):
            mine = [plan for plan in here if plan.kind == "query" and _target(plan) == target]
            part = target.under.rpartition("/")[2]
            statements.append(_keyed(deployment, f"Queries{_words(part)}", ("Query",), target, mine, tags))
    about = f"Reads what patterns of the role '{name}' read, and no other keys."
    return Role(name, about, (*statements, ENCRYPTED))


def _tags(deployment: Deployment, role: str) -> Mapping[str, str]:
    """The tags of a role's principals, by the fields that they equal."""
    return {
        field: tag
        for design in deployment.every_design
        for field, tag in design.principals.get(role, {}).items()
    }


def leading_key(plan: Plan, tags: Mapping[str, str] | None = None) -> str | None:
    """What every partition of a pattern is or begins with, as IAM writes it (`GEO#*`); None if that is nothing.

    A prefix ends with the delimiter: `GEO*` would be GEOGRAPHY too. With `tags` it is the whole partition, made of tags
    of the principal (`USER#${aws:PrincipalTag/userId}`); None if one of its parts has no tag.
    """
    if len(plan.pk) != 1:
        return None
    if tags:
        return _tagged_key(plan.pk[0], tags)
    # Parts that write nothing do not count.
    pieces = [piece for piece in plan.pk[0].pieces if isinstance(piece, str) or piece.codec.pattern]
    head = pieces[0] if isinstance(pieces[0], str) else ""
    # In IAM's patterns these stand for something else.
    if not head or any(sign in head for sign in "*?$"):
        return None
    if len(pieces) == 1:
        return head
    whole, delimiter, _ = head.rpartition(DELIMITER)
    return f"{whole}{delimiter}*" if delimiter else None


def _tagged_key(template: Template, tags: Mapping[str, str]) -> str | None:
    """A partition with tags of the principal in it. A formatted part may be written differently than its tag."""
    if any(part.field not in tags or part.codec.name for part in template.parts):
        return None
    return "".join(
        piece if isinstance(piece, str) else f"${{aws:PrincipalTag/{tags[piece.field]}}}"
        for piece in template.pieces
    )


def _keyed(
    deployment: Deployment,
    what: str,
    actions: Sequence[str],
    target: TableTarget,
    plans: Sequence[Plan],
    tags: Mapping[str, str],
) -> Statement:
    keys = sorted({key for plan in plans if (key := leading_key(plan, tags)) is not None})
    # ForAllValues also holds of no values at all: a request that names no key must not pass.
    condition: dict[str, dict[str, object]] = {
        f"ForAllValues:{'StringEquals' if tags else 'StringLike'}": {"dynamodb:LeadingKeys": keys},
        "Null": {"dynamodb:LeadingKeys": "false"},
    }
    sid = f"{_words(target.table)}{what}"
    return replace(_statement(sid, actions, _everywhere(deployment, [target])), condition=condition)


# --- those who keep the tables ---


def deployer(deployment: Deployment) -> Role:
    deletes = () if deployment.environment.deletion_protection else ("DeleteTable",)
    statements = (
        _statement("Tables", (*SETTINGS, *deletes), _under(deployment.tables)),
        _statement(
            "BackupsAndExports",
            ("DescribeBackup", "DescribeExport"),
            _under(deployment.tables, "/backup/*", "/export/*"),
        ),
        _statement("Lists", LISTS, ("*",)),
        ENCRYPTED,
    )
    return Role("deployer", "Tables and their settings, backups and exports; never an item.", statements)


def restorer(deployment: Deployment) -> Role:
    own, has_backups = deployment.own, deployment.environment.backups is not None
    looks = ("DescribeTable", "DescribeContinuousBackups")
    sources = ["RestoreTableToPointInTime", "RestoreTableFromBackup"]
    if has_backups:
        sources.append("RestoreTableFromAwsBackup")
    into = (*sources, "DescribeTable", *RESTORED_ITEMS)
    statements = (
        _statement("FromAMoment", ("RestoreTableToPointInTime", *looks), _under(own)),
        _statement("FromABackup", ("RestoreTableFromBackup", "DescribeBackup"), _under(own, "/backup/*")),
        _statement("IntoAnother", into, _under(own, RESTORED)),
        ENCRYPTED,
    )
    about = "Puts a table back under another name, which ends in -restored and whatever one likes."
    return Role("restorer", about, statements, ("backup.amazonaws.com",) if has_backups else ())


def backup(deployment: Deployment) -> Role:
    own, environment = deployment.own, deployment.environment
    elsewhere = environment.backups.copy_to if environment.backups is not None else None
    vaults = (Vault(), Vault(copy=True)) if elsewhere else (Vault(),)
    points = [RecoveryPoints(region) for region in (environment.region, elsewhere) if region]
    makes = ("DescribeTable", "ListTagsOfResource", "CreateBackup", "StartAwsBackupJob")
    moves = ("backup:DescribeBackupVault", "backup:CopyFromBackupVault", "backup:CopyIntoBackupVault")
    statements = (
        _statement("Copies", makes, _under(own)),
        _statement("OldCopies", ("DescribeBackup", "DeleteBackup"), _under(own, "/backup/*")),
        Statement("Vaults", moves, vaults),
        Statement("Tags", ("backup:TagResource",), tuple(points)),
    )
    about = "What AWS Backup does to the tables on its schedule."
    return Role(BACKUP, about, statements, ("backup.amazonaws.com",))


# --- parts ---


def _plans(deployment: Deployment) -> list[Plan]:
    return [plan for design in deployment.every_design for plan in design.plans]


def _targets(plans: Iterable[Plan]) -> list[TableTarget]:
    """What queries are asked of, the table before its indexes."""
    found = {_target(plan) for plan in plans if plan.kind == "query"}
    return sorted(found, key=lambda target: target.under)


def _target(plan: Plan) -> TableTarget:
    return TableTarget(plan.table.name, f"/index/{plan.index.name}" if plan.index is not None else "")


def _under(tables: Iterable[Table], *parts: str) -> list[TableTarget]:
    """These tables, or these parts of each."""
    return [TableTarget(table.name, part) for table in tables for part in parts or ("",)]


def _statement(sid: str, actions: Iterable[str], targets: Iterable[Target]) -> Statement:
    """A statement of actions of DynamoDB."""
    return Statement(sid, tuple(f"dynamodb:{action}" for action in actions), tuple(targets))


def _words(name: str) -> str:
    """A name as a Sid has it: letters and digits only."""
    words = "".join(c if c.isalnum() else " " for c in name).split()
    return "".join(word[0].upper() + word[1:] for word in words)
