# Printed by tablewright design repository parental: change the design and print it again.

resource "aws_cloudtrail" "trail" {
  count                         = var.data_events ? 1 : 0
  name                          = "parental-prod-items"
  s3_bucket_name                = aws_s3_bucket.trail[0].id
  include_global_service_events = false
  is_multi_region_trail         = false
  enable_log_file_validation    = true
  depends_on                    = [aws_s3_bucket_policy.trail]

  advanced_event_selector {
    name = "Items of these tables"

    field_selector {
      field  = "eventCategory"
      equals = ["Data"]
    }

    field_selector {
      field  = "resources.type"
      equals = ["AWS::DynamoDB::Table"]
    }

    field_selector {
      field = "resources.ARN"
      equals = [
        module.parental_families.arn,
        module.child_profiles.arn,
        module.blocked_request_metrics.arn,
        module.ingest_receipts.arn,
        module.parental_policies.arn,
        module.application_registry.arn,
        module.enforcement_history.arn,
        module.ftd_rule_mapping.arn,
        module.subscriber_sessions.arn,
        module.stream_consumers.arn,
        module.receipts.arn,
      ]
    }
  }
}

resource "aws_s3_bucket" "trail" {
  count  = var.data_events ? 1 : 0
  bucket = "parental-prod-trail-${data.aws_caller_identity.current.account_id}"
}

resource "aws_s3_bucket_public_access_block" "trail" {
  count                   = var.data_events ? 1 : 0
  bucket                  = aws_s3_bucket.trail[0].id
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

resource "aws_s3_bucket_versioning" "trail" {
  count  = var.data_events ? 1 : 0
  bucket = aws_s3_bucket.trail[0].id

  versioning_configuration {
    status = "Enabled"
  }
}

resource "aws_s3_bucket_server_side_encryption_configuration" "trail" {
  count  = var.data_events ? 1 : 0
  bucket = aws_s3_bucket.trail[0].id

  rule {
    apply_server_side_encryption_by_default {
      sse_algorithm = "AES256"
    }
  }
}

resource "aws_s3_bucket_lifecycle_configuration" "trail" {
  count  = var.data_events ? 1 : 0
  bucket = aws_s3_bucket.trail[0].id

  rule {
    id     = "expiry"
    status = "Enabled"

    filter {}

    expiration {
      days = var.data_events_days
    }

    noncurrent_version_expiration {
      noncurrent_days = 30
    }
  }
}

resource "aws_s3_bucket_policy" "trail" {
  count  = var.data_events ? 1 : 0
  bucket = aws_s3_bucket.trail[0].id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid    = "TrailLooks"
        Effect = "Allow"
        Principal = {
          Service = "cloudtrail.amazonaws.com"
        }
        Action   = ["s3:GetBucketAcl"]
        Resource = [aws_s3_bucket.trail[0].arn]
        Condition = {
          StringEquals = {
            "aws:SourceArn" = "arn:aws:cloudtrail:us-east-1:${data.aws_caller_identity.current.account_id}:trail/parental-prod-items"
          }
        }
      },
      {
        Sid    = "TrailWrites"
        Effect = "Allow"
        Principal = {
          Service = "cloudtrail.amazonaws.com"
        }
        Action   = ["s3:PutObject"]
        Resource = ["${aws_s3_bucket.trail[0].arn}/AWSLogs/${data.aws_caller_identity.current.account_id}/*"]
        Condition = {
          StringEquals = {
            "aws:SourceArn" = "arn:aws:cloudtrail:us-east-1:${data.aws_caller_identity.current.account_id}:trail/parental-prod-items"
            "s3:x-amz-acl"  = "bucket-owner-full-control"
          }
        }
      },
      {
        Sid       = "NeverInTheClear"
        Effect    = "Deny"
        Principal = "*"
        Action    = ["s3:*"]
        Resource  = [aws_s3_bucket.trail[0].arn, "${aws_s3_bucket.trail[0].arn}/*"]
        Condition = {
          Bool = {
            "aws:SecureTransport" = "false"
          }
        }
      },
    ]
  })
}
