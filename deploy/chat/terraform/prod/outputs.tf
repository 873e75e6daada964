# Printed by tablewright design repository chat: change the design and print it again.

output "tables" {
  description = "The tables, by the design's names for them."
  value = {
    conversation-v2  = module.conversation_v2.arn
    work             = module.work.arn
    compliance-audit = module.compliance_audit.arn
    family           = module.family.arn
    user             = module.user.arn
    user-details     = module.user_details.arn
    access-log       = module.access_log.arn
    animal           = module.animal.arn
    animal-config    = module.animal_config.arn
    animal-details   = module.animal_details.arn
    knowledge        = module.knowledge.arn
    guardrails       = module.guardrails.arn
    review           = module.review.arn
    figures          = module.figures.arn
    agent-state      = module.agent_state.arn
    conversation     = module.conversation.arn
    session          = module.session.arn
    stream_consumers = module.stream_consumers.arn
    receipts         = module.receipts.arn
  }
}

output "streams" {
  description = "The streams that are followed."
  value = {
    conversation-v2 = module.conversation_v2.stream_arn
    conversation    = module.conversation.stream_arn
  }
}

output "roles" {
  description = "Who may do what."
  value = {
    service  = aws_iam_role.service.arn
    parent   = aws_iam_role.parent.arn
    student  = aws_iam_role.student.arn
    deployer = aws_iam_role.deployer.arn
    restorer = aws_iam_role.restorer.arn
    backup   = aws_iam_role.backup.arn
  }
}

output "vault" {
  description = "Where backups are kept."
  value       = module.backup.vault_arn
}

output "bucket" {
  description = "The bucket of objects."
  value       = aws_s3_bucket.objects.id
}

output "alarms" {
  description = "The topic of alarms."
  value       = aws_sns_topic.alarms.arn
}
