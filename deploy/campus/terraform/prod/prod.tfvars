# Printed by tablewright design repository campus: change the design and print it again.

region = "us-east-1"
tags = {
  Project         = "campus-cloud"
  Environment     = "prod"
  DataSensitivity = "education-records"
}
deletion_protection = true
pitr_days           = 35
backup_schedule     = "cron(0 2 ? * SUN *)"
backup_keep_days    = 35
budget_limit        = 250
budget_alert_at     = 200.0
