"""What each target has of what a design can need, as data, and what of a design a target lacks.

A target is a place where a design runs: Amazon, the embedded engine, and three servers by others. Every statement has
its source: a probe (a call that was made to it), a test of ours, or a page or issue of the target's own.
Must hold: every target answers every feature; `has` needs no note, everything else says what is different.
Elsewhere: the table of docs/capabilities.md, which a test prints from this; the rules of a design itself (check/).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from tablewright.design.design import Design
from tablewright.design.environments import Environment, Provisioned
from tablewright.design.errors import DesignMistake, Finding

Target: TypeAlias = Literal["amazon", "embedded", "alternator", "extenddb", "moto"]
Level: TypeAlias = Literal["has", "partly", "lacks"]
TARGETS: tuple[Target, ...] = ("amazon", "embedded", "alternator", "extenddb", "moto")

_GUIDE = "Amazon DynamoDB Developer Guide"
_OURS = "docs/verbs.md"
_PROBED = {"extenddb": "probe of ExtendDB 0.1.10, 2026-11-18", "moto": "probe of moto 5.2.5, 2026-11-18"}
_ALTERNATOR = "Alternator for DynamoDB users (ScyllaDB's docs/alternator/compatibility.md)"
_SCYLLA = "scylladb/scylladb on GitHub"


@dataclass(frozen=True, slots=True)
class Support:
    """Whether a target has a feature, what is different there, and where that is known from."""

    level: Level
    source: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Feature:
    """Something a design or an environment can need."""

    name: str
    title: str
    support: Mapping[Target, Support]


class NoSuchTarget(DesignMistake):
    """A target that nothing is known of."""

    def __init__(self, target: str) -> None:
        super().__init__(f"no target is called {target}; choose one of {', '.join(TARGETS)}")


def _feature(
    name: str, title: str, amazon: str, **others: tuple[Level, str] | tuple[Level, str, str]
) -> Feature:
    """`others` say what differs from having it: the level, the note and, unless it is the usual one, the source."""
    usual = {"embedded": _OURS, "alternator": _ALTERNATOR, **_PROBED}
    found: dict[Target, Support] = {"amazon": Support("has", f"{_GUIDE}: {amazon}")}
    for target in TARGETS[1:]:
        level, note, *source = others.get(target, ("has", ""))
        found[target] = Support(level, source[0] if source else usual[target], note)
    return Feature(name, title, found)


FEATURES: tuple[Feature, ...] = (
    _feature("gsi", "Global secondary indexes", "Global Secondary Indexes"),
    _feature(
        "new_index", "An index added to an existing table", "Managing Global Secondary Indexes",
        alternator=("has", "", f"{_SCYLLA}: pull request 21989 (from 2025.1 on)"),
    ),
    _feature("lsi", "Local secondary indexes", "Local Secondary Indexes"),
    _feature(
        "projection", "Indexes that carry some attributes only", "Global Secondary Indexes: projections",
        alternator=("partly", "every index carries all attributes, which takes more storage"),
    ),
    _feature(
        "multi_attribute", "Index keys of several attributes", "Multi-attribute keys pattern",
        alternator=("partly", "from the release after August 2026 on", f"{_SCYLLA}: pull request 31061"),
        extenddb=("lacks", "the index is created, and a query of it finds nothing"),
    ),
    _feature(
        "ttl", "Time to live", "Using time to live (TTL)",
        alternator=("has", "", f"{_SCYLLA}: issue 12037 (from 5.2 on)"),
        moto=("partly", "the setting is described, and expired items are never deleted"),
    ),
    _feature(
        "streams", "Streams", "Change data capture for DynamoDB Streams",
        alternator=("partly", "records come about 10 s later and in many more shards; a put may be two records"),
        moto=("partly", "a stream that was disabled cannot be enabled again"),
    ),
    _feature(
        "transactions", "Transactions, up to 100 items", "Amazon DynamoDB Transactions: how it works",
        alternator=("lacks", "TransactWriteItems and TransactGetItems are not supported", f"{_SCYLLA}: issue 5064"),
    ),
    _feature(
        "atomic_updates", "Updates of one item at the same time", "Working with items: atomic counters",
        moto=("partly", "of 400 additions by 20 callers two were lost; use it with one caller"),
    ),
    _feature(
        "vectors", "Vector indexes", "Vector search",
        alternator=(
            "partly",
            "an extension with other requests (Query with VectorSearch), in ScyllaDB Cloud only",
            "Alternator Vector Search (ScyllaDB's docs/alternator/vector-search.md)",
        ),
        moto=("lacks", "the index is accepted and forgotten; SearchVectors fails"),
    ),
    _feature(
        "partiql", "PartiQL", "PartiQL: a SQL-compatible query language",
        alternator=("lacks", "ExecuteStatement is not supported", f"{_SCYLLA}: issue 8787"),
        extenddb=("lacks", "ExecuteStatement is an unknown operation"),
        moto=("partly", "a SELECT by both attributes of a key found nothing"),
    ),
    _feature("on_demand", "Capacity on demand", "On-demand capacity mode",
        alternator=("partly", "the capacity mode is ignored: the cluster's size is what counts")),
    _feature(
        "provisioned", "Provisioned capacity", "Provisioned capacity mode",
        alternator=("partly", "units are ignored: the cluster's size is what counts"),
        extenddb=("partly", "units of an index cannot be changed; adding an index to such a table breaks the table"),
        moto=("partly", "units are described and not enforced"),
    ),
    _feature(
        "autoscaling", "Autoscaling of provisioned capacity", "Managing throughput capacity automatically",
        embedded=("lacks", "there is no Application Auto Scaling; units stay as they are set"),
        alternator=("lacks", "there is no Application Auto Scaling"),
        extenddb=("lacks", "DescribeScalableTargets is an unknown operation"),
        moto=("partly", "targets and policies are described, and nothing is scaled"),
    ),
    _feature(
        "warm_throughput", "Warm throughput", "Understanding DynamoDB warm throughput",
        alternator=("lacks", "capacity is that of the cluster"),
        extenddb=("lacks", "UpdateTable does not know WarmThroughput"),
        moto=("partly", "the setting is described, and has no effect"),
        embedded=("partly", "the setting is described, and has no effect", "docs/engine.md"),
    ),
    _feature(
        "pitr", "Point-in-time recovery", "Point-in-time backups for DynamoDB",
        alternator=("lacks", "UpdateContinuousBackups is not supported; ScyllaDB has snapshots of its own"),
        extenddb=("partly", "it can be enabled, and RestoreTableToPointInTime is refused"),
        moto=("partly", "a restored table has what is in the table now"),
    ),
    _feature(
        "backups", "Backups of a table (CreateBackup)", "Using on-demand backup and restore",
        alternator=("lacks", "CreateBackup is not supported; ScyllaDB has snapshots of its own"),
    ),
    _feature(
        "backup_plan", "Scheduled backups (AWS Backup)", "Using AWS Backup with DynamoDB",
        embedded=("lacks", "there is no AWS Backup; a server makes daily copies (serve --copies)", "docs/operate.md"),
        alternator=("lacks", "there is no AWS Backup; ScyllaDB Manager backs up on a schedule"),
        extenddb=("lacks", "there is no AWS Backup", "ExtendDB 0.1.10 answers DynamoDB's operations alone"),
        moto=("partly", "a plan is kept, its selection of tables is refused", "tests/terraform/test_trees.py"),
    ),
    _feature(
        "exports", "Exports to a bucket", "DynamoDB data export to Amazon S3",
        embedded=("has", "", "docs/verbs.md (a bucket is a directory: --buckets DIR)"),
        alternator=("lacks", "ExportTableToPointInTime is not supported", f"{_SCYLLA}: issue 8789"),
        extenddb=("partly", "off until its configuration names a directory"),
        moto=("partly", "it needs a bucket in the same moto server, and failed without one"),
    ),
    _feature(
        "replicas", "Global tables (replicas in other regions)", "Global tables",
        embedded=("has", "", "docs/operate.md (regions of one machine)"),
        alternator=("partly", "every table is in every data centre; ReplicaUpdates is not supported"),
        extenddb=("lacks", "UpdateTable does not know ReplicaUpdates"),
        moto=("lacks", "ReplicaUpdates is accepted and forgotten"),
    ),
    _feature(
        "encryption", "Encryption with a key of one's own", "DynamoDB encryption at rest",
        embedded=("partly", "the setting is described; the store is not encrypted by it: use an encrypted disk"),
        alternator=("lacks", "encryption is configured outside the API"),
        extenddb=("partly", "the setting is described for a new table, and cannot be changed"),
        moto=("partly", "the setting is described, and has no effect"),
    ),
    _feature("tags", "Tags", "Adding tags and labels to resources",
        alternator=("has", "", "Alternator-specific APIs (ScyllaDB's docs/alternator/new-apis.md)")),
    _feature(
        "protection", "Deletion protection", "Using deletion protection",
        alternator=("lacks", "DeletionProtectionEnabled is not supported", f"{_SCYLLA}: pull request 14864 (open)"),
    ),
)  # fmt: skip


def missing(
    designs: Sequence[Design], target: str, environment: Environment | None = None
) -> tuple[Finding, ...]:
    """What the designs, and the environment if one is given, need and the target lacks or has in part only.

    T001: it lacks it. T002: it has a part of it. One finding for each feature and place."""
    if target not in TARGETS:
        raise NoSuchTarget(target)
    by_name = {feature.name: feature for feature in FEATURES}
    needs = [need for design in designs for need in _needs(design)]
    if environment is not None:
        needs += _environment_needs(designs, environment)
    found = []
    for name, where in dict.fromkeys(needs):
        feature = by_name[name]
        support = feature.support[target]
        if support.level != "has":
            rule, verb = ("T001", "lacks") if support.level == "lacks" else ("T002", "has in part only")
            why = f"{target} {verb}: {feature.title}: {support.note}"
            found.append(
                Finding(rule, where, why, f"choose another target, or do without it ({support.source})")
            )
    return tuple(found)


def _needs(design: Design) -> Iterator[tuple[str, str]]:
    """Features by name, with the place that needs each."""
    yield "atomic_updates", design.name
    for table in design.tables.values():
        where = f"{design.name}.{table.name}"
        if table.ttl:
            yield "ttl", where
        if table.stream:
            yield "streams", where
    for index in design.indexes:
        where = f"{design.name}.{index.table.name}.{index.name}"
        yield ("lsi" if index.local else "gsi"), where
        if index.project != "ALL":
            yield "projection", where
        if len(index.pk) > 1 or len(index.sk) > 1:
            yield "multi_attribute", where
    for vector in design.vectors:
        yield "vectors", f"{design.name}.{vector.table.name}.{vector.name}"
    yield from _pattern_needs(design)


def _pattern_needs(design: Design) -> Iterator[tuple[str, str]]:
    """What patterns and writes need beyond the tables and indexes that they use."""
    for search in design.searches:
        yield "vectors", f"{design.name}.{search.name}"
    for plan in design.plans:
        if plan.load is not None and plan.load.transaction:
            yield "transactions", f"{design.name}.{plan.name}"
    for shape in design.shapes:
        if shape.unique:
            yield "transactions", f"{design.name}.{shape.tag}"
        for verb, load in shape.load.items():
            if load.transaction or load.once:
                yield "transactions", f"{design.name}.{shape.tag}.{verb}"


def _environment_needs(designs: Sequence[Design], environment: Environment) -> Iterator[tuple[str, str]]:
    where = f"environment {environment.name}"
    for design in designs:
        for table in design.tables.values():
            capacity = environment.capacity_of(table.name)
            named = f"{where}: {design.name}.{table.name}"
            yield ("provisioned" if isinstance(capacity, Provisioned) else "on_demand"), named
            if isinstance(capacity, Provisioned) and (capacity.max_read or capacity.max_write):
                yield "autoscaling", named
    settings = {
        "pitr": environment.pitr_days,
        "backup_plan": environment.backups,
        "replicas": environment.replicas,
        "tags": environment.tags,
        "protection": environment.deletion_protection,
        "encryption": environment.encryption != "owned",
    }
    yield from ((name, where) for name, value in settings.items() if value)


def page() -> str:
    """The features and targets as a table of Markdown, each note and source below it."""
    words = {"has": "yes", "partly": "partly", "lacks": "no"}
    lines = [f"| | {' | '.join(TARGETS)} |", f"| --- |{' --- |' * len(TARGETS)}"]
    for feature in FEATURES:
        cells = [words[feature.support[target].level] for target in TARGETS]
        lines.append(f"| {feature.title} | {' | '.join(cells)} |")
    for target in TARGETS:
        lines += ["", f"## {target}", ""]
        for feature in FEATURES:
            support = feature.support[target]
            said = f"{words[support.level]}, {support.note}" if support.note else words[support.level]
            lines.append(f"- **{feature.title}**: {said}. Source: {support.source}.")
    return "\n".join(lines) + "\n"
