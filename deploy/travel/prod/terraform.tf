# Printed by tablewright terraform travel --environment prod: what is to change here is changed in the design.

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
  region = "us-east-1"

  default_tags {
    tags = {
      Environment = "prod"
      Application = "Skratch"
      ManagedBy   = "Terraform"
    }
  }
}

provider "aws" {
  alias  = "us_west_2"
  region = "us-west-2"

  default_tags {
    tags = {
      Environment = "prod"
      Application = "Skratch"
      ManagedBy   = "Terraform"
    }
  }
}

data "aws_caller_identity" "current" {}
