# Printed by tablewright design repository portal: change the design and print it again.

region  = "af-south-1"
account = "815856636111"
tags = {
  Environment = "sit"
  Project     = "BBWS WP Containers"
  Owner       = "Tebogo"
  CostCenter  = "AWS"
  ManagedBy   = "Terraform"
  Component   = "dynamodb"
  Application = "CustomerPortalPublic"
}
deletion_protection = false
pitr_days           = 35
backup_schedule     = "cron(0 2 * * ? *)"
backup_keep_days    = 14
budget_limit        = 1000
budget_alert_at     = 800.0
