"""PutResourcePolicy, GetResourcePolicy and DeleteResourcePolicy: the policy of a table or of its stream.

A policy is stored and returned; requests are not evaluated against it (docs/verbs.md). It takes effect at once.
Must hold: a request that expects a revision is refused if the policy has another one or does not exist.
Elsewhere: the documents (policy_documents.py).
"""

import re
from collections.abc import Mapping
from dataclasses import replace

from tablewright.engine.api.common_members import FLAG
from tablewright.engine.api.operation import read_verb, write_verb
from tablewright.engine.api.policy_documents import new_policy, shown
from tablewright.engine.api.shapes import Answer, Request, Text
from tablewright.engine.api.tags import RESOURCE_ARN
from tablewright.engine.catalog import Table
from tablewright.engine.errors import (
    ServiceError,
    invalid,
    invalid_parameter,
    resource_not_found,
    table_not_found,
)
from tablewright.engine.transaction import ReadTransaction, WriteTransaction

_REVISION = Text(1, 255)
_ARN = re.compile(r"arn:([^:]+):dynamodb:([^:]*):([^:]*):table/([^/]+)(?:/(stream|index)/([^/]+))?")
_NONE_EXPECTED = "NO_POLICY"


@write_verb(
    "PutResourcePolicy",
    {
        "ResourceArn": RESOURCE_ARN,
        "Policy": Text(),
        "ExpectedRevisionId": _REVISION,
        "ConfirmRemoveSelfResourceAccess": FLAG,
    },
    required=("ResourceArn", "Policy"),
)
def put_resource_policy(txn: WriteTransaction, request: Request) -> Answer:
    table = _table_of(txn, request["ResourceArn"])
    arn = request["ResourceArn"]
    known = table.policies.get(arn)
    _refuse_other_revision(table, known, request.get("ExpectedRevisionId"))
    made = new_policy(txn, request["Policy"], known, bool(request.get("ConfirmRemoveSelfResourceAccess")))
    if made is not known:
        # The policies of streams that were disabled since are dropped.
        there = {one: table.policies[one] for one in (table.arn, table.stream_arn) if one in table.policies}
        txn.save_table(replace(table, policies={**there, arn: made}))
    return {"RevisionId": made["revision"]}


@read_verb("GetResourcePolicy", {"ResourceArn": RESOURCE_ARN}, required=("ResourceArn",))
def get_resource_policy(txn: ReadTransaction, request: Request) -> Answer:
    arn = request["ResourceArn"]
    found = _table_of(txn, arn).policies.get(arn)
    if found is None:
        raise _not_found(arn)
    return {"Policy": shown(found), "RevisionId": found["revision"]}


@write_verb(
    "DeleteResourcePolicy",
    {"ResourceArn": RESOURCE_ARN, "ExpectedRevisionId": _REVISION},
    required=("ResourceArn",),
)
def delete_resource_policy(txn: WriteTransaction, request: Request) -> Answer:
    arn = request["ResourceArn"]
    table = _table_of(txn, arn)
    known = table.policies.get(arn)
    _refuse_other_revision(table, known, request.get("ExpectedRevisionId"))
    if known is None:
        return {}
    txn.save_table(replace(table, policies={one: p for one, p in table.policies.items() if one != arn}))
    return {"RevisionId": known["revision"]}


def _not_found(reason: str) -> ServiceError:
    return ServiceError(
        "PolicyNotFoundException", f"Resource-based policy not found for the provided ResourceArn: {reason}"
    )


def _refuse_other_revision(table: Table, known: Mapping[str, str] | None, expected: str | None) -> None:
    if expected is None:
        return
    if expected == _NONE_EXPECTED:
        if known is not None:
            raise _not_found(
                f"Requested policy update expecting none to be present for table {table.name}, "
                f"but a policy exists with revision id {known['revision']}."
            )
        return
    wanted = f"Requested update for policy with revision id {expected}"
    if known is None:
        raise _not_found(f"{wanted}, but table {table.name} has no associated policy.")
    if known["revision"] != expected:
        raise _not_found(
            f"{wanted}, but the policy associated to target table {table.name} "
            f"has revision id {known['revision']}."
        )


def _table_of(txn: ReadTransaction | WriteTransaction, arn: str) -> Table:
    """The table that an ARN names, or whose stream it names."""
    if not arn.startswith("arn:"):
        raise invalid_parameter(f"ARNs must start with 'arn:': {arn}")
    parts = _ARN.fullmatch(arn)
    if parts is None:
        raise invalid_parameter(f"Provided Arn is not a DynamoDB resource arn: {arn}")
    partition, region, account, name, kind, part = parts.groups()
    if kind == "index":
        raise invalid_parameter(
            f"Invalid resource arn provided, only table or stream is accepted. Provided resource arn: {arn}"
        )
    if account != txn.place.account:
        raise invalid("This action is only supported by accounts that match the resource owner’s account.")
    if partition != "aws" or region != txn.place.region:
        raise invalid_parameter(f"Invalid resource Arn: {arn}")
    table = txn.tables.get(name)
    if table is None or table.status != "ACTIVE":
        raise table_not_found(name)
    if part is not None and part != table.stream_label:
        raise resource_not_found(f"Requested resource not found: Stream: {part} not found for Table: {name}")
    return table
