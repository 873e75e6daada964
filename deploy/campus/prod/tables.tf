# Printed by tablewright terraform campus --environment prod: what is to change here is changed in the design.

# The indexes as they are now: an apply does not undo how they were scaled.
data "aws_dynamodb_tables" "existing" {}

data "aws_dynamodb_table" "campus_cloud_files" {
  count = try(contains(data.aws_dynamodb_tables.existing.names, "campus-cloud-files"), false) ? 1 : 0
  name  = "campus-cloud-files"
}

data "aws_dynamodb_table" "campus_cloud_shares" {
  count = try(contains(data.aws_dynamodb_tables.existing.names, "campus-cloud-shares"), false) ? 1 : 0
  name  = "campus-cloud-shares"
}

data "aws_dynamodb_table" "campus_cloud_assignments" {
  count = try(contains(data.aws_dynamodb_tables.existing.names, "campus-cloud-assignments"), false) ? 1 : 0
  name  = "campus-cloud-assignments"
}

data "aws_dynamodb_table" "campus_cloud_submissions" {
  count = try(contains(data.aws_dynamodb_tables.existing.names, "campus-cloud-submissions"), false) ? 1 : 0
  name  = "campus-cloud-submissions"
}

data "aws_dynamodb_table" "campus_cloud_users" {
  count = try(contains(data.aws_dynamodb_tables.existing.names, "campus-cloud-users"), false) ? 1 : 0
  name  = "campus-cloud-users"
}

locals {
  campus_cloud_files_indexes       = { for index in flatten(data.aws_dynamodb_table.campus_cloud_files[*].global_secondary_index) : index.name => index }
  campus_cloud_shares_indexes      = { for index in flatten(data.aws_dynamodb_table.campus_cloud_shares[*].global_secondary_index) : index.name => index }
  campus_cloud_assignments_indexes = { for index in flatten(data.aws_dynamodb_table.campus_cloud_assignments[*].global_secondary_index) : index.name => index }
  campus_cloud_submissions_indexes = { for index in flatten(data.aws_dynamodb_table.campus_cloud_submissions[*].global_secondary_index) : index.name => index }
  campus_cloud_users_indexes       = { for index in flatten(data.aws_dynamodb_table.campus_cloud_users[*].global_secondary_index) : index.name => index }
}

# Files by owner.
resource "aws_dynamodb_table" "campus_cloud_files" {
  name                        = "campus-cloud-files"
  billing_mode                = "PROVISIONED"
  read_capacity               = 25
  write_capacity              = 10
  hash_key                    = "userId"
  range_key                   = "fileId"
  stream_enabled              = true
  stream_view_type            = "NEW_AND_OLD_IMAGES"
  deletion_protection_enabled = true

  attribute {
    name = "userId"
    type = "S"
  }

  attribute {
    name = "fileId"
    type = "S"
  }

  attribute {
    name = "statusShard"
    type = "S"
  }

  attribute {
    name = "uploadedAt"
    type = "S"
  }

  attribute {
    name = "place"
    type = "S"
  }

  attribute {
    name = "purgeDay"
    type = "S"
  }

  attribute {
    name = "deletedAt"
    type = "S"
  }

  global_secondary_index {
    name            = "FileIdIndex"
    hash_key        = "fileId"
    read_capacity   = max(try(local.campus_cloud_files_indexes["FileIdIndex"].read_capacity, 25), 25)
    write_capacity  = max(try(local.campus_cloud_files_indexes["FileIdIndex"].write_capacity, 10), 10)
    projection_type = "ALL"
  }

  global_secondary_index {
    name            = "StatusIndex"
    hash_key        = "statusShard"
    range_key       = "uploadedAt"
    read_capacity   = max(try(local.campus_cloud_files_indexes["StatusIndex"].read_capacity, 25), 25)
    write_capacity  = max(try(local.campus_cloud_files_indexes["StatusIndex"].write_capacity, 10), 10)
    projection_type = "ALL"
  }

  global_secondary_index {
    name            = "UserUploadedIndex"
    hash_key        = "userId"
    range_key       = "uploadedAt"
    read_capacity   = max(try(local.campus_cloud_files_indexes["UserUploadedIndex"].read_capacity, 25), 25)
    write_capacity  = max(try(local.campus_cloud_files_indexes["UserUploadedIndex"].write_capacity, 10), 10)
    projection_type = "ALL"
  }

  global_secondary_index {
    name            = "PlaceIndex"
    hash_key        = "place"
    range_key       = "uploadedAt"
    read_capacity   = max(try(local.campus_cloud_files_indexes["PlaceIndex"].read_capacity, 25), 25)
    write_capacity  = max(try(local.campus_cloud_files_indexes["PlaceIndex"].write_capacity, 10), 10)
    projection_type = "ALL"
  }

  global_secondary_index {
    name            = "PurgeIndex"
    hash_key        = "purgeDay"
    range_key       = "deletedAt"
    read_capacity   = max(try(local.campus_cloud_files_indexes["PurgeIndex"].read_capacity, 25), 25)
    write_capacity  = max(try(local.campus_cloud_files_indexes["PurgeIndex"].write_capacity, 10), 10)
    projection_type = "KEYS_ONLY"
  }

  point_in_time_recovery {
    enabled                 = true
    recovery_period_in_days = 35
  }

  server_side_encryption {
    enabled     = true
    kms_key_arn = aws_kms_key.tables.arn
  }

  lifecycle {
    prevent_destroy = true
    ignore_changes  = [read_capacity, write_capacity]
  }
}

