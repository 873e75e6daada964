# Printed by tablewright design repository parental: change the design and print it again.

output "tables" {
  description = "The tables, by the design's names for them."
  value = {
    ParentalFamilies      = module.parental_families.arn
    ChildProfiles         = module.child_profiles.arn
    BlockedRequestMetrics = module.blocked_request_metrics.arn
    IngestReceipts        = module.ingest_receipts.arn
    ParentalPolicies      = module.parental_policies.arn
    ApplicationRegistry   = module.application_registry.arn
    EnforcementHistory    = module.enforcement_history.arn
    FTDRuleMapping        = module.ftd_rule_mapping.arn
    SubscriberSessions    = module.subscriber_sessions.arn
    stream_consumers      = module.stream_consumers.arn
    receipts              = module.receipts.arn
  }
}

output "streams" {
  description = "The streams that are followed."
  value = {
    ParentalFamilies    = module.parental_families.stream_arn
    ChildProfiles       = module.child_profiles.stream_arn
    ParentalPolicies    = module.parental_policies.stream_arn
    ApplicationRegistry = module.application_registry.stream_arn
    FTDRuleMapping      = module.ftd_rule_mapping.stream_arn
    SubscriberSessions  = module.subscriber_sessions.stream_arn
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

output "alarms" {
  description = "The topic of alarms."
  value       = aws_sns_topic.alarms.arn
}
