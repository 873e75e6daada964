# Printed by tablewright design repository travel: change the design and print it again.

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

# Everything of Skratch.
module "skratch_data" {
  source              = "../modules/dynamodb_table"
  name                = "skratch-data-dev"
  schema              = jsondecode(file("${path.module}/../../schemas/skratch-data/skratch-data.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
  encryption = {
    kms_key_arn = null
  }
}

# All consumers of all streams.
module "stream_consumers" {
  source              = "../modules/dynamodb_table"
  name                = "stream_consumers-dev"
  schema              = jsondecode(file("${path.module}/../../schemas/stream_consumers/stream_consumers.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
  encryption = {
    kms_key_arn = null
  }
}

# What was done once and must not be done again.
module "receipts" {
  source              = "../modules/dynamodb_table"
  name                = "receipts-dev"
  schema              = jsondecode(file("${path.module}/../../schemas/receipts/receipts.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
  encryption = {
    kms_key_arn = null
  }
}

module "backup" {
  source    = "../modules/backup"
  providers = { aws = aws, aws.copy = aws }
  plan      = "travel-dev-tables"
  rule      = "scheduled"
  selection = "travel-dev-tables"
  schedule  = var.backup_schedule
  keep_days = var.backup_keep_days
  vault     = "skratch-dev"
  role_arn  = aws_iam_role.backup.arn
  tables    = [module.skratch_data.arn]
}