# Versions of files, folders, uploads that have begun, and public links.
resource "aws_dynamodb_table" "campus_cloud_library" {
  name                        = "campus-cloud-library"
  billing_mode                = "PAY_PER_REQUEST"
  hash_key                    = "PK"
  range_key                   = "SK"
  deletion_protection_enabled = true

  attribute {
    name = "PK"
    type = "S"
  }

  attribute {
    name = "SK"
    type = "S"
  }

  attribute {
    name = "folderKey"
    type = "S"
  }

  attribute {
    name = "reviewKey"
    type = "S"
  }

  attribute {
    name = "reviewAt"
    type = "S"
  }

  attribute {
    name = "uploadsOf"
    type = "S"
  }

  attribute {
    name = "uploadsAt"
    type = "S"
  }

  attribute {
    name = "linksOf"
    type = "S"
  }

  attribute {
    name = "linksAt"
    type = "S"
  }

  global_secondary_index {
    name            = "FolderIdIndex"
    hash_key        = "folderKey"
    projection_type = "ALL"
  }

  global_secondary_index {
    name            = "ReviewIndex"
    hash_key        = "reviewKey"
    range_key       = "reviewAt"
    projection_type = "ALL"
  }

  global_secondary_index {
    name            = "UploadsIndex"
    hash_key        = "uploadsOf"
    range_key       = "uploadsAt"
    projection_type = "ALL"
  }

  global_secondary_index {
    name            = "LinksIndex"
    hash_key        = "linksOf"
    range_key       = "linksAt"
    projection_type = "ALL"
  }

  ttl {
    attribute_name = "ttl"
    enabled        = true
  }

  point_in_time_recovery {
    enabled                 = true
    recovery_period_in_days = 35
  }

  server_side_encryption {
    enabled     = true
    kms_key_arn = aws_kms_key.tables.arn
  }

  lifecycle {
    prevent_destroy = true
  }
}

