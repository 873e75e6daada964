# Printed by tablewright terraform parental --environment prod: what is to change here is changed in the design.

# What the system itself does: items, by its access patterns.
resource "aws_iam_role" "service" {
  name        = "parental-prod-service"
  description = "What the system itself does: items, by its access patterns."
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Effect    = "Allow"
        Action    = "sts:AssumeRole"
        Principal = lookup(var.trusted, "service", { AWS = [local.account] })
      },
    ]
  })
}

resource "aws_iam_role_policy" "service" {
  name = "tables"
  role = aws_iam_role.service.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid    = "Items1"
        Effect = "Allow"
        Action = [
          "dynamodb:GetItem",
          "dynamodb:BatchGetItem",
          "dynamodb:PutItem",
          "dynamodb:UpdateItem",
          "dynamodb:DeleteItem",
          "dynamodb:ConditionCheckItem",
          "dynamodb:BatchWriteItem",
        ]
        Resource = [
          aws_dynamodb_table.parental_families.arn,
          aws_dynamodb_table.blocked_request_metrics.arn,
          aws_dynamodb_table.ingest_receipts.arn,
          aws_dynamodb_table.parental_policies.arn,
          aws_dynamodb_table.enforcement_history.arn,
          aws_dynamodb_table.ftd_rule_mapping.arn,
          aws_dynamodb_table.subscriber_sessions.arn,
          aws_dynamodb_table.stream_consumers.arn,
        ]
      },
      {
        Sid    = "Items2"
        Effect = "Allow"
        Action = [
          "dynamodb:GetItem",
          "dynamodb:BatchGetItem",
          "dynamodb:PutItem",
          "dynamodb:UpdateItem",
          "dynamodb:DeleteItem",
          "dynamodb:ConditionCheckItem",
        ]
        Resource = [aws_dynamodb_table.child_profiles.arn]
      },
      {
        Sid    = "Items3"
        Effect = "Allow"
        Action = [
          "dynamodb:GetItem",
          "dynamodb:BatchGetItem",
          "dynamodb:PutItem",
          "dynamodb:UpdateItem",
          "dynamodb:DeleteItem",
          "dynamodb:ConditionCheckItem",
          "dynamodb:BatchWriteItem",
          "dynamodb:Scan",
        ]
        Resource = [aws_dynamodb_table.application_registry.arn]
      },
      {
        Sid      = "Items4"
        Effect   = "Allow"
        Action   = ["dynamodb:GetItem", "dynamodb:PutItem"]
        Resource = [aws_dynamodb_table.receipts.arn]
      },
      {
        Sid    = "Queries"
        Effect = "Allow"
        Action = ["dynamodb:Query"]
        Resource = [
          aws_dynamodb_table.parental_families.arn,
          "${aws_dynamodb_table.parental_families.arn}/index/GuardianIndex",
          "${aws_dynamodb_table.parental_families.arn}/index/ListIndex",
          "${aws_dynamodb_table.child_profiles.arn}/index/FamilyIndex",
          aws_dynamodb_table.blocked_request_metrics.arn,
          "${aws_dynamodb_table.blocked_request_metrics.arn}/index/ParentEmailDateIndex",
          aws_dynamodb_table.parental_policies.arn,
          "${aws_dynamodb_table.parental_policies.arn}/index/ParentEmailIndex",
          aws_dynamodb_table.enforcement_history.arn,
          "${aws_dynamodb_table.enforcement_history.arn}/index/StatusTimestampIndex",
          aws_dynamodb_table.ftd_rule_mapping.arn,
          "${aws_dynamodb_table.ftd_rule_mapping.arn}/index/DeviceIndex",
          "${aws_dynamodb_table.ftd_rule_mapping.arn}/index/PrivateIPIndex",
          aws_dynamodb_table.subscriber_sessions.arn,
          "${aws_dynamodb_table.subscriber_sessions.arn}/index/PrivateIPIndex",
          aws_dynamodb_table.stream_consumers.arn,
        ]
      },
      {
        Sid    = "Changes"
        Effect = "Allow"
        Action = [
          "dynamodb:DescribeStream",
          "dynamodb:GetRecords",
          "dynamodb:GetShardIterator",
          "dynamodb:ListStreams",
        ]
        Resource = [
          "${aws_dynamodb_table.parental_families.arn}/stream/*",
          "${aws_dynamodb_table.child_profiles.arn}/stream/*",
          "${aws_dynamodb_table.parental_policies.arn}/stream/*",
          "${aws_dynamodb_table.application_registry.arn}/stream/*",
          "${aws_dynamodb_table.ftd_rule_mapping.arn}/stream/*",
          "${aws_dynamodb_table.subscriber_sessions.arn}/stream/*",
        ]
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
      },
    ]
  })
}

