# Printed by tablewright design repository travel: change the design and print it again.

# What the system itself does: items, by its access patterns.
resource "aws_iam_role" "service" {
  name        = "travel-prod-service"
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
        Resource = [module.skratch_data.arn, module.stream_consumers.arn]
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
          module.skratch_data.arn,
          "${module.skratch_data.arn}/index/GSI1",
          "${module.skratch_data.arn}/index/GSI2",
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
        Resource = ["${module.skratch_data.arn}/stream/*"]
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

# Reads what patterns of the role 'admin' read, and no other keys.
resource "aws_iam_role" "admin" {
  name        = "travel-prod-admin"
  description = "Reads what patterns of the role 'admin' read, and no other keys."
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Effect    = "Allow"
        Action    = "sts:AssumeRole"
        Principal = lookup(var.trusted, "admin", { AWS = [local.account] })
      },
    ]
  })
}

resource "aws_iam_role_policy" "admin" {
  name = "tables"
  role = aws_iam_role.admin.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid      = "SkratchDataQueriesGSI1"
        Effect   = "Allow"
        Action   = ["dynamodb:Query"]
        Resource = ["${module.skratch_data.arn}/index/GSI1"]
        Condition = {
          "ForAllValues:StringLike" = {
            "dynamodb:LeadingKeys" = ["STATS_DATE#*", "SYNC_STATUS#*"]
          }
          Null = {
            "dynamodb:LeadingKeys" = "false"
          }
        }
      },
      {
        Sid      = "SkratchDataQueriesGSI2"
        Effect   = "Allow"
        Action   = ["dynamodb:Query"]
        Resource = ["${module.skratch_data.arn}/index/GSI2"]
        Condition = {
          "ForAllValues:StringLike" = {
            "dynamodb:LeadingKeys" = ["EMAIL#*", "ERASED"]
          }
          Null = {
            "dynamodb:LeadingKeys" = "false"
          }
        }
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

# Reads what patterns of the role 'public' read, and no other keys.
resource "aws_iam_role" "public" {
  name        = "travel-prod-public"
  description = "Reads what patterns of the role 'public' read, and no other keys."
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Effect    = "Allow"
        Action    = "sts:AssumeRole"
        Principal = lookup(var.trusted, "public", { AWS = [local.account] })
      },
    ]
  })
}

resource "aws_iam_role_policy" "public" {
  name = "tables"
  role = aws_iam_role.public.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid      = "SkratchDataItems"
        Effect   = "Allow"
        Action   = ["dynamodb:GetItem", "dynamodb:BatchGetItem"]
        Resource = [module.skratch_data.arn]
        Condition = {
          "ForAllValues:StringLike" = {
            "dynamodb:LeadingKeys" = ["GEO#*"]
          }
          Null = {
            "dynamodb:LeadingKeys" = "false"
          }
        }
      },
      {
        Sid      = "SkratchDataQueries"
        Effect   = "Allow"
        Action   = ["dynamodb:Query"]
        Resource = [module.skratch_data.arn]
        Condition = {
          "ForAllValues:StringLike" = {
            "dynamodb:LeadingKeys" = ["GEO#*"]
          }
          Null = {
            "dynamodb:LeadingKeys" = "false"
          }
        }
      },
      {
        Sid      = "SkratchDataQueriesGSI1"
        Effect   = "Allow"
        Action   = ["dynamodb:Query"]
        Resource = ["${module.skratch_data.arn}/index/GSI1"]
        Condition = {
          "ForAllValues:StringLike" = {
            "dynamodb:LeadingKeys" = ["SEARCH#*"]
          }
          Null = {
            "dynamodb:LeadingKeys" = "false"
          }
        }
      },
      {
        Sid      = "SkratchDataQueriesGSI2"
        Effect   = "Allow"
        Action   = ["dynamodb:Query"]
        Resource = ["${module.skratch_data.arn}/index/GSI2"]
        Condition = {
          "ForAllValues:StringLike" = {
            "dynamodb:LeadingKeys" = ["BOUNDS#*"]
          }
          Null = {
            "dynamodb:LeadingKeys" = "false"
          }
        }
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
  name        = "travel-prod-deployer"
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
        Resource = [module.skratch_data.arn, module.stream_consumers.arn, module.receipts.arn]
      },
      {
        Sid    = "BackupsAndExports"
        Effect = "Allow"
        Action = ["dynamodb:DescribeBackup", "dynamodb:DescribeExport"]
        Resource = [
          "${module.skratch_data.arn}/backup/*",
          "${module.skratch_data.arn}/export/*",
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
  name        = "travel-prod-restorer"
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
        Resource = [module.skratch_data.arn]
      },
      {
        Sid      = "FromABackup"
        Effect   = "Allow"
        Action   = ["dynamodb:RestoreTableFromBackup", "dynamodb:DescribeBackup"]
        Resource = ["${module.skratch_data.arn}/backup/*"]
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
        Resource = ["${module.skratch_data.arn}-restored*"]
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
  name        = "travel-prod-backup"
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
        Resource = [module.skratch_data.arn]
      },
      {
        Sid      = "OldCopies"
        Effect   = "Allow"
        Action   = ["dynamodb:DescribeBackup", "dynamodb:DeleteBackup"]
        Resource = ["${module.skratch_data.arn}/backup/*"]
      },
      {
        Sid      = "Vaults"
        Effect   = "Allow"
        Action   = ["backup:DescribeBackupVault", "backup:CopyFromBackupVault", "backup:CopyIntoBackupVault"]
        Resource = [module.backup.vault_arn, module.backup.copy_vault_arn]
      },
      {
        Sid    = "Tags"
        Effect = "Allow"
        Action = ["backup:TagResource"]
        Resource = [
          "arn:aws:backup:us-east-1:${data.aws_caller_identity.current.account_id}:recovery-point:*",
          "arn:aws:backup:us-west-2:${data.aws_caller_identity.current.account_id}:recovery-point:*",
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