# Shares of files and folders by recipient.
resource "aws_dynamodb_table" "campus_cloud_shares" {
  name                        = "campus-cloud-shares"
  billing_mode                = "PROVISIONED"
  read_capacity               = 10
  write_capacity              = 5
  hash_key                    = "fileId"
  range_key                   = "sharedWithUserId"
  stream_enabled              = true
  stream_view_type            = "NEW_AND_OLD_IMAGES"
  deletion_protection_enabled = true

  attribute {
    name = "fileId"
    type = "S"
  }

  attribute {
    name = "sharedWithUserId"
    type = "S"
  }

  attribute {
    name = "sharedAt"
    type = "S"
  }

  attribute {
    name = "shareId"
    type = "S"
  }

  attribute {
    name = "expiresAt"
    type = "S"
  }

  attribute {
    name = "expiryDay"
    type = "S"
  }

  global_secondary_index {
    name            = "SharedWithUserIndex"
    hash_key        = "sharedWithUserId"
    range_key       = "sharedAt"
    read_capacity   = max(try(local.campus_cloud_shares_indexes["SharedWithUserIndex"].read_capacity, 10), 10)
    write_capacity  = max(try(local.campus_cloud_shares_indexes["SharedWithUserIndex"].write_capacity, 5), 5)
    projection_type = "ALL"
  }

  global_secondary_index {
    name            = "ShareIdIndex"
    hash_key        = "shareId"
    read_capacity   = max(try(local.campus_cloud_shares_indexes["ShareIdIndex"].read_capacity, 10), 10)
    write_capacity  = max(try(local.campus_cloud_shares_indexes["ShareIdIndex"].write_capacity, 5), 5)
    projection_type = "ALL"
  }

  local_secondary_index {
    name            = "FileExpirationIndex"
    range_key       = "expiresAt"
    projection_type = "ALL"
  }

  global_secondary_index {
    name               = "ExpiryDayIndex"
    hash_key           = "expiryDay"
    range_key          = "expiresAt"
    read_capacity      = max(try(local.campus_cloud_shares_indexes["ExpiryDayIndex"].read_capacity, 10), 10)
    write_capacity     = max(try(local.campus_cloud_shares_indexes["ExpiryDayIndex"].write_capacity, 5), 5)
    projection_type    = "INCLUDE"
    non_key_attributes = ["status", "ttl"]
  }

  ttl {
    attribute_name = "ttl"
    enabled        = true
  }

  point_in_time_recovery {
    enabled                 = true
    recovery_period_in_days = 35
  }

  server_side_encryption {
    enabled     = true
    kms_key_arn = aws_kms_key.tables.arn
  }

  lifecycle {
    prevent_destroy = true
    ignore_changes  = [read_capacity, write_capacity]
  }
}

# Courses with their teams, rubrics and saved comments; other dates of assignments.
resource "aws_dynamodb_table" "campus_cloud_courses" {
  name                        = "campus-cloud-courses"
  billing_mode                = "PAY_PER_REQUEST"
  hash_key                    = "PK"
  range_key                   = "SK"
  deletion_protection_enabled = true

  attribute {
    name = "PK"
    type = "S"
  }

  attribute {
    name = "SK"
    type = "S"
  }

  attribute {
    name = "semesterKey"
    type = "S"
  }

  attribute {
    name = "courseKey"
    type = "S"
  }

  global_secondary_index {
    name            = "SemesterIndex"
    hash_key        = "semesterKey"
    range_key       = "courseKey"
    projection_type = "ALL"
  }

  point_in_time_recovery {
    enabled                 = true
    recovery_period_in_days = 35
  }

  server_side_encryption {
    enabled     = true
    kms_key_arn = aws_kms_key.tables.arn
  }

  lifecycle {
    prevent_destroy = true
  }
}

# Who is in which course, with which role.
resource "aws_dynamodb_table" "campus_cloud_enrollments" {
  name                        = "campus-cloud-enrollments"
  billing_mode                = "PAY_PER_REQUEST"
  hash_key                    = "userId"
  range_key                   = "courseId"
  deletion_protection_enabled = true

  attribute {
    name = "userId"
    type = "S"
  }

  attribute {
    name = "courseId"
    type = "S"
  }

  global_secondary_index {
    name            = "CourseIndex"
    hash_key        = "courseId"
    range_key       = "userId"
    projection_type = "ALL"
  }

  point_in_time_recovery {
    enabled                 = true
    recovery_period_in_days = 35
  }

  server_side_encryption {
    enabled     = true
    kms_key_arn = aws_kms_key.tables.arn
  }

  lifecycle {
    prevent_destroy = true
  }
}

