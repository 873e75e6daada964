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

provider "aws" {
  alias  = "us_west_2"
  region = "us-west-2"

  default_tags {
    tags = var.tags
  }
}

data "aws_caller_identity" "current" {}

# Everything of Skratch.
module "skratch_data" {
  source              = "../modules/dynamodb_table"
  name                = "skratch-data-prod"
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
  name                = "stream_consumers-prod"
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
  name                = "receipts-prod"
  schema              = jsondecode(file("${path.module}/../../schemas/receipts/receipts.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
  encryption = {
    kms_key_arn = null
  }
}

# A plan that would destroy or replace one of these is refused.
resource "terraform_data" "protected" {
  for_each = {
    skratch_data     = module.skratch_data.id
    stream_consumers = module.stream_consumers.id
    receipts         = module.receipts.id
    backup           = module.backup.vault_arn
    backup_copy      = module.backup.copy_vault_arn
  }
  triggers_replace = each.value

  lifecycle {
    prevent_destroy = true
  }
}

module "backup" {
  source     = "../modules/backup"
  providers  = { aws = aws, aws.copy = aws.us_west_2 }
  plan       = "travel-prod-tables"
  rule       = "scheduled"
  selection  = "travel-prod-tables"
  schedule   = var.backup_schedule
  keep_days  = var.backup_keep_days
  vault      = "skratch-prod"
  copy_vault = "skratch-prod-copies"
  role_arn   = aws_iam_role.backup.arn
  tables     = [module.skratch_data.arn]
}
