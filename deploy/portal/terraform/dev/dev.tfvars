# Printed by tablewright design repository portal: change the design and print it again.

region  = "af-south-1"
account = "536580886816"
tags = {
  Environment = "dev"
  Project     = "BBWS WP Containers"
  Owner       = "Tebogo"
  CostCenter  = "AWS"
  ManagedBy   = "Terraform"
  Component   = "dynamodb"
  Application = "CustomerPortalPublic"
}
deletion_protection = false
pitr_days           = 35
backup_schedule     = "cron(0 1 * * ? *)"
backup_keep_days    = 7
budget_limit        = 500
budget_alert_at     = 400.0
