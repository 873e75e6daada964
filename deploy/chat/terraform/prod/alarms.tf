# Printed by tablewright design repository chat: change the design and print it again.

resource "aws_sns_topic" "alarms" {
  name = "chat-prod-alarms"
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

resource "aws_cloudwatch_metric_alarm" "conversation_v2_high_conversation_table_writes" {
  alarm_name          = "chat-prod-conversation-v2-HighConversationTableWrites"
  alarm_description   = "Sum of ConsumedWriteCapacityUnits over 1000 units in each of 2 periods of a minute: see which animal or family writes so much"
  comparison_operator = "GreaterThanThreshold"
  threshold           = 1000
  evaluation_periods  = 2
  treat_missing_data  = "notBreaching"
  alarm_actions       = [aws_sns_topic.alarms.arn]
  ok_actions          = [aws_sns_topic.alarms.arn]
  namespace           = "AWS/DynamoDB"
  metric_name         = "ConsumedWriteCapacityUnits"
  statistic           = "Sum"
  period              = 60
  dimensions = {
    TableName = module.conversation_v2.name
  }
}

resource "aws_cloudwatch_metric_alarm" "conversation_v2_gsi_throttling" {
  alarm_name          = "chat-prod-conversation-v2-GSIThrottling"
  alarm_description   = "Sum of ReadThrottleEvents of family-conversations-index over 10 requests in a minute: look for a family that is read very often"
  comparison_operator = "GreaterThanThreshold"
  threshold           = 10
  evaluation_periods  = 1
  treat_missing_data  = "notBreaching"
  alarm_actions       = [aws_sns_topic.alarms.arn]
  ok_actions          = [aws_sns_topic.alarms.arn]
  namespace           = "AWS/DynamoDB"
  metric_name         = "ReadThrottleEvents"
  statistic           = "Sum"
  period              = 60
  dimensions = {
    TableName                = module.conversation_v2.name
    GlobalSecondaryIndexName = "family-conversations-index"
  }
}

resource "aws_cloudwatch_metric_alarm" "conversation_v2_hot_partition" {
  alarm_name          = "chat-prod-conversation-v2-HotPartition"
  alarm_description   = "Sum of WriteThrottleEvents over 10 requests in a minute: find the user who writes so much and set the message partitions of that user to 10"
  comparison_operator = "GreaterThanThreshold"
  threshold           = 10
  evaluation_periods  = 1
  treat_missing_data  = "notBreaching"
  alarm_actions       = [aws_sns_topic.alarms.arn]
  ok_actions          = [aws_sns_topic.alarms.arn]
  namespace           = "AWS/DynamoDB"
  metric_name         = "WriteThrottleEvents"
  statistic           = "Sum"
  period              = 60
  dimensions = {
    TableName = module.conversation_v2.name
  }
}

resource "aws_cloudwatch_metric_alarm" "ttl_deletion_failures" {
  alarm_name          = "chat-prod-TTLDeletionFailures"
  alarm_description   = "Maximum of OverdueItems over 0 items in a day: check that each table deletes what has expired (page Quality)"
  comparison_operator = "GreaterThanThreshold"
  threshold           = 0
  evaluation_periods  = 1
  treat_missing_data  = "ignore"
  alarm_actions       = [aws_sns_topic.alarms.arn]
  ok_actions          = [aws_sns_topic.alarms.arn]
  namespace           = "Tablewright"
  metric_name         = "OverdueItems"
  statistic           = "Maximum"
  period              = 86400
  dimensions = {
    System = "chat"
  }
}

resource "aws_cloudwatch_metric_alarm" "failed_backups" {
  alarm_name          = "chat-prod-failed-backups"
  alarm_description   = "Sum of NumberOfBackupJobsFailed over 0 jobs in an hour: start it again, and find out why"
  comparison_operator = "GreaterThanThreshold"
  threshold           = 0
  evaluation_periods  = 1
  treat_missing_data  = "notBreaching"
  alarm_actions       = [aws_sns_topic.alarms.arn]
  namespace           = "AWS/Backup"
  metric_name         = "NumberOfBackupJobsFailed"
  statistic           = "Sum"
  period              = 3600
  dimensions = {
    BackupVaultName = module.backup.vault_name
  }
}
