# Printed by tablewright design repository campus: change the design and print it again.

resource "aws_appautoscaling_target" "campus_cloud_files_read" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${module.campus_cloud_files.name}"
  scalable_dimension = "dynamodb:table:ReadCapacityUnits"
  min_capacity       = 25
  max_capacity       = 500
}

resource "aws_appautoscaling_policy" "campus_cloud_files_read" {
  name               = "campus_cloud_files_read"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.campus_cloud_files_read.service_namespace
  resource_id        = aws_appautoscaling_target.campus_cloud_files_read.resource_id
  scalable_dimension = aws_appautoscaling_target.campus_cloud_files_read.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value = 70

    predefined_metric_specification {
      predefined_metric_type = "DynamoDBReadCapacityUtilization"
    }
  }
}

resource "aws_appautoscaling_target" "campus_cloud_files_write" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${module.campus_cloud_files.name}"
  scalable_dimension = "dynamodb:table:WriteCapacityUnits"
  min_capacity       = 10
  max_capacity       = 200
}

resource "aws_appautoscaling_policy" "campus_cloud_files_write" {
  name               = "campus_cloud_files_write"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.campus_cloud_files_write.service_namespace
  resource_id        = aws_appautoscaling_target.campus_cloud_files_write.resource_id
  scalable_dimension = aws_appautoscaling_target.campus_cloud_files_write.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value = 70

    predefined_metric_specification {
      predefined_metric_type = "DynamoDBWriteCapacityUtilization"
    }
  }
}

resource "aws_appautoscaling_target" "campus_cloud_files_file_id_index_read" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${module.campus_cloud_files.name}/index/FileIdIndex"
  scalable_dimension = "dynamodb:index:ReadCapacityUnits"
  min_capacity       = 25
  max_capacity       = 500
}

resource "aws_appautoscaling_policy" "campus_cloud_files_file_id_index_read" {
  name               = "campus_cloud_files_file_id_index_read"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.campus_cloud_files_file_id_index_read.service_namespace
  resource_id        = aws_appautoscaling_target.campus_cloud_files_file_id_index_read.resource_id
  scalable_dimension = aws_appautoscaling_target.campus_cloud_files_file_id_index_read.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value = 70

    predefined_metric_specification {
      predefined_metric_type = "DynamoDBReadCapacityUtilization"
    }
  }
}

resource "aws_appautoscaling_target" "campus_cloud_files_file_id_index_write" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${module.campus_cloud_files.name}/index/FileIdIndex"
  scalable_dimension = "dynamodb:index:WriteCapacityUnits"
  min_capacity       = 10
  max_capacity       = 200
}

resource "aws_appautoscaling_policy" "campus_cloud_files_file_id_index_write" {
  name               = "campus_cloud_files_file_id_index_write"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.campus_cloud_files_file_id_index_write.service_namespace
  resource_id        = aws_appautoscaling_target.campus_cloud_files_file_id_index_write.resource_id
  scalable_dimension = aws_appautoscaling_target.campus_cloud_files_file_id_index_write.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value = 70

    predefined_metric_specification {
      predefined_metric_type = "DynamoDBWriteCapacityUtilization"
    }
  }
}

resource "aws_appautoscaling_target" "campus_cloud_files_status_index_read" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${module.campus_cloud_files.name}/index/StatusIndex"
  scalable_dimension = "dynamodb:index:ReadCapacityUnits"
  min_capacity       = 25
  max_capacity       = 500
}

resource "aws_appautoscaling_policy" "campus_cloud_files_status_index_read" {
  name               = "campus_cloud_files_status_index_read"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.campus_cloud_files_status_index_read.service_namespace
  resource_id        = aws_appautoscaling_target.campus_cloud_files_status_index_read.resource_id
  scalable_dimension = aws_appautoscaling_target.campus_cloud_files_status_index_read.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value = 70

    predefined_metric_specification {
      predefined_metric_type = "DynamoDBReadCapacityUtilization"
    }
  }
}

resource "aws_appautoscaling_target" "campus_cloud_files_status_index_write" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${module.campus_cloud_files.name}/index/StatusIndex"
  scalable_dimension = "dynamodb:index:WriteCapacityUnits"
  min_capacity       = 10
  max_capacity       = 200
}

