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
  name                = "quest-prod-conversation-v2"
  schema              = jsondecode(file("${path.module}/../../schemas/conversation-v2/conversation-v2.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
  encryption = {
    kms_key_arn = aws_kms_key.tables.arn
  }
}

# Vector index memory-index of quest-prod-conversation-v2: Terraform's provider cannot define it. Create it after the first apply, with UpdateTable (VectorIndexUpdates: embedding, 256 dimensions, COSINE).
# Tasks, mail and rounds.
module "work" {
  source              = "../modules/dynamodb_table"
  name                = "quest-prod-work"
  schema              = jsondecode(file("${path.module}/../../schemas/work/work.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
  encryption = {
    kms_key_arn = aws_kms_key.tables.arn
  }
}

# Consent, deletions and other acts, for a year.
module "compliance_audit" {
  source              = "../modules/dynamodb_table"
  name                = "quest-prod-compliance-audit"
  schema              = jsondecode(file("${path.module}/../../schemas/compliance-audit/compliance-audit.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
  encryption = {
    kms_key_arn = aws_kms_key.tables.arn
  }
}

# Families, their parents and children, invitations.
module "family" {
  source              = "../modules/dynamodb_table"
  name                = "quest-prod-family"
  schema              = jsondecode(file("${path.module}/../../schemas/family/family.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
  encryption = {
    kms_key_arn = aws_kms_key.tables.arn
  }
}

# People: roles, ages, what parents consented to, limits.
module "user" {
  source              = "../modules/dynamodb_table"
  name                = "quest-prod-user"
  schema              = jsondecode(file("${path.module}/../../schemas/user/user.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
  encryption = {
    kms_key_arn = aws_kms_key.tables.arn
  }
}

# Consents, verifications, codes, and time used, by person.
module "user_details" {
  source              = "../modules/dynamodb_table"
  name                = "quest-prod-user-details"
  schema              = jsondecode(file("${path.module}/../../schemas/user-details/user-details.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
  encryption = {
    kms_key_arn = aws_kms_key.tables.arn
  }
}

# Who looked at whose data, and why.
module "access_log" {
  source              = "../modules/dynamodb_table"
  name                = "quest-prod-access-log"
  schema              = jsondecode(file("${path.module}/../../schemas/access-log/access-log.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
  encryption = {
    kms_key_arn = aws_kms_key.tables.arn
  }
}

# The animals that children can talk to.
module "animal" {
  source              = "../modules/dynamodb_table"
  name                = "quest-prod-animal"
  schema              = jsondecode(file("${path.module}/../../schemas/animal/animal.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
  encryption = {
    kms_key_arn = aws_kms_key.tables.arn
  }
}

# What each animal is like, in versions.
module "animal_config" {
  source              = "../modules/dynamodb_table"
  name                = "quest-prod-animal-config"
  schema              = jsondecode(file("${path.module}/../../schemas/animal-config/animal_config.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
  encryption = {
    kms_key_arn = aws_kms_key.tables.arn
  }
}

# What is written beside an animal.
module "animal_details" {
  source              = "../modules/dynamodb_table"
  name                = "quest-prod-animal-details"
  schema              = jsondecode(file("${path.module}/../../schemas/animal-details/animal_details.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
  encryption = {
    kms_key_arn = aws_kms_key.tables.arn
  }
}

# Facts that animals tell.
module "knowledge" {
  source              = "../modules/dynamodb_table"
  name                = "quest-prod-knowledge"
  schema              = jsondecode(file("${path.module}/../../schemas/knowledge/knowledge.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
  encryption = {
    kms_key_arn = aws_kms_key.tables.arn
  }
}

# Phrases that are hidden, refused or escalated.
module "guardrails" {
  source              = "../modules/dynamodb_table"
  name                = "quest-prod-guardrails"
  schema              = jsondecode(file("${path.module}/../../schemas/guardrails/guardrail.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
  encryption = {
    kms_key_arn = aws_kms_key.tables.arn
  }
}

# Messages that a zookeeper should look at.
module "review" {
  source              = "../modules/dynamodb_table"
  name                = "quest-prod-review"
  schema              = jsondecode(file("${path.module}/../../schemas/review/review.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
  encryption = {
    kms_key_arn = aws_kms_key.tables.arn
  }
}

# Popularity, tokens and safety protocols by day.
module "figures" {
  source              = "../modules/dynamodb_table"
  name                = "quest-prod-figures"
  schema              = jsondecode(file("${path.module}/../../schemas/figures/figures.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
  encryption = {
    kms_key_arn = aws_kms_key.tables.arn
  }
}

# State of agent frameworks, by user.
module "agent_state" {
  source              = "../modules/dynamodb_table"
  name                = "quest-prod-agent-state"
  schema              = jsondecode(file("${path.module}/../../schemas/agent-state/agent-state.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
  encryption = {
    kms_key_arn = aws_kms_key.tables.arn
  }
}

# The first version: a conversation with its messages in one item.
module "conversation" {
  source              = "../modules/dynamodb_table"
  name                = "quest-prod-conversation"
  schema              = jsondecode(file("${path.module}/../../schemas/conversation/conversation.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
  encryption = {
    kms_key_arn = aws_kms_key.tables.arn
  }
}

# The first version: the conversations of a user.
module "session" {
  source              = "../modules/dynamodb_table"
  name                = "quest-prod-session"
  schema              = jsondecode(file("${path.module}/../../schemas/session/session.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
  encryption = {
    kms_key_arn = aws_kms_key.tables.arn
  }
}

# All consumers of all streams.
module "stream_consumers" {
  source              = "../modules/dynamodb_table"
  name                = "quest-prod-stream_consumers"
  schema              = jsondecode(file("${path.module}/../../schemas/stream_consumers/stream_consumers.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
  encryption = {
    kms_key_arn = aws_kms_key.tables.arn
  }
}

# What was done once and must not be done again.
module "receipts" {
  source              = "../modules/dynamodb_table"
  name                = "quest-prod-receipts"
  schema              = jsondecode(file("${path.module}/../../schemas/receipts/receipts.schema.json"))
  deletion_protection = var.deletion_protection
  pitr_days           = var.pitr_days
  encryption = {
    kms_key_arn = aws_kms_key.tables.arn
  }
}

# A plan that would destroy or replace one of these is refused.
resource "terraform_data" "protected" {
  for_each = {
    conversation_v2  = module.conversation_v2.id
    work             = module.work.id
    compliance_audit = module.compliance_audit.id
    family           = module.family.id
    user             = module.user.id
    user_details     = module.user_details.id
    access_log       = module.access_log.id
    animal           = module.animal.id
    animal_config    = module.animal_config.id
    animal_details   = module.animal_details.id
    knowledge        = module.knowledge.id
    guardrails       = module.guardrails.id
    review           = module.review.id
    figures          = module.figures.id
    agent_state      = module.agent_state.id
    conversation     = module.conversation.id
    session          = module.session.id
    stream_consumers = module.stream_consumers.id
    receipts         = module.receipts.id
    backup           = module.backup.vault_arn
  }
  triggers_replace = each.value

  lifecycle {
    prevent_destroy = true
  }
}

# The key of the tables and objects. Principals that may use DynamoDB or S3 here use the key through it.
resource "aws_kms_key" "tables" {
  description             = "The tables and objects of chat-prod"
  enable_key_rotation     = true
  deletion_window_in_days = 30
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid    = "Administration"
        Effect = "Allow"
        Principal = {
          AWS = "arn:aws:iam::${data.aws_caller_identity.current.account_id}:root"
        }
        Action   = ["kms:*"]
        Resource = ["*"]
      },
      {
        Sid    = "ThroughDynamoDB"
        Effect = "Allow"
        Principal = {
          AWS = "*"
        }
        Action = [
          "kms:Encrypt",
          "kms:Decrypt",
          "kms:ReEncrypt*",
          "kms:GenerateDataKey*",
          "kms:CreateGrant",
          "kms:DescribeKey",
        ]
        Resource = ["*"]
        Condition = {
          StringEquals = {
            "kms:CallerAccount" = data.aws_caller_identity.current.account_id
            "kms:ViaService"    = ["dynamodb.us-west-2.amazonaws.com", "s3.us-west-2.amazonaws.com"]
          }
        }
      },
    ]
  })

  lifecycle {
    prevent_destroy = true
  }
}

resource "aws_kms_alias" "tables" {
  name          = "alias/chat-prod"
  target_key_id = aws_kms_key.tables.key_id
}

module "backup" {
  source    = "../modules/backup"
  providers = { aws = aws, aws.copy = aws }
  plan      = "chat-prod-tables"
  rule      = "scheduled"
  selection = "chat-prod-tables"
  schedule  = var.backup_schedule
  keep_days = var.backup_keep_days
  vault     = "quest-prod"
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
