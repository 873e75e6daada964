# What terraform-plan.json, terraform-show.json and terraform-state.json were made of, by Terraform 1.11.4 and provider
# 5.100.0, with the tables on our own server: `plan -out=saved`, `show -json saved`, `apply saved`, `show -json` and the
# file terraform.tfstate. Of the first, configuration and changes are left out; of all, the host in the provider's name.
# `kms` answers DescribeKey with the key that DescribeTable names, as Amazon's does: the provider then knows that it is the
# managed one, and has no kms_key_arn in the state.

terraform {
  required_providers {
    aws = {
      source = "hashicorp/aws"
    }
  }
}

provider "aws" {
  region                      = "eu-west-1"
  access_key                  = "any"
  secret_key                  = "any"
  skip_credentials_validation = true
  skip_metadata_api_check     = true

  endpoints {
    dynamodb = var.endpoint
    kms      = var.kms
    sns      = var.others
    sts      = var.others
  }
}

variable "endpoint" {
  type = string
}

variable "kms" {
  type = string
}

variable "others" {
  type = string
}

data "aws_caller_identity" "me" {}

resource "aws_sns_topic" "a" {
  name = "a"
}

module "tables" {
  source = "./tables"
}