resource "aws_appautoscaling_policy" "campus_cloud_files_status_index_write" {
  name               = "campus_cloud_files_status_index_write"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.campus_cloud_files_status_index_write.service_namespace
  resource_id        = aws_appautoscaling_target.campus_cloud_files_status_index_write.resource_id
  scalable_dimension = aws_appautoscaling_target.campus_cloud_files_status_index_write.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value = 70

    predefined_metric_specification {
      predefined_metric_type = "DynamoDBWriteCapacityUtilization"
    }
  }
}

resource "aws_appautoscaling_target" "campus_cloud_files_user_uploaded_index_read" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${module.campus_cloud_files.name}/index/UserUploadedIndex"
  scalable_dimension = "dynamodb:index:ReadCapacityUnits"
  min_capacity       = 25
  max_capacity       = 500
}

resource "aws_appautoscaling_policy" "campus_cloud_files_user_uploaded_index_read" {
  name               = "campus_cloud_files_user_uploaded_index_read"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.campus_cloud_files_user_uploaded_index_read.service_namespace
  resource_id        = aws_appautoscaling_target.campus_cloud_files_user_uploaded_index_read.resource_id
  scalable_dimension = aws_appautoscaling_target.campus_cloud_files_user_uploaded_index_read.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value = 70

    predefined_metric_specification {
      predefined_metric_type = "DynamoDBReadCapacityUtilization"
    }
  }
}

resource "aws_appautoscaling_target" "campus_cloud_files_user_uploaded_index_write" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${module.campus_cloud_files.name}/index/UserUploadedIndex"
  scalable_dimension = "dynamodb:index:WriteCapacityUnits"
  min_capacity       = 10
  max_capacity       = 200
}

resource "aws_appautoscaling_policy" "campus_cloud_files_user_uploaded_index_write" {
  name               = "campus_cloud_files_user_uploaded_index_write"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.campus_cloud_files_user_uploaded_index_write.service_namespace
  resource_id        = aws_appautoscaling_target.campus_cloud_files_user_uploaded_index_write.resource_id
  scalable_dimension = aws_appautoscaling_target.campus_cloud_files_user_uploaded_index_write.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value = 70

    predefined_metric_specification {
      predefined_metric_type = "DynamoDBWriteCapacityUtilization"
    }
  }
}

resource "aws_appautoscaling_target" "campus_cloud_files_place_index_read" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${module.campus_cloud_files.name}/index/PlaceIndex"
  scalable_dimension = "dynamodb:index:ReadCapacityUnits"
  min_capacity       = 25
  max_capacity       = 500
}

resource "aws_appautoscaling_policy" "campus_cloud_files_place_index_read" {
  name               = "campus_cloud_files_place_index_read"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.campus_cloud_files_place_index_read.service_namespace
  resource_id        = aws_appautoscaling_target.campus_cloud_files_place_index_read.resource_id
  scalable_dimension = aws_appautoscaling_target.campus_cloud_files_place_index_read.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value = 70

    predefined_metric_specification {
      predefined_metric_type = "DynamoDBReadCapacityUtilization"
    }
  }
}

resource "aws_appautoscaling_target" "campus_cloud_files_place_index_write" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${module.campus_cloud_files.name}/index/PlaceIndex"
  scalable_dimension = "dynamodb:index:WriteCapacityUnits"
  min_capacity       = 10
  max_capacity       = 200
}

resource "aws_appautoscaling_policy" "campus_cloud_files_place_index_write" {
  name               = "campus_cloud_files_place_index_write"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.campus_cloud_files_place_index_write.service_namespace
  resource_id        = aws_appautoscaling_target.campus_cloud_files_place_index_write.resource_id
  scalable_dimension = aws_appautoscaling_target.campus_cloud_files_place_index_write.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value = 70

    predefined_metric_specification {
      predefined_metric_type = "DynamoDBWriteCapacityUtilization"
    }
  }
}

resource "aws_appautoscaling_target" "campus_cloud_files_purge_index_read" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${module.campus_cloud_files.name}/index/PurgeIndex"
  scalable_dimension = "dynamodb:index:ReadCapacityUnits"
  min_capacity       = 25
  max_capacity       = 500
}

resource "aws_appautoscaling_policy" "campus_cloud_files_purge_index_read" {
  name               = "campus_cloud_files_purge_index_read"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.campus_cloud_files_purge_index_read.service_namespace
  resource_id        = aws_appautoscaling_target.campus_cloud_files_purge_index_read.resource_id
  scalable_dimension = aws_appautoscaling_target.campus_cloud_files_purge_index_read.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value = 70

    predefined_metric_specification {
      predefined_metric_type = "DynamoDBReadCapacityUtilization"
    }
  }
}

