# Printed by tablewright design repository travel: change the design and print it again.

resource "aws_budgets_budget" "monthly" {
  name         = "travel-prod"
  budget_type  = "COST"
  limit_amount = tostring(var.budget_limit)
  limit_unit   = "USD"
  time_unit    = "MONTHLY"

  cost_filter {
    name   = "Service"
    values = ["Amazon DynamoDB", "AWS Backup"]
  }

  notification {
    comparison_operator       = "GREATER_THAN"
    notification_type         = "ACTUAL"
    threshold                 = var.budget_alert_at
    threshold_type            = "ABSOLUTE_VALUE"
    subscriber_sns_topic_arns = [aws_sns_topic.alarms.arn]
  }
}
