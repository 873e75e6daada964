# Printed by tablewright terraform travel --environment dev: what is to change here is changed in the design.

output "tables" {
  description = "The tables, by the design's names for them."
  value = {
    skratch-data     = aws_dynamodb_table.skratch_data.arn
    stream_consumers = aws_dynamodb_table.stream_consumers.arn
    receipts         = aws_dynamodb_table.receipts.arn
  }
}

output "streams" {
  description = "The streams that are followed."
  value = {
    skratch-data = aws_dynamodb_table.skratch_data.stream_arn
  }
}

output "roles" {
  description = "Who may do what."
  value = {
    service  = aws_iam_role.service.arn
    admin    = aws_iam_role.admin.arn
    public   = aws_iam_role.public.arn
    deployer = aws_iam_role.deployer.arn
    restorer = aws_iam_role.restorer.arn
    backup   = aws_iam_role.backup.arn
  }
}

output "vault" {
  description = "Where backups are kept."
  value       = aws_backup_vault.main.arn
}

output "alarms" {
  description = "The topic of alarms."
  value       = aws_sns_topic.alarms.arn
}
