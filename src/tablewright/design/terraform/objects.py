"""`objects.tf`: the bucket for what is too large for a table, if the environment has one (CC-E1).

Must hold: nothing in it is public, and no request in the clear reaches it; what is replaced or deleted, and what is
left of uploads that were never completed, goes after its time. Pages send files straight to it only from the origins
that a variable names.
"""

from typing import Any

from tablewright.design.deployment import Deployment
from tablewright.design.environments import ObjectBucket
from tablewright.design.iam import bucket_name
from tablewright.design.terraform.hcl import Block, Interpolated, Reference, block, policy
from tablewright.design.terraform.tables import LASTING, key_address
from tablewright.design.terraform.versions import ACCOUNT_ID

_BUCKET = {"bucket": Reference("aws_s3_bucket.objects.id")}
CLOSED = ("block_public_acls", "block_public_policy", "ignore_public_acls", "restrict_public_buckets")


def objects(deployment: Deployment) -> list[Block]:
    kept = deployment.environment.objects
    if kept is None:
        return []
    name = {"bucket": Interpolated(bucket_name(deployment, ACCOUNT_ID))}
    lasting = LASTING if deployment.environment.deletion_protection else None
    versioned = block("versioning_configuration", {"status": "Enabled"})
    return [
        block("resource", "aws_s3_bucket", "objects", name, lasting),
        _of("public_access_block", dict.fromkeys(CLOSED, True)),
        _of("versioning", versioned),
        _of("server_side_encryption_configuration", _encryption(deployment)),
        _of("lifecycle_configuration", *_rules(kept)),
        _of("cors_configuration", {"count": Reference("length(var.page_origins) > 0 ? 1 : 0")}, _cors()),
        _of("policy", {"policy": _never_in_the_clear()}),
    ]


def _of(kind: str, *parts: dict[str, Any] | Block) -> Block:
    return block("resource", f"aws_s3_bucket_{kind}", "objects", _BUCKET, *parts)


def _encryption(deployment: Deployment) -> Block:
    """With the key of the tables, where that is one of one's own; a bucket key asks for it less often."""
    environment = deployment.environment
    is_own = environment.encryption == "customer"
    key = Reference(f"{key_address(deployment, environment.region)}.arn") if is_own else None
    said = {"sse_algorithm": "aws:kms" if is_own else "AES256", "kms_master_key_id": key}
    inside = block("apply_server_side_encryption_by_default", said)
    return block("rule", {"bucket_key_enabled": True if is_own else None}, inside)


def _rules(kept: ObjectBucket) -> list[Block]:
    everything = block("filter")
    unfinished = block("abort_incomplete_multipart_upload", {"days_after_initiation": kept.unfinished_days})
    replaced = block("noncurrent_version_expiration", {"noncurrent_days": kept.replaced_days})
    markers = block("expiration", {"expired_object_delete_marker": True})
    rules = [_rule("unfinished", everything, unfinished), _rule("replaced", everything, markers, replaced)]
    if kept.archive is not None:
        # S3 leaves objects below 128 KiB where they are: the manifest of an archive stays readable.
        cold = block("transition", {"days": 1, "storage_class": "GLACIER"})
        rules.append(_rule("archive", block("filter", {"prefix": f"{kept.archive}/"}), cold))
    return rules


def _rule(name: str, *parts: Block) -> Block:
    return block("rule", {"id": name, "status": "Enabled"}, *parts)


def _cors() -> Block:
    """A page sends parts, and nothing else; what has arrived the server reads."""
    said = {
        "allowed_origins": Reference("var.page_origins"),
        "allowed_methods": ["PUT"],
        "allowed_headers": ["x-amz-checksum-sha256"],
        "max_age_seconds": 3600,
    }
    return block("cors_rule", said)


def _never_in_the_clear() -> Any:
    arn = "aws_s3_bucket.objects.arn"
    return policy(
        {
            "Sid": "NeverInTheClear",
            "Effect": "Deny",
            "Principal": "*",
            "Action": ["s3:*"],
            "Resource": [Reference(arn), Interpolated(f"${{{arn}}}/*")],
            "Condition": {"Bool": {"aws:SecureTransport": "false"}},
        }
    )
