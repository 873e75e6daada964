# Printed by tablewright design repository parental: change the design and print it again.

region = "us-east-1"
tags = {
  Environment = "dev"
  Application = "ParentalControls"
  ManagedBy   = "Terraform"
}
deletion_protection = false
pitr_days           = 35
