# Printed by tablewright terraform parental --environment dev: what is to change here is changed in the design.

resource "aws_vpc_endpoint" "dynamodb" {
  count             = var.vpc_id == null ? 0 : 1
  vpc_id            = var.vpc_id
  service_name      = "com.amazonaws.us-east-1.dynamodb"
  vpc_endpoint_type = "Gateway"
  route_table_ids   = var.route_table_ids
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid    = "TheseTables"
        Effect = "Allow"
        Action = ["dynamodb:*"]
        Resource = [
          aws_dynamodb_table.parental_families.arn,
          "${aws_dynamodb_table.parental_families.arn}/index/*",
          aws_dynamodb_table.child_profiles.arn,
          "${aws_dynamodb_table.child_profiles.arn}/index/*",
          aws_dynamodb_table.blocked_request_metrics.arn,
          "${aws_dynamodb_table.blocked_request_metrics.arn}/index/*",
          aws_dynamodb_table.ingest_receipts.arn,
          "${aws_dynamodb_table.ingest_receipts.arn}/index/*",
          aws_dynamodb_table.parental_policies.arn,
          "${aws_dynamodb_table.parental_policies.arn}/index/*",
          aws_dynamodb_table.application_registry.arn,
          "${aws_dynamodb_table.application_registry.arn}/index/*",
          aws_dynamodb_table.enforcement_history.arn,
          "${aws_dynamodb_table.enforcement_history.arn}/index/*",
          aws_dynamodb_table.ftd_rule_mapping.arn,
          "${aws_dynamodb_table.ftd_rule_mapping.arn}/index/*",
          aws_dynamodb_table.subscriber_sessions.arn,
          "${aws_dynamodb_table.subscriber_sessions.arn}/index/*",
          aws_dynamodb_table.stream_consumers.arn,
          "${aws_dynamodb_table.stream_consumers.arn}/index/*",
          aws_dynamodb_table.receipts.arn,
          "${aws_dynamodb_table.receipts.arn}/index/*",
        ]
        Condition = {
          StringEquals = {
            "aws:PrincipalAccount" = data.aws_caller_identity.current.account_id
          }
        }
        Principal = "*"
      },
      {
        Sid    = "Lists"
        Effect = "Allow"
        Action = [
          "dynamodb:ListTables",
          "dynamodb:ListBackups",
          "dynamodb:ListExports",
          "dynamodb:DescribeLimits",
        ]
        Resource = ["*"]
        Condition = {
          StringEquals = {
            "aws:PrincipalAccount" = data.aws_caller_identity.current.account_id
          }
        }
        Principal = "*"
      },
      {
        Sid      = "NeverInTheClear"
        Effect   = "Deny"
        Action   = ["dynamodb:*"]
        Resource = ["*"]
        Condition = {
          Bool = {
            "aws:SecureTransport" = "false"
          }
        }
        Principal = "*"
      },
    ]
  })
}
