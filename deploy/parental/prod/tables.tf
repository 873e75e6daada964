# Printed by tablewright terraform parental --environment prod: what is to change here is changed in the design.

# The indexes as they are now: an apply does not undo how they were scaled.
data "aws_dynamodb_tables" "existing" {}

data "aws_dynamodb_table" "parental_policies" {
  count = try(contains(data.aws_dynamodb_tables.existing.names, "ParentalPolicies"), false) ? 1 : 0
  name  = "ParentalPolicies"
}

data "aws_dynamodb_table" "ftd_rule_mapping" {
  count = try(contains(data.aws_dynamodb_tables.existing.names, "FTDRuleMapping"), false) ? 1 : 0
  name  = "FTDRuleMapping"
}

locals {
  parental_policies_indexes = { for index in flatten(data.aws_dynamodb_table.parental_policies[*].global_secondary_index) : index.name => index }
  ftd_rule_mapping_indexes  = { for index in flatten(data.aws_dynamodb_table.ftd_rule_mapping[*].global_secondary_index) : index.name => index }
}

# Families and guardians, exceptions, devices, messages and activity.
resource "aws_dynamodb_table" "parental_families" {
  name                        = "ParentalFamilies"
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
    name = "guardianOf"
    type = "S"
  }

  attribute {
    name = "familyKey"
    type = "S"
  }

  attribute {
    name = "listKey"
    type = "S"
  }

  attribute {
    name = "listSort"
    type = "S"
  }

  global_secondary_index {
    name            = "GuardianIndex"
    hash_key        = "guardianOf"
    range_key       = "familyKey"
    projection_type = "ALL"
  }

  global_secondary_index {
    name            = "ListIndex"
    hash_key        = "listKey"
    range_key       = "listSort"
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

  lifecycle {
    prevent_destroy = true
  }
}

# Children: family, number and time zone.
resource "aws_dynamodb_table" "child_profiles" {
  name                        = "ChildProfiles"
  billing_mode                = "PAY_PER_REQUEST"
  hash_key                    = "childPhoneNumber"
  stream_enabled              = true
  stream_view_type            = "NEW_AND_OLD_IMAGES"
  deletion_protection_enabled = true

  attribute {
    name = "childPhoneNumber"
    type = "S"
  }

  attribute {
    name = "familyId"
    type = "S"
  }

  global_secondary_index {
    name            = "FamilyIndex"
    hash_key        = "familyId"
    range_key       = "childPhoneNumber"
    projection_type = "ALL"
  }

  point_in_time_recovery {
    enabled                 = true
    recovery_period_in_days = 35
  }

  server_side_encryption {
    enabled = true
  }

  lifecycle {
    prevent_destroy = true
  }
}

