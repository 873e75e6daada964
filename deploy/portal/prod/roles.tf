# Printed by tablewright terraform portal --environment prod: what is to change here is changed in the design.

# What the system itself does: items, by its access patterns.
resource "aws_iam_role" "service" {
  name        = "portal-prod-service"
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
          aws_dynamodb_table.tenants.arn,
          aws_dynamodb_table.products.arn,
          aws_dynamodb_table.campaigns.arn,
          aws_dynamodb_table.portal_desk.arn,
          aws_dynamodb_table.stream_consumers.arn,
          "arn:aws:dynamodb:eu-west-1:${data.aws_caller_identity.current.account_id}:table/${aws_dynamodb_table.tenants.name}",
          "arn:aws:dynamodb:eu-west-1:${data.aws_caller_identity.current.account_id}:table/${aws_dynamodb_table.products.name}",
          "arn:aws:dynamodb:eu-west-1:${data.aws_caller_identity.current.account_id}:table/${aws_dynamodb_table.campaigns.name}",
          "arn:aws:dynamodb:eu-west-1:${data.aws_caller_identity.current.account_id}:table/${aws_dynamodb_table.portal_desk.name}",
          "arn:aws:dynamodb:eu-west-1:${data.aws_caller_identity.current.account_id}:table/${aws_dynamodb_table.stream_consumers.name}",
        ]
      },
      {
        Sid    = "Items2"
        Effect = "Allow"
        Action = ["dynamodb:GetItem", "dynamodb:PutItem"]
        Resource = [
          aws_dynamodb_table.receipts.arn,
          "arn:aws:dynamodb:eu-west-1:${data.aws_caller_identity.current.account_id}:table/${aws_dynamodb_table.receipts.name}",
        ]
      },
      {
        Sid    = "Queries"
        Effect = "Allow"
        Action = ["dynamodb:Query"]
        Resource = [
          aws_dynamodb_table.tenants.arn,
          "${aws_dynamodb_table.tenants.arn}/index/ActiveIndex",
          "${aws_dynamodb_table.tenants.arn}/index/AuditIndex",
          "${aws_dynamodb_table.tenants.arn}/index/EmailIndex",
          "${aws_dynamodb_table.tenants.arn}/index/OrderStatusIndex",
          "${aws_dynamodb_table.tenants.arn}/index/TenantStatusIndex",
          aws_dynamodb_table.products.arn,
          "${aws_dynamodb_table.products.arn}/index/AuditIndex",
          "${aws_dynamodb_table.products.arn}/index/ProductActiveIndex",
          aws_dynamodb_table.campaigns.arn,
          "${aws_dynamodb_table.campaigns.arn}/index/ActiveIndex",
          "${aws_dynamodb_table.campaigns.arn}/index/AuditIndex",
          "${aws_dynamodb_table.campaigns.arn}/index/CampaignActiveIndex",
          "${aws_dynamodb_table.campaigns.arn}/index/CampaignProductIndex",
          aws_dynamodb_table.portal_desk.arn,
          "${aws_dynamodb_table.portal_desk.arn}/index/MailOfTenantIndex",
          "${aws_dynamodb_table.portal_desk.arn}/index/OutboxIndex",
          aws_dynamodb_table.stream_consumers.arn,
          "arn:aws:dynamodb:eu-west-1:${data.aws_caller_identity.current.account_id}:table/${aws_dynamodb_table.tenants.name}",
          "arn:aws:dynamodb:eu-west-1:${data.aws_caller_identity.current.account_id}:table/${aws_dynamodb_table.tenants.name}/index/ActiveIndex",
          "arn:aws:dynamodb:eu-west-1:${data.aws_caller_identity.current.account_id}:table/${aws_dynamodb_table.tenants.name}/index/AuditIndex",
          "arn:aws:dynamodb:eu-west-1:${data.aws_caller_identity.current.account_id}:table/${aws_dynamodb_table.tenants.name}/index/EmailIndex",
          "arn:aws:dynamodb:eu-west-1:${data.aws_caller_identity.current.account_id}:table/${aws_dynamodb_table.tenants.name}/index/OrderStatusIndex",
          "arn:aws:dynamodb:eu-west-1:${data.aws_caller_identity.current.account_id}:table/${aws_dynamodb_table.tenants.name}/index/TenantStatusIndex",
          "arn:aws:dynamodb:eu-west-1:${data.aws_caller_identity.current.account_id}:table/${aws_dynamodb_table.products.name}",
          "arn:aws:dynamodb:eu-west-1:${data.aws_caller_identity.current.account_id}:table/${aws_dynamodb_table.products.name}/index/AuditIndex",
          "arn:aws:dynamodb:eu-west-1:${data.aws_caller_identity.current.account_id}:table/${aws_dynamodb_table.products.name}/index/ProductActiveIndex",
          "arn:aws:dynamodb:eu-west-1:${data.aws_caller_identity.current.account_id}:table/${aws_dynamodb_table.campaigns.name}",
          "arn:aws:dynamodb:eu-west-1:${data.aws_caller_identity.current.account_id}:table/${aws_dynamodb_table.campaigns.name}/index/ActiveIndex",
          "arn:aws:dynamodb:eu-west-1:${data.aws_caller_identity.current.account_id}:table/${aws_dynamodb_table.campaigns.name}/index/AuditIndex",
          "arn:aws:dynamodb:eu-west-1:${data.aws_caller_identity.current.account_id}:table/${aws_dynamodb_table.campaigns.name}/index/CampaignActiveIndex",
          "arn:aws:dynamodb:eu-west-1:${data.aws_caller_identity.current.account_id}:table/${aws_dynamodb_table.campaigns.name}/index/CampaignProductIndex",
          "arn:aws:dynamodb:eu-west-1:${data.aws_caller_identity.current.account_id}:table/${aws_dynamodb_table.portal_desk.name}",
          "arn:aws:dynamodb:eu-west-1:${data.aws_caller_identity.current.account_id}:table/${aws_dynamodb_table.portal_desk.name}/index/MailOfTenantIndex",
          "arn:aws:dynamodb:eu-west-1:${data.aws_caller_identity.current.account_id}:table/${aws_dynamodb_table.portal_desk.name}/index/OutboxIndex",
          "arn:aws:dynamodb:eu-west-1:${data.aws_caller_identity.current.account_id}:table/${aws_dynamodb_table.stream_consumers.name}",
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
          "${aws_dynamodb_table.tenants.arn}/stream/*",
          "${aws_dynamodb_table.products.arn}/stream/*",
          "${aws_dynamodb_table.campaigns.arn}/stream/*",
          "arn:aws:dynamodb:eu-west-1:${data.aws_caller_identity.current.account_id}:table/${aws_dynamodb_table.tenants.name}/stream/*",
          "arn:aws:dynamodb:eu-west-1:${data.aws_caller_identity.current.account_id}:table/${aws_dynamodb_table.products.name}/stream/*",
          "arn:aws:dynamodb:eu-west-1:${data.aws_caller_identity.current.account_id}:table/${aws_dynamodb_table.campaigns.name}/stream/*",
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
  name        = "portal-prod-deployer"
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
          aws_dynamodb_table.tenants.arn,
          aws_dynamodb_table.products.arn,
          aws_dynamodb_table.campaigns.arn,
          aws_dynamodb_table.portal_desk.arn,
          aws_dynamodb_table.stream_consumers.arn,
          aws_dynamodb_table.receipts.arn,
        ]
      },
      {
        Sid    = "BackupsAndExports"
        Effect = "Allow"
        Action = ["dynamodb:DescribeBackup", "dynamodb:DescribeExport"]
        Resource = [
          "${aws_dynamodb_table.tenants.arn}/backup/*",
          "${aws_dynamodb_table.tenants.arn}/export/*",
          "${aws_dynamodb_table.products.arn}/backup/*",
          "${aws_dynamodb_table.products.arn}/export/*",
          "${aws_dynamodb_table.campaigns.arn}/backup/*",
          "${aws_dynamodb_table.campaigns.arn}/export/*",
          "${aws_dynamodb_table.portal_desk.arn}/backup/*",
          "${aws_dynamodb_table.portal_desk.arn}/export/*",
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
  name        = "portal-prod-restorer"
  description = "Puts a table back under another name, which ends in -restored and whatever one likes."
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Effect    = "Allow"
        Action    = "sts:AssumeRole"
        Principal = lookup(var.trusted, "restorer", { AWS = [local.account] })
      },
      {
        Effect = "Allow"
        Action = "sts:AssumeRole"
        Principal = {
          Service = ["backup.amazonaws.com"]
        }
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
          aws_dynamodb_table.tenants.arn,
          aws_dynamodb_table.products.arn,
          aws_dynamodb_table.campaigns.arn,
          aws_dynamodb_table.portal_desk.arn,
        ]
      },
      {
        Sid    = "FromABackup"
        Effect = "Allow"
        Action = ["dynamodb:RestoreTableFromBackup", "dynamodb:DescribeBackup"]
        Resource = [
          "${aws_dynamodb_table.tenants.arn}/backup/*",
          "${aws_dynamodb_table.products.arn}/backup/*",
          "${aws_dynamodb_table.campaigns.arn}/backup/*",
          "${aws_dynamodb_table.portal_desk.arn}/backup/*",
        ]
      },
      {
        Sid    = "IntoAnother"
        Effect = "Allow"
        Action = [
          "dynamodb:RestoreTableToPointInTime",
          "dynamodb:RestoreTableFromBackup",
          "dynamodb:RestoreTableFromAwsBackup",
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
          "${aws_dynamodb_table.tenants.arn}-restored*",
          "${aws_dynamodb_table.products.arn}-restored*",
          "${aws_dynamodb_table.campaigns.arn}-restored*",
          "${aws_dynamodb_table.portal_desk.arn}-restored*",
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

# What AWS Backup does to the tables on its schedule.
resource "aws_iam_role" "backup" {
  name        = "portal-prod-backup"
  description = "What AWS Backup does to the tables on its schedule."
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Effect = "Allow"
        Action = "sts:AssumeRole"
        Principal = {
          Service = ["backup.amazonaws.com"]
        }
      },
    ]
  })
}

