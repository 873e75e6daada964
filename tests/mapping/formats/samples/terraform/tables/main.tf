locals {
  tables = {
    orders = {
      keys   = ["PK", "SK"]
      types  = { PK = "S", SK = "S", status = "S" }
      units  = null
      stream = "NEW_IMAGE"
      ttl    = "expiresAt"
      index  = { by-status = { keys = ["status", "SK"], attributes = ["total"] } }
    }
    units = {
      keys   = ["id"]
      types  = { id = "N" }
      units  = [7, 3]
      stream = null
      ttl    = null
      index  = {}
    }
  }
}

resource "aws_dynamodb_table" "table" {
  for_each                    = local.tables
  name                        = each.key
  billing_mode                = each.value.units == null ? "PAY_PER_REQUEST" : "PROVISIONED"
  read_capacity               = try(each.value.units[0], null)
  write_capacity              = try(each.value.units[1], null)
  hash_key                    = each.value.keys[0]
  range_key                   = try(each.value.keys[1], null)
  deletion_protection_enabled = true
  stream_enabled              = each.value.stream != null
  stream_view_type            = each.value.stream

  dynamic "attribute" {
    for_each = each.value.types
    content {
      name = attribute.key
      type = attribute.value
    }
  }

  dynamic "global_secondary_index" {
    for_each = each.value.index
    content {
      name               = global_secondary_index.key
      hash_key           = global_secondary_index.value.keys[0]
      range_key          = global_secondary_index.value.keys[1]
      projection_type    = "INCLUDE"
      non_key_attributes = global_secondary_index.value.attributes
    }
  }

  dynamic "ttl" {
    for_each = each.value.ttl == null ? [] : [each.value.ttl]
    content {
      attribute_name = ttl.value
      enabled        = true
    }
  }

  point_in_time_recovery {
    enabled = true
  }

  server_side_encryption {
    enabled = true
  }

  tags = { team = "shop" }
}
