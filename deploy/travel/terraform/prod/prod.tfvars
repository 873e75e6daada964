# Printed by tablewright design repository travel: change the design and print it again.

region = "us-east-1"
tags = {
  Environment = "prod"
  Application = "Skratch"
  ManagedBy   = "Terraform"
}
deletion_protection = true
pitr_days           = 35
backup_schedule     = "cron(0 3 * * ? *)"
backup_keep_days    = 30
budget_limit        = 15
budget_alert_at     = 14