# Tables and their settings, backups and exports; never an item.
resource "aws_iam_role" "deployer" {
  name        = "parental-prod-deployer"
  description = "Tables and their settings, backups and exports; never an item."
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Effect    = "Allow"
        Action    = "sts:AssumeRole"
        Principal = lookup(var.trusted, "deployer", { AWS = [local.account] })
      },
    ]
  })
}

resource "aws_iam_role_policy" "deployer" {
  name = "tables"
  role = aws_iam_role.deployer.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid    = "Tables"
        Effect = "Allow"
        Action = [
          "dynamodb:CreateTable",
          "dynamodb:UpdateTable",
          "dynamodb:DescribeTable",
          "dynamodb:UpdateTimeToLive",
          "dynamodb:DescribeTimeToLive",
          "dynamodb:UpdateContinuousBackups",
          "dynamodb:DescribeContinuousBackups",
          "dynamodb:TagResource",
          "dynamodb:UntagResource",
          "dynamodb:ListTagsOfResource",
          "dynamodb:CreateBackup",
          "dynamodb:ExportTableToPointInTime",
        ]
        Resource = [
          aws_dynamodb_table.parental_families.arn,
          aws_dynamodb_table.child_profiles.arn,
          aws_dynamodb_table.blocked_request_metrics.arn,
          aws_dynamodb_table.ingest_receipts.arn,
          aws_dynamodb_table.parental_policies.arn,
          aws_dynamodb_table.application_registry.arn,
          aws_dynamodb_table.enforcement_history.arn,
          aws_dynamodb_table.ftd_rule_mapping.arn,
          aws_dynamodb_table.subscriber_sessions.arn,
          aws_dynamodb_table.stream_consumers.arn,
          aws_dynamodb_table.receipts.arn,
        ]
      },
      {
        Sid    = "BackupsAndExports"
        Effect = "Allow"
        Action = ["dynamodb:DescribeBackup", "dynamodb:DescribeExport"]
        Resource = [
          "${aws_dynamodb_table.parental_families.arn}/backup/*",
          "${aws_dynamodb_table.parental_families.arn}/export/*",
          "${aws_dynamodb_table.child_profiles.arn}/backup/*",
          "${aws_dynamodb_table.child_profiles.arn}/export/*",
          "${aws_dynamodb_table.blocked_request_metrics.arn}/backup/*",
          "${aws_dynamodb_table.blocked_request_metrics.arn}/export/*",
          "${aws_dynamodb_table.ingest_receipts.arn}/backup/*",
          "${aws_dynamodb_table.ingest_receipts.arn}/export/*",
          "${aws_dynamodb_table.parental_policies.arn}/backup/*",
          "${aws_dynamodb_table.parental_policies.arn}/export/*",
          "${aws_dynamodb_table.application_registry.arn}/backup/*",
          "${aws_dynamodb_table.application_registry.arn}/export/*",
          "${aws_dynamodb_table.enforcement_history.arn}/backup/*",
          "${aws_dynamodb_table.enforcement_history.arn}/export/*",
          "${aws_dynamodb_table.ftd_rule_mapping.arn}/backup/*",
          "${aws_dynamodb_table.ftd_rule_mapping.arn}/export/*",
          "${aws_dynamodb_table.subscriber_sessions.arn}/backup/*",
          "${aws_dynamodb_table.subscriber_sessions.arn}/export/*",
          "${aws_dynamodb_table.stream_consumers.arn}/backup/*",
          "${aws_dynamodb_table.stream_consumers.arn}/export/*",
          "${aws_dynamodb_table.receipts.arn}/backup/*",
          "${aws_dynamodb_table.receipts.arn}/export/*",
        ]
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
      },
    ]
  })
}

