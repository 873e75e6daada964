# Printed by tablewright terraform portal --environment dev: what is to change here is changed in the design.

resource "aws_budgets_budget" "monthly" {
  name         = "portal-dev"
  budget_type  = "COST"
  limit_amount = "500"
  limit_unit   = "USD"
  time_unit    = "MONTHLY"

  notification {
    comparison_operator       = "GREATER_THAN"
    notification_type         = "ACTUAL"
    threshold                 = 400.0
    threshold_type            = "ABSOLUTE_VALUE"
    subscriber_sns_topic_arns = [aws_sns_topic.alarms.arn]
  }
}
