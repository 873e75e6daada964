"""`audit.tf`: a trail of every read and write of items, in a bucket of its own. Off unless asked for (SK-D24).

A trail without data events sees no item, and one with them costs by the event; so the systems keep audit entries of
their own, and this is for operators who have to prove every access to the data.
"""

from typing import Any

from tablewright.design.deployment import Deployment
from tablewright.design.terraform.hcl import (
    Block,
    Comment,
    Entry,
    FunctionCall,
    Interpolated,
    Reference,
    block,
)
from tablewright.design.terraform.tables import address

_ACCOUNT = "${data.aws_caller_identity.current.account_id}"
_ASKED = ("count", Reference("var.data_events ? 1 : 0"))
_BUCKET = ("bucket", Reference("aws_s3_bucket.trail[0].id"))


def audit(deployment: Deployment) -> list[Block | Comment]:
    tables = [Reference(f"{address(table)}.arn") for table in deployment.tables]
    only = {"eventCategory": ["Data"], "resources.type": ["AWS::DynamoDB::Table"], "resources.ARN": tables}
    selector: list[Entry | None] = [
        ("name", "Items of these tables"),
        *(block("field_selector", body=[("field", name), ("equals", said)]) for name, said in only.items()),
    ]
    return [
        _of_trail(
            "aws_cloudtrail",
            ("name", f"{deployment.title}-items"),
            ("s3_bucket_name", _BUCKET[1]),
            ("include_global_service_events", False),
            ("is_multi_region_trail", False),
            ("enable_log_file_validation", True),
            ("depends_on", [Reference("aws_s3_bucket_policy.trail")]),
            block("advanced_event_selector", body=selector),
        ),
        *_bucket(deployment),
    ]


def _of_trail(kind: str, *body: Entry) -> Block:
    return block("resource", kind, "trail", body=[_ASKED, *body])


def _bucket(deployment: Deployment) -> list[Block]:
    closed = ("block_public_acls", "block_public_policy", "ignore_public_acls", "restrict_public_buckets")
    encrypted = block("apply_server_side_encryption_by_default", body=[("sse_algorithm", "AES256")])
    expiry: list[Entry] = [
        ("id", "expiry"),
        ("status", "Enabled"),
        block("filter", body=[]),
        block("expiration", body=[("days", Reference("var.data_events_days"))]),
        block("noncurrent_version_expiration", body=[("noncurrent_days", 30)]),
    ]
    return [
        _of_trail("aws_s3_bucket", ("bucket", Interpolated(f"{deployment.title}-trail-{_ACCOUNT}"))),
        _of_trail("aws_s3_bucket_public_access_block", _BUCKET, *((name, True) for name in closed)),
        _of_trail(
            "aws_s3_bucket_versioning",
            _BUCKET,
            block("versioning_configuration", body=[("status", "Enabled")]),
        ),
        _of_trail(
            "aws_s3_bucket_server_side_encryption_configuration", _BUCKET, block("rule", body=[encrypted])
        ),
        _of_trail("aws_s3_bucket_lifecycle_configuration", _BUCKET, block("rule", body=expiry)),
        _of_trail(
            "aws_s3_bucket_policy", _BUCKET, ("policy", FunctionCall("jsonencode", _policy(deployment)))
        ),
    ]


def _policy(deployment: Deployment) -> dict[str, Any]:
    """The trail of this name may write its files; requests without TLS are denied."""
    trail = f"arn:aws:cloudtrail:{deployment.environment.region}:{_ACCOUNT}:trail/{deployment.title}-items"
    bucket, files = Reference("aws_s3_bucket.trail[0].arn"), Interpolated("${aws_s3_bucket.trail[0].arn}/*")
    written = Interpolated(f"${{aws_s3_bucket.trail[0].arn}}/AWSLogs/{_ACCOUNT}/*")
    source = {"aws:SourceArn": Interpolated(trail)}
    return {
        "Version": "2012-10-17",
        "Statement": [
            _trail_may("TrailLooks", "s3:GetBucketAcl", bucket, source),
            _trail_may("TrailWrites", "s3:PutObject", written, {**source, "s3:x-amz-acl": "bucket-owner-full-control"}),
            {
                "Sid": "NeverInTheClear",
                "Effect": "Deny",
                "Principal": "*",
                "Action": ["s3:*"],
                "Resource": [bucket, files],
                "Condition": {"Bool": {"aws:SecureTransport": "false"}},
            },
        ],
    }  # fmt: skip


def _trail_may(sid: str, action: str, resource: Any, condition: dict[str, Any]) -> dict[str, Any]:
    return {
        "Sid": sid,
        "Effect": "Allow",
        "Principal": {"Service": "cloudtrail.amazonaws.com"},
        "Action": [action],
        "Resource": [resource],
        "Condition": {"StringEquals": condition},
    }
