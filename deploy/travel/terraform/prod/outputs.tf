# Printed by tablewright design repository travel: change the design and print it again.

output "tables" {
  description = "The tables, by the design's names for them."
  value = {
    skratch-data     = module.skratch_data.arn
    stream_consumers = module.stream_consumers.arn
    receipts         = module.receipts.arn
  }
}

output "streams" {
  description = "The streams that are followed."
  value = {
    skratch-data = module.skratch_data.stream_arn
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
  value       = module.backup.vault_arn
}

output "alarms" {
  description = "The topic of alarms."
  value       = aws_sns_topic.alarms.arn
}
