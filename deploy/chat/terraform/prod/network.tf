# Printed by tablewright design repository chat: change the design and print it again.

resource "aws_vpc_endpoint" "dynamodb" {
  count             = var.vpc_id == null ? 0 : 1
  vpc_id            = var.vpc_id
  service_name      = "com.amazonaws.us-west-2.dynamodb"
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
          module.conversation_v2.arn,
          "${module.conversation_v2.arn}/index/*",
          module.work.arn,
          "${module.work.arn}/index/*",
          module.compliance_audit.arn,
          "${module.compliance_audit.arn}/index/*",
          module.family.arn,
          "${module.family.arn}/index/*",
          module.user.arn,
          "${module.user.arn}/index/*",
          module.user_details.arn,
          "${module.user_details.arn}/index/*",
          module.access_log.arn,
          "${module.access_log.arn}/index/*",
          module.animal.arn,
          "${module.animal.arn}/index/*",
          module.animal_config.arn,
          "${module.animal_config.arn}/index/*",
          module.animal_details.arn,
          "${module.animal_details.arn}/index/*",
          module.knowledge.arn,
          "${module.knowledge.arn}/index/*",
          module.guardrails.arn,
          "${module.guardrails.arn}/index/*",
          module.review.arn,
          "${module.review.arn}/index/*",
          module.figures.arn,
          "${module.figures.arn}/index/*",
          module.agent_state.arn,
          "${module.agent_state.arn}/index/*",
          module.conversation.arn,
          "${module.conversation.arn}/index/*",
          module.session.arn,
          "${module.session.arn}/index/*",
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
