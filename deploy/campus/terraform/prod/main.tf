# Printed by tablewright design repository campus: change the design and print it again.

terraform {
  required_version = ">= 1.5"

  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.100, < 6.13"
    }
  }
}

provider "aws" {
  region = var.region

  default_tags {
    tags = var.tags
  }
}

data "aws_caller_identity" "current" {}

# Files by owner.
module "campus_cloud_files" {
  source              = "../modules/dynamodb_table"
  name                = "campus-cloud-files"
  schema              = jsondecode(file("${path.module}/../../schemas/campus-cloud-files/file.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
  capacity = {
    read   = 25
    write  = 10
    scaled = ["read", "write"]
  }
  encryption = {
    kms_key_arn = aws_kms_key.tables.arn
  }
}

# Versions of files, folders, uploads that have begun, and public links.
module "campus_cloud_library" {
  source              = "../modules/dynamodb_table"
  name                = "campus-cloud-library"
  schema              = jsondecode(file("${path.module}/../../schemas/campus-cloud-library/campus-cloud-library.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
  encryption = {
    kms_key_arn = aws_kms_key.tables.arn
  }
}

# Shares of files and folders by recipient.
module "campus_cloud_shares" {
  source              = "../modules/dynamodb_table"
  name                = "campus-cloud-shares"
  schema              = jsondecode(file("${path.module}/../../schemas/campus-cloud-shares/share.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
  capacity = {
    read   = 10
    write  = 5
    scaled = ["read", "write"]
  }
  encryption = {
    kms_key_arn = aws_kms_key.tables.arn
  }
}

# Courses with their teams, rubrics and saved comments; other dates of assignments; former roles.
module "campus_cloud_courses" {
  source              = "../modules/dynamodb_table"
  name                = "campus-cloud-courses"
  schema              = jsondecode(file("${path.module}/../../schemas/campus-cloud-courses/course.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
  encryption = {
    kms_key_arn = aws_kms_key.tables.arn
  }
}

# Who is in which course, with which role.
module "campus_cloud_enrollments" {
  source              = "../modules/dynamodb_table"
  name                = "campus-cloud-enrollments"
  schema              = jsondecode(file("${path.module}/../../schemas/campus-cloud-enrollments/campus-cloud-enrollments.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
  encryption = {
    kms_key_arn = aws_kms_key.tables.arn
  }
}

# Assignments by course.
module "campus_cloud_assignments" {
  source              = "../modules/dynamodb_table"
  name                = "campus-cloud-assignments"
  schema              = jsondecode(file("${path.module}/../../schemas/campus-cloud-assignments/assignment.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
  capacity = {
    read   = 10
    write  = 5
    scaled = ["read", "write"]
  }
  encryption = {
    kms_key_arn = aws_kms_key.tables.arn
  }
}

# Submissions by assignment and student or team.
module "campus_cloud_submissions" {
  source              = "../modules/dynamodb_table"
  name                = "campus-cloud-submissions"
  schema              = jsondecode(file("${path.module}/../../schemas/campus-cloud-submissions/submission.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
  capacity = {
    read   = 20
    write  = 10
    scaled = ["read", "write"]
  }
  encryption = {
    kms_key_arn = aws_kms_key.tables.arn
  }
}

# Marks, comments and regrade requests of submissions.
module "campus_cloud_marking" {
  source              = "../modules/dynamodb_table"
  name                = "campus-cloud-marking"
  schema              = jsondecode(file("${path.module}/../../schemas/campus-cloud-marking/campus-cloud-marking.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
  encryption = {
    kms_key_arn = aws_kms_key.tables.arn
  }
}

# Guards of values that only one item may have.
module "campus_cloud_uniques" {
  source              = "../modules/dynamodb_table"
  name                = "campus-cloud-uniques"
  schema              = jsondecode(file("${path.module}/../../schemas/campus-cloud-uniques/campus-cloud-uniques.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
  encryption = {
    kms_key_arn = aws_kms_key.tables.arn
  }
}

# Profiles, quotas and preferences; read whole for reports.
module "campus_cloud_users" {
  source              = "../modules/dynamodb_table"
  name                = "campus-cloud-users"
  schema              = jsondecode(file("${path.module}/../../schemas/campus-cloud-users/user.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
  capacity = {
    read   = 5
    write  = 2
    scaled = ["read", "write"]
  }
  encryption = {
    kms_key_arn = aws_kms_key.tables.arn
  }
}

# Notifications, the outbox and tasks; read whole for an erasure.
module "campus_cloud_notifications" {
  source              = "../modules/dynamodb_table"
  name                = "campus-cloud-notifications"
  schema              = jsondecode(file("${path.module}/../../schemas/campus-cloud-notifications/notification.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
  encryption = {
    kms_key_arn = aws_kms_key.tables.arn
  }
}

# Who did what, for a year.
module "campus_cloud_audit" {
  source              = "../modules/dynamodb_table"
  name                = "campus-cloud-audit"
  schema              = jsondecode(file("${path.module}/../../schemas/campus-cloud-audit/campus-cloud-audit.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
  encryption = {
    kms_key_arn = aws_kms_key.tables.arn
  }
}

# All consumers of all streams.
module "stream_consumers" {
  source              = "../modules/dynamodb_table"
  name                = "stream_consumers"
  schema              = jsondecode(file("${path.module}/../../schemas/stream_consumers/stream_consumers.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
  encryption = {
    kms_key_arn = aws_kms_key.tables.arn
  }
}

# What was done once and must not be done again.
module "receipts" {
  source              = "../modules/dynamodb_table"
  name                = "receipts"
  schema              = jsondecode(file("${path.module}/../../schemas/receipts/receipts.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
  encryption = {
    kms_key_arn = aws_kms_key.tables.arn
  }
}

# A plan that would destroy or replace one of these is refused.
resource "terraform_data" "protected" {
  for_each = {
    campus_cloud_files         = module.campus_cloud_files.id
    campus_cloud_library       = module.campus_cloud_library.id
    campus_cloud_shares        = module.campus_cloud_shares.id
    campus_cloud_courses       = module.campus_cloud_courses.id
    campus_cloud_enrollments   = module.campus_cloud_enrollments.id
    campus_cloud_assignments   = module.campus_cloud_assignments.id
    campus_cloud_submissions   = module.campus_cloud_submissions.id
    campus_cloud_marking       = module.campus_cloud_marking.id
    campus_cloud_uniques       = module.campus_cloud_uniques.id
    campus_cloud_users         = module.campus_cloud_users.id
    campus_cloud_notifications = module.campus_cloud_notifications.id
    campus_cloud_audit         = module.campus_cloud_audit.id
    stream_consumers           = module.stream_consumers.id
    receipts                   = module.receipts.id
    backup                     = module.backup.vault_arn
  }
  triggers_replace = each.value

  lifecycle {
    prevent_destroy = true
  }
}

# The key of the tables and objects. Principals that may use DynamoDB or S3 here use the key through it.
resource "aws_kms_key" "tables" {
  description             = "The tables and objects of campus-prod"
  enable_key_rotation     = true
  deletion_window_in_days = 30
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid    = "Administration"
        Effect = "Allow"
        Principal = {
          AWS = "arn:aws:iam::${data.aws_caller_identity.current.account_id}:root"
        }
        Action   = ["kms:*"]
        Resource = ["*"]
      },
      {
        Sid    = "ThroughDynamoDB"
        Effect = "Allow"
        Principal = {
          AWS = "*"
        }
        Action = [
          "kms:Encrypt",
          "kms:Decrypt",
          "kms:ReEncrypt*",
          "kms:GenerateDataKey*",
          "kms:CreateGrant",
          "kms:DescribeKey",
        ]
        Resource = ["*"]
        Condition = {
          StringEquals = {
            "kms:CallerAccount" = data.aws_caller_identity.current.account_id
            "kms:ViaService"    = ["dynamodb.us-east-1.amazonaws.com", "s3.us-east-1.amazonaws.com"]
          }
        }
      },
    ]
  })

  lifecycle {
    prevent_destroy = true
  }
}

resource "aws_kms_alias" "tables" {
  name          = "alias/campus-prod"
  target_key_id = aws_kms_key.tables.key_id
}

module "backup" {
  source    = "../modules/backup"
  providers = { aws = aws, aws.copy = aws }
  plan      = "campus-prod-tables"
  rule      = "scheduled"
  selection = "campus-prod-tables"
  schedule  = var.backup_schedule
  keep_days = var.backup_keep_days
  vault     = "campus-cloud-prod"
  role_arn  = aws_iam_role.backup.arn
  tables = [
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
}
