# Printed by tablewright design repository portal: change the design and print it again.

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
  region              = var.region
  allowed_account_ids = [var.account]

  default_tags {
    tags = var.tags
  }
}

data "aws_caller_identity" "current" {}

# Customers, their orders and their history.
module "tenants" {
  source              = "../modules/dynamodb_table"
  name                = "tenants"
  schema              = jsondecode(file("${path.module}/../../schemas/tenants/tenant.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
  encryption = {
    kms_key_arn = null
  }
}

# Products and their price history.
module "products" {
  source              = "../modules/dynamodb_table"
  name                = "products"
  schema              = jsondecode(file("${path.module}/../../schemas/products/product.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
  encryption = {
    kms_key_arn = null
  }
}

# Past, running and scheduled discounts.
module "campaigns" {
  source              = "../modules/dynamodb_table"
  name                = "campaigns"
  schema              = jsondecode(file("${path.module}/../../schemas/campaigns/campaign.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
  encryption = {
    kms_key_arn = null
  }
}

# One-time secrets, limits and the outbox, which expire; and tallies.
module "portal_desk" {
  source              = "../modules/dynamodb_table"
  name                = "portal_desk"
  schema              = jsondecode(file("${path.module}/../../schemas/portal_desk/portal_desk.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
  encryption = {
    kms_key_arn = null
  }
}

# All consumers of all streams.
module "stream_consumers" {
  source              = "../modules/dynamodb_table"
  name                = "stream_consumers"
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
  name                = "receipts"
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
  plan      = "bbws-dynamodb-dev-daily"
  rule      = "daily_backup"
  selection = "bbws-dynamodb-dev-selection"
  schedule  = var.backup_schedule
  keep_days = var.backup_keep_days
  vault     = "bbws-backup-vault-dev"
  role_arn  = aws_iam_role.backup.arn
  tables = [
    module.tenants.arn,
    module.products.arn,
    module.campaigns.arn,
    module.portal_desk.arn,
  ]
}
