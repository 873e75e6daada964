# Printed by tablewright design repository portal: change the design and print it again.

resource "aws_vpc_endpoint" "dynamodb" {
  count             = var.vpc_id == null ? 0 : 1
  vpc_id            = var.vpc_id
  service_name      = "com.amazonaws.af-south-1.dynamodb"
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
          module.tenants.arn,
          "${module.tenants.arn}/index/*",
          module.products.arn,
          "${module.products.arn}/index/*",
          module.campaigns.arn,
          "${module.campaigns.arn}/index/*",
          module.portal_desk.arn,
          "${module.portal_desk.arn}/index/*",
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
