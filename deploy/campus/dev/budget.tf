# Printed by tablewright terraform campus --environment dev: what is to change here is changed in the design.

resource "aws_budgets_budget" "monthly" {
  name         = "campus-dev"
  budget_type  = "COST"
  limit_amount = "100"
  limit_unit   = "USD"
  time_unit    = "MONTHLY"

  cost_filter {
    name   = "Service"
    values = ["Amazon DynamoDB", "AWS Backup"]
  }

  notification {
    comparison_operator       = "GREATER_THAN"
    notification_type         = "ACTUAL"
    threshold                 = 80.0
    threshold_type            = "ABSOLUTE_VALUE"
    subscriber_sns_topic_arns = [aws_sns_topic.alarms.arn]
  }
}
