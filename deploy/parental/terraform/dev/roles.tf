# Printed by tablewright design repository parental: change the design and print it again.

# What the system itself does: items, by its access patterns.
resource "aws_iam_role" "service" {
  name        = "parental-dev-service"
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
          module.parental_families.arn,
          module.blocked_request_metrics.arn,
          module.ingest_receipts.arn,
          module.parental_policies.arn,
          module.enforcement_history.arn,
          module.ftd_rule_mapping.arn,
          module.subscriber_sessions.arn,
          module.stream_consumers.arn,
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
        Resource = [module.child_profiles.arn]
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
        Resource = [module.application_registry.arn]
      },
      {
        Sid      = "Items4"
        Effect   = "Allow"
        Action   = ["dynamodb:GetItem", "dynamodb:PutItem"]
        Resource = [module.receipts.arn]
      },
      {
        Sid    = "Queries"
        Effect = "Allow"
        Action = ["dynamodb:Query"]
        Resource = [
          module.parental_families.arn,
          "${module.parental_families.arn}/index/GuardianIndex",
          "${module.parental_families.arn}/index/ListIndex",
          "${module.child_profiles.arn}/index/FamilyIndex",
          module.blocked_request_metrics.arn,
          "${module.blocked_request_metrics.arn}/index/ParentEmailDateIndex",
          module.parental_policies.arn,
          "${module.parental_policies.arn}/index/ParentEmailIndex",
          module.enforcement_history.arn,
          "${module.enforcement_history.arn}/index/StatusTimestampIndex",
          module.ftd_rule_mapping.arn,
          "${module.ftd_rule_mapping.arn}/index/DeviceIndex",
          "${module.ftd_rule_mapping.arn}/index/PrivateIPIndex",
          module.subscriber_sessions.arn,
          "${module.subscriber_sessions.arn}/index/PrivateIPIndex",
          module.stream_consumers.arn,
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
          "${module.parental_families.arn}/stream/*",
          "${module.child_profiles.arn}/stream/*",
          "${module.parental_policies.arn}/stream/*",
          "${module.application_registry.arn}/stream/*",
          "${module.ftd_rule_mapping.arn}/stream/*",
          "${module.subscriber_sessions.arn}/stream/*",
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
  name        = "parental-dev-deployer"
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
          "dynamodb:DeleteTable",
        ]
        Resource = [
          module.parental_families.arn,
          module.child_profiles.arn,
          module.blocked_request_metrics.arn,
          module.ingest_receipts.arn,
          module.parental_policies.arn,
          module.application_registry.arn,
          module.enforcement_history.arn,
          module.ftd_rule_mapping.arn,
          module.subscriber_sessions.arn,
          module.stream_consumers.arn,
          module.receipts.arn,
        ]
      },
      {
        Sid    = "BackupsAndExports"
        Effect = "Allow"
        Action = ["dynamodb:DescribeBackup", "dynamodb:DescribeExport"]
        Resource = [
          "${module.parental_families.arn}/backup/*",
          "${module.parental_families.arn}/export/*",
          "${module.child_profiles.arn}/backup/*",
          "${module.child_profiles.arn}/export/*",
          "${module.blocked_request_metrics.arn}/backup/*",
          "${module.blocked_request_metrics.arn}/export/*",
          "${module.ingest_receipts.arn}/backup/*",
          "${module.ingest_receipts.arn}/export/*",
          "${module.parental_policies.arn}/backup/*",
          "${module.parental_policies.arn}/export/*",
          "${module.application_registry.arn}/backup/*",
          "${module.application_registry.arn}/export/*",
          "${module.enforcement_history.arn}/backup/*",
          "${module.enforcement_history.arn}/export/*",
          "${module.ftd_rule_mapping.arn}/backup/*",
          "${module.ftd_rule_mapping.arn}/export/*",
          "${module.subscriber_sessions.arn}/backup/*",
          "${module.subscriber_sessions.arn}/export/*",
          "${module.stream_consumers.arn}/backup/*",
          "${module.stream_consumers.arn}/export/*",
          "${module.receipts.arn}/backup/*",
          "${module.receipts.arn}/export/*",
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
  name        = "parental-dev-restorer"
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
          module.parental_families.arn,
          module.child_profiles.arn,
          module.blocked_request_metrics.arn,
          module.ingest_receipts.arn,
          module.parental_policies.arn,
          module.application_registry.arn,
          module.enforcement_history.arn,
          module.ftd_rule_mapping.arn,
          module.subscriber_sessions.arn,
        ]
      },
      {
        Sid    = "FromABackup"
        Effect = "Allow"
        Action = ["dynamodb:RestoreTableFromBackup", "dynamodb:DescribeBackup"]
        Resource = [
          "${module.parental_families.arn}/backup/*",
          "${module.child_profiles.arn}/backup/*",
          "${module.blocked_request_metrics.arn}/backup/*",
          "${module.ingest_receipts.arn}/backup/*",
          "${module.parental_policies.arn}/backup/*",
          "${module.application_registry.arn}/backup/*",
          "${module.enforcement_history.arn}/backup/*",
          "${module.ftd_rule_mapping.arn}/backup/*",
          "${module.subscriber_sessions.arn}/backup/*",
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
          "${module.parental_families.arn}-restored*",
          "${module.child_profiles.arn}-restored*",
          "${module.blocked_request_metrics.arn}-restored*",
          "${module.ingest_receipts.arn}-restored*",
          "${module.parental_policies.arn}-restored*",
          "${module.application_registry.arn}-restored*",
          "${module.enforcement_history.arn}-restored*",
          "${module.ftd_rule_mapping.arn}-restored*",
          "${module.subscriber_sessions.arn}-restored*",
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
