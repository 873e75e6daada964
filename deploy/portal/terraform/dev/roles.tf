# Printed by tablewright design repository portal: change the design and print it again.

# What the system itself does: items, by its access patterns.
resource "aws_iam_role" "service" {
  name        = "portal-dev-service"
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
          module.tenants.arn,
          module.products.arn,
          module.campaigns.arn,
          module.portal_desk.arn,
          module.stream_consumers.arn,
        ]
      },
      {
        Sid      = "Items2"
        Effect   = "Allow"
        Action   = ["dynamodb:GetItem", "dynamodb:PutItem"]
        Resource = [module.receipts.arn]
      },
      {
        Sid    = "Queries"
        Effect = "Allow"
        Action = ["dynamodb:Query"]
        Resource = [
          module.tenants.arn,
          "${module.tenants.arn}/index/ActiveIndex",
          "${module.tenants.arn}/index/AuditIndex",
          "${module.tenants.arn}/index/EmailIndex",
          "${module.tenants.arn}/index/OrderStatusIndex",
          "${module.tenants.arn}/index/TenantStatusIndex",
          module.products.arn,
          "${module.products.arn}/index/AuditIndex",
          "${module.products.arn}/index/ProductActiveIndex",
          module.campaigns.arn,
          "${module.campaigns.arn}/index/ActiveIndex",
          "${module.campaigns.arn}/index/AuditIndex",
          "${module.campaigns.arn}/index/CampaignActiveIndex",
          "${module.campaigns.arn}/index/CampaignProductIndex",
          module.portal_desk.arn,
          "${module.portal_desk.arn}/index/MailOfTenantIndex",
          "${module.portal_desk.arn}/index/OutboxIndex",
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
          "${module.tenants.arn}/stream/*",
          "${module.products.arn}/stream/*",
          "${module.campaigns.arn}/stream/*",
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
  name        = "portal-dev-deployer"
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
          module.tenants.arn,
          module.products.arn,
          module.campaigns.arn,
          module.portal_desk.arn,
          module.stream_consumers.arn,
          module.receipts.arn,
        ]
      },
      {
        Sid    = "BackupsAndExports"
        Effect = "Allow"
        Action = ["dynamodb:DescribeBackup", "dynamodb:DescribeExport"]
        Resource = [
          "${module.tenants.arn}/backup/*",
          "${module.tenants.arn}/export/*",
          "${module.products.arn}/backup/*",
          "${module.products.arn}/export/*",
          "${module.campaigns.arn}/backup/*",
          "${module.campaigns.arn}/export/*",
          "${module.portal_desk.arn}/backup/*",
          "${module.portal_desk.arn}/export/*",
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
  name        = "portal-dev-restorer"
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
          module.tenants.arn,
          module.products.arn,
          module.campaigns.arn,
          module.portal_desk.arn,
        ]
      },
      {
        Sid    = "FromABackup"
        Effect = "Allow"
        Action = ["dynamodb:RestoreTableFromBackup", "dynamodb:DescribeBackup"]
        Resource = [
          "${module.tenants.arn}/backup/*",
          "${module.products.arn}/backup/*",
          "${module.campaigns.arn}/backup/*",
          "${module.portal_desk.arn}/backup/*",
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
          "${module.tenants.arn}-restored*",
          "${module.products.arn}-restored*",
          "${module.campaigns.arn}-restored*",
          "${module.portal_desk.arn}-restored*",
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
  name        = "portal-dev-backup"
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
          module.tenants.arn,
          module.products.arn,
          module.campaigns.arn,
          module.portal_desk.arn,
        ]
      },
      {
        Sid    = "OldCopies"
        Effect = "Allow"
        Action = ["dynamodb:DescribeBackup", "dynamodb:DeleteBackup"]
        Resource = [
          "${module.tenants.arn}/backup/*",
          "${module.products.arn}/backup/*",
          "${module.campaigns.arn}/backup/*",
          "${module.portal_desk.arn}/backup/*",
        ]
      },
      {
        Sid      = "Vaults"
        Effect   = "Allow"
        Action   = ["backup:DescribeBackupVault", "backup:CopyFromBackupVault", "backup:CopyIntoBackupVault"]
        Resource = [module.backup.vault_arn]
      },
      {
        Sid      = "Tags"
        Effect   = "Allow"
        Action   = ["backup:TagResource"]
        Resource = ["arn:aws:backup:af-south-1:${data.aws_caller_identity.current.account_id}:recovery-point:*"]
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
