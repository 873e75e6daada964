# Printed by tablewright design repository parental: change the design and print it again.

terraform {
  required_providers {
    aws = {
      source                = "hashicorp/aws"
      configuration_aliases = [aws.copy]
    }
  }
}

resource "aws_backup_vault" "main" {
  name = var.vault
}

resource "aws_backup_vault" "copy" {
  count    = var.copy_vault == null ? 0 : 1
  provider = aws.copy
  name     = var.copy_vault
}

resource "aws_backup_plan" "tables" {
  name = var.plan

  rule {
    rule_name         = var.rule
    target_vault_name = aws_backup_vault.main.name
    schedule          = var.schedule

    lifecycle {
      delete_after = var.keep_days
    }

    dynamic "copy_action" {
      for_each = aws_backup_vault.copy[*].arn

      content {
        destination_vault_arn = copy_action.value

        lifecycle {
          delete_after = var.keep_days
        }
      }
    }
  }
}

resource "aws_backup_selection" "tables" {
  name         = var.selection
  plan_id      = aws_backup_plan.tables.id
  iam_role_arn = var.role_arn
  resources    = var.tables
}
