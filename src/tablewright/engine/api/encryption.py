"""SSESpecification: the KMS key that a table is described with.

The engine has no KMS and does not encrypt by this key (docs/verbs.md): the key is checked for its form, stored and
described, so that templates which name one can be applied. A table without a key is "encrypted by default", which
DescribeTable does not show.
"""

import re
from dataclasses import replace
from hashlib import blake2b

from tablewright.engine.api.shapes import Request
from tablewright.engine.catalog import Table
from tablewright.engine.errors import invalid, invalid_parameter
from tablewright.engine.transaction import EngineContext

MANAGED_ALIAS = "alias/aws/dynamodb"
_KEY_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|mrk-[0-9a-f]{32}")
_ARN = re.compile(r"arn:[^:]+:kms:[^:]+:[0-9]{12}:(key/[^/]+|alias/.+)")
_ALIAS = re.compile(r"alias/[a-zA-Z0-9/_-]+")


def requested_key(asked: Request | None, place: EngineContext) -> str | None:
    """The ARN of the key that a request names; None for the default, a key that Amazon owns."""
    if asked is None:
        return None
    kind, key = asked.get("SSEType"), asked.get("KMSMasterKeyId")
    for member in ("SSEType", "KMSMasterKeyId"):
        if asked.get("Enabled") is False and asked.get(member) is not None:
            raise invalid_parameter(f"{member} can not be specified if Enabled is false")
    if kind == "AES256":
        raise invalid_parameter("SSEType AES256 is not supported")
    if key is not None and kind is None:
        raise invalid_parameter("SSEType KMS is required if KMSMasterKeyId is specified")
    return key_arn(key or MANAGED_ALIAS, place) if asked.get("Enabled") or kind else None


def key_arn(key: str, place: EngineContext) -> str:
    """The ARN of a key that is named by its id, its ARN or an alias.

    The id of an alias's key is derived from the alias, because there is no KMS to ask: the same alias is the same key.
    """
    named = key
    home = f"arn:aws:kms:{place.region}:{place.account}:"
    if (arn := _ARN.fullmatch(key)) is not None:
        home, named = key.removesuffix(arn[1]), arn[1].removeprefix("key/")
        if not named.startswith("alias/"):
            return key
    if _ALIAS.fullmatch(named):
        digits = blake2b(f"{home}{named}".encode(), digest_size=16).hexdigest()
        return f"{home}key/{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
    if not _KEY_ID.fullmatch(named):
        raise invalid(
            f"KMS validation error: com.amazonaws.services.kms.model.NotFoundException: Invalid keyId '{key}'"
        )
    return f"{home}key/{named}"


def with_changed_key(table: Table, asked: Request, place: EngineContext) -> Table:
    """The table after an UpdateTable that changes its key."""
    key = requested_key(asked, place)
    if key is None and table.encryption is None:
        raise invalid_parameter("Table is already encrypted by default")
    if key == table.encryption and key != key_arn(MANAGED_ALIAS, place):
        raise invalid_parameter(
            "Table is already encrypted with given KMSMasterKeyId. "
            "Use KMSMasterKeyId parameter if you want to change Master Key"
        )
    return replace(table, encryption=key)
