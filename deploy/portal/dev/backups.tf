# Printed by tablewright terraform portal --environment dev: what is to change here is changed in the design.

resource "aws_backup_vault" "main" {
  name = "bbws-backup-vault-dev"
}

resource "aws_backup_plan" "tables" {
  name = "portal-dev-tables"

  rule {
    rule_name         = "scheduled"
    target_vault_name = aws_backup_vault.main.name
    schedule          = "cron(0 1 * * ? *)"

    lifecycle {
      delete_after = 7
    }
  }
}

resource "aws_backup_selection" "tables" {
  name         = "portal-dev-tables"
  plan_id      = aws_backup_plan.tables.id
  iam_role_arn = aws_iam_role.backup.arn
  resources = [
    aws_dynamodb_table.tenants.arn,
    aws_dynamodb_table.products.arn,
    aws_dynamodb_table.campaigns.arn,
    aws_dynamodb_table.portal_desk.arn,
  ]
}
