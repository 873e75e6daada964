# Printed by tablewright design repository campus: change the design and print it again.

resource "aws_sns_topic" "alarms" {
  name = "campus-prod-alarms"
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

resource "aws_cloudwatch_metric_alarm" "campus_cloud_files_throttling" {
  alarm_name          = "campus-prod-campus-cloud-files-throttling"
  alarm_description   = "Sum of ThrottledRequests over 10 requests in 5 minutes: look for a hot key; raise the provisioned capacity if all keys are busy"
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
        TableName = module.campus_cloud_files.name
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
        TableName = module.campus_cloud_files.name
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
        TableName = module.campus_cloud_files.name
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
        TableName = module.campus_cloud_files.name
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
        TableName = module.campus_cloud_files.name
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
        TableName = module.campus_cloud_files.name
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
        TableName = module.campus_cloud_files.name
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
        TableName = module.campus_cloud_files.name
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
        TableName = module.campus_cloud_files.name
        Operation = "TransactGetItems"
      }
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "campus_cloud_library_throttling" {
  alarm_name          = "campus-prod-campus-cloud-library-throttling"
  alarm_description   = "Sum of ThrottledRequests over 10 requests in 5 minutes: look for a hot key; raise the provisioned capacity if all keys are busy"
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
        TableName = module.campus_cloud_library.name
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
        TableName = module.campus_cloud_library.name
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
        TableName = module.campus_cloud_library.name
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
        TableName = module.campus_cloud_library.name
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
        TableName = module.campus_cloud_library.name
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
        TableName = module.campus_cloud_library.name
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
        TableName = module.campus_cloud_library.name
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
        TableName = module.campus_cloud_library.name
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
        TableName = module.campus_cloud_library.name
        Operation = "TransactGetItems"
      }
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "campus_cloud_shares_throttling" {
  alarm_name          = "campus-prod-campus-cloud-shares-throttling"
  alarm_description   = "Sum of ThrottledRequests over 10 requests in 5 minutes: look for a hot key; raise the provisioned capacity if all keys are busy"
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
        TableName = module.campus_cloud_shares.name
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
        TableName = module.campus_cloud_shares.name
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
        TableName = module.campus_cloud_shares.name
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
        TableName = module.campus_cloud_shares.name
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
        TableName = module.campus_cloud_shares.name
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
        TableName = module.campus_cloud_shares.name
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
        TableName = module.campus_cloud_shares.name
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
        TableName = module.campus_cloud_shares.name
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
        TableName = module.campus_cloud_shares.name
        Operation = "TransactGetItems"
      }
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "campus_cloud_courses_throttling" {
  alarm_name          = "campus-prod-campus-cloud-courses-throttling"
  alarm_description   = "Sum of ThrottledRequests over 10 requests in 5 minutes: look for a hot key; raise the provisioned capacity if all keys are busy"
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
        TableName = module.campus_cloud_courses.name
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
        TableName = module.campus_cloud_courses.name
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
        TableName = module.campus_cloud_courses.name
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
        TableName = module.campus_cloud_courses.name
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
        TableName = module.campus_cloud_courses.name
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
        TableName = module.campus_cloud_courses.name
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
        TableName = module.campus_cloud_courses.name
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
        TableName = module.campus_cloud_courses.name
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
        TableName = module.campus_cloud_courses.name
        Operation = "TransactGetItems"
      }
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "campus_cloud_enrollments_throttling" {
  alarm_name          = "campus-prod-campus-cloud-enrollments-throttling"
  alarm_description   = "Sum of ThrottledRequests over 10 requests in 5 minutes: look for a hot key; raise the provisioned capacity if all keys are busy"
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
        TableName = module.campus_cloud_enrollments.name
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
        TableName = module.campus_cloud_enrollments.name
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
        TableName = module.campus_cloud_enrollments.name
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
        TableName = module.campus_cloud_enrollments.name
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
        TableName = module.campus_cloud_enrollments.name
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
        TableName = module.campus_cloud_enrollments.name
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
        TableName = module.campus_cloud_enrollments.name
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
        TableName = module.campus_cloud_enrollments.name
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
        TableName = module.campus_cloud_enrollments.name
        Operation = "TransactGetItems"
      }
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "campus_cloud_assignments_throttling" {
  alarm_name          = "campus-prod-campus-cloud-assignments-throttling"
  alarm_description   = "Sum of ThrottledRequests over 10 requests in 5 minutes: look for a hot key; raise the provisioned capacity if all keys are busy"
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
        TableName = module.campus_cloud_assignments.name
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
        TableName = module.campus_cloud_assignments.name
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
        TableName = module.campus_cloud_assignments.name
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
        TableName = module.campus_cloud_assignments.name
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
        TableName = module.campus_cloud_assignments.name
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
        TableName = module.campus_cloud_assignments.name
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
        TableName = module.campus_cloud_assignments.name
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
        TableName = module.campus_cloud_assignments.name
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
        TableName = module.campus_cloud_assignments.name
        Operation = "TransactGetItems"
      }
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "campus_cloud_submissions_throttling" {
  alarm_name          = "campus-prod-campus-cloud-submissions-throttling"
  alarm_description   = "Sum of ThrottledRequests over 10 requests in 5 minutes: look for a hot key; raise the provisioned capacity if all keys are busy"
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
        TableName = module.campus_cloud_submissions.name
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
        TableName = module.campus_cloud_submissions.name
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
        TableName = module.campus_cloud_submissions.name
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
        TableName = module.campus_cloud_submissions.name
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
        TableName = module.campus_cloud_submissions.name
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
        TableName = module.campus_cloud_submissions.name
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
        TableName = module.campus_cloud_submissions.name
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
        TableName = module.campus_cloud_submissions.name
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
        TableName = module.campus_cloud_submissions.name
        Operation = "TransactGetItems"
      }
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "campus_cloud_marking_throttling" {
  alarm_name          = "campus-prod-campus-cloud-marking-throttling"
  alarm_description   = "Sum of ThrottledRequests over 10 requests in 5 minutes: look for a hot key; raise the provisioned capacity if all keys are busy"
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
        TableName = module.campus_cloud_marking.name
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
        TableName = module.campus_cloud_marking.name
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
        TableName = module.campus_cloud_marking.name
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
        TableName = module.campus_cloud_marking.name
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
        TableName = module.campus_cloud_marking.name
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
        TableName = module.campus_cloud_marking.name
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
        TableName = module.campus_cloud_marking.name
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
        TableName = module.campus_cloud_marking.name
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
        TableName = module.campus_cloud_marking.name
        Operation = "TransactGetItems"
      }
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "campus_cloud_uniques_throttling" {
  alarm_name          = "campus-prod-campus-cloud-uniques-throttling"
  alarm_description   = "Sum of ThrottledRequests over 10 requests in 5 minutes: look for a hot key; raise the provisioned capacity if all keys are busy"
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
        TableName = module.campus_cloud_uniques.name
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
        TableName = module.campus_cloud_uniques.name
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
        TableName = module.campus_cloud_uniques.name
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
        TableName = module.campus_cloud_uniques.name
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
        TableName = module.campus_cloud_uniques.name
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
        TableName = module.campus_cloud_uniques.name
        Operation = "BatchWriteItem"
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
        TableName = module.campus_cloud_uniques.name
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
        TableName = module.campus_cloud_uniques.name
        Operation = "TransactGetItems"
      }
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "campus_cloud_users_throttling" {
  alarm_name          = "campus-prod-campus-cloud-users-throttling"
  alarm_description   = "Sum of ThrottledRequests over 10 requests in 5 minutes: look for a hot key; raise the provisioned capacity if all keys are busy"
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
        TableName = module.campus_cloud_users.name
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
        TableName = module.campus_cloud_users.name
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
        TableName = module.campus_cloud_users.name
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
        TableName = module.campus_cloud_users.name
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
        TableName = module.campus_cloud_users.name
        Operation = "DeleteItem"
      }
    }
  }

  metric_query {
    id = "scan"

    metric {
      namespace   = "AWS/DynamoDB"
      metric_name = "ThrottledRequests"
      stat        = "Sum"
      period      = 300
      dimensions = {
        TableName = module.campus_cloud_users.name
        Operation = "Scan"
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
        TableName = module.campus_cloud_users.name
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
        TableName = module.campus_cloud_users.name
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
        TableName = module.campus_cloud_users.name
        Operation = "TransactGetItems"
      }
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "campus_cloud_notifications_throttling" {
  alarm_name          = "campus-prod-campus-cloud-notifications-throttling"
  alarm_description   = "Sum of ThrottledRequests over 10 requests in 5 minutes: look for a hot key; raise the provisioned capacity if all keys are busy"
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
        TableName = module.campus_cloud_notifications.name
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
        TableName = module.campus_cloud_notifications.name
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
        TableName = module.campus_cloud_notifications.name
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
        TableName = module.campus_cloud_notifications.name
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
        TableName = module.campus_cloud_notifications.name
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
        TableName = module.campus_cloud_notifications.name
        Operation = "BatchWriteItem"
      }
    }
  }

  metric_query {
    id = "scan"

    metric {
      namespace   = "AWS/DynamoDB"
      metric_name = "ThrottledRequests"
      stat        = "Sum"
      period      = 300
      dimensions = {
        TableName = module.campus_cloud_notifications.name
        Operation = "Scan"
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
        TableName = module.campus_cloud_notifications.name
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
        TableName = module.campus_cloud_notifications.name
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
        TableName = module.campus_cloud_notifications.name
        Operation = "TransactGetItems"
      }
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "campus_cloud_audit_throttling" {
  alarm_name          = "campus-prod-campus-cloud-audit-throttling"
  alarm_description   = "Sum of ThrottledRequests over 10 requests in 5 minutes: look for a hot key; raise the provisioned capacity if all keys are busy"
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
        TableName = module.campus_cloud_audit.name
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
        TableName = module.campus_cloud_audit.name
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
        TableName = module.campus_cloud_audit.name
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
        TableName = module.campus_cloud_audit.name
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
        TableName = module.campus_cloud_audit.name
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
        TableName = module.campus_cloud_audit.name
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
        TableName = module.campus_cloud_audit.name
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
        TableName = module.campus_cloud_audit.name
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
        TableName = module.campus_cloud_audit.name
        Operation = "TransactGetItems"
      }
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "campus_cloud_files_faults" {
  alarm_name          = "campus-prod-campus-cloud-files-faults"
  alarm_description   = "Sum of SystemErrors over 5 requests in 5 minutes: see the log"
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
        TableName = module.campus_cloud_files.name
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
        TableName = module.campus_cloud_files.name
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
        TableName = module.campus_cloud_files.name
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
        TableName = module.campus_cloud_files.name
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
        TableName = module.campus_cloud_files.name
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
        TableName = module.campus_cloud_files.name
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
        TableName = module.campus_cloud_files.name
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
        TableName = module.campus_cloud_files.name
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
        TableName = module.campus_cloud_files.name
        Operation = "TransactGetItems"
      }
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "campus_cloud_library_faults" {
  alarm_name          = "campus-prod-campus-cloud-library-faults"
  alarm_description   = "Sum of SystemErrors over 5 requests in 5 minutes: see the log"
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
        TableName = module.campus_cloud_library.name
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
        TableName = module.campus_cloud_library.name
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
        TableName = module.campus_cloud_library.name
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
        TableName = module.campus_cloud_library.name
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
        TableName = module.campus_cloud_library.name
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
        TableName = module.campus_cloud_library.name
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
        TableName = module.campus_cloud_library.name
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
        TableName = module.campus_cloud_library.name
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
        TableName = module.campus_cloud_library.name
        Operation = "TransactGetItems"
      }
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "campus_cloud_shares_faults" {
  alarm_name          = "campus-prod-campus-cloud-shares-faults"
  alarm_description   = "Sum of SystemErrors over 5 requests in 5 minutes: see the log"
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
        TableName = module.campus_cloud_shares.name
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
        TableName = module.campus_cloud_shares.name
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
        TableName = module.campus_cloud_shares.name
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
        TableName = module.campus_cloud_shares.name
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
        TableName = module.campus_cloud_shares.name
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
        TableName = module.campus_cloud_shares.name
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
        TableName = module.campus_cloud_shares.name
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
        TableName = module.campus_cloud_shares.name
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
        TableName = module.campus_cloud_shares.name
        Operation = "TransactGetItems"
      }
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "campus_cloud_courses_faults" {
  alarm_name          = "campus-prod-campus-cloud-courses-faults"
  alarm_description   = "Sum of SystemErrors over 5 requests in 5 minutes: see the log"
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
        TableName = module.campus_cloud_courses.name
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
        TableName = module.campus_cloud_courses.name
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
        TableName = module.campus_cloud_courses.name
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
        TableName = module.campus_cloud_courses.name
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
        TableName = module.campus_cloud_courses.name
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
        TableName = module.campus_cloud_courses.name
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
        TableName = module.campus_cloud_courses.name
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
        TableName = module.campus_cloud_courses.name
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
        TableName = module.campus_cloud_courses.name
        Operation = "TransactGetItems"
      }
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "campus_cloud_enrollments_faults" {
  alarm_name          = "campus-prod-campus-cloud-enrollments-faults"
  alarm_description   = "Sum of SystemErrors over 5 requests in 5 minutes: see the log"
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
        TableName = module.campus_cloud_enrollments.name
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
        TableName = module.campus_cloud_enrollments.name
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
        TableName = module.campus_cloud_enrollments.name
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
        TableName = module.campus_cloud_enrollments.name
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
        TableName = module.campus_cloud_enrollments.name
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
        TableName = module.campus_cloud_enrollments.name
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
        TableName = module.campus_cloud_enrollments.name
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
        TableName = module.campus_cloud_enrollments.name
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
        TableName = module.campus_cloud_enrollments.name
        Operation = "TransactGetItems"
      }
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "campus_cloud_assignments_faults" {
  alarm_name          = "campus-prod-campus-cloud-assignments-faults"
  alarm_description   = "Sum of SystemErrors over 5 requests in 5 minutes: see the log"
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
        TableName = module.campus_cloud_assignments.name
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
        TableName = module.campus_cloud_assignments.name
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
        TableName = module.campus_cloud_assignments.name
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
        TableName = module.campus_cloud_assignments.name
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
        TableName = module.campus_cloud_assignments.name
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
        TableName = module.campus_cloud_assignments.name
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
        TableName = module.campus_cloud_assignments.name
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
        TableName = module.campus_cloud_assignments.name
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
        TableName = module.campus_cloud_assignments.name
        Operation = "TransactGetItems"
      }
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "campus_cloud_submissions_faults" {
  alarm_name          = "campus-prod-campus-cloud-submissions-faults"
  alarm_description   = "Sum of SystemErrors over 5 requests in 5 minutes: see the log"
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
        TableName = module.campus_cloud_submissions.name
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
        TableName = module.campus_cloud_submissions.name
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
        TableName = module.campus_cloud_submissions.name
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
        TableName = module.campus_cloud_submissions.name
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
        TableName = module.campus_cloud_submissions.name
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
        TableName = module.campus_cloud_submissions.name
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
        TableName = module.campus_cloud_submissions.name
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
        TableName = module.campus_cloud_submissions.name
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
        TableName = module.campus_cloud_submissions.name
        Operation = "TransactGetItems"
      }
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "campus_cloud_marking_faults" {
  alarm_name          = "campus-prod-campus-cloud-marking-faults"
  alarm_description   = "Sum of SystemErrors over 5 requests in 5 minutes: see the log"
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
        TableName = module.campus_cloud_marking.name
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
        TableName = module.campus_cloud_marking.name
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
        TableName = module.campus_cloud_marking.name
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
        TableName = module.campus_cloud_marking.name
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
        TableName = module.campus_cloud_marking.name
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
        TableName = module.campus_cloud_marking.name
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
        TableName = module.campus_cloud_marking.name
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
        TableName = module.campus_cloud_marking.name
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
        TableName = module.campus_cloud_marking.name
        Operation = "TransactGetItems"
      }
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "campus_cloud_uniques_faults" {
  alarm_name          = "campus-prod-campus-cloud-uniques-faults"
  alarm_description   = "Sum of SystemErrors over 5 requests in 5 minutes: see the log"
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
        TableName = module.campus_cloud_uniques.name
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
        TableName = module.campus_cloud_uniques.name
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
        TableName = module.campus_cloud_uniques.name
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
        TableName = module.campus_cloud_uniques.name
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
        TableName = module.campus_cloud_uniques.name
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
        TableName = module.campus_cloud_uniques.name
        Operation = "BatchWriteItem"
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
        TableName = module.campus_cloud_uniques.name
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
        TableName = module.campus_cloud_uniques.name
        Operation = "TransactGetItems"
      }
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "campus_cloud_users_faults" {
  alarm_name          = "campus-prod-campus-cloud-users-faults"
  alarm_description   = "Sum of SystemErrors over 5 requests in 5 minutes: see the log"
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
        TableName = module.campus_cloud_users.name
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
        TableName = module.campus_cloud_users.name
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
        TableName = module.campus_cloud_users.name
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
        TableName = module.campus_cloud_users.name
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
        TableName = module.campus_cloud_users.name
        Operation = "DeleteItem"
      }
    }
  }

  metric_query {
    id = "scan"

    metric {
      namespace   = "AWS/DynamoDB"
      metric_name = "SystemErrors"
      stat        = "Sum"
      period      = 300
      dimensions = {
        TableName = module.campus_cloud_users.name
        Operation = "Scan"
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
        TableName = module.campus_cloud_users.name
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
        TableName = module.campus_cloud_users.name
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
        TableName = module.campus_cloud_users.name
        Operation = "TransactGetItems"
      }
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "campus_cloud_notifications_faults" {
  alarm_name          = "campus-prod-campus-cloud-notifications-faults"
  alarm_description   = "Sum of SystemErrors over 5 requests in 5 minutes: see the log"
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
        TableName = module.campus_cloud_notifications.name
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
        TableName = module.campus_cloud_notifications.name
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
        TableName = module.campus_cloud_notifications.name
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
        TableName = module.campus_cloud_notifications.name
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
        TableName = module.campus_cloud_notifications.name
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
        TableName = module.campus_cloud_notifications.name
        Operation = "BatchWriteItem"
      }
    }
  }

  metric_query {
    id = "scan"

    metric {
      namespace   = "AWS/DynamoDB"
      metric_name = "SystemErrors"
      stat        = "Sum"
      period      = 300
      dimensions = {
        TableName = module.campus_cloud_notifications.name
        Operation = "Scan"
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
        TableName = module.campus_cloud_notifications.name
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
        TableName = module.campus_cloud_notifications.name
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
        TableName = module.campus_cloud_notifications.name
        Operation = "TransactGetItems"
      }
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "campus_cloud_audit_faults" {
  alarm_name          = "campus-prod-campus-cloud-audit-faults"
  alarm_description   = "Sum of SystemErrors over 5 requests in 5 minutes: see the log"
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
        TableName = module.campus_cloud_audit.name
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
        TableName = module.campus_cloud_audit.name
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
        TableName = module.campus_cloud_audit.name
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
        TableName = module.campus_cloud_audit.name
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
        TableName = module.campus_cloud_audit.name
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
        TableName = module.campus_cloud_audit.name
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
        TableName = module.campus_cloud_audit.name
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
        TableName = module.campus_cloud_audit.name
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
        TableName = module.campus_cloud_audit.name
        Operation = "TransactGetItems"
      }
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "error_rate_high" {
  alarm_name          = "campus-prod-ErrorRateHigh"
  alarm_description   = "Average of 5XXError over 0.05 of all requests in each of 5 periods of a minute: see the log: each line has the route and the status"
  comparison_operator = "GreaterThanThreshold"
  threshold           = 0.05
  evaluation_periods  = 5
  treat_missing_data  = "notBreaching"
  alarm_actions       = [aws_sns_topic.alarms.arn]
  ok_actions          = [aws_sns_topic.alarms.arn]
  namespace           = "Tablewright"
  metric_name         = "5XXError"
  statistic           = "Average"
  period              = 60
  dimensions = {
    System = "campus"
  }
}

resource "aws_cloudwatch_metric_alarm" "storage_quota_high" {
  alarm_name          = "campus-prod-StorageQuotaHigh"
  alarm_description   = "Maximum of StorageQuotaUsed over 80 per cent in 30 minutes: see which users have little room left, and raise their quota or ask them to delete"
  comparison_operator = "GreaterThanThreshold"
  threshold           = 80
  evaluation_periods  = 1
  treat_missing_data  = "ignore"
  alarm_actions       = [aws_sns_topic.alarms.arn]
  ok_actions          = [aws_sns_topic.alarms.arn]
  namespace           = "Tablewright"
  metric_name         = "StorageQuotaUsed"
  statistic           = "Maximum"
  period              = 1800
  dimensions = {
    System = "campus"
  }
}

resource "aws_cloudwatch_metric_alarm" "failed_backups" {
  alarm_name          = "campus-prod-failed-backups"
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
