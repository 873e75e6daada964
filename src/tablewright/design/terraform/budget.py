"""`budget.tf`: what an environment may cost in a month, and from which amount a notification is sent.

Of an account that the environment names it is all that the account costs; of one it shares with others, what DynamoDB
costs there, and AWS Backup where there are backups: what it keeps of tables is on its own bill. Budgets by tag would
count nothing until the tag is activated in the account, without any warning.
"""

from tablewright.design.deployment import Deployment
from tablewright.design.terraform.alarms import TOPIC
from tablewright.design.terraform.hcl import Block, Reference, block


def budget(deployment: Deployment) -> list[Block]:
    environment = deployment.environment
    if environment.budget is None:
        return []
    services = ["Amazon DynamoDB", *(["AWS Backup"] if environment.backups is not None else [])]
    monthly = {
        "name": deployment.title,
        "budget_type": "COST",
        "limit_amount": Reference("tostring(var.budget_limit)"),
        "limit_unit": "USD",
        "time_unit": "MONTHLY",
    }
    notification = {
        "comparison_operator": "GREATER_THAN",
        "notification_type": "ACTUAL",
        "threshold": Reference("var.budget_alert_at"),
        "threshold_type": "ABSOLUTE_VALUE",
        "subscriber_sns_topic_arns": [TOPIC],
    }
    only = None if environment.account else block("cost_filter", {"name": "Service", "values": services})
    notified = block("notification", notification)
    return [block("resource", "aws_budgets_budget", "monthly", monthly, only, notified)]
