# Printed by tablewright terraform portal --environment prod: what is to change here is changed in the design.

# Customers, their orders and their history.
resource "aws_dynamodb_table" "tenants" {
  name                        = "tenants"
  billing_mode                = "PAY_PER_REQUEST"
  hash_key                    = "PK"
  range_key                   = "SK"
  stream_enabled              = true
  stream_view_type            = "NEW_AND_OLD_IMAGES"
  deletion_protection_enabled = true

  attribute {
    name = "PK"
    type = "S"
  }

  attribute {
    name = "SK"
    type = "S"
  }

  attribute {
    name = "email"
    type = "S"
  }

  attribute {
    name = "status"
    type = "S"
  }

  attribute {
    name = "dateCreated"
    type = "S"
  }

  attribute {
    name = "activeKey"
    type = "S"
  }

  attribute {
    name = "orderStatus"
    type = "S"
  }

  attribute {
    name = "placedAt"
    type = "S"
  }

  attribute {
    name = "auditMonth"
    type = "S"
  }

  attribute {
    name = "auditAt"
    type = "S"
  }

  global_secondary_index {
    name            = "EmailIndex"
    hash_key        = "email"
    projection_type = "ALL"
  }

  global_secondary_index {
    name            = "TenantStatusIndex"
    hash_key        = "status"
    range_key       = "dateCreated"
    projection_type = "ALL"
  }

  global_secondary_index {
    name            = "ActiveIndex"
    hash_key        = "activeKey"
    range_key       = "dateCreated"
    projection_type = "ALL"
  }

  global_secondary_index {
    name            = "OrderStatusIndex"
    hash_key        = "orderStatus"
    range_key       = "placedAt"
    projection_type = "ALL"
  }

  global_secondary_index {
    name            = "AuditIndex"
    hash_key        = "auditMonth"
    range_key       = "auditAt"
    projection_type = "ALL"
  }

  point_in_time_recovery {
    enabled                 = true
    recovery_period_in_days = 35
  }

  server_side_encryption {
    enabled = true
  }

  replica {
    region_name            = "eu-west-1"
    point_in_time_recovery = true
    propagate_tags         = true
  }

  lifecycle {
    prevent_destroy = true
  }
}

# Products and their price history.
resource "aws_dynamodb_table" "products" {
  name                        = "products"
  billing_mode                = "PAY_PER_REQUEST"
  hash_key                    = "PK"
  range_key                   = "SK"
  stream_enabled              = true
  stream_view_type            = "NEW_AND_OLD_IMAGES"
  deletion_protection_enabled = true

  attribute {
    name = "PK"
    type = "S"
  }

  attribute {
    name = "SK"
    type = "S"
  }

  attribute {
    name = "activeKey"
    type = "S"
  }

  attribute {
    name = "dateCreated"
    type = "S"
  }

  attribute {
    name = "auditMonth"
    type = "S"
  }

  attribute {
    name = "auditAt"
    type = "S"
  }

  global_secondary_index {
    name            = "ProductActiveIndex"
    hash_key        = "activeKey"
    range_key       = "dateCreated"
    projection_type = "ALL"
  }

  global_secondary_index {
    name            = "AuditIndex"
    hash_key        = "auditMonth"
    range_key       = "auditAt"
    projection_type = "ALL"
  }

  point_in_time_recovery {
    enabled                 = true
    recovery_period_in_days = 35
  }

  server_side_encryption {
    enabled = true
  }

  replica {
    region_name            = "eu-west-1"
    point_in_time_recovery = true
    propagate_tags         = true
  }

  lifecycle {
    prevent_destroy = true
  }
}

