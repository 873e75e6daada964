# Printed by tablewright design repository travel: change the design and print it again.

output "indexes" {
  description = "The blocks of the table's resource."
  value       = local.indexes

  precondition {
    condition     = alltrue([for name in local.keys : contains(["S", "N", "B"], lookup(var.types, name, ""))])
    error_message = "An attribute in the key of an index is not in the schema, or is not of type S, N or B."
  }
}

output "keys" {
  description = "The attributes in their keys."
  value       = distinct(local.keys)
}
