# Printed by tablewright design repository campus: change the design and print it again.

output "tables" {
  description = "The tables, by the design's names for them."
  value = {
    campus-cloud-files         = module.campus_cloud_files.arn
    campus-cloud-library       = module.campus_cloud_library.arn
    campus-cloud-shares        = module.campus_cloud_shares.arn
    campus-cloud-courses       = module.campus_cloud_courses.arn
    campus-cloud-enrollments   = module.campus_cloud_enrollments.arn
    campus-cloud-assignments   = module.campus_cloud_assignments.arn
    campus-cloud-submissions   = module.campus_cloud_submissions.arn
    campus-cloud-marking       = module.campus_cloud_marking.arn
    campus-cloud-uniques       = module.campus_cloud_uniques.arn
    campus-cloud-users         = module.campus_cloud_users.arn
    campus-cloud-notifications = module.campus_cloud_notifications.arn
    campus-cloud-audit         = module.campus_cloud_audit.arn
    stream_consumers           = module.stream_consumers.arn
    receipts                   = module.receipts.arn
  }
}

output "streams" {
  description = "The streams that are followed."
  value = {
    campus-cloud-shares      = module.campus_cloud_shares.stream_arn
    campus-cloud-submissions = module.campus_cloud_submissions.stream_arn
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
  value       = module.backup.vault_arn
}

output "bucket" {
  description = "The bucket of objects."
  value       = aws_s3_bucket.objects.id
}

output "alarms" {
  description = "The topic of alarms."
  value       = aws_sns_topic.alarms.arn
}
