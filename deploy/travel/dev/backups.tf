# Printed by tablewright terraform travel --environment dev: what is to change here is changed in the design.

resource "aws_backup_vault" "main" {
  name = "skratch-dev"
}

resource "aws_backup_plan" "tables" {
  name = "travel-dev-tables"

  rule {
    rule_name         = "scheduled"
    target_vault_name = aws_backup_vault.main.name
    schedule          = "cron(0 3 * * ? *)"

    lifecycle {
      delete_after = 30
    }
  }
}

resource "aws_backup_selection" "tables" {
  name         = "travel-dev-tables"
  plan_id      = aws_backup_plan.tables.id
  iam_role_arn = aws_iam_role.backup.arn
  resources    = [aws_dynamodb_table.skratch_data.arn]
}
