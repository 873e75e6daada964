# Printed by tablewright terraform portal --environment prod: what is to change here is changed in the design.

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
  region              = "af-south-1"
  allowed_account_ids = ["093646564004"]

  default_tags {
    tags = {
      Environment  = "prod"
      Project      = "BBWS WP Containers"
      Owner        = "Tebogo"
      CostCenter   = "AWS"
      ManagedBy    = "Terraform"
      Component    = "dynamodb"
      Application  = "CustomerPortalPublic"
      BackupPolicy = "hourly"
      DR           = "enabled"
      LLD          = "2.1.8"
    }
  }
}

provider "aws" {
  alias               = "eu_west_1"
  region              = "eu-west-1"
  allowed_account_ids = ["093646564004"]

  default_tags {
    tags = {
      Environment  = "prod"
      Project      = "BBWS WP Containers"
      Owner        = "Tebogo"
      CostCenter   = "AWS"
      ManagedBy    = "Terraform"
      Component    = "dynamodb"
      Application  = "CustomerPortalPublic"
      BackupPolicy = "hourly"
      DR           = "enabled"
      LLD          = "2.1.8"
    }
  }
}

data "aws_caller_identity" "current" {}
