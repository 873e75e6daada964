# Printed by tablewright terraform portal --environment prod: what is to change here is changed in the design.

output "tables" {
  description = "The tables, by the design's names for them."
  value = {
    tenants          = aws_dynamodb_table.tenants.arn
    products         = aws_dynamodb_table.products.arn
    campaigns        = aws_dynamodb_table.campaigns.arn
    portal_desk      = aws_dynamodb_table.portal_desk.arn
    stream_consumers = aws_dynamodb_table.stream_consumers.arn
    receipts         = aws_dynamodb_table.receipts.arn
  }
}

output "streams" {
  description = "The streams that are followed."
  value = {
    tenants   = aws_dynamodb_table.tenants.stream_arn
    products  = aws_dynamodb_table.products.stream_arn
    campaigns = aws_dynamodb_table.campaigns.stream_arn
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

output "alarms" {
  description = "The topic of alarms."
  value       = aws_sns_topic.alarms.arn
}