# Assignments by course.
resource "aws_dynamodb_table" "campus_cloud_assignments" {
  name                        = "campus-cloud-assignments"
  billing_mode                = "PROVISIONED"
  read_capacity               = 10
  write_capacity              = 5
  hash_key                    = "courseId"
  range_key                   = "assignmentId"
  stream_enabled              = true
  stream_view_type            = "NEW_AND_OLD_IMAGES"
  deletion_protection_enabled = true

  attribute {
    name = "courseId"
    type = "S"
  }

  attribute {
    name = "assignmentId"
    type = "S"
  }

  attribute {
    name = "instructorId"
    type = "S"
  }

  attribute {
    name = "createdAt"
    type = "S"
  }

  attribute {
    name = "status"
    type = "S"
  }

  attribute {
    name = "dueDate"
    type = "S"
  }

  global_secondary_index {
    name            = "InstructorIndex"
    hash_key        = "instructorId"
    range_key       = "createdAt"
    read_capacity   = max(try(local.campus_cloud_assignments_indexes["InstructorIndex"].read_capacity, 10), 10)
    write_capacity  = max(try(local.campus_cloud_assignments_indexes["InstructorIndex"].write_capacity, 5), 5)
    projection_type = "ALL"
  }

  global_secondary_index {
    name            = "StatusDueDateIndex"
    hash_key        = "status"
    range_key       = "dueDate"
    read_capacity   = max(try(local.campus_cloud_assignments_indexes["StatusDueDateIndex"].read_capacity, 10), 10)
    write_capacity  = max(try(local.campus_cloud_assignments_indexes["StatusDueDateIndex"].write_capacity, 5), 5)
    projection_type = "ALL"
  }

  global_secondary_index {
    name            = "AssignmentIdIndex"
    hash_key        = "assignmentId"
    read_capacity   = max(try(local.campus_cloud_assignments_indexes["AssignmentIdIndex"].read_capacity, 10), 10)
    write_capacity  = max(try(local.campus_cloud_assignments_indexes["AssignmentIdIndex"].write_capacity, 5), 5)
    projection_type = "ALL"
  }

  point_in_time_recovery {
    enabled                 = true
    recovery_period_in_days = 35
  }

  server_side_encryption {
    enabled     = true
    kms_key_arn = aws_kms_key.tables.arn
  }

  lifecycle {
    prevent_destroy = true
    ignore_changes  = [read_capacity, write_capacity]
  }
}

# Submissions by assignment and student or team.
resource "aws_dynamodb_table" "campus_cloud_submissions" {
  name                        = "campus-cloud-submissions"
  billing_mode                = "PROVISIONED"
  read_capacity               = 20
  write_capacity              = 10
  hash_key                    = "assignmentId"
  range_key                   = "submissionKey"
  stream_enabled              = true
  stream_view_type            = "NEW_AND_OLD_IMAGES"
  deletion_protection_enabled = true

  attribute {
    name = "assignmentId"
    type = "S"
  }

  attribute {
    name = "submissionKey"
    type = "S"
  }

  attribute {
    name = "studentId"
    type = "S"
  }

  attribute {
    name = "submittedAt"
    type = "S"
  }

  attribute {
    name = "submissionId"
    type = "S"
  }

  attribute {
    name = "statusShard"
    type = "S"
  }

  attribute {
    name = "gradingCourseId"
    type = "S"
  }

  global_secondary_index {
    name            = "StudentIndex"
    hash_key        = "studentId"
    range_key       = "submittedAt"
    read_capacity   = max(try(local.campus_cloud_submissions_indexes["StudentIndex"].read_capacity, 20), 20)
    write_capacity  = max(try(local.campus_cloud_submissions_indexes["StudentIndex"].write_capacity, 10), 10)
    projection_type = "ALL"
  }

  global_secondary_index {
    name            = "SubmissionIdIndex"
    hash_key        = "submissionId"
    read_capacity   = max(try(local.campus_cloud_submissions_indexes["SubmissionIdIndex"].read_capacity, 20), 20)
    write_capacity  = max(try(local.campus_cloud_submissions_indexes["SubmissionIdIndex"].write_capacity, 10), 10)
    projection_type = "ALL"
  }

  global_secondary_index {
    name            = "StatusIndex"
    hash_key        = "statusShard"
    range_key       = "submittedAt"
    read_capacity   = max(try(local.campus_cloud_submissions_indexes["StatusIndex"].read_capacity, 20), 20)
    write_capacity  = max(try(local.campus_cloud_submissions_indexes["StatusIndex"].write_capacity, 10), 10)
    projection_type = "ALL"
  }

  global_secondary_index {
    name            = "GradingQueueIndex"
    hash_key        = "gradingCourseId"
    range_key       = "submittedAt"
    read_capacity   = max(try(local.campus_cloud_submissions_indexes["GradingQueueIndex"].read_capacity, 20), 20)
    write_capacity  = max(try(local.campus_cloud_submissions_indexes["GradingQueueIndex"].write_capacity, 10), 10)
    projection_type = "ALL"
  }

  point_in_time_recovery {
    enabled                 = true
    recovery_period_in_days = 35
  }

  server_side_encryption {
    enabled     = true
    kms_key_arn = aws_kms_key.tables.arn
  }

  lifecycle {
    prevent_destroy = true
    ignore_changes  = [read_capacity, write_capacity]
  }
}

