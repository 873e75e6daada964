# Printed by tablewright design repository chat: change the design and print it again.

region = "us-west-2"
tags = {
  Project         = "quest"
  Environment     = "prod"
  DataSensitivity = "children"
}
deletion_protection = true
pitr_days           = 35
backup_schedule     = "cron(0 4 * * ? *)"
backup_keep_days    = 35
budget_limit        = 100
budget_alert_at     = 80.0