resource "aws_appautoscaling_target" "campus_cloud_files_purge_index_write" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${module.campus_cloud_files.name}/index/PurgeIndex"
  scalable_dimension = "dynamodb:index:WriteCapacityUnits"
  min_capacity       = 10
  max_capacity       = 200
}

resource "aws_appautoscaling_policy" "campus_cloud_files_purge_index_write" {
  name               = "campus_cloud_files_purge_index_write"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.campus_cloud_files_purge_index_write.service_namespace
  resource_id        = aws_appautoscaling_target.campus_cloud_files_purge_index_write.resource_id
  scalable_dimension = aws_appautoscaling_target.campus_cloud_files_purge_index_write.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value = 70

    predefined_metric_specification {
      predefined_metric_type = "DynamoDBWriteCapacityUtilization"
    }
  }
}

resource "aws_appautoscaling_target" "campus_cloud_shares_read" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${module.campus_cloud_shares.name}"
  scalable_dimension = "dynamodb:table:ReadCapacityUnits"
  min_capacity       = 10
  max_capacity       = 200
}

resource "aws_appautoscaling_policy" "campus_cloud_shares_read" {
  name               = "campus_cloud_shares_read"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.campus_cloud_shares_read.service_namespace
  resource_id        = aws_appautoscaling_target.campus_cloud_shares_read.resource_id
  scalable_dimension = aws_appautoscaling_target.campus_cloud_shares_read.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value = 70

    predefined_metric_specification {
      predefined_metric_type = "DynamoDBReadCapacityUtilization"
    }
  }
}

resource "aws_appautoscaling_target" "campus_cloud_shares_write" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${module.campus_cloud_shares.name}"
  scalable_dimension = "dynamodb:table:WriteCapacityUnits"
  min_capacity       = 5
  max_capacity       = 100
}

resource "aws_appautoscaling_policy" "campus_cloud_shares_write" {
  name               = "campus_cloud_shares_write"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.campus_cloud_shares_write.service_namespace
  resource_id        = aws_appautoscaling_target.campus_cloud_shares_write.resource_id
  scalable_dimension = aws_appautoscaling_target.campus_cloud_shares_write.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value = 70

    predefined_metric_specification {
      predefined_metric_type = "DynamoDBWriteCapacityUtilization"
    }
  }
}

resource "aws_appautoscaling_target" "campus_cloud_shares_shared_with_user_index_read" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${module.campus_cloud_shares.name}/index/SharedWithUserIndex"
  scalable_dimension = "dynamodb:index:ReadCapacityUnits"
  min_capacity       = 10
  max_capacity       = 200
}

resource "aws_appautoscaling_policy" "campus_cloud_shares_shared_with_user_index_read" {
  name               = "campus_cloud_shares_shared_with_user_index_read"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.campus_cloud_shares_shared_with_user_index_read.service_namespace
  resource_id        = aws_appautoscaling_target.campus_cloud_shares_shared_with_user_index_read.resource_id
  scalable_dimension = aws_appautoscaling_target.campus_cloud_shares_shared_with_user_index_read.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value = 70

    predefined_metric_specification {
      predefined_metric_type = "DynamoDBReadCapacityUtilization"
    }
  }
}

resource "aws_appautoscaling_target" "campus_cloud_shares_shared_with_user_index_write" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${module.campus_cloud_shares.name}/index/SharedWithUserIndex"
  scalable_dimension = "dynamodb:index:WriteCapacityUnits"
  min_capacity       = 5
  max_capacity       = 100
}

resource "aws_appautoscaling_policy" "campus_cloud_shares_shared_with_user_index_write" {
  name               = "campus_cloud_shares_shared_with_user_index_write"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.campus_cloud_shares_shared_with_user_index_write.service_namespace
  resource_id        = aws_appautoscaling_target.campus_cloud_shares_shared_with_user_index_write.resource_id
  scalable_dimension = aws_appautoscaling_target.campus_cloud_shares_shared_with_user_index_write.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value = 70

    predefined_metric_specification {
      predefined_metric_type = "DynamoDBWriteCapacityUtilization"
    }
  }
}