# Blocked attempts by app, day and hour in the child's time zone.
resource "aws_dynamodb_table" "blocked_request_metrics" {
  name                        = "BlockedRequestMetrics"
  billing_mode                = "PAY_PER_REQUEST"
  hash_key                    = "childPhoneNumber"
  range_key                   = "dateApp"
  deletion_protection_enabled = true

  attribute {
    name = "childPhoneNumber"
    type = "S"
  }

  attribute {
    name = "dateApp"
    type = "S"
  }

  attribute {
    name = "parentEmail"
    type = "S"
  }

  attribute {
    name = "date"
    type = "S"
  }

  global_secondary_index {
    name            = "ParentEmailDateIndex"
    hash_key        = "parentEmail"
    range_key       = "date"
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

  lifecycle {
    prevent_destroy = true
  }
}

# Counted batches, for a week.
resource "aws_dynamodb_table" "ingest_receipts" {
  name                        = "IngestReceipts"
  billing_mode                = "PAY_PER_REQUEST"
  hash_key                    = "batchId"
  deletion_protection_enabled = true

  attribute {
    name = "batchId"
    type = "S"
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

  lifecycle {
    prevent_destroy = true
  }
}

# Parents' rules: apps and time windows, for a child.
resource "aws_dynamodb_table" "parental_policies" {
  name                        = "ParentalPolicies"
  billing_mode                = "PROVISIONED"
  read_capacity               = 10
  write_capacity              = 5
  hash_key                    = "childPhoneNumber"
  range_key                   = "policyId"
  stream_enabled              = true
  stream_view_type            = "NEW_AND_OLD_IMAGES"
  deletion_protection_enabled = true

  attribute {
    name = "childPhoneNumber"
    type = "S"
  }

  attribute {
    name = "policyId"
    type = "S"
  }

  attribute {
    name = "parentEmail"
    type = "S"
  }

  attribute {
    name = "createdAt"
    type = "S"
  }

  global_secondary_index {
    name            = "ParentEmailIndex"
    hash_key        = "parentEmail"
    range_key       = "createdAt"
    read_capacity   = max(try(local.parental_policies_indexes["ParentEmailIndex"].read_capacity, 10), 10)
    write_capacity  = max(try(local.parental_policies_indexes["ParentEmailIndex"].write_capacity, 5), 5)
    projection_type = "ALL"
  }

  point_in_time_recovery {
    enabled                 = true
    recovery_period_in_days = 35
  }

  server_side_encryption {
    enabled = true
  }

  lifecycle {
    prevent_destroy = true
    ignore_changes  = [read_capacity, write_capacity]
  }
}

# Known applications: ports, domains, address ranges.
resource "aws_dynamodb_table" "application_registry" {
  name                        = "ApplicationRegistry"
  billing_mode                = "PROVISIONED"
  read_capacity               = 5
  write_capacity              = 1
  hash_key                    = "appName"
  stream_enabled              = true
  stream_view_type            = "NEW_AND_OLD_IMAGES"
  deletion_protection_enabled = true

  attribute {
    name = "appName"
    type = "S"
  }

  point_in_time_recovery {
    enabled                 = true
    recovery_period_in_days = 35
  }

  server_side_encryption {
    enabled = true
  }

  lifecycle {
    prevent_destroy = true
    ignore_changes  = [read_capacity, write_capacity]
  }
}

# Every attempt to change a device, for 90 days.
resource "aws_dynamodb_table" "enforcement_history" {
  name                        = "EnforcementHistory"
  billing_mode                = "PAY_PER_REQUEST"
  hash_key                    = "childPhoneNumber"
  range_key                   = "timestamp"
  deletion_protection_enabled = true

  attribute {
    name = "childPhoneNumber"
    type = "S"
  }

  attribute {
    name = "timestamp"
    type = "S"
  }

  attribute {
    name = "statusKey"
    type = "S"
  }

  global_secondary_index {
    name            = "StatusTimestampIndex"
    hash_key        = "statusKey"
    range_key       = "timestamp"
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

  lifecycle {
    prevent_destroy = true
  }
}

# Which rule on which device implements which policies. On expiry the rule is removed from the device.
resource "aws_dynamodb_table" "ftd_rule_mapping" {
  name                        = "FTDRuleMapping"
  billing_mode                = "PROVISIONED"
  read_capacity               = 20
  write_capacity              = 20
  hash_key                    = "childPhoneNumber"
  range_key                   = "ruleId"
  stream_enabled              = true
  stream_view_type            = "NEW_AND_OLD_IMAGES"
  deletion_protection_enabled = true

  attribute {
    name = "childPhoneNumber"
    type = "S"
  }

  attribute {
    name = "ruleId"
    type = "S"
  }

  attribute {
    name = "ftdDeviceId"
    type = "S"
  }

  attribute {
    name = "lastVerified"
    type = "S"
  }

  attribute {
    name = "livePrivateIP"
    type = "S"
  }

  attribute {
    name = "createdAt"
    type = "S"
  }

  global_secondary_index {
    name            = "DeviceIndex"
    hash_key        = "ftdDeviceId"
    range_key       = "lastVerified"
    read_capacity   = max(try(local.ftd_rule_mapping_indexes["DeviceIndex"].read_capacity, 20), 20)
    write_capacity  = max(try(local.ftd_rule_mapping_indexes["DeviceIndex"].write_capacity, 20), 20)
    projection_type = "ALL"
  }

  global_secondary_index {
    name            = "PrivateIPIndex"
    hash_key        = "livePrivateIP"
    range_key       = "createdAt"
    read_capacity   = max(try(local.ftd_rule_mapping_indexes["PrivateIPIndex"].read_capacity, 20), 20)
    write_capacity  = max(try(local.ftd_rule_mapping_indexes["PrivateIPIndex"].write_capacity, 20), 20)
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

  lifecycle {
    prevent_destroy = true
    ignore_changes  = [read_capacity, write_capacity]
  }
}

# The current addresses of a child's devices.
resource "aws_dynamodb_table" "subscriber_sessions" {
  name                        = "SubscriberSessions"
  billing_mode                = "PAY_PER_REQUEST"
  hash_key                    = "childPhoneNumber"
  range_key                   = "sessionId"
  stream_enabled              = true
  stream_view_type            = "NEW_AND_OLD_IMAGES"
  deletion_protection_enabled = true

  attribute {
    name = "childPhoneNumber"
    type = "S"
  }

  attribute {
    name = "sessionId"
    type = "S"
  }

  attribute {
    name = "livePrivateIP"
    type = "S"
  }

  attribute {
    name = "startedAt"
    type = "S"
  }

  global_secondary_index {
    name            = "PrivateIPIndex"
    hash_key        = "livePrivateIP"
    range_key       = "startedAt"
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

  lifecycle {
    prevent_destroy = true
  }
}

# What was done once and must not be done again.
resource "aws_dynamodb_table" "receipts" {
  name                        = "receipts"
  billing_mode                = "PAY_PER_REQUEST"
  hash_key                    = "id"
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

  lifecycle {
    prevent_destroy = true
  }
}
