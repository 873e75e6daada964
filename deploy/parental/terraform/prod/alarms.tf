# Printed by tablewright design repository parental: change the design and print it again.

resource "aws_sns_topic" "alarms" {
  name = "parental-prod-alarms"
}

resource "aws_sns_topic_policy" "alarms" {
  arn = aws_sns_topic.alarms.arn
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid    = "AlarmsAndBudgets"
        Effect = "Allow"
        Principal = {
          Service = ["budgets.amazonaws.com", "cloudwatch.amazonaws.com"]
        }
        Action   = ["SNS:Publish"]
        Resource = [aws_sns_topic.alarms.arn]
        Condition = {
          StringEquals = {
            "aws:SourceAccount" = data.aws_caller_identity.current.account_id
          }
        }
      },
    ]
  })
}

resource "aws_sns_topic_subscription" "mail" {
  count     = var.alarm_email == null ? 0 : 1
  topic_arn = aws_sns_topic.alarms.arn
  protocol  = "email"
  endpoint  = var.alarm_email
}

resource "aws_cloudwatch_metric_alarm" "enforcement_late" {
  alarm_name          = "parental-prod-EnforcementLate"
  alarm_description   = "Maximum of EnforcementDelay over 60 seconds in each of 2 periods of 10 minutes: look for a device with a long queue"
  comparison_operator = "GreaterThanThreshold"
  threshold           = 60
  evaluation_periods  = 2
  treat_missing_data  = "missing"
  alarm_actions       = [aws_sns_topic.alarms.arn]
  ok_actions          = [aws_sns_topic.alarms.arn]
  namespace           = "Tablewright"
  metric_name         = "EnforcementDelay"
  statistic           = "Maximum"
  period              = 600
  dimensions = {
    System = "parental"
  }
}

resource "aws_cloudwatch_metric_alarm" "enforcement_failing" {
  alarm_name          = "parental-prod-EnforcementFailing"
  alarm_description   = "Maximum of FailingRules over 5 per cent of all rules in each of 2 periods of 10 minutes: see the page Failures"
  comparison_operator = "GreaterThanThreshold"
  threshold           = 5
  evaluation_periods  = 2
  treat_missing_data  = "missing"
  alarm_actions       = [aws_sns_topic.alarms.arn]
  ok_actions          = [aws_sns_topic.alarms.arn]
  namespace           = "Tablewright"
  metric_name         = "FailingRules"
  statistic           = "Maximum"
  period              = 600
  dimensions = {
    System = "parental"
  }
}

resource "aws_cloudwatch_metric_alarm" "rules_unverified" {
  alarm_name          = "parental-prod-RulesUnverified"
  alarm_description   = "Maximum of UnverifiedRules over 0 rules in each of 2 periods of 10 minutes: compare the device that is named on the page Rules"
  comparison_operator = "GreaterThanThreshold"
  threshold           = 0
  evaluation_periods  = 2
  treat_missing_data  = "missing"
  alarm_actions       = [aws_sns_topic.alarms.arn]
  ok_actions          = [aws_sns_topic.alarms.arn]
  namespace           = "Tablewright"
  metric_name         = "UnverifiedRules"
  statistic           = "Maximum"
  period              = 600
  dimensions = {
    System = "parental"
  }
}

resource "aws_cloudwatch_metric_alarm" "enforcement_queue_long" {
  alarm_name          = "parental-prod-EnforcementQueueLong"
  alarm_description   = "Maximum of EnforcementQueueDepth over 500 children in each of 2 periods of 10 minutes: see the page Queues"
  comparison_operator = "GreaterThanThreshold"
  threshold           = 500
  evaluation_periods  = 2
  treat_missing_data  = "missing"
  alarm_actions       = [aws_sns_topic.alarms.arn]
  ok_actions          = [aws_sns_topic.alarms.arn]
  namespace           = "Tablewright"
  metric_name         = "EnforcementQueueDepth"
  statistic           = "Maximum"
  period              = 600
  dimensions = {
    System = "parental"
  }
}

resource "aws_cloudwatch_metric_alarm" "changes_behind" {
  alarm_name          = "parental-prod-ChangesBehind"
  alarm_description   = "Maximum of StreamLag over 60 seconds in each of 2 periods of 10 minutes: see whether the followers of changes run (Store and jobs)"
  comparison_operator = "GreaterThanThreshold"
  threshold           = 60
  evaluation_periods  = 2
  treat_missing_data  = "missing"
  alarm_actions       = [aws_sns_topic.alarms.arn]
  ok_actions          = [aws_sns_topic.alarms.arn]
  namespace           = "Tablewright"
  metric_name         = "StreamLag"
  statistic           = "Maximum"
  period              = 600
  dimensions = {
    System = "parental"
  }
}

resource "aws_cloudwatch_metric_alarm" "devices_failing" {
  alarm_name          = "parental-prod-DevicesFailing"
  alarm_description   = "Maximum of FailingDevices over 0 devices in each of 2 periods of 10 minutes: see the page Firewalls for the error of the device"
  comparison_operator = "GreaterThanThreshold"
  threshold           = 0
  evaluation_periods  = 2
  treat_missing_data  = "missing"
  alarm_actions       = [aws_sns_topic.alarms.arn]
  ok_actions          = [aws_sns_topic.alarms.arn]
  namespace           = "Tablewright"
  metric_name         = "FailingDevices"
  statistic           = "Maximum"
  period              = 600
  dimensions = {
    System = "parental"
  }
}