resource "aws_appautoscaling_target" "campus_cloud_shares_share_id_index_read" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${module.campus_cloud_shares.name}/index/ShareIdIndex"
  scalable_dimension = "dynamodb:index:ReadCapacityUnits"
  min_capacity       = 10
  max_capacity       = 200
}

resource "aws_appautoscaling_policy" "campus_cloud_shares_share_id_index_read" {
  name               = "campus_cloud_shares_share_id_index_read"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.campus_cloud_shares_share_id_index_read.service_namespace
  resource_id        = aws_appautoscaling_target.campus_cloud_shares_share_id_index_read.resource_id
  scalable_dimension = aws_appautoscaling_target.campus_cloud_shares_share_id_index_read.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value = 70

    predefined_metric_specification {
      predefined_metric_type = "DynamoDBReadCapacityUtilization"
    }
  }
}

resource "aws_appautoscaling_target" "campus_cloud_shares_share_id_index_write" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${module.campus_cloud_shares.name}/index/ShareIdIndex"
  scalable_dimension = "dynamodb:index:WriteCapacityUnits"
  min_capacity       = 5
  max_capacity       = 100
}

resource "aws_appautoscaling_policy" "campus_cloud_shares_share_id_index_write" {
  name               = "campus_cloud_shares_share_id_index_write"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.campus_cloud_shares_share_id_index_write.service_namespace
  resource_id        = aws_appautoscaling_target.campus_cloud_shares_share_id_index_write.resource_id
  scalable_dimension = aws_appautoscaling_target.campus_cloud_shares_share_id_index_write.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value = 70

    predefined_metric_specification {
      predefined_metric_type = "DynamoDBWriteCapacityUtilization"
    }
  }
}

resource "aws_appautoscaling_target" "campus_cloud_shares_expiry_day_index_read" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${module.campus_cloud_shares.name}/index/ExpiryDayIndex"
  scalable_dimension = "dynamodb:index:ReadCapacityUnits"
  min_capacity       = 10
  max_capacity       = 200
}

resource "aws_appautoscaling_policy" "campus_cloud_shares_expiry_day_index_read" {
  name               = "campus_cloud_shares_expiry_day_index_read"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.campus_cloud_shares_expiry_day_index_read.service_namespace
  resource_id        = aws_appautoscaling_target.campus_cloud_shares_expiry_day_index_read.resource_id
  scalable_dimension = aws_appautoscaling_target.campus_cloud_shares_expiry_day_index_read.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value = 70

    predefined_metric_specification {
      predefined_metric_type = "DynamoDBReadCapacityUtilization"
    }
  }
}

resource "aws_appautoscaling_target" "campus_cloud_shares_expiry_day_index_write" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${module.campus_cloud_shares.name}/index/ExpiryDayIndex"
  scalable_dimension = "dynamodb:index:WriteCapacityUnits"
  min_capacity       = 5
  max_capacity       = 100
}

resource "aws_appautoscaling_policy" "campus_cloud_shares_expiry_day_index_write" {
  name               = "campus_cloud_shares_expiry_day_index_write"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.campus_cloud_shares_expiry_day_index_write.service_namespace
  resource_id        = aws_appautoscaling_target.campus_cloud_shares_expiry_day_index_write.resource_id
  scalable_dimension = aws_appautoscaling_target.campus_cloud_shares_expiry_day_index_write.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value = 70

    predefined_metric_specification {
      predefined_metric_type = "DynamoDBWriteCapacityUtilization"
    }
  }
}

resource "aws_appautoscaling_target" "campus_cloud_assignments_read" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${module.campus_cloud_assignments.name}"
  scalable_dimension = "dynamodb:table:ReadCapacityUnits"
  min_capacity       = 10
  max_capacity       = 200
}

resource "aws_appautoscaling_policy" "campus_cloud_assignments_read" {
  name               = "campus_cloud_assignments_read"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.campus_cloud_assignments_read.service_namespace
  resource_id        = aws_appautoscaling_target.campus_cloud_assignments_read.resource_id
  scalable_dimension = aws_appautoscaling_target.campus_cloud_assignments_read.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value = 70

    predefined_metric_specification {
      predefined_metric_type = "DynamoDBReadCapacityUtilization"
    }
  }
}

resource "aws_appautoscaling_target" "campus_cloud_assignments_write" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${module.campus_cloud_assignments.name}"
  scalable_dimension = "dynamodb:table:WriteCapacityUnits"
  min_capacity       = 5
  max_capacity       = 100
}

