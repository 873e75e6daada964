# Printed by tablewright design repository travel: change the design and print it again.

variable "name" {
  description = "How the table is called in DynamoDB."
  type        = string
}

variable "schema" {
  description = "The schema of the table: jsondecode(file(...)) of its .schema.json."
  type        = any
}

variable "deletion_protection" {
  description = "Whether DynamoDB refuses to delete the table."
  type        = bool
}

variable "pitr_days" {
  description = "To how many days ago it can be restored; 0: no recovery."
  type        = number
  default     = 0
}

variable "capacity" {
  description = "The units of the table and of each index; null: on demand."
  type        = object({ read = number, write = number, scaled = list(string) })
  default     = null
}

variable "encryption" {
  description = "The key; null inside: the one of the account that Amazon manages; null: the one that Amazon owns."
  type        = object({ kms_key_arn = string })
  default     = null
}

variable "replicas" {
  description = "The key of each replica by its region, or null."
  type        = map(string)
  default     = {}
}
