# Printed by tablewright design repository chat: change the design and print it again.

variable "plan" {
  description = "The name of the plan."
  type        = string
}

variable "rule" {
  description = "The name of its rule."
  type        = string
}

variable "selection" {
  description = "The name of the selection of tables."
  type        = string
}

variable "schedule" {
  description = "When: a cron expression, in UTC."
  type        = string
}

variable "keep_days" {
  description = "For how many days a backup is kept."
  type        = number
}

variable "vault" {
  description = "The name of the vault."
  type        = string
}

variable "copy_vault" {
  description = "The name of the vault in the other region (aws.copy); null: no copies."
  type        = string
  default     = null
}

variable "role_arn" {
  description = "The role that AWS Backup takes on."
  type        = string
}

variable "tables" {
  description = "The ARNs of the tables."
  type        = list(string)
}