resource "aws_appautoscaling_policy" "campus_cloud_assignments_write" {
  name               = "campus_cloud_assignments_write"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.campus_cloud_assignments_write.service_namespace
  resource_id        = aws_appautoscaling_target.campus_cloud_assignments_write.resource_id
  scalable_dimension = aws_appautoscaling_target.campus_cloud_assignments_write.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value = 70

    predefined_metric_specification {
      predefined_metric_type = "DynamoDBWriteCapacityUtilization"
    }
  }
}

resource "aws_appautoscaling_target" "campus_cloud_assignments_instructor_index_read" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${module.campus_cloud_assignments.name}/index/InstructorIndex"
  scalable_dimension = "dynamodb:index:ReadCapacityUnits"
  min_capacity       = 10
  max_capacity       = 200
}

resource "aws_appautoscaling_policy" "campus_cloud_assignments_instructor_index_read" {
  name               = "campus_cloud_assignments_instructor_index_read"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.campus_cloud_assignments_instructor_index_read.service_namespace
  resource_id        = aws_appautoscaling_target.campus_cloud_assignments_instructor_index_read.resource_id
  scalable_dimension = aws_appautoscaling_target.campus_cloud_assignments_instructor_index_read.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value = 70

    predefined_metric_specification {
      predefined_metric_type = "DynamoDBReadCapacityUtilization"
    }
  }
}

resource "aws_appautoscaling_target" "campus_cloud_assignments_instructor_index_write" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${module.campus_cloud_assignments.name}/index/InstructorIndex"
  scalable_dimension = "dynamodb:index:WriteCapacityUnits"
  min_capacity       = 5
  max_capacity       = 100
}

resource "aws_appautoscaling_policy" "campus_cloud_assignments_instructor_index_write" {
  name               = "campus_cloud_assignments_instructor_index_write"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.campus_cloud_assignments_instructor_index_write.service_namespace
  resource_id        = aws_appautoscaling_target.campus_cloud_assignments_instructor_index_write.resource_id
  scalable_dimension = aws_appautoscaling_target.campus_cloud_assignments_instructor_index_write.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value = 70

    predefined_metric_specification {
      predefined_metric_type = "DynamoDBWriteCapacityUtilization"
    }
  }
}

resource "aws_appautoscaling_target" "campus_cloud_assignments_status_due_date_index_read" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${module.campus_cloud_assignments.name}/index/StatusDueDateIndex"
  scalable_dimension = "dynamodb:index:ReadCapacityUnits"
  min_capacity       = 10
  max_capacity       = 200
}

resource "aws_appautoscaling_policy" "campus_cloud_assignments_status_due_date_index_read" {
  name               = "campus_cloud_assignments_status_due_date_index_read"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.campus_cloud_assignments_status_due_date_index_read.service_namespace
  resource_id        = aws_appautoscaling_target.campus_cloud_assignments_status_due_date_index_read.resource_id
  scalable_dimension = aws_appautoscaling_target.campus_cloud_assignments_status_due_date_index_read.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value = 70

    predefined_metric_specification {
      predefined_metric_type = "DynamoDBReadCapacityUtilization"
    }
  }
}

resource "aws_appautoscaling_target" "campus_cloud_assignments_status_due_date_index_write" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${module.campus_cloud_assignments.name}/index/StatusDueDateIndex"
  scalable_dimension = "dynamodb:index:WriteCapacityUnits"
  min_capacity       = 5
  max_capacity       = 100
}

resource "aws_appautoscaling_policy" "campus_cloud_assignments_status_due_date_index_write" {
  name               = "campus_cloud_assignments_status_due_date_index_write"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.campus_cloud_assignments_status_due_date_index_write.service_namespace
  resource_id        = aws_appautoscaling_target.campus_cloud_assignments_status_due_date_index_write.resource_id
  scalable_dimension = aws_appautoscaling_target.campus_cloud_assignments_status_due_date_index_write.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value = 70

    predefined_metric_specification {
      predefined_metric_type = "DynamoDBWriteCapacityUtilization"
    }
  }
}

resource "aws_appautoscaling_target" "campus_cloud_assignments_assignment_id_index_read" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${module.campus_cloud_assignments.name}/index/AssignmentIdIndex"
  scalable_dimension = "dynamodb:index:ReadCapacityUnits"
  min_capacity       = 10
  max_capacity       = 200
}

