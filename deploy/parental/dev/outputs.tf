# Printed by tablewright terraform parental --environment dev: what is to change here is changed in the design.

output "tables" {
  description = "The tables, by the design's names for them."
  value = {
    ParentalFamilies      = aws_dynamodb_table.parental_families.arn
    ChildProfiles         = aws_dynamodb_table.child_profiles.arn
    BlockedRequestMetrics = aws_dynamodb_table.blocked_request_metrics.arn
    IngestReceipts        = aws_dynamodb_table.ingest_receipts.arn
    ParentalPolicies      = aws_dynamodb_table.parental_policies.arn
    ApplicationRegistry   = aws_dynamodb_table.application_registry.arn
    EnforcementHistory    = aws_dynamodb_table.enforcement_history.arn
    FTDRuleMapping        = aws_dynamodb_table.ftd_rule_mapping.arn
    SubscriberSessions    = aws_dynamodb_table.subscriber_sessions.arn
    stream_consumers      = aws_dynamodb_table.stream_consumers.arn
    receipts              = aws_dynamodb_table.receipts.arn
  }
}

output "streams" {
  description = "The streams that are followed."
  value = {
    ParentalFamilies    = aws_dynamodb_table.parental_families.stream_arn
    ChildProfiles       = aws_dynamodb_table.child_profiles.stream_arn
    ParentalPolicies    = aws_dynamodb_table.parental_policies.stream_arn
    ApplicationRegistry = aws_dynamodb_table.application_registry.stream_arn
    FTDRuleMapping      = aws_dynamodb_table.ftd_rule_mapping.stream_arn
    SubscriberSessions  = aws_dynamodb_table.subscriber_sessions.stream_arn
  }
}

output "roles" {
  description = "Who may do what."
  value = {
    service  = aws_iam_role.service.arn
    deployer = aws_iam_role.deployer.arn
    restorer = aws_iam_role.restorer.arn
  }
}
