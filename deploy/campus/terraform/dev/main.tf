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
}

# Versions of files, folders, uploads that have begun, and public links.
module "campus_cloud_library" {
  source              = "../modules/dynamodb_table"
  name                = "campus-cloud-library"
  schema              = jsondecode(file("${path.module}/../../schemas/campus-cloud-library/campus-cloud-library.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
}

# Shares of files and folders by recipient.
module "campus_cloud_shares" {
  source              = "../modules/dynamodb_table"
  name                = "campus-cloud-shares"
  schema              = jsondecode(file("${path.module}/../../schemas/campus-cloud-shares/share.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
}

# Courses with their teams, rubrics and saved comments; other dates of assignments; former roles.
module "campus_cloud_courses" {
  source              = "../modules/dynamodb_table"
  name                = "campus-cloud-courses"
  schema              = jsondecode(file("${path.module}/../../schemas/campus-cloud-courses/course.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
}

# Who is in which course, with which role.
module "campus_cloud_enrollments" {
  source              = "../modules/dynamodb_table"
  name                = "campus-cloud-enrollments"
  schema              = jsondecode(file("${path.module}/../../schemas/campus-cloud-enrollments/campus-cloud-enrollments.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
}

# Assignments by course.
module "campus_cloud_assignments" {
  source              = "../modules/dynamodb_table"
  name                = "campus-cloud-assignments"
  schema              = jsondecode(file("${path.module}/../../schemas/campus-cloud-assignments/assignment.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
}

# Submissions by assignment and student or team.
module "campus_cloud_submissions" {
  source              = "../modules/dynamodb_table"
  name                = "campus-cloud-submissions"
  schema              = jsondecode(file("${path.module}/../../schemas/campus-cloud-submissions/submission.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
}

# Marks, comments and regrade requests of submissions.
module "campus_cloud_marking" {
  source              = "../modules/dynamodb_table"
  name                = "campus-cloud-marking"
  schema              = jsondecode(file("${path.module}/../../schemas/campus-cloud-marking/campus-cloud-marking.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
}

# Guards of values that only one item may have.
module "campus_cloud_uniques" {
  source              = "../modules/dynamodb_table"
  name                = "campus-cloud-uniques"
  schema              = jsondecode(file("${path.module}/../../schemas/campus-cloud-uniques/campus-cloud-uniques.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
}

# Profiles, quotas and preferences; read whole for reports.
module "campus_cloud_users" {
  source              = "../modules/dynamodb_table"
  name                = "campus-cloud-users"
  schema              = jsondecode(file("${path.module}/../../schemas/campus-cloud-users/user.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
}

# Notifications, the outbox and tasks; read whole for an erasure.
module "campus_cloud_notifications" {
  source              = "../modules/dynamodb_table"
  name                = "campus-cloud-notifications"
  schema              = jsondecode(file("${path.module}/../../schemas/campus-cloud-notifications/notification.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
}

# Who did what, for a year.
module "campus_cloud_audit" {
  source              = "../modules/dynamodb_table"
  name                = "campus-cloud-audit"
  schema              = jsondecode(file("${path.module}/../../schemas/campus-cloud-audit/campus-cloud-audit.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
}

# All consumers of all streams.
module "stream_consumers" {
  source              = "../modules/dynamodb_table"
  name                = "stream_consumers"
  schema              = jsondecode(file("${path.module}/../../schemas/stream_consumers/stream_consumers.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
}

# What was done once and must not be done again.
module "receipts" {
  source              = "../modules/dynamodb_table"
  name                = "receipts"
  schema              = jsondecode(file("${path.module}/../../schemas/receipts/receipts.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
}

module "backup" {
  source    = "../modules/backup"
  providers = { aws = aws, aws.copy = aws }
  plan      = "campus-dev-tables"
  rule      = "scheduled"
  selection = "campus-dev-tables"
  schedule  = var.backup_schedule
  keep_days = var.backup_keep_days
  vault     = "campus-cloud-dev"
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
