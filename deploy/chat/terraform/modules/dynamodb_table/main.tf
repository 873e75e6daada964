# Printed by tablewright design repository chat: change the design and print it again.

terraform {
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.100, < 6.13"
    }
  }
}

locals {
  partition_key = var.schema.primaryKey.partitionKey.name
  sort_key      = try(var.schema.primaryKey.sortKey.name, null)
  types         = { for attribute in var.schema.attributes : attribute.name => attribute.type }
  local_indexes = try(var.schema.localSecondaryIndexes, [])
  keys          = distinct(compact(concat([local.partition_key, local.sort_key], module.gsi.keys, local.local_indexes[*].sortKey)))
  view          = length(var.replicas) > 0 ? "NEW_AND_OLD_IMAGES" : var.schema.streams.viewType
  is_recovered  = var.schema.pitr.enabled && var.pitr_days > 0
  is_searched   = anytrue([for index in try(var.schema.vectorIndexes, []) : length(concat(index.filters, compact([index.partitionKey]))) > 0])
  read          = var.capacity == null ? null : var.capacity.read
  write         = var.capacity == null ? null : var.capacity.write
}

module "gsi" {
  source   = "../gsi"
  indexes  = var.schema.globalSecondaryIndexes
  types    = local.types
  capacity = var.capacity
}

resource "aws_dynamodb_table" "table" {
  count                       = !local.is_searched ? 1 : 0
  name                        = var.name
  billing_mode                = var.capacity == null ? "PAY_PER_REQUEST" : "PROVISIONED"
  read_capacity               = local.read
  write_capacity              = local.write
  hash_key                    = local.partition_key
  range_key                   = local.sort_key
  stream_enabled              = local.view == null ? null : true
  stream_view_type            = local.view
  deletion_protection_enabled = var.deletion_protection

  dynamic "attribute" {
    for_each = local.keys

    content {
      name = attribute.value
      type = local.types[attribute.value]
    }
  }

  dynamic "local_secondary_index" {
    for_each = local.local_indexes

    content {
      name               = local_secondary_index.value.indexName
      range_key          = local_secondary_index.value.sortKey
      projection_type    = local_secondary_index.value.projectionType
      non_key_attributes = try(local_secondary_index.value.nonKeyAttributes, null)
    }
  }

  dynamic "global_secondary_index" {
    for_each = module.gsi.indexes

    content {
      name               = global_secondary_index.value.name
      hash_key           = global_secondary_index.value.hash_key
      range_key          = global_secondary_index.value.range_key
      projection_type    = global_secondary_index.value.projection_type
      non_key_attributes = global_secondary_index.value.non_key_attributes
      read_capacity      = global_secondary_index.value.read_capacity
      write_capacity     = global_secondary_index.value.write_capacity
    }
  }

  dynamic "ttl" {
    for_each = compact([try(var.schema.ttl, null)])

    content {
      attribute_name = ttl.value
      enabled        = true
    }
  }

  point_in_time_recovery {
    enabled                 = local.is_recovered
    recovery_period_in_days = local.is_recovered ? var.pitr_days : null
  }

  dynamic "server_side_encryption" {
    for_each = var.encryption == null ? [] : [var.encryption]

    content {
      enabled     = true
      kms_key_arn = server_side_encryption.value.kms_key_arn
    }
  }

  dynamic "replica" {
    for_each = var.replicas

    content {
      region_name            = replica.key
      kms_key_arn            = replica.value
      point_in_time_recovery = local.is_recovered
      propagate_tags         = true
    }
  }
}

resource "aws_dynamodb_table" "searched" {
  count                       = local.is_searched ? 1 : 0
  name                        = var.name
  billing_mode                = var.capacity == null ? "PAY_PER_REQUEST" : "PROVISIONED"
  read_capacity               = local.read
  write_capacity              = local.write
  hash_key                    = local.partition_key
  range_key                   = local.sort_key
  stream_enabled              = local.view == null ? null : true
  stream_view_type            = local.view
  deletion_protection_enabled = var.deletion_protection

  dynamic "attribute" {
    for_each = local.keys

    content {
      name = attribute.value
      type = local.types[attribute.value]
    }
  }

  dynamic "local_secondary_index" {
    for_each = local.local_indexes

    content {
      name               = local_secondary_index.value.indexName
      range_key          = local_secondary_index.value.sortKey
      projection_type    = local_secondary_index.value.projectionType
      non_key_attributes = try(local_secondary_index.value.nonKeyAttributes, null)
    }
  }

  dynamic "global_secondary_index" {
    for_each = module.gsi.indexes

    content {
      name               = global_secondary_index.value.name
      hash_key           = global_secondary_index.value.hash_key
      range_key          = global_secondary_index.value.range_key
      projection_type    = global_secondary_index.value.projection_type
      non_key_attributes = global_secondary_index.value.non_key_attributes
      read_capacity      = global_secondary_index.value.read_capacity
      write_capacity     = global_secondary_index.value.write_capacity
    }
  }

  dynamic "ttl" {
    for_each = compact([try(var.schema.ttl, null)])

    content {
      attribute_name = ttl.value
      enabled        = true
    }
  }

  point_in_time_recovery {
    enabled                 = local.is_recovered
    recovery_period_in_days = local.is_recovered ? var.pitr_days : null
  }

  dynamic "server_side_encryption" {
    for_each = var.encryption == null ? [] : [var.encryption]

    content {
      enabled     = true
      kms_key_arn = server_side_encryption.value.kms_key_arn
    }
  }

  dynamic "replica" {
    for_each = var.replicas

    content {
      region_name            = replica.key
      kms_key_arn            = replica.value
      point_in_time_recovery = local.is_recovered
      propagate_tags         = true
    }
  }

  lifecycle {
    ignore_changes = [attribute]
  }
}
