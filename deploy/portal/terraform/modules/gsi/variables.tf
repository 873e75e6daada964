# Printed by tablewright design repository portal: change the design and print it again.

variable "indexes" {
  description = "globalSecondaryIndexes of a schema."
  type        = any

  validation {
    condition     = length(var.indexes) <= 20
    error_message = "A table has 20 global indexes at most."
  }

  validation {
    condition     = length(distinct(var.indexes[*].indexName)) == length(var.indexes)
    error_message = "Two indexes have the same name."
  }

  validation {
    condition     = alltrue([for index in var.indexes : contains(["ALL", "KEYS_ONLY", "INCLUDE"], index.projectionType)])
    error_message = "projectionType is ALL, KEYS_ONLY or INCLUDE."
  }
}

variable "types" {
  description = "The types of the table's attributes, by name."
  type        = map(string)
}

variable "capacity" {
  description = "The units of each index, and which of them are scaled; null: on demand."
  type        = object({ read = number, write = number, scaled = list(string) })
  default     = null
}

variable "existing" {
  description = "The indexes that the table has now, by name, whose units stay if they are more."
  type        = any
  default     = {}
}
