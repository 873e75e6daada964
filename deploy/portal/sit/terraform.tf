# Printed by tablewright terraform portal --environment sit: what is to change here is changed in the design.

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
  allowed_account_ids = ["815856636111"]

  default_tags {
    tags = {
      Environment = "sit"
      Project     = "BBWS WP Containers"
      Owner       = "Tebogo"
      CostCenter  = "AWS"
      ManagedBy   = "Terraform"
      Component   = "dynamodb"
      Application = "CustomerPortalPublic"
    }
  }
}

data "aws_caller_identity" "current" {}