resource "aws_iam_role_policy" "backup" {
  name = "tables"
  role = aws_iam_role.backup.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid    = "Copies"
        Effect = "Allow"
        Action = [
          "dynamodb:DescribeTable",
          "dynamodb:ListTagsOfResource",
          "dynamodb:CreateBackup",
          "dynamodb:StartAwsBackupJob",
        ]
        Resource = [
          aws_dynamodb_table.tenants.arn,
          aws_dynamodb_table.products.arn,
          aws_dynamodb_table.campaigns.arn,
          aws_dynamodb_table.portal_desk.arn,
        ]
      },
      {
        Sid    = "OldCopies"
        Effect = "Allow"
        Action = ["dynamodb:DescribeBackup", "dynamodb:DeleteBackup"]
        Resource = [
          "${aws_dynamodb_table.tenants.arn}/backup/*",
          "${aws_dynamodb_table.products.arn}/backup/*",
          "${aws_dynamodb_table.campaigns.arn}/backup/*",
          "${aws_dynamodb_table.portal_desk.arn}/backup/*",
        ]
      },
      {
        Sid      = "Vaults"
        Effect   = "Allow"
        Action   = ["backup:DescribeBackupVault", "backup:CopyFromBackupVault", "backup:CopyIntoBackupVault"]
        Resource = [aws_backup_vault.main.arn, aws_backup_vault.copy.arn]
      },
      {
        Sid    = "Tags"
        Effect = "Allow"
        Action = ["backup:TagResource"]
        Resource = [
          "arn:aws:backup:af-south-1:${data.aws_caller_identity.current.account_id}:recovery-point:*",
          "arn:aws:backup:eu-west-1:${data.aws_caller_identity.current.account_id}:recovery-point:*",
        ]
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
