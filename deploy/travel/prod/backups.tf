# Printed by tablewright terraform travel --environment prod: what is to change here is changed in the design.

resource "aws_backup_vault" "main" {
  name = "skratch-prod"

  lifecycle {
    prevent_destroy = true
  }
}

resource "aws_backup_vault" "copy" {
  provider = aws.us_west_2
  name     = "skratch-prod-copies"

  lifecycle {
    prevent_destroy = true
  }
}

resource "aws_backup_plan" "tables" {
  name = "travel-prod-tables"

  rule {
    rule_name         = "scheduled"
    target_vault_name = aws_backup_vault.main.name
    schedule          = "cron(0 3 * * ? *)"

    lifecycle {
      delete_after = 30
    }

    copy_action {
      destination_vault_arn = aws_backup_vault.copy.arn

      lifecycle {
        delete_after = 30
      }
    }
  }
}

resource "aws_backup_selection" "tables" {
  name         = "travel-prod-tables"
  plan_id      = aws_backup_plan.tables.id
  iam_role_arn = aws_iam_role.backup.arn
  resources    = [aws_dynamodb_table.skratch_data.arn]
}
