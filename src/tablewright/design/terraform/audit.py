"""`audit.tf`: a trail of every read and write of items, in a bucket of its own. Off unless asked for (SK-D24).

A trail without data events sees no item, and one with them costs by the event; so the systems keep audit entries of
their own, and this is for operators who have to prove every access to the data.
"""

from typing import Any

from tablewright.design.deployment import Deployment
from tablewright.design.terraform.hcl import Block, Interpolated, Json, Reference, block, policy
from tablewright.design.terraform.objects import CLOSED
from tablewright.design.terraform.tables import address
from tablewright.design.terraform.versions import ACCOUNT_ID

_BUCKET = {"bucket": Reference("aws_s3_bucket.trail[0].id")}


def audit(deployment: Deployment) -> list[Block]:
    tables = [Reference(f"{address(table)}.arn") for table in deployment.tables]
    only = {"eventCategory": ["Data"], "resources.type": ["AWS::DynamoDB::Table"], "resources.ARN": tables}
    fields = [block("field_selector", {"field": name, "equals": said}) for name, said in only.items()]
    trail = {
        "name": f"{deployment.title}-items",
        "s3_bucket_name": _BUCKET["bucket"],
        "include_global_service_events": False,
        "is_multi_region_trail": False,
        "enable_log_file_validation": True,
        "depends_on": [Reference("aws_s3_bucket_policy.trail")],
    }
    selector = block("advanced_event_selector", {"name": "Items of these tables"}, *fields)
    return [_of_trail("aws_cloudtrail", trail, selector), *_bucket(deployment)]


def _of_trail(kind: str, *parts: dict[str, Any] | Block) -> Block:
    return block("resource", kind, "trail", {"count": Reference("var.data_events ? 1 : 0")}, *parts)


def _bucket(deployment: Deployment) -> list[Block]:
    encrypted = block("apply_server_side_encryption_by_default", {"sse_algorithm": "AES256"})
    versioned = block("versioning_configuration", {"status": "Enabled"})
    expiry = block(
        "rule",
        {"id": "expiry", "status": "Enabled"},
        block("filter"),
        block("expiration", {"days": Reference("var.data_events_days")}),
        block("noncurrent_version_expiration", {"noncurrent_days": 30}),
    )
    name = {"bucket": Interpolated(f"{deployment.title}-trail-{ACCOUNT_ID}")}
    rule = block("rule", encrypted)
    return [
        _of_trail("aws_s3_bucket", name),
        _of_trail("aws_s3_bucket_public_access_block", _BUCKET, dict.fromkeys(CLOSED, True)),
        _of_trail("aws_s3_bucket_versioning", _BUCKET, versioned),
        _of_trail("aws_s3_bucket_server_side_encryption_configuration", _BUCKET, rule),
        _of_trail("aws_s3_bucket_lifecycle_configuration", _BUCKET, expiry),
        _of_trail("aws_s3_bucket_policy", _BUCKET, {"policy": _policy(deployment)}),
    ]


def _policy(deployment: Deployment) -> Json:
    """The trail of this name may write its files; requests without TLS are denied."""
    trail = f"arn:aws:cloudtrail:{deployment.environment.region}:{ACCOUNT_ID}:trail/{deployment.title}-items"
    bucket, files = Reference("aws_s3_bucket.trail[0].arn"), Interpolated("${aws_s3_bucket.trail[0].arn}/*")
    written = Interpolated(f"${{aws_s3_bucket.trail[0].arn}}/AWSLogs/{ACCOUNT_ID}/*")
    source = {"aws:SourceArn": Interpolated(trail)}
    return policy(
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
    )  # fmt: skip


def _trail_may(sid: str, action: str, resource: Any, condition: dict[str, Any]) -> dict[str, Any]:
    return {
        "Sid": sid,
        "Effect": "Allow",
        "Principal": {"Service": "cloudtrail.amazonaws.com"},
        "Action": [action],
        "Resource": [resource],
        "Condition": {"StringEquals": condition},
    }
