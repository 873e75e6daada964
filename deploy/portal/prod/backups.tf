# Printed by tablewright terraform portal --environment prod: what is to change here is changed in the design.

resource "aws_backup_vault" "main" {
  name = "bbws-backup-vault-prod"

  lifecycle {
    prevent_destroy = true
  }
}

resource "aws_backup_vault" "copy" {
  provider = aws.eu_west_1
  name     = "bbws-backup-vault-prod-copies"

  lifecycle {
    prevent_destroy = true
  }
}

resource "aws_backup_plan" "tables" {
  name = "portal-prod-tables"

  rule {
    rule_name         = "scheduled"
    target_vault_name = aws_backup_vault.main.name
    schedule          = "cron(0 * * * ? *)"

    lifecycle {
      delete_after = 90
    }

    copy_action {
      destination_vault_arn = aws_backup_vault.copy.arn

      lifecycle {
        delete_after = 90
      }
    }
  }
}

resource "aws_backup_selection" "tables" {
  name         = "portal-prod-tables"
  plan_id      = aws_backup_plan.tables.id
  iam_role_arn = aws_iam_role.backup.arn
  resources = [
    aws_dynamodb_table.tenants.arn,
    aws_dynamodb_table.products.arn,
    aws_dynamodb_table.campaigns.arn,
    aws_dynamodb_table.portal_desk.arn,
  ]
}
