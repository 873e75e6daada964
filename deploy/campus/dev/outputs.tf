# Printed by tablewright terraform campus --environment dev: what is to change here is changed in the design.

output "tables" {
  description = "The tables, by the design's names for them."
  value = {
    campus-cloud-files         = aws_dynamodb_table.campus_cloud_files.arn
    campus-cloud-library       = aws_dynamodb_table.campus_cloud_library.arn
    campus-cloud-shares        = aws_dynamodb_table.campus_cloud_shares.arn
    campus-cloud-courses       = aws_dynamodb_table.campus_cloud_courses.arn
    campus-cloud-enrollments   = aws_dynamodb_table.campus_cloud_enrollments.arn
    campus-cloud-assignments   = aws_dynamodb_table.campus_cloud_assignments.arn
    campus-cloud-submissions   = aws_dynamodb_table.campus_cloud_submissions.arn
    campus-cloud-marking       = aws_dynamodb_table.campus_cloud_marking.arn
    campus-cloud-uniques       = aws_dynamodb_table.campus_cloud_uniques.arn
    campus-cloud-users         = aws_dynamodb_table.campus_cloud_users.arn
    campus-cloud-notifications = aws_dynamodb_table.campus_cloud_notifications.arn
    campus-cloud-audit         = aws_dynamodb_table.campus_cloud_audit.arn
    stream_consumers           = aws_dynamodb_table.stream_consumers.arn
    receipts                   = aws_dynamodb_table.receipts.arn
  }
}

output "streams" {
  description = "The streams that are followed."
  value = {
    campus-cloud-shares      = aws_dynamodb_table.campus_cloud_shares.stream_arn
    campus-cloud-submissions = aws_dynamodb_table.campus_cloud_submissions.stream_arn
  }
}

output "roles" {
  description = "Who may do what."
  value = {
    service  = aws_iam_role.service.arn
    deployer = aws_iam_role.deployer.arn
    restorer = aws_iam_role.restorer.arn
    backup   = aws_iam_role.backup.arn
  }
}

output "vault" {
  description = "Where backups are kept."
  value       = aws_backup_vault.main.arn
}

output "bucket" {
  description = "The bucket of objects."
  value       = aws_s3_bucket.objects.id
}

output "alarms" {
  description = "The topic of alarms."
  value       = aws_sns_topic.alarms.arn
}
