# Printed by tablewright design repository parental: change the design and print it again.

terraform {
  required_version = ">= 1.5"

  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.100, < 6.13"
    }
  }
}

provider "aws" {
  region = var.region

  default_tags {
    tags = var.tags
  }
}

data "aws_caller_identity" "current" {}

# Families and guardians, exceptions, devices, messages and activity.
module "parental_families" {
  source              = "../modules/dynamodb_table"
  name                = "ParentalFamilies"
  schema              = jsondecode(file("${path.module}/../../schemas/ParentalFamilies/ParentalFamilies.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
}

# Children: family, number and time zone.
module "child_profiles" {
  source              = "../modules/dynamodb_table"
  name                = "ChildProfiles"
  schema              = jsondecode(file("${path.module}/../../schemas/ChildProfiles/ChildProfiles.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
}

# Blocked attempts by app, day and hour in the child's time zone.
module "blocked_request_metrics" {
  source              = "../modules/dynamodb_table"
  name                = "BlockedRequestMetrics"
  schema              = jsondecode(file("${path.module}/../../schemas/BlockedRequestMetrics/metric.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
}

# Counted batches, for a week.
module "ingest_receipts" {
  source              = "../modules/dynamodb_table"
  name                = "IngestReceipts"
  schema              = jsondecode(file("${path.module}/../../schemas/IngestReceipts/receipt.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
}

# Parents' rules: apps and time windows, for a child.
module "parental_policies" {
  source              = "../modules/dynamodb_table"
  name                = "ParentalPolicies"
  schema              = jsondecode(file("${path.module}/../../schemas/ParentalPolicies/ParentalPolicies.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
}

# Known applications: ports, domains, address ranges.
module "application_registry" {
  source              = "../modules/dynamodb_table"
  name                = "ApplicationRegistry"
  schema              = jsondecode(file("${path.module}/../../schemas/ApplicationRegistry/ApplicationRegistry.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
}

# Every attempt to change a device, for 90 days.
module "enforcement_history" {
  source              = "../modules/dynamodb_table"
  name                = "EnforcementHistory"
  schema              = jsondecode(file("${path.module}/../../schemas/EnforcementHistory/EnforcementHistory.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
}

# Which rule on which device implements which policies. On expiry the rule is removed from the device.
module "ftd_rule_mapping" {
  source              = "../modules/dynamodb_table"
  name                = "FTDRuleMapping"
  schema              = jsondecode(file("${path.module}/../../schemas/FTDRuleMapping/FTDRuleMapping.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
}

# The current addresses of a child's devices.
module "subscriber_sessions" {
  source              = "../modules/dynamodb_table"
  name                = "SubscriberSessions"
  schema              = jsondecode(file("${path.module}/../../schemas/SubscriberSessions/session.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
}

# All consumers of all streams.
module "stream_consumers" {
  source              = "../modules/dynamodb_table"
  name                = "stream_consumers"
  schema              = jsondecode(file("${path.module}/../../schemas/stream_consumers/stream_consumers.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
}

# What was done once and must not be done again.
module "receipts" {
  source              = "../modules/dynamodb_table"
  name                = "receipts"
  schema              = jsondecode(file("${path.module}/../../schemas/receipts/receipts.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
}