resource "aws_appautoscaling_policy" "campus_cloud_assignments_assignment_id_index_read" {
  name               = "campus_cloud_assignments_assignment_id_index_read"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.campus_cloud_assignments_assignment_id_index_read.service_namespace
  resource_id        = aws_appautoscaling_target.campus_cloud_assignments_assignment_id_index_read.resource_id
  scalable_dimension = aws_appautoscaling_target.campus_cloud_assignments_assignment_id_index_read.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value = 70

    predefined_metric_specification {
      predefined_metric_type = "DynamoDBReadCapacityUtilization"
    }
  }
}

resource "aws_appautoscaling_target" "campus_cloud_assignments_assignment_id_index_write" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${module.campus_cloud_assignments.name}/index/AssignmentIdIndex"
  scalable_dimension = "dynamodb:index:WriteCapacityUnits"
  min_capacity       = 5
  max_capacity       = 100
}

resource "aws_appautoscaling_policy" "campus_cloud_assignments_assignment_id_index_write" {
  name               = "campus_cloud_assignments_assignment_id_index_write"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.campus_cloud_assignments_assignment_id_index_write.service_namespace
  resource_id        = aws_appautoscaling_target.campus_cloud_assignments_assignment_id_index_write.resource_id
  scalable_dimension = aws_appautoscaling_target.campus_cloud_assignments_assignment_id_index_write.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value = 70

    predefined_metric_specification {
      predefined_metric_type = "DynamoDBWriteCapacityUtilization"
    }
  }
}

resource "aws_appautoscaling_target" "campus_cloud_submissions_read" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${module.campus_cloud_submissions.name}"
  scalable_dimension = "dynamodb:table:ReadCapacityUnits"
  min_capacity       = 20
  max_capacity       = 400
}

resource "aws_appautoscaling_policy" "campus_cloud_submissions_read" {
  name               = "campus_cloud_submissions_read"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.campus_cloud_submissions_read.service_namespace
  resource_id        = aws_appautoscaling_target.campus_cloud_submissions_read.resource_id
  scalable_dimension = aws_appautoscaling_target.campus_cloud_submissions_read.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value = 70

    predefined_metric_specification {
      predefined_metric_type = "DynamoDBReadCapacityUtilization"
    }
  }
}

resource "aws_appautoscaling_target" "campus_cloud_submissions_write" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${module.campus_cloud_submissions.name}"
  scalable_dimension = "dynamodb:table:WriteCapacityUnits"
  min_capacity       = 10
  max_capacity       = 200
}

resource "aws_appautoscaling_policy" "campus_cloud_submissions_write" {
  name               = "campus_cloud_submissions_write"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.campus_cloud_submissions_write.service_namespace
  resource_id        = aws_appautoscaling_target.campus_cloud_submissions_write.resource_id
  scalable_dimension = aws_appautoscaling_target.campus_cloud_submissions_write.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value = 70

    predefined_metric_specification {
      predefined_metric_type = "DynamoDBWriteCapacityUtilization"
    }
  }
}

resource "aws_appautoscaling_target" "campus_cloud_submissions_student_index_read" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${module.campus_cloud_submissions.name}/index/StudentIndex"
  scalable_dimension = "dynamodb:index:ReadCapacityUnits"
  min_capacity       = 20
  max_capacity       = 400
}

resource "aws_appautoscaling_policy" "campus_cloud_submissions_student_index_read" {
  name               = "campus_cloud_submissions_student_index_read"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.campus_cloud_submissions_student_index_read.service_namespace
  resource_id        = aws_appautoscaling_target.campus_cloud_submissions_student_index_read.resource_id
  scalable_dimension = aws_appautoscaling_target.campus_cloud_submissions_student_index_read.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value = 70

    predefined_metric_specification {
      predefined_metric_type = "DynamoDBReadCapacityUtilization"
    }
  }
}

resource "aws_appautoscaling_target" "campus_cloud_submissions_student_index_write" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${module.campus_cloud_submissions.name}/index/StudentIndex"
  scalable_dimension = "dynamodb:index:WriteCapacityUnits"
  min_capacity       = 10
  max_capacity       = 200
}

