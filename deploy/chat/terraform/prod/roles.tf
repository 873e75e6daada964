# Printed by tablewright design repository chat: change the design and print it again.

# What the system itself does: items, by its access patterns.
resource "aws_iam_role" "service" {
  name        = "chat-prod-service"
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
          "dynamodb:Scan",
        ]
        Resource = [
          module.conversation_v2.arn,
          module.animal.arn,
          module.guardrails.arn,
          module.conversation.arn,
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
          "dynamodb:BatchWriteItem",
        ]
        Resource = [
          module.work.arn,
          module.compliance_audit.arn,
          module.family.arn,
          module.user.arn,
          module.user_details.arn,
          module.access_log.arn,
          module.animal_config.arn,
          module.animal_details.arn,
          module.knowledge.arn,
          module.review.arn,
          module.figures.arn,
          module.agent_state.arn,
          module.session.arn,
          module.stream_consumers.arn,
        ]
      },
      {
        Sid      = "Items3"
        Effect   = "Allow"
        Action   = ["dynamodb:GetItem", "dynamodb:PutItem"]
        Resource = [module.receipts.arn]
      },
      {
        Sid    = "Queries"
        Effect = "Allow"
        Action = ["dynamodb:Query"]
        Resource = [
          module.conversation_v2.arn,
          "${module.conversation_v2.arn}/index/animal-conversations-index",
          "${module.conversation_v2.arn}/index/conversation-id-index",
          "${module.conversation_v2.arn}/index/family-conversations-index",
          "${module.conversation_v2.arn}/index/status-index",
          "${module.work.arn}/index/mail-of-user-index",
          "${module.work.arn}/index/outbox-index",
          "${module.work.arn}/index/task-index",
          module.compliance_audit.arn,
          "${module.compliance_audit.arn}/index/AuditIndex",
          module.family.arn,
          "${module.family.arn}/index/member-index",
          "${module.user.arn}/index/birthday-index",
          module.user_details.arn,
          module.access_log.arn,
          "${module.access_log.arn}/index/actor-index",
          module.animal_config.arn,
          module.knowledge.arn,
          "${module.review.arn}/index/flags-of-user-index",
          "${module.review.arn}/index/queue-index",
          module.figures.arn,
          module.agent_state.arn,
          module.session.arn,
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
        Resource = ["${module.conversation_v2.arn}/stream/*", "${module.conversation.arn}/stream/*"]
      },
      {
        Sid      = "Searches"
        Effect   = "Allow"
        Action   = ["dynamodb:SearchVectors"]
        Resource = ["${module.conversation_v2.arn}/index/memory-index"]
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

# Reads what patterns of the role 'parent' read, and no other keys.
resource "aws_iam_role" "parent" {
  name        = "chat-prod-parent"
  description = "Reads what patterns of the role 'parent' read, and no other keys."
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Effect    = "Allow"
        Action    = "sts:AssumeRole"
        Principal = lookup(var.trusted, "parent", { AWS = [local.account] })
      },
    ]
  })
}

resource "aws_iam_role_policy" "parent" {
  name = "tables"
  role = aws_iam_role.parent.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid      = "ConversationV2QueriesFamilyConversationsIndex"
        Effect   = "Allow"
        Action   = ["dynamodb:Query"]
        Resource = ["${module.conversation_v2.arn}/index/family-conversations-index"]
        Condition = {
          "ForAllValues:StringEquals" = {
            "dynamodb:LeadingKeys" = ["$${aws:PrincipalTag/familyId}"]
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

# Reads what patterns of the role 'student' read, and no other keys.
resource "aws_iam_role" "student" {
  name        = "chat-prod-student"
  description = "Reads what patterns of the role 'student' read, and no other keys."
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Effect    = "Allow"
        Action    = "sts:AssumeRole"
        Principal = lookup(var.trusted, "student", { AWS = [local.account] })
      },
    ]
  })
}

