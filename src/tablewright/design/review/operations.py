"""Rules about operation and infrastructure as code: alarms, backups, restores, replicas, tags, tools."""

import re

from tablewright.design.alarms import OF_A_REPLICA, OF_A_TABLE, OF_AN_OPERATION
from tablewright.design.review.facts import Facts
from tablewright.design.review.facts.operations import Replica
from tablewright.design.review.facts.schema import Table
from tablewright.design.review.lookup import entities_of, has_personal_data, indexes_of
from tablewright.design.review.rule import Violation, Violations, rule, rules_in

_METRICS = frozenset((*OF_A_TABLE, *OF_AN_OPERATION, *OF_A_REPLICA))
# Metrics of other services, and figures of a system's own, are named with their namespace.
_OWN = re.compile(r"[a-z ]|/")
_OF_EACH_REPLICA = ("pitr", "deletion protection", "tags")
_LOST_IN_A_RESTORE = (
    "auto scaling",
    "iam policies",
    "alarms",
    "tags",
    "stream",
    "ttl",
    "pitr",
    "deletion protection",
)
_INDEX_ARGUMENTS = frozenset(
    ("IndexName", "KeySchema", "Projection", "ProvisionedThroughput", "OnDemandThroughput", "WarmThroughput")
)
_IMPOSSIBLE = {
    ("aws dms", "source"): "DMS writes to DynamoDB and does not read from it",
    ("subnet", "database"): "DynamoDB is not in a subnet; a VPC endpoint leads to it",
    ("cloudtrail", "item operations"): "without data events a trail has only changes of tables",
}


@rule("OPS-METRIC", "error", "use a metric that the table has")
def ops_metric(facts: Facts) -> Violations:
    """An alarm is on a metric that DynamoDB does not have, no longer has, or has for the account only.
    It never has data, so it is never raised."""
    for alarm in facts.alarms:
        own = _OWN.search(alarm.metric[:1] + alarm.metric.partition("/")[1])
        if alarm.metric and not own and alarm.metric not in _METRICS:
            yield Violation(alarm.name, alarm.line, f"a table has no metric {alarm.metric}")


@rule(
    "OPS-ALARM",
    "warning",
    "state statistic, period and a threshold that the volume can reach; name what it finds",
)
def ops_alarm(facts: Facts) -> Violations:
    """An alarm has no period or statistic, a name that says the opposite, or a threshold that the volume never meets.
    It is raised all the time or never, and people learn to ignore it."""
    for alarm in facts.alarms:
        comparison = alarm.comparison.text if alarm.comparison else ""
        less = comparison.startswith(("Less", "<"))
        if alarm.minutes is None or not alarm.statistic:
            yield Violation(alarm.name, alarm.line, "period or statistic is missing")
        name = alarm.name.lower()
        if (name.startswith("low") and comparison and not less) or (
            re.match("high|ttldeletionfail", name) and less
        ):
            yield Violation(alarm.name, alarm.line, f"the name says the opposite of '{comparison}'")
        if (
            less
            and alarm.threshold is not None
            and alarm.expected is not None
            and alarm.expected < alarm.threshold
        ):
            evidence = f"{alarm.expected} are usual in a period, {alarm.threshold} are asked for"
            yield Violation(alarm.name, alarm.line, "the volume never reaches the threshold", evidence)


@rule("OPS-RPO", "error", "state how old the latest restorable state is")
def ops_rpo(facts: Facts) -> Violations:
    """A recovery point objective is the window of the mechanism.
    The window is how far back one can go; the objective is how much is lost, here minutes."""
    for each in facts.recovery_points:
        if each.window and each.objective == each.window:
            yield Violation(each.scenario, each.line, f"{each.objective} is the window")


@rule("OPS-BACKUP", "error", "keep one table of schedules")
def ops_backup(facts: Facts) -> Violations:
    """Two places state different schedules or retentions for the backups of an environment.
    When a backup is needed, one of them is wrong."""
    for each in facts.backups:
        for other in facts.backups:
            if other.environment == each.environment and (
                other.schedule != each.schedule or other.keep_days != each.keep_days
            ):
                mine, theirs = (
                    _backup(each.schedule, each.keep_days),
                    _backup(other.schedule, other.keep_days),
                )
                yield Violation(each.environment, each.line, f"{mine} here, {theirs} elsewhere")


def _backup(schedule: str, days: int | None) -> str:
    return f"{schedule}, {days} days" if days else schedule


@rule("OPS-RESTORE", "warning", "list what a restored table lacks, and apply it before the cutover")
def ops_restore(facts: Facts) -> Violations:
    """A restore plan does not apply the settings that a restore loses, or deletes a table that is protected.
    The restored table has no TTL, stream, recovery, tags or alarms until each is set again."""
    for each in facts.restores:
        missing = [setting for setting in _LOST_IN_A_RESTORE if setting not in each.applies]
        if missing:
            yield Violation(each.name, each.line, f"not applied again: {', '.join(missing)}")
        if each.deletes_original and each.protection and not each.lifts_protection:
            yield Violation(each.name, each.line, "the original is protected from deletion")


