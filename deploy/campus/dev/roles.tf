# Printed by tablewright terraform campus --environment dev: what is to change here is changed in the design.

# What the system itself does: items, by its access patterns.
resource "aws_iam_role" "service" {
  name        = "campus-dev-service"
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
          aws_dynamodb_table.campus_cloud_files.arn,
          aws_dynamodb_table.campus_cloud_library.arn,
          aws_dynamodb_table.campus_cloud_shares.arn,
          aws_dynamodb_table.campus_cloud_courses.arn,
          aws_dynamodb_table.campus_cloud_enrollments.arn,
          aws_dynamodb_table.campus_cloud_assignments.arn,
          aws_dynamodb_table.campus_cloud_submissions.arn,
          aws_dynamodb_table.campus_cloud_marking.arn,
          aws_dynamodb_table.campus_cloud_uniques.arn,
          aws_dynamodb_table.campus_cloud_notifications.arn,
          aws_dynamodb_table.campus_cloud_audit.arn,
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
          "dynamodb:Scan",
        ]
        Resource = [aws_dynamodb_table.campus_cloud_users.arn]
      },
      {
        Sid      = "Items3"
        Effect   = "Allow"
        Action   = ["dynamodb:GetItem", "dynamodb:PutItem"]
        Resource = [aws_dynamodb_table.receipts.arn]
      },
      {
        Sid    = "Queries"
        Effect = "Allow"
        Action = ["dynamodb:Query"]
        Resource = [
          aws_dynamodb_table.campus_cloud_files.arn,
          "${aws_dynamodb_table.campus_cloud_files.arn}/index/FileIdIndex",
          "${aws_dynamodb_table.campus_cloud_files.arn}/index/PlaceIndex",
          "${aws_dynamodb_table.campus_cloud_files.arn}/index/PurgeIndex",
          "${aws_dynamodb_table.campus_cloud_files.arn}/index/StatusIndex",
          "${aws_dynamodb_table.campus_cloud_files.arn}/index/UserUploadedIndex",
          aws_dynamodb_table.campus_cloud_library.arn,
          "${aws_dynamodb_table.campus_cloud_library.arn}/index/FolderIdIndex",
          "${aws_dynamodb_table.campus_cloud_library.arn}/index/LinksIndex",
          "${aws_dynamodb_table.campus_cloud_library.arn}/index/ReviewIndex",
          "${aws_dynamodb_table.campus_cloud_library.arn}/index/UploadsIndex",
          aws_dynamodb_table.campus_cloud_shares.arn,
          "${aws_dynamodb_table.campus_cloud_shares.arn}/index/ExpiryDayIndex",
          "${aws_dynamodb_table.campus_cloud_shares.arn}/index/FileExpirationIndex",
          "${aws_dynamodb_table.campus_cloud_shares.arn}/index/ShareIdIndex",
          "${aws_dynamodb_table.campus_cloud_shares.arn}/index/SharedWithUserIndex",
          aws_dynamodb_table.campus_cloud_courses.arn,
          "${aws_dynamodb_table.campus_cloud_courses.arn}/index/SemesterIndex",
          aws_dynamodb_table.campus_cloud_enrollments.arn,
          "${aws_dynamodb_table.campus_cloud_enrollments.arn}/index/CourseIndex",
          aws_dynamodb_table.campus_cloud_assignments.arn,
          "${aws_dynamodb_table.campus_cloud_assignments.arn}/index/AssignmentIdIndex",
          "${aws_dynamodb_table.campus_cloud_assignments.arn}/index/InstructorIndex",
          "${aws_dynamodb_table.campus_cloud_assignments.arn}/index/StatusDueDateIndex",
          aws_dynamodb_table.campus_cloud_submissions.arn,
          "${aws_dynamodb_table.campus_cloud_submissions.arn}/index/GradingQueueIndex",
          "${aws_dynamodb_table.campus_cloud_submissions.arn}/index/StatusIndex",
          "${aws_dynamodb_table.campus_cloud_submissions.arn}/index/StudentIndex",
          "${aws_dynamodb_table.campus_cloud_submissions.arn}/index/SubmissionIdIndex",
          aws_dynamodb_table.campus_cloud_marking.arn,
          "${aws_dynamodb_table.campus_cloud_marking.arn}/index/RegradeIndex",
          "${aws_dynamodb_table.campus_cloud_users.arn}/index/EmailIndex",
          aws_dynamodb_table.campus_cloud_notifications.arn,
          "${aws_dynamodb_table.campus_cloud_notifications.arn}/index/MailOfUserIndex",
          "${aws_dynamodb_table.campus_cloud_notifications.arn}/index/OutboxIndex",
          "${aws_dynamodb_table.campus_cloud_notifications.arn}/index/TaskIndex",
          aws_dynamodb_table.campus_cloud_audit.arn,
          "${aws_dynamodb_table.campus_cloud_audit.arn}/index/AuditIndex",
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
          "${aws_dynamodb_table.campus_cloud_shares.arn}/stream/*",
          "${aws_dynamodb_table.campus_cloud_submissions.arn}/stream/*",
        ]
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
  name        = "campus-dev-deployer"
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
          aws_dynamodb_table.campus_cloud_files.arn,
          aws_dynamodb_table.campus_cloud_library.arn,
          aws_dynamodb_table.campus_cloud_shares.arn,
          aws_dynamodb_table.campus_cloud_courses.arn,
          aws_dynamodb_table.campus_cloud_enrollments.arn,
          aws_dynamodb_table.campus_cloud_assignments.arn,
          aws_dynamodb_table.campus_cloud_submissions.arn,
          aws_dynamodb_table.campus_cloud_marking.arn,
          aws_dynamodb_table.campus_cloud_uniques.arn,
          aws_dynamodb_table.campus_cloud_users.arn,
          aws_dynamodb_table.campus_cloud_notifications.arn,
          aws_dynamodb_table.campus_cloud_audit.arn,
          aws_dynamodb_table.stream_consumers.arn,
          aws_dynamodb_table.receipts.arn,
        ]
      },
      {
        Sid    = "BackupsAndExports"
        Effect = "Allow"
        Action = ["dynamodb:DescribeBackup", "dynamodb:DescribeExport"]
        Resource = [
          "${aws_dynamodb_table.campus_cloud_files.arn}/backup/*",
          "${aws_dynamodb_table.campus_cloud_files.arn}/export/*",
          "${aws_dynamodb_table.campus_cloud_library.arn}/backup/*",
          "${aws_dynamodb_table.campus_cloud_library.arn}/export/*",
          "${aws_dynamodb_table.campus_cloud_shares.arn}/backup/*",
          "${aws_dynamodb_table.campus_cloud_shares.arn}/export/*",
          "${aws_dynamodb_table.campus_cloud_courses.arn}/backup/*",
          "${aws_dynamodb_table.campus_cloud_courses.arn}/export/*",
          "${aws_dynamodb_table.campus_cloud_enrollments.arn}/backup/*",
          "${aws_dynamodb_table.campus_cloud_enrollments.arn}/export/*",
          "${aws_dynamodb_table.campus_cloud_assignments.arn}/backup/*",
          "${aws_dynamodb_table.campus_cloud_assignments.arn}/export/*",
          "${aws_dynamodb_table.campus_cloud_submissions.arn}/backup/*",
          "${aws_dynamodb_table.campus_cloud_submissions.arn}/export/*",
          "${aws_dynamodb_table.campus_cloud_marking.arn}/backup/*",
          "${aws_dynamodb_table.campus_cloud_marking.arn}/export/*",
          "${aws_dynamodb_table.campus_cloud_uniques.arn}/backup/*",
          "${aws_dynamodb_table.campus_cloud_uniques.arn}/export/*",
          "${aws_dynamodb_table.campus_cloud_users.arn}/backup/*",
          "${aws_dynamodb_table.campus_cloud_users.arn}/export/*",
          "${aws_dynamodb_table.campus_cloud_notifications.arn}/backup/*",
          "${aws_dynamodb_table.campus_cloud_notifications.arn}/export/*",
          "${aws_dynamodb_table.campus_cloud_audit.arn}/backup/*",
          "${aws_dynamodb_table.campus_cloud_audit.arn}/export/*",
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
  name        = "campus-dev-restorer"
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
          aws_dynamodb_table.campus_cloud_files.arn,
          aws_dynamodb_table.campus_cloud_library.arn,
          aws_dynamodb_table.campus_cloud_shares.arn,
          aws_dynamodb_table.campus_cloud_courses.arn,
          aws_dynamodb_table.campus_cloud_enrollments.arn,
          aws_dynamodb_table.campus_cloud_assignments.arn,
          aws_dynamodb_table.campus_cloud_submissions.arn,
          aws_dynamodb_table.campus_cloud_marking.arn,
          aws_dynamodb_table.campus_cloud_uniques.arn,
          aws_dynamodb_table.campus_cloud_users.arn,
          aws_dynamodb_table.campus_cloud_notifications.arn,
          aws_dynamodb_table.campus_cloud_audit.arn,
        ]
      },
      {
        Sid    = "FromABackup"
        Effect = "Allow"
        Action = ["dynamodb:RestoreTableFromBackup", "dynamodb:DescribeBackup"]
        Resource = [
          "${aws_dynamodb_table.campus_cloud_files.arn}/backup/*",
          "${aws_dynamodb_table.campus_cloud_library.arn}/backup/*",
          "${aws_dynamodb_table.campus_cloud_shares.arn}/backup/*",
          "${aws_dynamodb_table.campus_cloud_courses.arn}/backup/*",
          "${aws_dynamodb_table.campus_cloud_enrollments.arn}/backup/*",
          "${aws_dynamodb_table.campus_cloud_assignments.arn}/backup/*",
          "${aws_dynamodb_table.campus_cloud_submissions.arn}/backup/*",
          "${aws_dynamodb_table.campus_cloud_marking.arn}/backup/*",
          "${aws_dynamodb_table.campus_cloud_uniques.arn}/backup/*",
          "${aws_dynamodb_table.campus_cloud_users.arn}/backup/*",
          "${aws_dynamodb_table.campus_cloud_notifications.arn}/backup/*",
          "${aws_dynamodb_table.campus_cloud_audit.arn}/backup/*",
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
          "${aws_dynamodb_table.campus_cloud_files.arn}-restored*",
          "${aws_dynamodb_table.campus_cloud_library.arn}-restored*",
          "${aws_dynamodb_table.campus_cloud_shares.arn}-restored*",
          "${aws_dynamodb_table.campus_cloud_courses.arn}-restored*",
          "${aws_dynamodb_table.campus_cloud_enrollments.arn}-restored*",
          "${aws_dynamodb_table.campus_cloud_assignments.arn}-restored*",
          "${aws_dynamodb_table.campus_cloud_submissions.arn}-restored*",
          "${aws_dynamodb_table.campus_cloud_marking.arn}-restored*",
          "${aws_dynamodb_table.campus_cloud_uniques.arn}-restored*",
          "${aws_dynamodb_table.campus_cloud_users.arn}-restored*",
          "${aws_dynamodb_table.campus_cloud_notifications.arn}-restored*",
          "${aws_dynamodb_table.campus_cloud_audit.arn}-restored*",
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
  name        = "campus-dev-backup"
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
          aws_dynamodb_table.campus_cloud_files.arn,
          aws_dynamodb_table.campus_cloud_library.arn,
          aws_dynamodb_table.campus_cloud_shares.arn,
          aws_dynamodb_table.campus_cloud_courses.arn,
          aws_dynamodb_table.campus_cloud_enrollments.arn,
          aws_dynamodb_table.campus_cloud_assignments.arn,
          aws_dynamodb_table.campus_cloud_submissions.arn,
          aws_dynamodb_table.campus_cloud_marking.arn,
          aws_dynamodb_table.campus_cloud_uniques.arn,
          aws_dynamodb_table.campus_cloud_users.arn,
          aws_dynamodb_table.campus_cloud_notifications.arn,
          aws_dynamodb_table.campus_cloud_audit.arn,
        ]
      },
      {
        Sid    = "OldCopies"
        Effect = "Allow"
        Action = ["dynamodb:DescribeBackup", "dynamodb:DeleteBackup"]
        Resource = [
          "${aws_dynamodb_table.campus_cloud_files.arn}/backup/*",
          "${aws_dynamodb_table.campus_cloud_library.arn}/backup/*",
          "${aws_dynamodb_table.campus_cloud_shares.arn}/backup/*",
          "${aws_dynamodb_table.campus_cloud_courses.arn}/backup/*",
          "${aws_dynamodb_table.campus_cloud_enrollments.arn}/backup/*",
          "${aws_dynamodb_table.campus_cloud_assignments.arn}/backup/*",
          "${aws_dynamodb_table.campus_cloud_submissions.arn}/backup/*",
          "${aws_dynamodb_table.campus_cloud_marking.arn}/backup/*",
          "${aws_dynamodb_table.campus_cloud_uniques.arn}/backup/*",
          "${aws_dynamodb_table.campus_cloud_users.arn}/backup/*",
          "${aws_dynamodb_table.campus_cloud_notifications.arn}/backup/*",
          "${aws_dynamodb_table.campus_cloud_audit.arn}/backup/*",
        ]
      },
      {
        Sid      = "Vaults"
        Effect   = "Allow"
        Action   = ["backup:DescribeBackupVault", "backup:CopyFromBackupVault", "backup:CopyIntoBackupVault"]
        Resource = [aws_backup_vault.main.arn]
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
