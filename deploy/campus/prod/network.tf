# Printed by tablewright terraform campus --environment prod: what is to change here is changed in the design.

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
          aws_dynamodb_table.campus_cloud_files.arn,
          "${aws_dynamodb_table.campus_cloud_files.arn}/index/*",
          aws_dynamodb_table.campus_cloud_library.arn,
          "${aws_dynamodb_table.campus_cloud_library.arn}/index/*",
          aws_dynamodb_table.campus_cloud_shares.arn,
          "${aws_dynamodb_table.campus_cloud_shares.arn}/index/*",
          aws_dynamodb_table.campus_cloud_courses.arn,
          "${aws_dynamodb_table.campus_cloud_courses.arn}/index/*",
          aws_dynamodb_table.campus_cloud_enrollments.arn,
          "${aws_dynamodb_table.campus_cloud_enrollments.arn}/index/*",
          aws_dynamodb_table.campus_cloud_assignments.arn,
          "${aws_dynamodb_table.campus_cloud_assignments.arn}/index/*",
          aws_dynamodb_table.campus_cloud_submissions.arn,
          "${aws_dynamodb_table.campus_cloud_submissions.arn}/index/*",
          aws_dynamodb_table.campus_cloud_marking.arn,
          "${aws_dynamodb_table.campus_cloud_marking.arn}/index/*",
          aws_dynamodb_table.campus_cloud_uniques.arn,
          "${aws_dynamodb_table.campus_cloud_uniques.arn}/index/*",
          aws_dynamodb_table.campus_cloud_users.arn,
          "${aws_dynamodb_table.campus_cloud_users.arn}/index/*",
          aws_dynamodb_table.campus_cloud_notifications.arn,
          "${aws_dynamodb_table.campus_cloud_notifications.arn}/index/*",
          aws_dynamodb_table.campus_cloud_audit.arn,
          "${aws_dynamodb_table.campus_cloud_audit.arn}/index/*",
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
