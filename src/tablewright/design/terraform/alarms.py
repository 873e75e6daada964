"""`alarms.tf`: the design's alarms for each of its tables, and the topic that tells of them.

Must hold: an alarm looks at figures that Amazon really keeps. Some are kept by operation only: an alarm on such a
figure of the table as a whole would never have data, and so never ring. It sums the operations instead.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from tablewright.design.deployment import Deployment, NotDeployable, label
from tablewright.design.environments import Alarm
from tablewright.design.policies import operations
from tablewright.design.tables import Table
from tablewright.design.terraform.hcl import Block, Comment, Entry, FunctionCall, Reference, block
from tablewright.design.terraform.tables import address

NAMESPACE = "AWS/DynamoDB"
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
    return bool(_alarms(deployment)) or deployment.environment.budget is not None


def alarms(deployment: Deployment) -> list[Block | Comment]:
    if not has_notifications(deployment):
        return []
    found: list[Block | Comment] = _topic(deployment)
    for design in deployment.designs:
        for alarm in design.alarms:
            for table in design.tables.values():
                found += _of(deployment, alarm, table)
    return found


def _alarms(deployment: Deployment) -> list[Alarm]:
    return [alarm for design in deployment.designs for alarm in design.alarms]


def _topic(deployment: Deployment) -> list[Block | Comment]:
    services = ["budgets.amazonaws.com", "cloudwatch.amazonaws.com"]
    account = Reference("data.aws_caller_identity.current.account_id")
    policy = {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Sid": "AlarmsAndBudgets",
                "Effect": "Allow",
                "Principal": {"Service": services},
                "Action": ["SNS:Publish"],
                "Resource": [Reference("aws_sns_topic.alarms.arn")],
                "Condition": {"StringEquals": {"aws:SourceAccount": account}},
            }
        ],
    }
    topic = Reference("aws_sns_topic.alarms.arn")
    return [
        block("resource", "aws_sns_topic", "alarms", body=[("name", f"{deployment.title}-alarms")]),
        block(
            "resource",
            "aws_sns_topic_policy",
            "alarms",
            body=[("arn", topic), ("policy", FunctionCall("jsonencode", policy))],
        ),
        block(
            "resource",
            "aws_sns_topic_subscription",
            "mail",
            body=[
                ("count", Reference("var.alarm_email == null ? 0 : 1")),
                ("topic_arn", topic),
                ("protocol", "email"),
                ("endpoint", Reference("var.alarm_email")),
            ],
        ),
    ]


def _of(deployment: Deployment, alarm: Alarm, table: Table) -> Iterator[Block]:
    """An alarm on a table: one of the table as a whole, or one for each region it is replicated to."""
    name = {"TableName": Reference(f"{address(table)}.name")}
    if alarm.metric in OF_A_TABLE:
        yield _alarm(deployment, alarm, table, "", _one(alarm, name))
    elif alarm.metric in OF_AN_OPERATION:
        counted = operations(deployment, table)[:_FIGURES]
        yield _alarm(deployment, alarm, table, "", _summed(alarm, name, counted))
    elif alarm.metric in OF_A_REPLICA:
        for region in deployment.environment.replicas:
            yield _alarm(deployment, alarm, table, region, _one(alarm, {**name, "ReceivingRegion": region}))
    else:
        known = ", ".join(sorted((*OF_A_TABLE, *OF_AN_OPERATION, *OF_A_REPLICA)))
        raise NotDeployable(
            f"the alarm '{alarm.name}' of {deployment.name}",
            f"Amazon keeps no figure {alarm.metric} of a table",
            f"use one of {known}",
        )


def _alarm(
    deployment: Deployment, alarm: Alarm, table: Table, where: str, looks_at: Sequence[Entry]
) -> Block:
    name = "_".join(label(part) for part in (table.name, alarm.name, where) if part)
    called = "-".join(part for part in (deployment.title, table.name, alarm.name, where) if part)
    topic = Reference("aws_sns_topic.alarms.arn")
    return block(
        "resource",
        "aws_cloudwatch_metric_alarm",
        name,
        body=[
            ("alarm_name", called),
            ("alarm_description", _described(alarm)),
            ("comparison_operator", "GreaterThanThreshold"),
            ("threshold", alarm.over),
            ("evaluation_periods", 1),
            ("treat_missing_data", "notBreaching"),
            ("alarm_actions", [topic]),
            ("ok_actions", [topic]),
            *looks_at,
        ],
    )


def _described(alarm: Alarm) -> str:
    unit = f" {alarm.unit}" if alarm.unit else ""
    minutes = "a minute" if alarm.minutes == 1 else f"{alarm.minutes} minutes"
    what = f"{alarm.metric} over {alarm.over}{unit} in {minutes}"
    return f"{what}: {alarm.action}" if alarm.action else what


def _one(alarm: Alarm, dimensions: dict[str, Any]) -> list[Entry]:
    return [
        ("namespace", NAMESPACE),
        ("metric_name", alarm.metric),
        ("statistic", alarm.statistic),
        ("period", alarm.minutes * 60),
        ("dimensions", dimensions),
    ]


def _summed(alarm: Alarm, dimensions: dict[str, Any], operations: Sequence[str]) -> list[Entry]:
    """Sums are summed; of averages and highest values the highest counts."""
    function = "SUM" if alarm.statistic == "Sum" else "MAX"
    total = block(
        "metric_query",
        body=[
            ("id", "total"),
            ("expression", f"{function}(METRICS())"),
            ("label", alarm.metric),
            ("return_data", True),
        ],
    )
    return [total, *(_figure(alarm, {**dimensions, "Operation": name}) for name in operations)]


def _figure(alarm: Alarm, dimensions: dict[str, Any]) -> Block:
    metric: list[Entry] = [
        ("namespace", NAMESPACE),
        ("metric_name", alarm.metric),
        ("stat", alarm.statistic),
        ("period", alarm.minutes * 60),
        ("dimensions", dimensions),
    ]
    return block("metric_query", body=[("id", label(dimensions["Operation"])), block("metric", body=metric)])
