# Tables as somebody would deploy them: what `test_terraform.py` applies, changes and destroys.

terraform {
  required_providers {
    aws = {
      source = "hashicorp/aws"
    }
  }
}

variable "endpoint" {
  type = string
}

# What is not DynamoDB: the account's number is asked for, and which key Amazon manages.
variable "others" {
  type = string
}

# The first state and the one it is changed to.
variable "changed" {
  type    = bool
  default = false
}

provider "aws" {
  region                      = "us-east-1"
  access_key                  = "any"
  secret_key                  = "any"
  skip_credentials_validation = true
  skip_metadata_api_check     = true
  skip_region_validation      = true

  endpoints {
    dynamodb = var.endpoint
    iam      = var.others
    kms      = var.others
    sts      = var.others
  }
}

# On demand, with everything that can be set beside keys.
resource "aws_dynamodb_table" "pets" {
  name                        = "pets"
  billing_mode                = "PAY_PER_REQUEST"
  hash_key                    = "owner"
  range_key                   = "name"
  deletion_protection_enabled = !var.changed
  stream_enabled              = true
  stream_view_type            = var.changed ? "KEYS_ONLY" : "NEW_AND_OLD_IMAGES"

  dynamic "attribute" {
    for_each = merge(
      { owner = "S", name = "S", age = "N" },
      var.changed ? { kind = "S" } : {},
    )
    content {
      name = attribute.key
      type = attribute.value
    }
  }

  global_secondary_index {
    name            = "by-age"
    hash_key        = "age"
    projection_type = "ALL"
  }

  dynamic "global_secondary_index" {
    for_each = var.changed ? ["by-kind"] : []
    content {
      name               = global_secondary_index.value
      hash_key           = "kind"
      range_key          = "name"
      projection_type    = "INCLUDE"
      non_key_attributes = ["age"]
    }
  }

  ttl {
    attribute_name = "until"
    enabled        = !var.changed
  }

  point_in_time_recovery {
    enabled                 = true
    recovery_period_in_days = var.changed ? 7 : 35
  }

  server_side_encryption {
    enabled     = true
    kms_key_arn = "arn:aws:kms:us-east-1:000000000000:key/${var.changed ? "aaaaaaaa" : "bbbbbbbb"}-0000-4000-8000-000000000000"
  }

  tags = var.changed ? { team = "vets", cost = "low" } : { team = "pets", stage = "first" }
}

resource "aws_dynamodb_resource_policy" "pets" {
  resource_arn = aws_dynamodb_table.pets.arn
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Sid       = "Vets"
      Effect    = "Allow"
      Principal = { AWS = ["arn:aws:iam::111122223333:root"] }
      Action    = var.changed ? ["dynamodb:GetItem", "dynamodb:Query"] : ["dynamodb:GetItem"]
      Resource  = aws_dynamodb_table.pets.arn
    }]
  })
}

resource "aws_dynamodb_contributor_insights" "pets" {
  table_name = aws_dynamodb_table.pets.name
}

resource "aws_dynamodb_contributor_insights" "by_age" {
  table_name = aws_dynamodb_table.pets.name
  index_name = "by-age"
}

resource "aws_dynamodb_kinesis_streaming_destination" "pets" {
  table_name = aws_dynamodb_table.pets.name
  stream_arn = "arn:aws:kinesis:us-east-1:000000000000:stream/pets"
}

resource "aws_dynamodb_table_item" "rex" {
  table_name = aws_dynamodb_table.pets.name
  hash_key   = aws_dynamodb_table.pets.hash_key
  range_key  = aws_dynamodb_table.pets.range_key
  item = jsonencode({
    owner = { S = "anna" }
    name  = { S = "rex" }
    age   = { N = var.changed ? "4" : "3" }
    tags  = { SS = ["brown", "loud"] }
  })
}

# Provisioned, with a local index and a global one that has units of its own; recovery is off, then on.
resource "aws_dynamodb_table" "orders" {
  name           = "orders"
  billing_mode   = "PROVISIONED"
  read_capacity  = var.changed ? 20 : 10
  write_capacity = 5
  table_class    = var.changed ? "STANDARD_INFREQUENT_ACCESS" : "STANDARD"
  hash_key       = "id"
  range_key      = "at"

  dynamic "attribute" {
    for_each = { id = "S", at = "N", state = "S" }
    content {
      name = attribute.key
      type = attribute.value
    }
  }

  local_secondary_index {
    name            = "by-state"
    range_key       = "state"
    projection_type = "KEYS_ONLY"
  }

  global_secondary_index {
    name            = "all-by-state"
    hash_key        = "state"
    range_key       = "at"
    read_capacity   = 3
    write_capacity  = var.changed ? 4 : 2
    projection_type = "KEYS_ONLY"
  }

  # With the key that Amazon manages.
  server_side_encryption {
    enabled = !var.changed
  }

  point_in_time_recovery {
    enabled = var.changed
  }
}
