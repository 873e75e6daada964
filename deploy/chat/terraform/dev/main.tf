# Printed by tablewright design repository chat: change the design and print it again.

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
  region = var.region

  default_tags {
    tags = var.tags
  }
}

data "aws_caller_identity" "current" {}

# Conversations and what belongs to them, by user.
module "conversation_v2" {
  source              = "../modules/dynamodb_table"
  name                = "quest-dev-conversation-v2"
  schema              = jsondecode(file("${path.module}/../../schemas/conversation-v2/conversation-v2.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
}

# Vector index memory-index of quest-dev-conversation-v2: Terraform's provider cannot define it. Create it after the first apply, with UpdateTable (VectorIndexUpdates: embedding, 256 dimensions, COSINE).
# Tasks, mail and rounds.
module "work" {
  source              = "../modules/dynamodb_table"
  name                = "quest-dev-work"
  schema              = jsondecode(file("${path.module}/../../schemas/work/work.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
}

# Consent, deletions and other acts, for a year.
module "compliance_audit" {
  source              = "../modules/dynamodb_table"
  name                = "quest-dev-compliance-audit"
  schema              = jsondecode(file("${path.module}/../../schemas/compliance-audit/compliance-audit.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
}

# Families, their parents and children, invitations.
module "family" {
  source              = "../modules/dynamodb_table"
  name                = "quest-dev-family"
  schema              = jsondecode(file("${path.module}/../../schemas/family/family.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
}

# People: roles, ages, what parents consented to, limits.
module "user" {
  source              = "../modules/dynamodb_table"
  name                = "quest-dev-user"
  schema              = jsondecode(file("${path.module}/../../schemas/user/user.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
}

# Consents, verifications, codes, and time used, by person.
module "user_details" {
  source              = "../modules/dynamodb_table"
  name                = "quest-dev-user-details"
  schema              = jsondecode(file("${path.module}/../../schemas/user-details/user-details.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
}

# Who looked at whose data, and why.
module "access_log" {
  source              = "../modules/dynamodb_table"
  name                = "quest-dev-access-log"
  schema              = jsondecode(file("${path.module}/../../schemas/access-log/access-log.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
}

# The animals that children can talk to.
module "animal" {
  source              = "../modules/dynamodb_table"
  name                = "quest-dev-animal"
  schema              = jsondecode(file("${path.module}/../../schemas/animal/animal.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
}

# What each animal is like, in versions.
module "animal_config" {
  source              = "../modules/dynamodb_table"
  name                = "quest-dev-animal-config"
  schema              = jsondecode(file("${path.module}/../../schemas/animal-config/animal_config.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
}

# What is written beside an animal.
module "animal_details" {
  source              = "../modules/dynamodb_table"
  name                = "quest-dev-animal-details"
  schema              = jsondecode(file("${path.module}/../../schemas/animal-details/animal_details.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
}

# Facts that animals tell.
module "knowledge" {
  source              = "../modules/dynamodb_table"
  name                = "quest-dev-knowledge"
  schema              = jsondecode(file("${path.module}/../../schemas/knowledge/knowledge.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
}

# Phrases that are hidden, refused or escalated.
module "guardrails" {
  source              = "../modules/dynamodb_table"
  name                = "quest-dev-guardrails"
  schema              = jsondecode(file("${path.module}/../../schemas/guardrails/guardrail.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
}

# Messages that a zookeeper should look at.
module "review" {
  source              = "../modules/dynamodb_table"
  name                = "quest-dev-review"
  schema              = jsondecode(file("${path.module}/../../schemas/review/review.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
}

# Popularity, tokens and safety protocols by day.
module "figures" {
  source              = "../modules/dynamodb_table"
  name                = "quest-dev-figures"
  schema              = jsondecode(file("${path.module}/../../schemas/figures/figures.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
}

# State of agent frameworks, by user.
module "agent_state" {
  source              = "../modules/dynamodb_table"
  name                = "quest-dev-agent-state"
  schema              = jsondecode(file("${path.module}/../../schemas/agent-state/agent-state.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
}

# The first version: a conversation with its messages in one item.
module "conversation" {
  source              = "../modules/dynamodb_table"
  name                = "quest-dev-conversation"
  schema              = jsondecode(file("${path.module}/../../schemas/conversation/conversation.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
}

# The first version: the conversations of a user.
module "session" {
  source              = "../modules/dynamodb_table"
  name                = "quest-dev-session"
  schema              = jsondecode(file("${path.module}/../../schemas/session/session.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
}

# All consumers of all streams.
module "stream_consumers" {
  source              = "../modules/dynamodb_table"
  name                = "quest-dev-stream_consumers"
  schema              = jsondecode(file("${path.module}/../../schemas/stream_consumers/stream_consumers.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
}

# What was done once and must not be done again.
module "receipts" {
  source              = "../modules/dynamodb_table"
  name                = "quest-dev-receipts"
  schema              = jsondecode(file("${path.module}/../../schemas/receipts/receipts.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
}

module "backup" {
  source    = "../modules/backup"
  providers = { aws = aws, aws.copy = aws }
  plan      = "chat-dev-tables"
  rule      = "scheduled"
  selection = "chat-dev-tables"
  schedule  = var.backup_schedule
  keep_days = var.backup_keep_days
  vault     = "quest-dev"
  role_arn  = aws_iam_role.backup.arn
  tables = [
    module.conversation_v2.arn,
    module.work.arn,
    module.compliance_audit.arn,
    module.family.arn,
    module.user.arn,
    module.user_details.arn,
    module.access_log.arn,
    module.animal.arn,
    module.animal_config.arn,
    module.animal_details.arn,
    module.knowledge.arn,
    module.guardrails.arn,
    module.review.arn,
    module.figures.arn,
    module.agent_state.arn,
    module.conversation.arn,
    module.session.arn,
  ]
}
