"""`alarms.tf`: the design's alarms for each of its tables, one on failed backups, and the topic that tells of them.

Must hold: an alarm looks at figures that Amazon really keeps. Some are kept by operation only: an alarm on such a
figure of the table as a whole would never have data, and so never ring. It sums the operations instead. What a system
publishes itself is in the namespace Tablewright, with the system's name: a server writes it to its log in the form from
which CloudWatch Logs makes metrics (app/alarms/).
"""

from collections.abc import Iterator, Sequence
from typing import Any

from tablewright.design.alarms import (
    BACKUP,
    OF_A_REPLICA,
    OF_A_TABLE,
    OF_AN_OPERATION,
    Alarm,
    WatchedSeries,
    backup_alarm,
    watched,
)
from tablewright.design.deployment import Deployment, NotDeployable, label
from tablewright.design.policies import operations
from tablewright.design.tables import Table
from tablewright.design.terraform.hcl import Block, Reference, block, policy
from tablewright.design.terraform.tables import address
from tablewright.design.terraform.versions import ACCOUNT

TOPIC = Reference("aws_sns_topic.alarms.arn")
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
        for series in watched(design.alarms, list(design.tables), deployment.environment.replicas):
            if series.table:
                found.append(_of_table(deployment, series, design.tables[series.table]))
            else:
                metric = _metric(series.alarm, "statistic", {"System": deployment.name})
                found.append(_alarm(deployment, series, metric))
    if deployment.environment.backups is not None:
        found.append(_failed_backups(deployment))
    return found


def _failed_backups(deployment: Deployment) -> Block:
    series = WatchedSeries(backup_alarm())
    metric = _metric(series.alarm, "statistic", {"BackupVaultName": Reference("module.backup.vault_name")})
    return _alarm(deployment, series, metric)


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


def _of_table(deployment: Deployment, series: WatchedSeries, table: Table) -> Block:
    """An alarm on a table as a whole, on one of its indexes, or on its replica in a region."""
    alarm = series.alarm
    name = {"TableName": Reference(f"{address(table)}.name")}
    if series.region:
        return _alarm(
            deployment, series, _metric(alarm, "statistic", {**name, "ReceivingRegion": series.region})
        )
    if alarm.metric in OF_A_TABLE:
        index = {"GlobalSecondaryIndexName": alarm.index} if alarm.index else {}
        return _alarm(deployment, series, _metric(alarm, "statistic", {**name, **index}))
    if alarm.metric in OF_AN_OPERATION:
        counted = [alarm.operation] if alarm.operation else operations(deployment, table)[:_FIGURES]
        return _alarm(deployment, series, *_summed(alarm, name, counted))
    known = ", ".join(sorted((*OF_A_TABLE, *OF_AN_OPERATION, *OF_A_REPLICA)))
    raise NotDeployable(
        f"the alarm '{alarm.name}' of {deployment.name}",
        f"Amazon keeps no figure {alarm.metric} of a table",
        f"use one of {known}",
    )


def _alarm(deployment: Deployment, series: WatchedSeries, *looks_at: dict[str, Any] | Block) -> Block:
    alarm = series.alarm
    settings = {
        "alarm_name": f"{deployment.title}-{series.name}",
        "alarm_description": f"{alarm.condition}: {alarm.advice}" if alarm.advice else alarm.condition,
        "comparison_operator": alarm.comparison,
        "threshold": alarm.threshold,
        "evaluation_periods": alarm.periods,
    }
    if alarm.breaches < alarm.periods:
        settings["datapoints_to_alarm"] = alarm.breaches
    settings |= {"treat_missing_data": alarm.missing, "alarm_actions": [TOPIC]}
    if alarm.namespace != BACKUP:  # a backup that failed is not mended by the next one
        settings["ok_actions"] = [TOPIC]
    name = "_".join(label(part) for part in (series.table, alarm.name, series.region) if part)
    return block("resource", "aws_cloudwatch_metric_alarm", name, settings, *looks_at)


def _metric(alarm: Alarm, statistic: str, dimensions: dict[str, Any]) -> dict[str, Any]:
    """A figure; `statistic` is the attribute that says which of its values counts."""
    return {
        "namespace": alarm.namespace,
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
