# Printed by tablewright design repository parental: change the design and print it again.

variable "region" {
  description = "The region of the tables."
  type        = string

  validation {
    condition     = var.region == "us-east-1"
    error_message = "The policies here are for us-east-1: change the region in the design, and print the repository again."
  }
}

variable "tags" {
  description = "The tags of everything that is made."
  type        = map(string)
}

variable "deletion_protection" {
  description = "Whether DynamoDB refuses to delete the tables."
  type        = bool
}

variable "pitr_days" {
  description = "To how many days ago a table can be restored; 0: no recovery."
  type        = number
}

variable "vpc_id" {
  description = "The network from which the tables are reached. None: no gateway endpoint is made."
  type        = string
  default     = null
}

variable "route_table_ids" {
  description = "The route tables of the subnets that use the endpoint."
  type        = list(string)
  default     = []
}

variable "trusted" {
  description = "Who may take on a role, by its name: { service = { Service = [...] } } or { AWS = [...] }. Without an entry: every principal that this account allows to."
  type        = map(map(list(string)))
  default     = {}

  validation {
    condition     = length(setsubtract(keys(var.trusted), ["service", "deployer", "restorer"])) == 0
    error_message = "The roles are service, deployer, restorer."
  }
}

variable "export_bucket" {
  description = "The bucket into which the deployer may export tables. None: it may not."
  type        = string
  default     = null
}

variable "data_events" {
  description = "Whether CloudTrail records every read and write of an item. It costs by the event."
  type        = bool
  default     = false
}

variable "data_events_days" {
  description = "For how many days these records are kept."
  type        = number
  default     = 400
}

variable "alarm_email" {
  description = "An e-mail address to notify of alarms and the budget; it has to confirm. None: only the topic is notified."
  type        = string
  default     = null
}
