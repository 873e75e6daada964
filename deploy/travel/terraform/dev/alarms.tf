# Printed by tablewright design repository travel: change the design and print it again.

resource "aws_sns_topic" "alarms" {
  name = "travel-dev-alarms"
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

resource "aws_cloudwatch_metric_alarm" "skratch_data_throttled" {
  alarm_name          = "travel-dev-skratch-data-throttled"
  alarm_description   = "Sum of ThrottledRequests over 10 in 5 minutes: look for a region that became popular"
  comparison_operator = "GreaterThanThreshold"
  threshold           = 10
  evaluation_periods  = 1
  treat_missing_data  = "notBreaching"
  alarm_actions       = [aws_sns_topic.alarms.arn]
  ok_actions          = [aws_sns_topic.alarms.arn]

  metric_query {
    id          = "total"
    expression  = "SUM(METRICS())"
    label       = "ThrottledRequests"
    return_data = true
  }

  metric_query {
    id = "get_item"

    metric {
      namespace   = "AWS/DynamoDB"
      metric_name = "ThrottledRequests"
      stat        = "Sum"
      period      = 300
      dimensions = {
        TableName = module.skratch_data.name
        Operation = "GetItem"
      }
    }
  }

  metric_query {
    id = "batch_get_item"

    metric {
      namespace   = "AWS/DynamoDB"
      metric_name = "ThrottledRequests"
      stat        = "Sum"
      period      = 300
      dimensions = {
        TableName = module.skratch_data.name
        Operation = "BatchGetItem"
      }
    }
  }

  metric_query {
    id = "put_item"

    metric {
      namespace   = "AWS/DynamoDB"
      metric_name = "ThrottledRequests"
      stat        = "Sum"
      period      = 300
      dimensions = {
        TableName = module.skratch_data.name
        Operation = "PutItem"
      }
    }
  }

  metric_query {
    id = "update_item"

    metric {
      namespace   = "AWS/DynamoDB"
      metric_name = "ThrottledRequests"
      stat        = "Sum"
      period      = 300
      dimensions = {
        TableName = module.skratch_data.name
        Operation = "UpdateItem"
      }
    }
  }

  metric_query {
    id = "delete_item"

    metric {
      namespace   = "AWS/DynamoDB"
      metric_name = "ThrottledRequests"
      stat        = "Sum"
      period      = 300
      dimensions = {
        TableName = module.skratch_data.name
        Operation = "DeleteItem"
      }
    }
  }

  metric_query {
    id = "batch_write_item"

    metric {
      namespace   = "AWS/DynamoDB"
      metric_name = "ThrottledRequests"
      stat        = "Sum"
      period      = 300
      dimensions = {
        TableName = module.skratch_data.name
        Operation = "BatchWriteItem"
      }
    }
  }

  metric_query {
    id = "query"

    metric {
      namespace   = "AWS/DynamoDB"
      metric_name = "ThrottledRequests"
      stat        = "Sum"
      period      = 300
      dimensions = {
        TableName = module.skratch_data.name
        Operation = "Query"
      }
    }
  }

  metric_query {
    id = "transact_write_items"

    metric {
      namespace   = "AWS/DynamoDB"
      metric_name = "ThrottledRequests"
      stat        = "Sum"
      period      = 300
      dimensions = {
        TableName = module.skratch_data.name
        Operation = "TransactWriteItems"
      }
    }
  }

  metric_query {
    id = "transact_get_items"

    metric {
      namespace   = "AWS/DynamoDB"
      metric_name = "ThrottledRequests"
      stat        = "Sum"
      period      = 300
      dimensions = {
        TableName = module.skratch_data.name
        Operation = "TransactGetItems"
      }
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "failed_backups" {
  alarm_name          = "travel-dev-failed-backups"
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
