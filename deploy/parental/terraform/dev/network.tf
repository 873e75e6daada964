# Printed by tablewright design repository parental: change the design and print it again.

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
          module.parental_families.arn,
          "${module.parental_families.arn}/index/*",
          module.child_profiles.arn,
          "${module.child_profiles.arn}/index/*",
          module.blocked_request_metrics.arn,
          "${module.blocked_request_metrics.arn}/index/*",
          module.ingest_receipts.arn,
          "${module.ingest_receipts.arn}/index/*",
          module.parental_policies.arn,
          "${module.parental_policies.arn}/index/*",
          module.application_registry.arn,
          "${module.application_registry.arn}/index/*",
          module.enforcement_history.arn,
          "${module.enforcement_history.arn}/index/*",
          module.ftd_rule_mapping.arn,
          "${module.ftd_rule_mapping.arn}/index/*",
          module.subscriber_sessions.arn,
          "${module.subscriber_sessions.arn}/index/*",
          module.stream_consumers.arn,
          "${module.stream_consumers.arn}/index/*",
          module.receipts.arn,
          "${module.receipts.arn}/index/*",
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
