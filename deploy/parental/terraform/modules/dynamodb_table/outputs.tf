# Printed by tablewright design repository parental: change the design and print it again.

output "id" {
  description = "The table, as Terraform identifies it."
  value       = aws_dynamodb_table.table.id
}

output "name" {
  description = "The name in DynamoDB."
  value       = aws_dynamodb_table.table.name
}

output "arn" {
  description = "The ARN."
  value       = aws_dynamodb_table.table.arn
}

output "stream_arn" {
  description = "The ARN of its stream, if it has one."
  value       = aws_dynamodb_table.table.stream_arn
}