@rule("OPS-REPLICA", "warning", "give the replica recovery, protection and tags of its own")
def ops_replica(facts: Facts) -> Violations:
    """A replica has no point-in-time recovery, deletion protection or tags.
    These are settings of each replica: after a failover the data is unprotected."""
    for each in facts.replicas:
        if missing := _lacking(each):
            yield Violation(f"{each.table} in {each.region}", each.line, f"it has no {', '.join(missing)}")


def _lacking(replica: Replica) -> list[str]:
    """The settings that a replica is stated without."""
    stated = replica.settings
    return [] if stated is None else [each for each in _OF_EACH_REPLICA if each not in stated]


@rule("OPS-UNPROTECTED", "warning", "enable point-in-time recovery and deletion protection")
def ops_unprotected(facts: Facts) -> Violations:
    """A table with personal data has no backup, or production has no point-in-time recovery or deletion protection.
    A mistake of a program or a person destroys the data for good."""
    unsaved = [table for table in facts.tables if _is_unsaved(facts, table)]
    for table in unsaved:
        yield Violation(table.name, table.line, "it has personal data and no backup")
    # A replica that lacks it is the case of OPS-REPLICA.
    lacking = {name for each in facts.replicas for name in _lacking(each)}
    for each in facts.protections:
        if not (each.pitr or unsaved or "pitr" in lacking):
            yield Violation(each.environment, each.line, "it has no point-in-time recovery")
        if not (each.deletion_protection or "deletion protection" in lacking):
            yield Violation(each.environment, each.line, "its deletion protection is off")


def _is_unsaved(facts: Facts, table: Table) -> bool:
    personal = any(has_personal_data(entity) for entity in entities_of(facts, table.name))
    return personal and not any(not each.tables or table.name in each.tables for each in facts.backups)


@rule("IAC-DANGLING", "error", "refer to a resource that is declared")
def iac_dangling(facts: Facts) -> Violations:
    """A resource refers to one that is declared nowhere.
    The plan fails, or was never run."""
    known = {each.address for each in facts.resources}
    for each in facts.resources:
        for reference in each.references:
            if reference.text not in known:
                yield Violation(each.address, reference.line, f"{reference.text} is not declared")


@rule("IAC-INCOMPLETE", "error", "generate it from the design")
def iac_incomplete(facts: Facts) -> Violations:
    """Infrastructure as code leaves out indexes that the design declares.
    The patterns that read them fail on the first call."""
    for each in facts.resources:
        missing = [index.name for index in indexes_of(facts, each.table) if index.name not in each.indexes]
        if each.table and missing:
            yield Violation(each.address, each.line, f"it lacks {', '.join(missing)}")


@rule("IAC-ARGUMENT", "error", "remove the argument")
def iac_argument(facts: Facts) -> Violations:
    """A request to create an index has an argument that the API does not know.
    The call is refused."""
    for each in facts.resources:
        for argument in each.arguments:
            if argument.text not in _INDEX_ARGUMENTS:
                yield Violation(each.address, argument.line, f"an index has no {argument.text}")


@rule("IAC-TAGS", "error", "keep one list of tags")
def iac_tags(facts: Facts) -> Violations:
    """Two places give a tag different values, or state another number of tags than they list.
    Reports by tag then leave out a part of the bill."""
    for each in facts.tag_sets:
        for tag in each.tags:
            others = {t.value for o in facts.tag_sets for t in o.tags if t.name == tag.name != "Environment"}
            if others - {tag.value} and tag.name not in ("BackupPolicy", "DR"):
                also = ", ".join(sorted(others - {tag.value}))
                yield Violation(
                    f"{each.environment}.{tag.name}", tag.line, f"{tag.value} here, {also} elsewhere"
                )
        if each.count is not None and each.count != len(each.tags):
            yield Violation(
                each.environment, each.line, f"{each.count} tags are stated, {len(each.tags)} listed"
            )


@rule("IAC-TOOL", "error", "use a tool that does it")
def iac_tool(facts: Facts) -> Violations:
    """A tool is to do something that it cannot do.
    The step fails when it is needed, or is believed to be done."""
    for each in facts.tools:
        why = _IMPOSSIBLE.get((each.name.lower(), each.purpose))
        if why:
            yield Violation(each.name, each.line, why)


@rule("IAC-MODULE", "warning", "pass the indexes to the module of the table")
def iac_module(facts: Facts) -> Violations:
    """A module of its own creates indexes.
    Indexes are part of the table's resource: a module apart cannot change them."""
    for each in facts.modules:
        if each.creates == "indexes":
            yield Violation(each.name, each.line, "indexes cannot be created apart from their table")


RULES = rules_in(globals())
