# Printed by tablewright terraform portal --environment prod: what is to change here is changed in the design.

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
          aws_dynamodb_table.tenants.arn,
          "${aws_dynamodb_table.tenants.arn}/index/*",
          aws_dynamodb_table.products.arn,
          "${aws_dynamodb_table.products.arn}/index/*",
          aws_dynamodb_table.campaigns.arn,
          "${aws_dynamodb_table.campaigns.arn}/index/*",
          aws_dynamodb_table.portal_desk.arn,
          "${aws_dynamodb_table.portal_desk.arn}/index/*",
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
