"""`alarms.tf`: the design's alarms for each of its tables, one on failed backups, and the topic that tells of them.

Must hold: an alarm looks at figures that Amazon really keeps. Some are kept by operation only: an alarm on such a
figure of the table as a whole would never have data, and so never ring. It sums the operations instead.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from tablewright.design.deployment import Deployment, NotDeployable, label
from tablewright.design.environments import Alarm
from tablewright.design.policies import operations
from tablewright.design.tables import Table
from tablewright.design.terraform.hcl import Block, Reference, block, policy
from tablewright.design.terraform.tables import address
from tablewright.design.terraform.versions import ACCOUNT

NAMESPACE = "AWS/DynamoDB"
TOPIC = Reference("aws_sns_topic.alarms.arn")
OF_A_TABLE = (
    "ConditionalCheckFailedRequests", "ConsumedReadCapacityUnits", "ConsumedWriteCapacityUnits", "ReadThrottleEvents",
    "TimeToLiveDeletedItemCount", "TransactionConflict", "WriteThrottleEvents",
)  # fmt: skip
OF_AN_OPERATION = ("SuccessfulRequestLatency", "SystemErrors", "ThrottledRequests")
OF_A_REPLICA = ("ReplicationLatency",)
# An alarm sums ten figures at most.
_FIGURES = 10


def has_notifications(deployment: Deployment) -> bool:
    """Whether there is anything to tell: alarms, or a budget."""
    return any(design.alarms for design in deployment.designs) or deployment.environment.budget is not None


def alarms(deployment: Deployment) -> list[Block]:
    if not has_notifications(deployment):
        return []
    found = [*_topic(deployment)]
    for design in deployment.designs:
        for alarm in design.alarms:
            for table in design.tables.values():
                found += _of(deployment, alarm, table)
    return [*found, *_failed_backups(deployment)]


def _failed_backups(deployment: Deployment) -> Iterator[Block]:
    """A backup that fails is told of, whatever the design says: without it no one looks until it is needed (CC-57)."""
    if deployment.environment.backups is None:
        return
    settings = {
        "alarm_name": f"{deployment.title}-failed-backups",
        "alarm_description": "A scheduled backup failed: start it again, and find out why",
        "comparison_operator": "GreaterThanThreshold",
        "threshold": 0,
        "evaluation_periods": 1,
        "treat_missing_data": "notBreaching",
        "alarm_actions": [TOPIC],
        "namespace": "AWS/Backup",
        "metric_name": "NumberOfBackupJobsFailed",
        "statistic": "Sum",
        "period": 3600,
        "dimensions": {"BackupVaultName": Reference("aws_backup_vault.main.name")},
    }
    yield block("resource", "aws_cloudwatch_metric_alarm", "failed_backups", settings)


def _topic(deployment: Deployment) -> Iterator[Block]:
    yield block("resource", "aws_sns_topic", "alarms", {"name": f"{deployment.title}-alarms"})
    statement = {
        "Sid": "AlarmsAndBudgets",
        "Effect": "Allow",
        "Principal": {"Service": ["budgets.amazonaws.com", "cloudwatch.amazonaws.com"]},
        "Action": ["SNS:Publish"],
        "Resource": [TOPIC],
        "Condition": {"StringEquals": {"aws:SourceAccount": ACCOUNT}},
    }
    yield block("resource", "aws_sns_topic_policy", "alarms", {"arn": TOPIC, "policy": policy(statement)})
    mail = {
        "count": Reference("var.alarm_email == null ? 0 : 1"),
        "topic_arn": TOPIC,
        "protocol": "email",
        "endpoint": Reference("var.alarm_email"),
    }
    yield block("resource", "aws_sns_topic_subscription", "mail", mail)


def _of(deployment: Deployment, alarm: Alarm, table: Table) -> Iterator[Block]:
    """An alarm on a table: one of the table as a whole, or one for each region it is replicated to."""
    name = {"TableName": Reference(f"{address(table)}.name")}
    if alarm.metric in OF_A_TABLE:
        yield _alarm(deployment, alarm, table, "", _metric(alarm, "statistic", name))
    elif alarm.metric in OF_AN_OPERATION:
        counted = operations(deployment, table)[:_FIGURES]
        yield _alarm(deployment, alarm, table, "", *_summed(alarm, name, counted))
    elif alarm.metric in OF_A_REPLICA:
        for region in deployment.environment.replicas:
            metric = _metric(alarm, "statistic", {**name, "ReceivingRegion": region})
            yield _alarm(deployment, alarm, table, region, metric)
    else:
        known = ", ".join(sorted((*OF_A_TABLE, *OF_AN_OPERATION, *OF_A_REPLICA)))
        raise NotDeployable(
            f"the alarm '{alarm.name}' of {deployment.name}",
            f"Amazon keeps no figure {alarm.metric} of a table",
            f"use one of {known}",
        )


def _alarm(
    deployment: Deployment, alarm: Alarm, table: Table, where: str, *looks_at: dict[str, Any] | Block
) -> Block:
    settings = {
        "alarm_name": "-".join(part for part in (deployment.title, table.name, alarm.name, where) if part),
        "alarm_description": _described(alarm),
        "comparison_operator": "GreaterThanThreshold",
        "threshold": alarm.over,
        "evaluation_periods": 1,
        "treat_missing_data": "notBreaching",
        "alarm_actions": [TOPIC],
        "ok_actions": [TOPIC],
    }
    name = "_".join(label(part) for part in (table.name, alarm.name, where) if part)
    return block("resource", "aws_cloudwatch_metric_alarm", name, settings, *looks_at)


def _described(alarm: Alarm) -> str:
    unit = f" {alarm.unit}" if alarm.unit else ""
    minutes = "a minute" if alarm.minutes == 1 else f"{alarm.minutes} minutes"
    what = f"{alarm.metric} over {alarm.over}{unit} in {minutes}"
    return f"{what}: {alarm.action}" if alarm.action else what


def _metric(alarm: Alarm, statistic: str, dimensions: dict[str, Any]) -> dict[str, Any]:
    """A figure; `statistic` is the attribute that says which of its values counts."""
    return {
        "namespace": NAMESPACE,
        "metric_name": alarm.metric,
        statistic: alarm.statistic,
        "period": alarm.minutes * 60,
        "dimensions": dimensions,
    }


def _summed(alarm: Alarm, dimensions: dict[str, Any], operations: Sequence[str]) -> Iterator[Block]:
    """Sums are summed; of averages and highest values the highest counts."""
    total = f"{'SUM' if alarm.statistic == 'Sum' else 'MAX'}(METRICS())"
    query = {"id": "total", "expression": total, "label": alarm.metric, "return_data": True}
    yield block("metric_query", query)
    for name in operations:
        metric = _metric(alarm, "stat", {**dimensions, "Operation": name})
        yield block("metric_query", {"id": label(name)}, block("metric", metric))
