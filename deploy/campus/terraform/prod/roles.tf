# Printed by tablewright design repository campus: change the design and print it again.

# What the system itself does: items, by its access patterns.
resource "aws_iam_role" "service" {
  name        = "campus-prod-service"
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
          module.campus_cloud_files.arn,
          module.campus_cloud_library.arn,
          module.campus_cloud_shares.arn,
          module.campus_cloud_courses.arn,
          module.campus_cloud_enrollments.arn,
          module.campus_cloud_assignments.arn,
          module.campus_cloud_submissions.arn,
          module.campus_cloud_marking.arn,
          module.campus_cloud_uniques.arn,
          module.campus_cloud_audit.arn,
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
          "dynamodb:Scan",
        ]
        Resource = [module.campus_cloud_users.arn]
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
        Resource = [module.campus_cloud_notifications.arn]
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
          module.campus_cloud_files.arn,
          "${module.campus_cloud_files.arn}/index/FileIdIndex",
          "${module.campus_cloud_files.arn}/index/PlaceIndex",
          "${module.campus_cloud_files.arn}/index/PurgeIndex",
          "${module.campus_cloud_files.arn}/index/StatusIndex",
          "${module.campus_cloud_files.arn}/index/UserUploadedIndex",
          module.campus_cloud_library.arn,
          "${module.campus_cloud_library.arn}/index/FolderIdIndex",
          "${module.campus_cloud_library.arn}/index/LinksIndex",
          "${module.campus_cloud_library.arn}/index/ReviewIndex",
          "${module.campus_cloud_library.arn}/index/UploadsIndex",
          module.campus_cloud_shares.arn,
          "${module.campus_cloud_shares.arn}/index/ExpiryDayIndex",
          "${module.campus_cloud_shares.arn}/index/FileExpirationIndex",
          "${module.campus_cloud_shares.arn}/index/ShareIdIndex",
          "${module.campus_cloud_shares.arn}/index/SharedWithUserIndex",
          module.campus_cloud_courses.arn,
          "${module.campus_cloud_courses.arn}/index/AllCoursesIndex",
          "${module.campus_cloud_courses.arn}/index/SemesterIndex",
          module.campus_cloud_enrollments.arn,
          "${module.campus_cloud_enrollments.arn}/index/CourseIndex",
          module.campus_cloud_assignments.arn,
          "${module.campus_cloud_assignments.arn}/index/AssignmentIdIndex",
          "${module.campus_cloud_assignments.arn}/index/InstructorIndex",
          "${module.campus_cloud_assignments.arn}/index/StatusDueDateIndex",
          module.campus_cloud_submissions.arn,
          "${module.campus_cloud_submissions.arn}/index/GradingQueueIndex",
          "${module.campus_cloud_submissions.arn}/index/StatusIndex",
          "${module.campus_cloud_submissions.arn}/index/StudentIndex",
          "${module.campus_cloud_submissions.arn}/index/SubmissionIdIndex",
          module.campus_cloud_marking.arn,
          "${module.campus_cloud_marking.arn}/index/RegradeIndex",
          "${module.campus_cloud_users.arn}/index/EmailIndex",
          module.campus_cloud_notifications.arn,
          "${module.campus_cloud_notifications.arn}/index/MailOfUserIndex",
          "${module.campus_cloud_notifications.arn}/index/OutboxIndex",
          "${module.campus_cloud_notifications.arn}/index/TaskIndex",
          module.campus_cloud_audit.arn,
          "${module.campus_cloud_audit.arn}/index/AuditIndex",
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
        Resource = ["${module.campus_cloud_shares.arn}/stream/*", "${module.campus_cloud_submissions.arn}/stream/*"]
      },
      {
        Sid    = "Objects"
        Effect = "Allow"
        Action = [
          "s3:GetObject",
          "s3:PutObject",
          "s3:DeleteObjectVersion",
          "s3:RestoreObject",
          "s3:AbortMultipartUpload",
          "s3:ListMultipartUploadParts",
        ]
        Resource = ["${aws_s3_bucket.objects.arn}/*"]
      },
      {
        Sid      = "ObjectLists"
        Effect   = "Allow"
        Action   = ["s3:ListBucket", "s3:ListBucketVersions", "s3:ListBucketMultipartUploads"]
        Resource = [aws_s3_bucket.objects.arn]
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
  name        = "campus-prod-deployer"
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
          module.campus_cloud_files.arn,
          module.campus_cloud_library.arn,
          module.campus_cloud_shares.arn,
          module.campus_cloud_courses.arn,
          module.campus_cloud_enrollments.arn,
          module.campus_cloud_assignments.arn,
          module.campus_cloud_submissions.arn,
          module.campus_cloud_marking.arn,
          module.campus_cloud_uniques.arn,
          module.campus_cloud_users.arn,
          module.campus_cloud_notifications.arn,
          module.campus_cloud_audit.arn,
          module.stream_consumers.arn,
          module.receipts.arn,
        ]
      },
      {
        Sid    = "BackupsAndExports"
        Effect = "Allow"
        Action = ["dynamodb:DescribeBackup", "dynamodb:DescribeExport"]
        Resource = [
          "${module.campus_cloud_files.arn}/backup/*",
          "${module.campus_cloud_files.arn}/export/*",
          "${module.campus_cloud_library.arn}/backup/*",
          "${module.campus_cloud_library.arn}/export/*",
          "${module.campus_cloud_shares.arn}/backup/*",
          "${module.campus_cloud_shares.arn}/export/*",
          "${module.campus_cloud_courses.arn}/backup/*",
          "${module.campus_cloud_courses.arn}/export/*",
          "${module.campus_cloud_enrollments.arn}/backup/*",
          "${module.campus_cloud_enrollments.arn}/export/*",
          "${module.campus_cloud_assignments.arn}/backup/*",
          "${module.campus_cloud_assignments.arn}/export/*",
          "${module.campus_cloud_submissions.arn}/backup/*",
          "${module.campus_cloud_submissions.arn}/export/*",
          "${module.campus_cloud_marking.arn}/backup/*",
          "${module.campus_cloud_marking.arn}/export/*",
          "${module.campus_cloud_uniques.arn}/backup/*",
          "${module.campus_cloud_uniques.arn}/export/*",
          "${module.campus_cloud_users.arn}/backup/*",
          "${module.campus_cloud_users.arn}/export/*",
          "${module.campus_cloud_notifications.arn}/backup/*",
          "${module.campus_cloud_notifications.arn}/export/*",
          "${module.campus_cloud_audit.arn}/backup/*",
          "${module.campus_cloud_audit.arn}/export/*",
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
  name        = "campus-prod-restorer"
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
          module.campus_cloud_files.arn,
          module.campus_cloud_library.arn,
          module.campus_cloud_shares.arn,
          module.campus_cloud_courses.arn,
          module.campus_cloud_enrollments.arn,
          module.campus_cloud_assignments.arn,
          module.campus_cloud_submissions.arn,
          module.campus_cloud_marking.arn,
          module.campus_cloud_uniques.arn,
          module.campus_cloud_users.arn,
          module.campus_cloud_notifications.arn,
          module.campus_cloud_audit.arn,
        ]
      },
      {
        Sid    = "FromABackup"
        Effect = "Allow"
        Action = ["dynamodb:RestoreTableFromBackup", "dynamodb:DescribeBackup"]
        Resource = [
          "${module.campus_cloud_files.arn}/backup/*",
          "${module.campus_cloud_library.arn}/backup/*",
          "${module.campus_cloud_shares.arn}/backup/*",
          "${module.campus_cloud_courses.arn}/backup/*",
          "${module.campus_cloud_enrollments.arn}/backup/*",
          "${module.campus_cloud_assignments.arn}/backup/*",
          "${module.campus_cloud_submissions.arn}/backup/*",
          "${module.campus_cloud_marking.arn}/backup/*",
          "${module.campus_cloud_uniques.arn}/backup/*",
          "${module.campus_cloud_users.arn}/backup/*",
          "${module.campus_cloud_notifications.arn}/backup/*",
          "${module.campus_cloud_audit.arn}/backup/*",
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
          "${module.campus_cloud_files.arn}-restored*",
          "${module.campus_cloud_library.arn}-restored*",
          "${module.campus_cloud_shares.arn}-restored*",
          "${module.campus_cloud_courses.arn}-restored*",
          "${module.campus_cloud_enrollments.arn}-restored*",
          "${module.campus_cloud_assignments.arn}-restored*",
          "${module.campus_cloud_submissions.arn}-restored*",
          "${module.campus_cloud_marking.arn}-restored*",
          "${module.campus_cloud_uniques.arn}-restored*",
          "${module.campus_cloud_users.arn}-restored*",
          "${module.campus_cloud_notifications.arn}-restored*",
          "${module.campus_cloud_audit.arn}-restored*",
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
  name        = "campus-prod-backup"
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
          module.campus_cloud_files.arn,
          module.campus_cloud_library.arn,
          module.campus_cloud_shares.arn,
          module.campus_cloud_courses.arn,
          module.campus_cloud_enrollments.arn,
          module.campus_cloud_assignments.arn,
          module.campus_cloud_submissions.arn,
          module.campus_cloud_marking.arn,
          module.campus_cloud_uniques.arn,
          module.campus_cloud_users.arn,
          module.campus_cloud_notifications.arn,
          module.campus_cloud_audit.arn,
        ]
      },
      {
        Sid    = "OldCopies"
        Effect = "Allow"
        Action = ["dynamodb:DescribeBackup", "dynamodb:DeleteBackup"]
        Resource = [
          "${module.campus_cloud_files.arn}/backup/*",
          "${module.campus_cloud_library.arn}/backup/*",
          "${module.campus_cloud_shares.arn}/backup/*",
          "${module.campus_cloud_courses.arn}/backup/*",
          "${module.campus_cloud_enrollments.arn}/backup/*",
          "${module.campus_cloud_assignments.arn}/backup/*",
          "${module.campus_cloud_submissions.arn}/backup/*",
          "${module.campus_cloud_marking.arn}/backup/*",
          "${module.campus_cloud_uniques.arn}/backup/*",
          "${module.campus_cloud_users.arn}/backup/*",
          "${module.campus_cloud_notifications.arn}/backup/*",
          "${module.campus_cloud_audit.arn}/backup/*",
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
        Resource = ["arn:aws:backup:us-east-1:${data.aws_caller_identity.current.account_id}:recovery-point:*"]
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
