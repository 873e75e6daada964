# Printed by tablewright terraform portal --environment sit: what is to change here is changed in the design.

resource "aws_backup_vault" "main" {
  name = "bbws-backup-vault-sit"
}

resource "aws_backup_plan" "tables" {
  name = "portal-sit-tables"

  rule {
    rule_name         = "scheduled"
    target_vault_name = aws_backup_vault.main.name
    schedule          = "cron(0 2 * * ? *)"

    lifecycle {
      delete_after = 14
    }
  }
}

resource "aws_backup_selection" "tables" {
  name         = "portal-sit-tables"
  plan_id      = aws_backup_plan.tables.id
  iam_role_arn = aws_iam_role.backup.arn
  resources = [
    aws_dynamodb_table.tenants.arn,
    aws_dynamodb_table.products.arn,
    aws_dynamodb_table.campaigns.arn,
    aws_dynamodb_table.portal_desk.arn,
  ]
}
