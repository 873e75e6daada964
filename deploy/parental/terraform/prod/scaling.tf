# Printed by tablewright design repository parental: change the design and print it again.

resource "aws_appautoscaling_target" "parental_policies_read" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${module.parental_policies.name}"
  scalable_dimension = "dynamodb:table:ReadCapacityUnits"
  min_capacity       = 10
  max_capacity       = 200
}

resource "aws_appautoscaling_policy" "parental_policies_read" {
  name               = "parental_policies_read"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.parental_policies_read.service_namespace
  resource_id        = aws_appautoscaling_target.parental_policies_read.resource_id
  scalable_dimension = aws_appautoscaling_target.parental_policies_read.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value = 70

    predefined_metric_specification {
      predefined_metric_type = "DynamoDBReadCapacityUtilization"
    }
  }
}

resource "aws_appautoscaling_target" "parental_policies_write" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${module.parental_policies.name}"
  scalable_dimension = "dynamodb:table:WriteCapacityUnits"
  min_capacity       = 5
  max_capacity       = 100
}

resource "aws_appautoscaling_policy" "parental_policies_write" {
  name               = "parental_policies_write"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.parental_policies_write.service_namespace
  resource_id        = aws_appautoscaling_target.parental_policies_write.resource_id
  scalable_dimension = aws_appautoscaling_target.parental_policies_write.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value = 70

    predefined_metric_specification {
      predefined_metric_type = "DynamoDBWriteCapacityUtilization"
    }
  }
}

resource "aws_appautoscaling_target" "parental_policies_parent_email_index_read" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${module.parental_policies.name}/index/ParentEmailIndex"
  scalable_dimension = "dynamodb:index:ReadCapacityUnits"
  min_capacity       = 10
  max_capacity       = 200
}

resource "aws_appautoscaling_policy" "parental_policies_parent_email_index_read" {
  name               = "parental_policies_parent_email_index_read"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.parental_policies_parent_email_index_read.service_namespace
  resource_id        = aws_appautoscaling_target.parental_policies_parent_email_index_read.resource_id
  scalable_dimension = aws_appautoscaling_target.parental_policies_parent_email_index_read.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value = 70

    predefined_metric_specification {
      predefined_metric_type = "DynamoDBReadCapacityUtilization"
    }
  }
}

resource "aws_appautoscaling_target" "parental_policies_parent_email_index_write" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${module.parental_policies.name}/index/ParentEmailIndex"
  scalable_dimension = "dynamodb:index:WriteCapacityUnits"
  min_capacity       = 5
  max_capacity       = 100
}

resource "aws_appautoscaling_policy" "parental_policies_parent_email_index_write" {
  name               = "parental_policies_parent_email_index_write"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.parental_policies_parent_email_index_write.service_namespace
  resource_id        = aws_appautoscaling_target.parental_policies_parent_email_index_write.resource_id
  scalable_dimension = aws_appautoscaling_target.parental_policies_parent_email_index_write.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value = 70

    predefined_metric_specification {
      predefined_metric_type = "DynamoDBWriteCapacityUtilization"
    }
  }
}

resource "aws_appautoscaling_target" "application_registry_read" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${module.application_registry.name}"
  scalable_dimension = "dynamodb:table:ReadCapacityUnits"
  min_capacity       = 5
  max_capacity       = 50
}

resource "aws_appautoscaling_policy" "application_registry_read" {
  name               = "application_registry_read"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.application_registry_read.service_namespace
  resource_id        = aws_appautoscaling_target.application_registry_read.resource_id
  scalable_dimension = aws_appautoscaling_target.application_registry_read.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value = 70

    predefined_metric_specification {
      predefined_metric_type = "DynamoDBReadCapacityUtilization"
    }
  }
}

resource "aws_appautoscaling_target" "application_registry_write" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${module.application_registry.name}"
  scalable_dimension = "dynamodb:table:WriteCapacityUnits"
  min_capacity       = 1
  max_capacity       = 10
}

resource "aws_appautoscaling_policy" "application_registry_write" {
  name               = "application_registry_write"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.application_registry_write.service_namespace
  resource_id        = aws_appautoscaling_target.application_registry_write.resource_id
  scalable_dimension = aws_appautoscaling_target.application_registry_write.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value = 70

    predefined_metric_specification {
      predefined_metric_type = "DynamoDBWriteCapacityUtilization"
    }
  }
}

resource "aws_appautoscaling_target" "ftd_rule_mapping_read" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${module.ftd_rule_mapping.name}"
  scalable_dimension = "dynamodb:table:ReadCapacityUnits"
  min_capacity       = 20
  max_capacity       = 400
}

