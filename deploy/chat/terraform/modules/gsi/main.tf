# Printed by tablewright design repository chat: change the design and print it again.

locals {
  keys = flatten([for index in var.indexes : concat(flatten([index.partitionKey]), compact(flatten([index.sortKey])))])
}

locals {
  indexes = [
    for index in var.indexes : {
      name               = index.indexName
      hash_key           = flatten([index.partitionKey])[0]
      range_key          = try(compact(flatten([index.sortKey]))[0], null)
      projection_type    = index.projectionType
      non_key_attributes = try(index.nonKeyAttributes, null)
      read_capacity      = var.capacity == null ? null : max(contains(var.capacity.scaled, "read") ? try(var.existing[index.indexName].read_capacity, 0) : 0, var.capacity.read)
      write_capacity     = var.capacity == null ? null : max(contains(var.capacity.scaled, "write") ? try(var.existing[index.indexName].write_capacity, 0) : 0, var.capacity.write)
    }
  ]
}