resource "aws_appautoscaling_policy" "campus_cloud_submissions_student_index_write" {
  name               = "campus_cloud_submissions_student_index_write"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.campus_cloud_submissions_student_index_write.service_namespace
  resource_id        = aws_appautoscaling_target.campus_cloud_submissions_student_index_write.resource_id
  scalable_dimension = aws_appautoscaling_target.campus_cloud_submissions_student_index_write.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value = 70

    predefined_metric_specification {
      predefined_metric_type = "DynamoDBWriteCapacityUtilization"
    }
  }
}

resource "aws_appautoscaling_target" "campus_cloud_submissions_submission_id_index_read" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${module.campus_cloud_submissions.name}/index/SubmissionIdIndex"
  scalable_dimension = "dynamodb:index:ReadCapacityUnits"
  min_capacity       = 20
  max_capacity       = 400
}

resource "aws_appautoscaling_policy" "campus_cloud_submissions_submission_id_index_read" {
  name               = "campus_cloud_submissions_submission_id_index_read"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.campus_cloud_submissions_submission_id_index_read.service_namespace
  resource_id        = aws_appautoscaling_target.campus_cloud_submissions_submission_id_index_read.resource_id
  scalable_dimension = aws_appautoscaling_target.campus_cloud_submissions_submission_id_index_read.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value = 70

    predefined_metric_specification {
      predefined_metric_type = "DynamoDBReadCapacityUtilization"
    }
  }
}

resource "aws_appautoscaling_target" "campus_cloud_submissions_submission_id_index_write" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${module.campus_cloud_submissions.name}/index/SubmissionIdIndex"
  scalable_dimension = "dynamodb:index:WriteCapacityUnits"
  min_capacity       = 10
  max_capacity       = 200
}

resource "aws_appautoscaling_policy" "campus_cloud_submissions_submission_id_index_write" {
  name               = "campus_cloud_submissions_submission_id_index_write"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.campus_cloud_submissions_submission_id_index_write.service_namespace
  resource_id        = aws_appautoscaling_target.campus_cloud_submissions_submission_id_index_write.resource_id
  scalable_dimension = aws_appautoscaling_target.campus_cloud_submissions_submission_id_index_write.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value = 70

    predefined_metric_specification {
      predefined_metric_type = "DynamoDBWriteCapacityUtilization"
    }
  }
}

resource "aws_appautoscaling_target" "campus_cloud_submissions_status_index_read" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${module.campus_cloud_submissions.name}/index/StatusIndex"
  scalable_dimension = "dynamodb:index:ReadCapacityUnits"
  min_capacity       = 20
  max_capacity       = 400
}

resource "aws_appautoscaling_policy" "campus_cloud_submissions_status_index_read" {
  name               = "campus_cloud_submissions_status_index_read"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.campus_cloud_submissions_status_index_read.service_namespace
  resource_id        = aws_appautoscaling_target.campus_cloud_submissions_status_index_read.resource_id
  scalable_dimension = aws_appautoscaling_target.campus_cloud_submissions_status_index_read.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value = 70

    predefined_metric_specification {
      predefined_metric_type = "DynamoDBReadCapacityUtilization"
    }
  }
}

resource "aws_appautoscaling_target" "campus_cloud_submissions_status_index_write" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${module.campus_cloud_submissions.name}/index/StatusIndex"
  scalable_dimension = "dynamodb:index:WriteCapacityUnits"
  min_capacity       = 10
  max_capacity       = 200
}

resource "aws_appautoscaling_policy" "campus_cloud_submissions_status_index_write" {
  name               = "campus_cloud_submissions_status_index_write"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.campus_cloud_submissions_status_index_write.service_namespace
  resource_id        = aws_appautoscaling_target.campus_cloud_submissions_status_index_write.resource_id
  scalable_dimension = aws_appautoscaling_target.campus_cloud_submissions_status_index_write.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value = 70

    predefined_metric_specification {
      predefined_metric_type = "DynamoDBWriteCapacityUtilization"
    }
  }
}

resource "aws_appautoscaling_target" "campus_cloud_submissions_grading_queue_index_read" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${module.campus_cloud_submissions.name}/index/GradingQueueIndex"
  scalable_dimension = "dynamodb:index:ReadCapacityUnits"
  min_capacity       = 20
  max_capacity       = 400
}

