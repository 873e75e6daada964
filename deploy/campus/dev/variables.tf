# Printed by tablewright terraform campus --environment dev: what is to change here is changed in the design.

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

variable "page_origins" {
  description = "The origins of the pages that send files straight to the bucket of objects, such as https://campus.example. None: the service receives them."
  type        = list(string)
  default     = []
}