resource "aws_appautoscaling_policy" "ftd_rule_mapping_read" {
  name               = "ftd_rule_mapping_read"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.ftd_rule_mapping_read.service_namespace
  resource_id        = aws_appautoscaling_target.ftd_rule_mapping_read.resource_id
  scalable_dimension = aws_appautoscaling_target.ftd_rule_mapping_read.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value = 70

    predefined_metric_specification {
      predefined_metric_type = "DynamoDBReadCapacityUtilization"
    }
  }
}

resource "aws_appautoscaling_target" "ftd_rule_mapping_write" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${module.ftd_rule_mapping.name}"
  scalable_dimension = "dynamodb:table:WriteCapacityUnits"
  min_capacity       = 20
  max_capacity       = 400
}

resource "aws_appautoscaling_policy" "ftd_rule_mapping_write" {
  name               = "ftd_rule_mapping_write"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.ftd_rule_mapping_write.service_namespace
  resource_id        = aws_appautoscaling_target.ftd_rule_mapping_write.resource_id
  scalable_dimension = aws_appautoscaling_target.ftd_rule_mapping_write.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value = 70

    predefined_metric_specification {
      predefined_metric_type = "DynamoDBWriteCapacityUtilization"
    }
  }
}

resource "aws_appautoscaling_target" "ftd_rule_mapping_device_index_read" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${module.ftd_rule_mapping.name}/index/DeviceIndex"
  scalable_dimension = "dynamodb:index:ReadCapacityUnits"
  min_capacity       = 20
  max_capacity       = 400
}

resource "aws_appautoscaling_policy" "ftd_rule_mapping_device_index_read" {
  name               = "ftd_rule_mapping_device_index_read"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.ftd_rule_mapping_device_index_read.service_namespace
  resource_id        = aws_appautoscaling_target.ftd_rule_mapping_device_index_read.resource_id
  scalable_dimension = aws_appautoscaling_target.ftd_rule_mapping_device_index_read.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value = 70

    predefined_metric_specification {
      predefined_metric_type = "DynamoDBReadCapacityUtilization"
    }
  }
}

resource "aws_appautoscaling_target" "ftd_rule_mapping_device_index_write" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${module.ftd_rule_mapping.name}/index/DeviceIndex"
  scalable_dimension = "dynamodb:index:WriteCapacityUnits"
  min_capacity       = 20
  max_capacity       = 400
}

resource "aws_appautoscaling_policy" "ftd_rule_mapping_device_index_write" {
  name               = "ftd_rule_mapping_device_index_write"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.ftd_rule_mapping_device_index_write.service_namespace
  resource_id        = aws_appautoscaling_target.ftd_rule_mapping_device_index_write.resource_id
  scalable_dimension = aws_appautoscaling_target.ftd_rule_mapping_device_index_write.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value = 70

    predefined_metric_specification {
      predefined_metric_type = "DynamoDBWriteCapacityUtilization"
    }
  }
}

resource "aws_appautoscaling_target" "ftd_rule_mapping_private_ip_index_read" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${module.ftd_rule_mapping.name}/index/PrivateIPIndex"
  scalable_dimension = "dynamodb:index:ReadCapacityUnits"
  min_capacity       = 20
  max_capacity       = 400
}

resource "aws_appautoscaling_policy" "ftd_rule_mapping_private_ip_index_read" {
  name               = "ftd_rule_mapping_private_ip_index_read"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.ftd_rule_mapping_private_ip_index_read.service_namespace
  resource_id        = aws_appautoscaling_target.ftd_rule_mapping_private_ip_index_read.resource_id
  scalable_dimension = aws_appautoscaling_target.ftd_rule_mapping_private_ip_index_read.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value = 70

    predefined_metric_specification {
      predefined_metric_type = "DynamoDBReadCapacityUtilization"
    }
  }
}

resource "aws_appautoscaling_target" "ftd_rule_mapping_private_ip_index_write" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${module.ftd_rule_mapping.name}/index/PrivateIPIndex"
  scalable_dimension = "dynamodb:index:WriteCapacityUnits"
  min_capacity       = 20
  max_capacity       = 400
}

resource "aws_appautoscaling_policy" "ftd_rule_mapping_private_ip_index_write" {
  name               = "ftd_rule_mapping_private_ip_index_write"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.ftd_rule_mapping_private_ip_index_write.service_namespace
  resource_id        = aws_appautoscaling_target.ftd_rule_mapping_private_ip_index_write.resource_id
  scalable_dimension = aws_appautoscaling_target.ftd_rule_mapping_private_ip_index_write.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value = 70

    predefined_metric_specification {
      predefined_metric_type = "DynamoDBWriteCapacityUtilization"
    }
  }
}