# Marks, comments and regrade requests of submissions.
resource "aws_dynamodb_table" "campus_cloud_marking" {
  name                        = "campus-cloud-marking"
  billing_mode                = "PAY_PER_REQUEST"
  hash_key                    = "PK"
  range_key                   = "SK"
  deletion_protection_enabled = true

  attribute {
    name = "PK"
    type = "S"
  }

  attribute {
    name = "SK"
    type = "S"
  }

  attribute {
    name = "regradeKey"
    type = "S"
  }

  attribute {
    name = "openedAt"
    type = "S"
  }

  global_secondary_index {
    name            = "RegradeIndex"
    hash_key        = "regradeKey"
    range_key       = "openedAt"
    projection_type = "ALL"
  }

  point_in_time_recovery {
    enabled                 = true
    recovery_period_in_days = 35
  }

  server_side_encryption {
    enabled     = true
    kms_key_arn = aws_kms_key.tables.arn
  }

  lifecycle {
    prevent_destroy = true
  }
}

# Guards of values that only one item may have.
resource "aws_dynamodb_table" "campus_cloud_uniques" {
  name                        = "campus-cloud-uniques"
  billing_mode                = "PAY_PER_REQUEST"
  hash_key                    = "PK"
  range_key                   = "SK"
  deletion_protection_enabled = true

  attribute {
    name = "PK"
    type = "S"
  }

  attribute {
    name = "SK"
    type = "S"
  }

  point_in_time_recovery {
    enabled                 = true
    recovery_period_in_days = 35
  }

  server_side_encryption {
    enabled     = true
    kms_key_arn = aws_kms_key.tables.arn
  }

  lifecycle {
    prevent_destroy = true
  }
}

# Profiles, quotas and preferences; read whole for reports.
resource "aws_dynamodb_table" "campus_cloud_users" {
  name                        = "campus-cloud-users"
  billing_mode                = "PROVISIONED"
  read_capacity               = 5
  write_capacity              = 2
  hash_key                    = "userId"
  deletion_protection_enabled = true

  attribute {
    name = "userId"
    type = "S"
  }

  attribute {
    name = "email"
    type = "S"
  }

  global_secondary_index {
    name            = "EmailIndex"
    hash_key        = "email"
    read_capacity   = max(try(local.campus_cloud_users_indexes["EmailIndex"].read_capacity, 5), 5)
    write_capacity  = max(try(local.campus_cloud_users_indexes["EmailIndex"].write_capacity, 2), 2)
    projection_type = "ALL"
  }

  point_in_time_recovery {
    enabled                 = true
    recovery_period_in_days = 35
  }

  server_side_encryption {
    enabled     = true
    kms_key_arn = aws_kms_key.tables.arn
  }

  lifecycle {
    prevent_destroy = true
    ignore_changes  = [read_capacity, write_capacity]
  }
}

