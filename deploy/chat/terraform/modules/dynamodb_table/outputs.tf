# Printed by tablewright design repository chat: change the design and print it again.

output "id" {
  description = "The table, as Terraform identifies it."
  value       = one(concat(aws_dynamodb_table.table[*].id, aws_dynamodb_table.searched[*].id))
}

output "name" {
  description = "The name in DynamoDB."
  value       = one(concat(aws_dynamodb_table.table[*].name, aws_dynamodb_table.searched[*].name))
}

output "arn" {
  description = "The ARN."
  value       = one(concat(aws_dynamodb_table.table[*].arn, aws_dynamodb_table.searched[*].arn))
}

output "stream_arn" {
  description = "The ARN of its stream, if it has one."
  value       = one(concat(aws_dynamodb_table.table[*].stream_arn, aws_dynamodb_table.searched[*].stream_arn))
}
