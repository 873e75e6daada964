# Printed by tablewright design repository portal: change the design and print it again.

region  = "af-south-1"
account = "093646564004"
tags = {
  Environment  = "prod"
  Project      = "BBWS WP Containers"
  Owner        = "Tebogo"
  CostCenter   = "AWS"
  ManagedBy    = "Terraform"
  Component    = "dynamodb"
  Application  = "CustomerPortalPublic"
  BackupPolicy = "hourly"
  DR           = "enabled"
  LLD          = "2.1.8"
}
deletion_protection = true
pitr_days           = 35
backup_schedule     = "cron(0 * * * ? *)"
backup_keep_days    = 90
budget_limit        = 5000
budget_alert_at     = 4000.0