# Notifications, the outbox and tasks.
resource "aws_dynamodb_table" "campus_cloud_notifications" {
  name                        = "campus-cloud-notifications"
  billing_mode                = "PAY_PER_REQUEST"
  hash_key                    = "PK"
  range_key                   = "SK"
  deletion_protection_enabled = true

  attribute {
    name = "PK"
    type = "S"
  }

  attribute {
    name = "SK"
    type = "S"
  }

  attribute {
    name = "outboxKey"
    type = "S"
  }

  attribute {
    name = "outboxAt"
    type = "S"
  }

  attribute {
    name = "mailOf"
    type = "S"
  }

  attribute {
    name = "mailAt"
    type = "S"
  }

  attribute {
    name = "taskKey"
    type = "S"
  }

  attribute {
    name = "taskAt"
    type = "S"
  }

  global_secondary_index {
    name            = "OutboxIndex"
    hash_key        = "outboxKey"
    range_key       = "outboxAt"
    projection_type = "ALL"
  }

  global_secondary_index {
    name            = "MailOfUserIndex"
    hash_key        = "mailOf"
    range_key       = "mailAt"
    projection_type = "ALL"
  }

  global_secondary_index {
    name            = "TaskIndex"
    hash_key        = "taskKey"
    range_key       = "taskAt"
    projection_type = "ALL"
  }

  ttl {
    attribute_name = "ttl"
    enabled        = true
  }

  point_in_time_recovery {
    enabled                 = true
    recovery_period_in_days = 35
  }

  server_side_encryption {
    enabled     = true
    kms_key_arn = aws_kms_key.tables.arn
  }

  lifecycle {
    prevent_destroy = true
  }
}

# Who did what, for a year.
resource "aws_dynamodb_table" "campus_cloud_audit" {
  name                        = "campus-cloud-audit"
  billing_mode                = "PAY_PER_REQUEST"
  hash_key                    = "PK"
  range_key                   = "SK"
  deletion_protection_enabled = true

  attribute {
    name = "PK"
    type = "S"
  }

  attribute {
    name = "SK"
    type = "S"
  }

  attribute {
    name = "auditMonth"
    type = "S"
  }

  attribute {
    name = "auditAt"
    type = "S"
  }

  global_secondary_index {
    name            = "AuditIndex"
    hash_key        = "auditMonth"
    range_key       = "auditAt"
    projection_type = "ALL"
  }

  ttl {
    attribute_name = "ttl"
    enabled        = true
  }

  point_in_time_recovery {
    enabled                 = true
    recovery_period_in_days = 35
  }

  server_side_encryption {
    enabled     = true
    kms_key_arn = aws_kms_key.tables.arn
  }

  lifecycle {
    prevent_destroy = true
  }
}

# All consumers of all streams.
resource "aws_dynamodb_table" "stream_consumers" {
  name                        = "stream_consumers"
  billing_mode                = "PAY_PER_REQUEST"
  hash_key                    = "PK"
  range_key                   = "SK"
  deletion_protection_enabled = true

  attribute {
    name = "PK"
    type = "S"
  }

  attribute {
    name = "SK"
    type = "S"
  }

  point_in_time_recovery {
    enabled = false
  }

  server_side_encryption {
    enabled     = true
    kms_key_arn = aws_kms_key.tables.arn
  }

  lifecycle {
    prevent_destroy = true
  }
}

# What was done once and must not be done again.
resource "aws_dynamodb_table" "receipts" {
  name                        = "receipts"
  billing_mode                = "PAY_PER_REQUEST"
  hash_key                    = "id"
  deletion_protection_enabled = true

  attribute {
    name = "id"
    type = "S"
  }

  ttl {
    attribute_name = "expires"
    enabled        = true
  }

  point_in_time_recovery {
    enabled = false
  }

  server_side_encryption {
    enabled     = true
    kms_key_arn = aws_kms_key.tables.arn
  }

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