resource "aws_iam_role_policy" "student" {
  name = "tables"
  role = aws_iam_role.student.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid      = "ConversationV2Queries"
        Effect   = "Allow"
        Action   = ["dynamodb:Query"]
        Resource = [module.conversation_v2.arn]
        Condition = {
          "ForAllValues:StringEquals" = {
            "dynamodb:LeadingKeys" = ["USER#$${aws:PrincipalTag/userId}"]
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
  name        = "chat-prod-deployer"
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
          module.conversation_v2.arn,
          module.work.arn,
          module.compliance_audit.arn,
          module.family.arn,
          module.user.arn,
          module.user_details.arn,
          module.access_log.arn,
          module.animal.arn,
          module.animal_config.arn,
          module.animal_details.arn,
          module.knowledge.arn,
          module.guardrails.arn,
          module.review.arn,
          module.figures.arn,
          module.agent_state.arn,
          module.conversation.arn,
          module.session.arn,
          module.stream_consumers.arn,
          module.receipts.arn,
        ]
      },
      {
        Sid    = "BackupsAndExports"
        Effect = "Allow"
        Action = ["dynamodb:DescribeBackup", "dynamodb:DescribeExport"]
        Resource = [
          "${module.conversation_v2.arn}/backup/*",
          "${module.conversation_v2.arn}/export/*",
          "${module.work.arn}/backup/*",
          "${module.work.arn}/export/*",
          "${module.compliance_audit.arn}/backup/*",
          "${module.compliance_audit.arn}/export/*",
          "${module.family.arn}/backup/*",
          "${module.family.arn}/export/*",
          "${module.user.arn}/backup/*",
          "${module.user.arn}/export/*",
          "${module.user_details.arn}/backup/*",
          "${module.user_details.arn}/export/*",
          "${module.access_log.arn}/backup/*",
          "${module.access_log.arn}/export/*",
          "${module.animal.arn}/backup/*",
          "${module.animal.arn}/export/*",
          "${module.animal_config.arn}/backup/*",
          "${module.animal_config.arn}/export/*",
          "${module.animal_details.arn}/backup/*",
          "${module.animal_details.arn}/export/*",
          "${module.knowledge.arn}/backup/*",
          "${module.knowledge.arn}/export/*",
          "${module.guardrails.arn}/backup/*",
          "${module.guardrails.arn}/export/*",
          "${module.review.arn}/backup/*",
          "${module.review.arn}/export/*",
          "${module.figures.arn}/backup/*",
          "${module.figures.arn}/export/*",
          "${module.agent_state.arn}/backup/*",
          "${module.agent_state.arn}/export/*",
          "${module.conversation.arn}/backup/*",
          "${module.conversation.arn}/export/*",
          "${module.session.arn}/backup/*",
          "${module.session.arn}/export/*",
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
  name        = "chat-prod-restorer"
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
          module.conversation_v2.arn,
          module.work.arn,
          module.compliance_audit.arn,
          module.family.arn,
          module.user.arn,
          module.user_details.arn,
          module.access_log.arn,
          module.animal.arn,
          module.animal_config.arn,
          module.animal_details.arn,
          module.knowledge.arn,
          module.guardrails.arn,
          module.review.arn,
          module.figures.arn,
          module.agent_state.arn,
          module.conversation.arn,
          module.session.arn,
        ]
      },
      {
        Sid    = "FromABackup"
        Effect = "Allow"
        Action = ["dynamodb:RestoreTableFromBackup", "dynamodb:DescribeBackup"]
        Resource = [
          "${module.conversation_v2.arn}/backup/*",
          "${module.work.arn}/backup/*",
          "${module.compliance_audit.arn}/backup/*",
          "${module.family.arn}/backup/*",
          "${module.user.arn}/backup/*",
          "${module.user_details.arn}/backup/*",
          "${module.access_log.arn}/backup/*",
          "${module.animal.arn}/backup/*",
          "${module.animal_config.arn}/backup/*",
          "${module.animal_details.arn}/backup/*",
          "${module.knowledge.arn}/backup/*",
          "${module.guardrails.arn}/backup/*",
          "${module.review.arn}/backup/*",
          "${module.figures.arn}/backup/*",
          "${module.agent_state.arn}/backup/*",
          "${module.conversation.arn}/backup/*",
          "${module.session.arn}/backup/*",
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
          "${module.conversation_v2.arn}-restored*",
          "${module.work.arn}-restored*",
          "${module.compliance_audit.arn}-restored*",
          "${module.family.arn}-restored*",
          "${module.user.arn}-restored*",
          "${module.user_details.arn}-restored*",
          "${module.access_log.arn}-restored*",
          "${module.animal.arn}-restored*",
          "${module.animal_config.arn}-restored*",
          "${module.animal_details.arn}-restored*",
          "${module.knowledge.arn}-restored*",
          "${module.guardrails.arn}-restored*",
          "${module.review.arn}-restored*",
          "${module.figures.arn}-restored*",
          "${module.agent_state.arn}-restored*",
          "${module.conversation.arn}-restored*",
          "${module.session.arn}-restored*",
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
  name        = "chat-prod-backup"
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
          module.conversation_v2.arn,
          module.work.arn,
          module.compliance_audit.arn,
          module.family.arn,
          module.user.arn,
          module.user_details.arn,
          module.access_log.arn,
          module.animal.arn,
          module.animal_config.arn,
          module.animal_details.arn,
          module.knowledge.arn,
          module.guardrails.arn,
          module.review.arn,
          module.figures.arn,
          module.agent_state.arn,
          module.conversation.arn,
          module.session.arn,
        ]
      },
      {
        Sid    = "OldCopies"
        Effect = "Allow"
        Action = ["dynamodb:DescribeBackup", "dynamodb:DeleteBackup"]
        Resource = [
          "${module.conversation_v2.arn}/backup/*",
          "${module.work.arn}/backup/*",
          "${module.compliance_audit.arn}/backup/*",
          "${module.family.arn}/backup/*",
          "${module.user.arn}/backup/*",
          "${module.user_details.arn}/backup/*",
          "${module.access_log.arn}/backup/*",
          "${module.animal.arn}/backup/*",
          "${module.animal_config.arn}/backup/*",
          "${module.animal_details.arn}/backup/*",
          "${module.knowledge.arn}/backup/*",
          "${module.guardrails.arn}/backup/*",
          "${module.review.arn}/backup/*",
          "${module.figures.arn}/backup/*",
          "${module.agent_state.arn}/backup/*",
          "${module.conversation.arn}/backup/*",
          "${module.session.arn}/backup/*",
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
        Resource = ["arn:aws:backup:us-west-2:${data.aws_caller_identity.current.account_id}:recovery-point:*"]
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
