# Printed by tablewright design repository chat: change the design and print it again.

output "vault_name" {
  description = "The name of the vault."
  value       = aws_backup_vault.main.name
}

output "vault_arn" {
  description = "The ARN of the vault."
  value       = aws_backup_vault.main.arn
}

output "copy_vault_arn" {
  description = "The ARN of the vault in the other region."
  value       = one(aws_backup_vault.copy[*].arn)
}