resource "aws_appautoscaling_policy" "campus_cloud_submissions_grading_queue_index_read" {
  name               = "campus_cloud_submissions_grading_queue_index_read"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.campus_cloud_submissions_grading_queue_index_read.service_namespace
  resource_id        = aws_appautoscaling_target.campus_cloud_submissions_grading_queue_index_read.resource_id
  scalable_dimension = aws_appautoscaling_target.campus_cloud_submissions_grading_queue_index_read.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value = 70

    predefined_metric_specification {
      predefined_metric_type = "DynamoDBReadCapacityUtilization"
    }
  }
}

resource "aws_appautoscaling_target" "campus_cloud_submissions_grading_queue_index_write" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${module.campus_cloud_submissions.name}/index/GradingQueueIndex"
  scalable_dimension = "dynamodb:index:WriteCapacityUnits"
  min_capacity       = 10
  max_capacity       = 200
}

resource "aws_appautoscaling_policy" "campus_cloud_submissions_grading_queue_index_write" {
  name               = "campus_cloud_submissions_grading_queue_index_write"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.campus_cloud_submissions_grading_queue_index_write.service_namespace
  resource_id        = aws_appautoscaling_target.campus_cloud_submissions_grading_queue_index_write.resource_id
  scalable_dimension = aws_appautoscaling_target.campus_cloud_submissions_grading_queue_index_write.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value = 70

    predefined_metric_specification {
      predefined_metric_type = "DynamoDBWriteCapacityUtilization"
    }
  }
}

resource "aws_appautoscaling_target" "campus_cloud_users_read" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${module.campus_cloud_users.name}"
  scalable_dimension = "dynamodb:table:ReadCapacityUnits"
  min_capacity       = 5
  max_capacity       = 100
}

resource "aws_appautoscaling_policy" "campus_cloud_users_read" {
  name               = "campus_cloud_users_read"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.campus_cloud_users_read.service_namespace
  resource_id        = aws_appautoscaling_target.campus_cloud_users_read.resource_id
  scalable_dimension = aws_appautoscaling_target.campus_cloud_users_read.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value = 70

    predefined_metric_specification {
      predefined_metric_type = "DynamoDBReadCapacityUtilization"
    }
  }
}

resource "aws_appautoscaling_target" "campus_cloud_users_write" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${module.campus_cloud_users.name}"
  scalable_dimension = "dynamodb:table:WriteCapacityUnits"
  min_capacity       = 2
  max_capacity       = 40
}

resource "aws_appautoscaling_policy" "campus_cloud_users_write" {
  name               = "campus_cloud_users_write"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.campus_cloud_users_write.service_namespace
  resource_id        = aws_appautoscaling_target.campus_cloud_users_write.resource_id
  scalable_dimension = aws_appautoscaling_target.campus_cloud_users_write.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value = 70

    predefined_metric_specification {
      predefined_metric_type = "DynamoDBWriteCapacityUtilization"
    }
  }
}

resource "aws_appautoscaling_target" "campus_cloud_users_email_index_read" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${module.campus_cloud_users.name}/index/EmailIndex"
  scalable_dimension = "dynamodb:index:ReadCapacityUnits"
  min_capacity       = 5
  max_capacity       = 100
}

resource "aws_appautoscaling_policy" "campus_cloud_users_email_index_read" {
  name               = "campus_cloud_users_email_index_read"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.campus_cloud_users_email_index_read.service_namespace
  resource_id        = aws_appautoscaling_target.campus_cloud_users_email_index_read.resource_id
  scalable_dimension = aws_appautoscaling_target.campus_cloud_users_email_index_read.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value = 70

    predefined_metric_specification {
      predefined_metric_type = "DynamoDBReadCapacityUtilization"
    }
  }
}

resource "aws_appautoscaling_target" "campus_cloud_users_email_index_write" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${module.campus_cloud_users.name}/index/EmailIndex"
  scalable_dimension = "dynamodb:index:WriteCapacityUnits"
  min_capacity       = 2
  max_capacity       = 40
}

resource "aws_appautoscaling_policy" "campus_cloud_users_email_index_write" {
  name               = "campus_cloud_users_email_index_write"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.campus_cloud_users_email_index_write.service_namespace
  resource_id        = aws_appautoscaling_target.campus_cloud_users_email_index_write.resource_id
  scalable_dimension = aws_appautoscaling_target.campus_cloud_users_email_index_write.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value = 70

    predefined_metric_specification {
      predefined_metric_type = "DynamoDBWriteCapacityUtilization"
    }
  }
}
