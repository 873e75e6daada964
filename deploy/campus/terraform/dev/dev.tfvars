# Printed by tablewright design repository campus: change the design and print it again.

region = "us-east-1"
tags = {
  Project         = "campus-cloud"
  Environment     = "dev"
  DataSensitivity = "education-records"
}
deletion_protection = false
pitr_days           = 35
backup_schedule     = "cron(0 2 ? * SUN *)"
backup_keep_days    = 35
budget_limit        = 100
budget_alert_at     = 80.0
