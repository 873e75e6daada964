# Printed by tablewright terraform campus --environment prod: what is to change here is changed in the design.

resource "aws_backup_vault" "main" {
  name = "campus-cloud-prod"

  lifecycle {
    prevent_destroy = true
  }
}

resource "aws_backup_plan" "tables" {
  name = "campus-prod-tables"

  rule {
    rule_name         = "scheduled"
    target_vault_name = aws_backup_vault.main.name
    schedule          = "cron(0 2 ? * SUN *)"

    lifecycle {
      delete_after = 35
    }
  }
}

resource "aws_backup_selection" "tables" {
  name         = "campus-prod-tables"
  plan_id      = aws_backup_plan.tables.id
  iam_role_arn = aws_iam_role.backup.arn
  resources = [
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
}
