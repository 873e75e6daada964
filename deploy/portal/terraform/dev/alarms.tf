# Printed by tablewright design repository portal: change the design and print it again.

resource "aws_sns_topic" "alarms" {
  name = "portal-dev-alarms"
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

resource "aws_cloudwatch_metric_alarm" "tenants_reads" {
  alarm_name          = "portal-dev-tenants-reads"
  alarm_description   = "Sum of ConsumedReadCapacityUnits over 10000 units in a minute: page the operator"
  comparison_operator = "GreaterThanThreshold"
  threshold           = 10000
  evaluation_periods  = 1
  treat_missing_data  = "notBreaching"
  alarm_actions       = [aws_sns_topic.alarms.arn]
  ok_actions          = [aws_sns_topic.alarms.arn]
  namespace           = "AWS/DynamoDB"
  metric_name         = "ConsumedReadCapacityUnits"
  statistic           = "Sum"
  period              = 60
  dimensions = {
    TableName = module.tenants.name
  }
}

resource "aws_cloudwatch_metric_alarm" "products_reads" {
  alarm_name          = "portal-dev-products-reads"
  alarm_description   = "Sum of ConsumedReadCapacityUnits over 10000 units in a minute: page the operator"
  comparison_operator = "GreaterThanThreshold"
  threshold           = 10000
  evaluation_periods  = 1
  treat_missing_data  = "notBreaching"
  alarm_actions       = [aws_sns_topic.alarms.arn]
  ok_actions          = [aws_sns_topic.alarms.arn]
  namespace           = "AWS/DynamoDB"
  metric_name         = "ConsumedReadCapacityUnits"
  statistic           = "Sum"
  period              = 60
  dimensions = {
    TableName = module.products.name
  }
}

resource "aws_cloudwatch_metric_alarm" "campaigns_reads" {
  alarm_name          = "portal-dev-campaigns-reads"
  alarm_description   = "Sum of ConsumedReadCapacityUnits over 10000 units in a minute: page the operator"
  comparison_operator = "GreaterThanThreshold"
  threshold           = 10000
  evaluation_periods  = 1
  treat_missing_data  = "notBreaching"
  alarm_actions       = [aws_sns_topic.alarms.arn]
  ok_actions          = [aws_sns_topic.alarms.arn]
  namespace           = "AWS/DynamoDB"
  metric_name         = "ConsumedReadCapacityUnits"
  statistic           = "Sum"
  period              = 60
  dimensions = {
    TableName = module.campaigns.name
  }
}

resource "aws_cloudwatch_metric_alarm" "portal_desk_reads" {
  alarm_name          = "portal-dev-portal_desk-reads"
  alarm_description   = "Sum of ConsumedReadCapacityUnits over 10000 units in a minute: page the operator"
  comparison_operator = "GreaterThanThreshold"
  threshold           = 10000
  evaluation_periods  = 1
  treat_missing_data  = "notBreaching"
  alarm_actions       = [aws_sns_topic.alarms.arn]
  ok_actions          = [aws_sns_topic.alarms.arn]
  namespace           = "AWS/DynamoDB"
  metric_name         = "ConsumedReadCapacityUnits"
  statistic           = "Sum"
  period              = 60
  dimensions = {
    TableName = module.portal_desk.name
  }
}

resource "aws_cloudwatch_metric_alarm" "tenants_writes" {
  alarm_name          = "portal-dev-tenants-writes"
  alarm_description   = "Sum of ConsumedWriteCapacityUnits over 5000 units in a minute: page the operator"
  comparison_operator = "GreaterThanThreshold"
  threshold           = 5000
  evaluation_periods  = 1
  treat_missing_data  = "notBreaching"
  alarm_actions       = [aws_sns_topic.alarms.arn]
  ok_actions          = [aws_sns_topic.alarms.arn]
  namespace           = "AWS/DynamoDB"
  metric_name         = "ConsumedWriteCapacityUnits"
  statistic           = "Sum"
  period              = 60
  dimensions = {
    TableName = module.tenants.name
  }
}

resource "aws_cloudwatch_metric_alarm" "products_writes" {
  alarm_name          = "portal-dev-products-writes"
  alarm_description   = "Sum of ConsumedWriteCapacityUnits over 5000 units in a minute: page the operator"
  comparison_operator = "GreaterThanThreshold"
  threshold           = 5000
  evaluation_periods  = 1
  treat_missing_data  = "notBreaching"
  alarm_actions       = [aws_sns_topic.alarms.arn]
  ok_actions          = [aws_sns_topic.alarms.arn]
  namespace           = "AWS/DynamoDB"
  metric_name         = "ConsumedWriteCapacityUnits"
  statistic           = "Sum"
  period              = 60
  dimensions = {
    TableName = module.products.name
  }
}

resource "aws_cloudwatch_metric_alarm" "campaigns_writes" {
  alarm_name          = "portal-dev-campaigns-writes"
  alarm_description   = "Sum of ConsumedWriteCapacityUnits over 5000 units in a minute: page the operator"
  comparison_operator = "GreaterThanThreshold"
  threshold           = 5000
  evaluation_periods  = 1
  treat_missing_data  = "notBreaching"
  alarm_actions       = [aws_sns_topic.alarms.arn]
  ok_actions          = [aws_sns_topic.alarms.arn]
  namespace           = "AWS/DynamoDB"
  metric_name         = "ConsumedWriteCapacityUnits"
  statistic           = "Sum"
  period              = 60
  dimensions = {
    TableName = module.campaigns.name
  }
}

resource "aws_cloudwatch_metric_alarm" "portal_desk_writes" {
  alarm_name          = "portal-dev-portal_desk-writes"
  alarm_description   = "Sum of ConsumedWriteCapacityUnits over 5000 units in a minute: page the operator"
  comparison_operator = "GreaterThanThreshold"
  threshold           = 5000
  evaluation_periods  = 1
  treat_missing_data  = "notBreaching"
  alarm_actions       = [aws_sns_topic.alarms.arn]
  ok_actions          = [aws_sns_topic.alarms.arn]
  namespace           = "AWS/DynamoDB"
  metric_name         = "ConsumedWriteCapacityUnits"
  statistic           = "Sum"
  period              = 60
  dimensions = {
    TableName = module.portal_desk.name
  }
}

resource "aws_cloudwatch_metric_alarm" "tenants_throttling" {
  alarm_name          = "portal-dev-tenants-throttling"
  alarm_description   = "Sum of ThrottledRequests over 10 requests in 5 minutes: page the operator"
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
        TableName = module.tenants.name
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
        TableName = module.tenants.name
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
        TableName = module.tenants.name
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
        TableName = module.tenants.name
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
        TableName = module.tenants.name
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
        TableName = module.tenants.name
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
        TableName = module.tenants.name
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
        TableName = module.tenants.name
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
        TableName = module.tenants.name
        Operation = "TransactGetItems"
      }
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "products_throttling" {
  alarm_name          = "portal-dev-products-throttling"
  alarm_description   = "Sum of ThrottledRequests over 10 requests in 5 minutes: page the operator"
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
        TableName = module.products.name
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
        TableName = module.products.name
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
        TableName = module.products.name
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
        TableName = module.products.name
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
        TableName = module.products.name
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
        TableName = module.products.name
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
        TableName = module.products.name
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
        TableName = module.products.name
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
        TableName = module.products.name
        Operation = "TransactGetItems"
      }
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "campaigns_throttling" {
  alarm_name          = "portal-dev-campaigns-throttling"
  alarm_description   = "Sum of ThrottledRequests over 10 requests in 5 minutes: page the operator"
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
        TableName = module.campaigns.name
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
        TableName = module.campaigns.name
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
        TableName = module.campaigns.name
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
        TableName = module.campaigns.name
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
        TableName = module.campaigns.name
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
        TableName = module.campaigns.name
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
        TableName = module.campaigns.name
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
        TableName = module.campaigns.name
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
        TableName = module.campaigns.name
        Operation = "TransactGetItems"
      }
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "portal_desk_throttling" {
  alarm_name          = "portal-dev-portal_desk-throttling"
  alarm_description   = "Sum of ThrottledRequests over 10 requests in 5 minutes: page the operator"
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
        TableName = module.portal_desk.name
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
        TableName = module.portal_desk.name
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
        TableName = module.portal_desk.name
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
        TableName = module.portal_desk.name
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
        TableName = module.portal_desk.name
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
        TableName = module.portal_desk.name
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
        TableName = module.portal_desk.name
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
        TableName = module.portal_desk.name
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
        TableName = module.portal_desk.name
        Operation = "TransactGetItems"
      }
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "tenants_faults" {
  alarm_name          = "portal-dev-tenants-faults"
  alarm_description   = "Sum of SystemErrors over 5 errors in 5 minutes: page the operator"
  comparison_operator = "GreaterThanThreshold"
  threshold           = 5
  evaluation_periods  = 1
  treat_missing_data  = "notBreaching"
  alarm_actions       = [aws_sns_topic.alarms.arn]
  ok_actions          = [aws_sns_topic.alarms.arn]

  metric_query {
    id          = "total"
    expression  = "SUM(METRICS())"
    label       = "SystemErrors"
    return_data = true
  }

  metric_query {
    id = "get_item"

    metric {
      namespace   = "AWS/DynamoDB"
      metric_name = "SystemErrors"
      stat        = "Sum"
      period      = 300
      dimensions = {
        TableName = module.tenants.name
        Operation = "GetItem"
      }
    }
  }

  metric_query {
    id = "batch_get_item"

    metric {
      namespace   = "AWS/DynamoDB"
      metric_name = "SystemErrors"
      stat        = "Sum"
      period      = 300
      dimensions = {
        TableName = module.tenants.name
        Operation = "BatchGetItem"
      }
    }
  }

  metric_query {
    id = "put_item"

    metric {
      namespace   = "AWS/DynamoDB"
      metric_name = "SystemErrors"
      stat        = "Sum"
      period      = 300
      dimensions = {
        TableName = module.tenants.name
        Operation = "PutItem"
      }
    }
  }

  metric_query {
    id = "update_item"

    metric {
      namespace   = "AWS/DynamoDB"
      metric_name = "SystemErrors"
      stat        = "Sum"
      period      = 300
      dimensions = {
        TableName = module.tenants.name
        Operation = "UpdateItem"
      }
    }
  }

  metric_query {
    id = "delete_item"

    metric {
      namespace   = "AWS/DynamoDB"
      metric_name = "SystemErrors"
      stat        = "Sum"
      period      = 300
      dimensions = {
        TableName = module.tenants.name
        Operation = "DeleteItem"
      }
    }
  }

  metric_query {
    id = "batch_write_item"

    metric {
      namespace   = "AWS/DynamoDB"
      metric_name = "SystemErrors"
      stat        = "Sum"
      period      = 300
      dimensions = {
        TableName = module.tenants.name
        Operation = "BatchWriteItem"
      }
    }
  }

  metric_query {
    id = "query"

    metric {
      namespace   = "AWS/DynamoDB"
      metric_name = "SystemErrors"
      stat        = "Sum"
      period      = 300
      dimensions = {
        TableName = module.tenants.name
        Operation = "Query"
      }
    }
  }

  metric_query {
    id = "transact_write_items"

    metric {
      namespace   = "AWS/DynamoDB"
      metric_name = "SystemErrors"
      stat        = "Sum"
      period      = 300
      dimensions = {
        TableName = module.tenants.name
        Operation = "TransactWriteItems"
      }
    }
  }

  metric_query {
    id = "transact_get_items"

    metric {
      namespace   = "AWS/DynamoDB"
      metric_name = "SystemErrors"
      stat        = "Sum"
      period      = 300
      dimensions = {
        TableName = module.tenants.name
        Operation = "TransactGetItems"
      }
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "products_faults" {
  alarm_name          = "portal-dev-products-faults"
  alarm_description   = "Sum of SystemErrors over 5 errors in 5 minutes: page the operator"
  comparison_operator = "GreaterThanThreshold"
  threshold           = 5
  evaluation_periods  = 1
  treat_missing_data  = "notBreaching"
  alarm_actions       = [aws_sns_topic.alarms.arn]
  ok_actions          = [aws_sns_topic.alarms.arn]

  metric_query {
    id          = "total"
    expression  = "SUM(METRICS())"
    label       = "SystemErrors"
    return_data = true
  }

  metric_query {
    id = "get_item"

    metric {
      namespace   = "AWS/DynamoDB"
      metric_name = "SystemErrors"
      stat        = "Sum"
      period      = 300
      dimensions = {
        TableName = module.products.name
        Operation = "GetItem"
      }
    }
  }

  metric_query {
    id = "batch_get_item"

    metric {
      namespace   = "AWS/DynamoDB"
      metric_name = "SystemErrors"
      stat        = "Sum"
      period      = 300
      dimensions = {
        TableName = module.products.name
        Operation = "BatchGetItem"
      }
    }
  }

  metric_query {
    id = "put_item"

    metric {
      namespace   = "AWS/DynamoDB"
      metric_name = "SystemErrors"
      stat        = "Sum"
      period      = 300
      dimensions = {
        TableName = module.products.name
        Operation = "PutItem"
      }
    }
  }

  metric_query {
    id = "update_item"

    metric {
      namespace   = "AWS/DynamoDB"
      metric_name = "SystemErrors"
      stat        = "Sum"
      period      = 300
      dimensions = {
        TableName = module.products.name
        Operation = "UpdateItem"
      }
    }
  }

  metric_query {
    id = "delete_item"

    metric {
      namespace   = "AWS/DynamoDB"
      metric_name = "SystemErrors"
      stat        = "Sum"
      period      = 300
      dimensions = {
        TableName = module.products.name
        Operation = "DeleteItem"
      }
    }
  }

  metric_query {
    id = "batch_write_item"

    metric {
      namespace   = "AWS/DynamoDB"
      metric_name = "SystemErrors"
      stat        = "Sum"
      period      = 300
      dimensions = {
        TableName = module.products.name
        Operation = "BatchWriteItem"
      }
    }
  }

  metric_query {
    id = "query"

    metric {
      namespace   = "AWS/DynamoDB"
      metric_name = "SystemErrors"
      stat        = "Sum"
      period      = 300
      dimensions = {
        TableName = module.products.name
        Operation = "Query"
      }
    }
  }

  metric_query {
    id = "transact_write_items"

    metric {
      namespace   = "AWS/DynamoDB"
      metric_name = "SystemErrors"
      stat        = "Sum"
      period      = 300
      dimensions = {
        TableName = module.products.name
        Operation = "TransactWriteItems"
      }
    }
  }

  metric_query {
    id = "transact_get_items"

    metric {
      namespace   = "AWS/DynamoDB"
      metric_name = "SystemErrors"
      stat        = "Sum"
      period      = 300
      dimensions = {
        TableName = module.products.name
        Operation = "TransactGetItems"
      }
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "campaigns_faults" {
  alarm_name          = "portal-dev-campaigns-faults"
  alarm_description   = "Sum of SystemErrors over 5 errors in 5 minutes: page the operator"
  comparison_operator = "GreaterThanThreshold"
  threshold           = 5
  evaluation_periods  = 1
  treat_missing_data  = "notBreaching"
  alarm_actions       = [aws_sns_topic.alarms.arn]
  ok_actions          = [aws_sns_topic.alarms.arn]

  metric_query {
    id          = "total"
    expression  = "SUM(METRICS())"
    label       = "SystemErrors"
    return_data = true
  }

  metric_query {
    id = "get_item"

    metric {
      namespace   = "AWS/DynamoDB"
      metric_name = "SystemErrors"
      stat        = "Sum"
      period      = 300
      dimensions = {
        TableName = module.campaigns.name
        Operation = "GetItem"
      }
    }
  }

  metric_query {
    id = "batch_get_item"

    metric {
      namespace   = "AWS/DynamoDB"
      metric_name = "SystemErrors"
      stat        = "Sum"
      period      = 300
      dimensions = {
        TableName = module.campaigns.name
        Operation = "BatchGetItem"
      }
    }
  }

  metric_query {
    id = "put_item"

    metric {
      namespace   = "AWS/DynamoDB"
      metric_name = "SystemErrors"
      stat        = "Sum"
      period      = 300
      dimensions = {
        TableName = module.campaigns.name
        Operation = "PutItem"
      }
    }
  }

  metric_query {
    id = "update_item"

    metric {
      namespace   = "AWS/DynamoDB"
      metric_name = "SystemErrors"
      stat        = "Sum"
      period      = 300
      dimensions = {
        TableName = module.campaigns.name
        Operation = "UpdateItem"
      }
    }
  }

  metric_query {
    id = "delete_item"

    metric {
      namespace   = "AWS/DynamoDB"
      metric_name = "SystemErrors"
      stat        = "Sum"
      period      = 300
      dimensions = {
        TableName = module.campaigns.name
        Operation = "DeleteItem"
      }
    }
  }

  metric_query {
    id = "batch_write_item"

    metric {
      namespace   = "AWS/DynamoDB"
      metric_name = "SystemErrors"
      stat        = "Sum"
      period      = 300
      dimensions = {
        TableName = module.campaigns.name
        Operation = "BatchWriteItem"
      }
    }
  }

  metric_query {
    id = "query"

    metric {
      namespace   = "AWS/DynamoDB"
      metric_name = "SystemErrors"
      stat        = "Sum"
      period      = 300
      dimensions = {
        TableName = module.campaigns.name
        Operation = "Query"
      }
    }
  }

  metric_query {
    id = "transact_write_items"

    metric {
      namespace   = "AWS/DynamoDB"
      metric_name = "SystemErrors"
      stat        = "Sum"
      period      = 300
      dimensions = {
        TableName = module.campaigns.name
        Operation = "TransactWriteItems"
      }
    }
  }

  metric_query {
    id = "transact_get_items"

    metric {
      namespace   = "AWS/DynamoDB"
      metric_name = "SystemErrors"
      stat        = "Sum"
      period      = 300
      dimensions = {
        TableName = module.campaigns.name
        Operation = "TransactGetItems"
      }
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "portal_desk_faults" {
  alarm_name          = "portal-dev-portal_desk-faults"
  alarm_description   = "Sum of SystemErrors over 5 errors in 5 minutes: page the operator"
  comparison_operator = "GreaterThanThreshold"
  threshold           = 5
  evaluation_periods  = 1
  treat_missing_data  = "notBreaching"
  alarm_actions       = [aws_sns_topic.alarms.arn]
  ok_actions          = [aws_sns_topic.alarms.arn]

  metric_query {
    id          = "total"
    expression  = "SUM(METRICS())"
    label       = "SystemErrors"
    return_data = true
  }

  metric_query {
    id = "get_item"

    metric {
      namespace   = "AWS/DynamoDB"
      metric_name = "SystemErrors"
      stat        = "Sum"
      period      = 300
      dimensions = {
        TableName = module.portal_desk.name
        Operation = "GetItem"
      }
    }
  }

  metric_query {
    id = "batch_get_item"

    metric {
      namespace   = "AWS/DynamoDB"
      metric_name = "SystemErrors"
      stat        = "Sum"
      period      = 300
      dimensions = {
        TableName = module.portal_desk.name
        Operation = "BatchGetItem"
      }
    }
  }

  metric_query {
    id = "put_item"

    metric {
      namespace   = "AWS/DynamoDB"
      metric_name = "SystemErrors"
      stat        = "Sum"
      period      = 300
      dimensions = {
        TableName = module.portal_desk.name
        Operation = "PutItem"
      }
    }
  }

  metric_query {
    id = "update_item"

    metric {
      namespace   = "AWS/DynamoDB"
      metric_name = "SystemErrors"
      stat        = "Sum"
      period      = 300
      dimensions = {
        TableName = module.portal_desk.name
        Operation = "UpdateItem"
      }
    }
  }

  metric_query {
    id = "delete_item"

    metric {
      namespace   = "AWS/DynamoDB"
      metric_name = "SystemErrors"
      stat        = "Sum"
      period      = 300
      dimensions = {
        TableName = module.portal_desk.name
        Operation = "DeleteItem"
      }
    }
  }

  metric_query {
    id = "batch_write_item"

    metric {
      namespace   = "AWS/DynamoDB"
      metric_name = "SystemErrors"
      stat        = "Sum"
      period      = 300
      dimensions = {
        TableName = module.portal_desk.name
        Operation = "BatchWriteItem"
      }
    }
  }

  metric_query {
    id = "query"

    metric {
      namespace   = "AWS/DynamoDB"
      metric_name = "SystemErrors"
      stat        = "Sum"
      period      = 300
      dimensions = {
        TableName = module.portal_desk.name
        Operation = "Query"
      }
    }
  }

  metric_query {
    id = "transact_write_items"

    metric {
      namespace   = "AWS/DynamoDB"
      metric_name = "SystemErrors"
      stat        = "Sum"
      period      = 300
      dimensions = {
        TableName = module.portal_desk.name
        Operation = "TransactWriteItems"
      }
    }
  }

  metric_query {
    id = "transact_get_items"

    metric {
      namespace   = "AWS/DynamoDB"
      metric_name = "SystemErrors"
      stat        = "Sum"
      period      = 300
      dimensions = {
        TableName = module.portal_desk.name
        Operation = "TransactGetItems"
      }
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "cost_anomaly" {
  alarm_name          = "portal-dev-cost-anomaly"
  alarm_description   = "Maximum of DailyChargesOfMean over 150 per cent of the mean of the seven days before in an hour: compare the units of each table with those of the days before"
  comparison_operator = "GreaterThanThreshold"
  threshold           = 150
  evaluation_periods  = 1
  treat_missing_data  = "ignore"
  alarm_actions       = [aws_sns_topic.alarms.arn]
  ok_actions          = [aws_sns_topic.alarms.arn]
  namespace           = "Tablewright"
  metric_name         = "DailyChargesOfMean"
  statistic           = "Maximum"
  period              = 3600
  dimensions = {
    System = "portal"
  }
}

resource "aws_cloudwatch_metric_alarm" "failed_backups" {
  alarm_name          = "portal-dev-failed-backups"
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