# Puts a table back under another name, which ends in -restored and whatever one likes.
resource "aws_iam_role" "restorer" {
  name        = "parental-prod-restorer"
  description = "Puts a table back under another name, which ends in -restored and whatever one likes."
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Effect    = "Allow"
        Action    = "sts:AssumeRole"
        Principal = lookup(var.trusted, "restorer", { AWS = [local.account] })
      },
    ]
  })
}

resource "aws_iam_role_policy" "restorer" {
  name = "tables"
  role = aws_iam_role.restorer.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid    = "FromAMoment"
        Effect = "Allow"
        Action = [
          "dynamodb:RestoreTableToPointInTime",
          "dynamodb:DescribeTable",
          "dynamodb:DescribeContinuousBackups",
        ]
        Resource = [
          aws_dynamodb_table.parental_families.arn,
          aws_dynamodb_table.child_profiles.arn,
          aws_dynamodb_table.blocked_request_metrics.arn,
          aws_dynamodb_table.ingest_receipts.arn,
          aws_dynamodb_table.parental_policies.arn,
          aws_dynamodb_table.application_registry.arn,
          aws_dynamodb_table.enforcement_history.arn,
          aws_dynamodb_table.ftd_rule_mapping.arn,
          aws_dynamodb_table.subscriber_sessions.arn,
        ]
      },
      {
        Sid    = "FromABackup"
        Effect = "Allow"
        Action = ["dynamodb:RestoreTableFromBackup", "dynamodb:DescribeBackup"]
        Resource = [
          "${aws_dynamodb_table.parental_families.arn}/backup/*",
          "${aws_dynamodb_table.child_profiles.arn}/backup/*",
          "${aws_dynamodb_table.blocked_request_metrics.arn}/backup/*",
          "${aws_dynamodb_table.ingest_receipts.arn}/backup/*",
          "${aws_dynamodb_table.parental_policies.arn}/backup/*",
          "${aws_dynamodb_table.application_registry.arn}/backup/*",
          "${aws_dynamodb_table.enforcement_history.arn}/backup/*",
          "${aws_dynamodb_table.ftd_rule_mapping.arn}/backup/*",
          "${aws_dynamodb_table.subscriber_sessions.arn}/backup/*",
        ]
      },
      {
        Sid    = "IntoAnother"
        Effect = "Allow"
        Action = [
          "dynamodb:RestoreTableToPointInTime",
          "dynamodb:RestoreTableFromBackup",
          "dynamodb:DescribeTable",
          "dynamodb:BatchWriteItem",
          "dynamodb:DeleteItem",
          "dynamodb:GetItem",
          "dynamodb:PutItem",
          "dynamodb:Query",
          "dynamodb:Scan",
          "dynamodb:UpdateItem",
        ]
        Resource = [
          "${aws_dynamodb_table.parental_families.arn}-restored*",
          "${aws_dynamodb_table.child_profiles.arn}-restored*",
          "${aws_dynamodb_table.blocked_request_metrics.arn}-restored*",
          "${aws_dynamodb_table.ingest_receipts.arn}-restored*",
          "${aws_dynamodb_table.parental_policies.arn}-restored*",
          "${aws_dynamodb_table.application_registry.arn}-restored*",
          "${aws_dynamodb_table.enforcement_history.arn}-restored*",
          "${aws_dynamodb_table.ftd_rule_mapping.arn}-restored*",
          "${aws_dynamodb_table.subscriber_sessions.arn}-restored*",
        ]
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
      },
    ]
  })
}

locals {
  account = "arn:aws:iam::${data.aws_caller_identity.current.account_id}:root"
}

# Exports go into a bucket that is not part of this tree.
resource "aws_iam_role_policy" "deployer_exports" {
  count = var.export_bucket == null ? 0 : 1
  name  = "exports"
  role  = aws_iam_role.deployer.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid      = "Exports"
        Effect   = "Allow"
        Action   = ["s3:AbortMultipartUpload", "s3:PutObject", "s3:PutObjectAcl"]
        Resource = ["arn:aws:s3:::${var.export_bucket}/*"]
      },
    ]
  })
}
