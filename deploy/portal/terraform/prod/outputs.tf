# Printed by tablewright design repository portal: change the design and print it again.

output "tables" {
  description = "The tables, by the design's names for them."
  value = {
    tenants          = module.tenants.arn
    products         = module.products.arn
    campaigns        = module.campaigns.arn
    portal_desk      = module.portal_desk.arn
    stream_consumers = module.stream_consumers.arn
    receipts         = module.receipts.arn
  }
}

output "streams" {
  description = "The streams that are followed."
  value = {
    tenants   = module.tenants.stream_arn
    products  = module.products.stream_arn
    campaigns = module.campaigns.stream_arn
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

output "alarms" {
  description = "The topic of alarms."
  value       = aws_sns_topic.alarms.arn
}