# Past, running and scheduled discounts.
resource "aws_dynamodb_table" "campaigns" {
  name                        = "campaigns"
  billing_mode                = "PAY_PER_REQUEST"
  hash_key                    = "PK"
  range_key                   = "SK"
  stream_enabled              = true
  stream_view_type            = "NEW_AND_OLD_IMAGES"
  deletion_protection_enabled = true

  attribute {
    name = "PK"
    type = "S"
  }

  attribute {
    name = "SK"
    type = "S"
  }

  attribute {
    name = "activeKey"
    type = "S"
  }

  attribute {
    name = "fromDate"
    type = "S"
  }

  attribute {
    name = "productId"
    type = "S"
  }

  attribute {
    name = "dateCreated"
    type = "S"
  }

  attribute {
    name = "auditMonth"
    type = "S"
  }

  attribute {
    name = "auditAt"
    type = "S"
  }

  global_secondary_index {
    name            = "CampaignActiveIndex"
    hash_key        = "activeKey"
    range_key       = "fromDate"
    projection_type = "ALL"
  }

  global_secondary_index {
    name            = "CampaignProductIndex"
    hash_key        = "productId"
    range_key       = "fromDate"
    projection_type = "ALL"
  }

  global_secondary_index {
    name            = "ActiveIndex"
    hash_key        = "activeKey"
    range_key       = "dateCreated"
    projection_type = "ALL"
  }

  global_secondary_index {
    name            = "AuditIndex"
    hash_key        = "auditMonth"
    range_key       = "auditAt"
    projection_type = "ALL"
  }

  point_in_time_recovery {
    enabled                 = true
    recovery_period_in_days = 35
  }

  server_side_encryption {
    enabled = true
  }

  replica {
    region_name            = "eu-west-1"
    point_in_time_recovery = true
    propagate_tags         = true
  }

  lifecycle {
    prevent_destroy = true
  }
}

# One-time secrets, limits and the outbox, which expire; and tallies.
resource "aws_dynamodb_table" "portal_desk" {
  name                        = "portal_desk"
  billing_mode                = "PAY_PER_REQUEST"
  hash_key                    = "PK"
  range_key                   = "SK"
  stream_enabled              = true
  stream_view_type            = "NEW_AND_OLD_IMAGES"
  deletion_protection_enabled = true

  attribute {
    name = "PK"
    type = "S"
  }

  attribute {
    name = "SK"
    type = "S"
  }

  attribute {
    name = "outboxKey"
    type = "S"
  }

  attribute {
    name = "outboxAt"
    type = "S"
  }

  attribute {
    name = "mailOf"
    type = "S"
  }

  attribute {
    name = "mailAt"
    type = "S"
  }

  global_secondary_index {
    name            = "OutboxIndex"
    hash_key        = "outboxKey"
    range_key       = "outboxAt"
    projection_type = "ALL"
  }

  global_secondary_index {
    name            = "MailOfTenantIndex"
    hash_key        = "mailOf"
    range_key       = "mailAt"
    projection_type = "ALL"
  }

  ttl {
    attribute_name = "ttl"
    enabled        = true
  }

  point_in_time_recovery {
    enabled                 = true
    recovery_period_in_days = 35
  }

  server_side_encryption {
    enabled = true
  }

  replica {
    region_name            = "eu-west-1"
    point_in_time_recovery = true
    propagate_tags         = true
  }

  lifecycle {
    prevent_destroy = true
  }
}

# All consumers of all streams.
resource "aws_dynamodb_table" "stream_consumers" {
  name                        = "stream_consumers"
  billing_mode                = "PAY_PER_REQUEST"
  hash_key                    = "PK"
  range_key                   = "SK"
  stream_enabled              = true
  stream_view_type            = "NEW_AND_OLD_IMAGES"
  deletion_protection_enabled = true

  attribute {
    name = "PK"
    type = "S"
  }

  attribute {
    name = "SK"
    type = "S"
  }

  point_in_time_recovery {
    enabled = false
  }

  server_side_encryption {
    enabled = true
  }

  replica {
    region_name            = "eu-west-1"
    point_in_time_recovery = false
    propagate_tags         = true
  }

  lifecycle {
    prevent_destroy = true
  }
}

# What was done once and must not be done again.
resource "aws_dynamodb_table" "receipts" {
  name                        = "receipts"
  billing_mode                = "PAY_PER_REQUEST"
  hash_key                    = "id"
  stream_enabled              = true
  stream_view_type            = "NEW_AND_OLD_IMAGES"
  deletion_protection_enabled = true

  attribute {
    name = "id"
    type = "S"
  }

  ttl {
    attribute_name = "expires"
    enabled        = true
  }

  point_in_time_recovery {
    enabled = false
  }

  server_side_encryption {
    enabled = true
  }

  replica {
    region_name            = "eu-west-1"
    point_in_time_recovery = false
    propagate_tags         = true
  }

  lifecycle {
    prevent_destroy = true
  }
}
