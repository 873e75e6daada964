"""PutResourcePolicy, GetResourcePolicy, DeleteResourcePolicy, and a policy given to CreateTable.

The service applies a policy within seconds and allows a change every fifteen; the helpers wait for that.
"""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from tests.conformance.talk import COMP_TABLE, Answered, Json, Line, NewTable, Refused, Send, drop

INVALID = "One or more parameter values were invalid: "
DOCUMENT = INVALID + "Invalid policy document: "
NOT_FOUND = "Resource-based policy not found for the provided ResourceArn: "
BUSY = ("ThrottlingException", "ResourceInUseException")
UNBOUNDED = (
    "Resource-based policy grants unbounded access in one or more elements. "
    "Please revise the policy to ensure least-privilege form of access"
)
LOCKED_OUT = "The new resource policy will not allow you to update the resource policy in the future."


@pytest.fixture
def arn(answered: Answered, new_table: NewTable) -> str:
    return arn_of(answered, new_table())


def arn_of(answered: Answered, table: str) -> str:
    return str(answered("DescribeTable", {"TableName": table})["Table"]["TableArn"])


def root(arn: str) -> str:
    return f"arn:aws:iam::{arn.split(':')[4]}:root"


def statement(arn: str, **members: Any) -> Json:
    made = {
        "Sid": "Read",
        "Effect": "Allow",
        "Principal": {"AWS": root(arn)},
        "Action": "dynamodb:GetItem",
        "Resource": arn,
        **members,
    }
    return {name: value for name, value in made.items() if value is not None}


def document(arn: str, **members: Any) -> Json:
    return {"Version": "2012-10-17", "Statement": [statement(arn, **members)]}


def settled(send: Send, verb: str, request: Json) -> Json:
    for _ in range(60):
        reply = send(verb, request)
        if reply.code not in BUSY:
            break
        time.sleep(0.5)
    assert reply.status == 200, reply.raw.decode()
    return reply.body


def put(send: Send, arn: str, policy: Any, **others: Any) -> str:
    text = policy if isinstance(policy, str) else json.dumps(policy)
    return str(
        settled(send, "PutResourcePolicy", {"ResourceArn": arn, "Policy": text, **others})["RevisionId"]
    )


def policy(send: Send, arn: str, revision: str) -> str:
    """The text of the policy, once it has that revision."""
    for _ in range(20):
        told = send("GetResourcePolicy", {"ResourceArn": arn}).body
        if told.get("RevisionId") == revision:
            return str(told["Policy"])
        time.sleep(0.5)
    raise AssertionError(told)


def test_a_policy_is_kept_and_returned_in_its_canonical_form(send: Send, arn: str) -> None:
    account = arn.split(":")[4]
    scrambled = {
        "Statement": {
            "Resource": [arn],
            "Action": ["dynamodb:GetItem"],
            "Principal": {"AWS": [account, root(arn)]},
            "Effect": "allow",
            "Sid": "Read",
        },
        "Version": "2012-10-17",
    }
    revision = put(send, arn, json.dumps(scrambled, indent=4))
    assert policy(send, arn, revision) == json.dumps(document(arn), separators=(",", ":"))
    assert len(revision) == 13
    assert revision.isdecimal()


def test_the_same_policy_in_another_form_is_the_same_revision(send: Send, arn: str) -> None:
    first = put(send, arn, json.dumps(document(arn), indent=2))
    again = document(arn, Action=["dynamodb:GetItem"], Principal={"AWS": arn.split(":")[4]})
    assert put(send, arn, again) == first
    other = put(send, arn, document(arn, Action="dynamodb:PutItem"))
    assert int(other) > int(first)
    assert put(send, arn, document(arn)) > other


def test_a_policy_without_a_version_is_returned_with_the_oldest_one(send: Send, arn: str) -> None:
    revision = put(send, arn, {"Statement": [statement(arn)]})
    assert json.loads(policy(send, arn, revision))["Version"] == "2008-10-17"


def test_a_table_without_a_policy_has_none_to_get_and_deleting_it_is_no_mistake(
    answered: Answered, refused: Refused, arn: str
) -> None:
    assert refused("GetResourcePolicy", {"ResourceArn": arn}) == ("PolicyNotFoundException", NOT_FOUND + arn)
    assert answered("DeleteResourcePolicy", {"ResourceArn": arn}) == {}


def test_a_deleted_policy_is_gone(send: Send, refused: Refused, arn: str) -> None:
    revision = put(send, arn, document(arn))
    policy(send, arn, revision)
    assert settled(send, "DeleteResourcePolicy", {"ResourceArn": arn}) == {"RevisionId": revision}
    for _ in range(20):
        code = send("GetResourcePolicy", {"ResourceArn": arn}).code
        if code:
            break
        time.sleep(0.5)
    assert code == "PolicyNotFoundException"


def test_an_expected_revision_must_be_the_current_one(send: Send, refused: Refused, arn: str) -> None:
    table = arn.rpartition("/")[2]
    asked = {"ResourceArn": arn, "Policy": json.dumps(document(arn)), "ExpectedRevisionId": "123"}
    words = (
        NOT_FOUND + f"Requested update for policy with revision id 123, but table {table} has no associated"
    )
    code, message = refused("PutResourcePolicy", asked)
    assert (code, message.startswith(words)) == ("PolicyNotFoundException", True)
    first = put(send, arn, document(arn), ExpectedRevisionId="NO_POLICY")
    second = put(send, arn, document(arn, Action="dynamodb:PutItem"), ExpectedRevisionId=first)
    for verb in ("PutResourcePolicy", "DeleteResourcePolicy"):
        request = {**asked, "ExpectedRevisionId": first}
        assert refused(verb, request) == (
            "PolicyNotFoundException",
            NOT_FOUND + f"Requested update for policy with revision id {first}, but the policy associated to "
            f"target table {table} has revision id {second}.",
        )
    assert refused("PutResourcePolicy", {**asked, "ExpectedRevisionId": "NO_POLICY"}) == (
        "PolicyNotFoundException",
        NOT_FOUND + f"Requested policy update expecting none to be present for table {table}, "
        f"but a policy exists with revision id {second}.",
    )
    assert "PutItem" in policy(send, arn, second)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("{not json", DOCUMENT + "This policy contains invalid Json"),
        ("", DOCUMENT + "This policy contains invalid Json"),
        (
            {"Version": "2012-10-17", "Statement": []},
            DOCUMENT + "Could not parse the policy: Statement is empty!",
        ),
        ({"Resource": None}, DOCUMENT + "Missing required field Resource"),
        ({"Principal": "*"}, UNBOUNDED),
        ({"Principal": {"AWS": "*"}}, UNBOUNDED),
        ({"Action": "s3:GetObject"}, DOCUMENT + 'The following action names are invalid: "s3:GetObject"'),
        ({"Sid": ["a"]}, DOCUMENT + "Syntax error at position (1,1)"),
        ({"Resource": {"a": "b"}}, DOCUMENT + "Syntax error at position (1,1)"),
        ({"Principal": {"AWS": [["a"]]}}, DOCUMENT + "Syntax error at position (1,1)"),
        (" " * 21504, INVALID + "Maximum policy size of 20480 bytes exceeded"),
    ],
    ids=[
        "not JSON",
        "empty",
        "no statement",
        "no resource",
        "all",
        "all of AWS",
        "another service",
        "a list of names",
        "a map of resources",
        "a list of principals",
        "too long",
    ],
)
def test_a_document_that_is_not_a_policy_is_refused(
    refused: Refused, arn: str, given: Any, message: str
) -> None:
    if isinstance(given, dict) and "Statement" not in given:
        given = document(arn, **given)
    text = given if isinstance(given, str) else json.dumps(given)
    asked = {"ResourceArn": arn, "Policy": text}
    assert refused("PutResourcePolicy", asked) == ("ValidationException", message)
    assert refused("GetResourcePolicy", asked)[0] == "PolicyNotFoundException"


def test_statements_of_the_same_name_are_refused(refused: Refused, arn: str) -> None:
    twice = {"Version": "2012-10-17", "Statement": [statement(arn), statement(arn)]}
    asked = {"ResourceArn": arn, "Policy": json.dumps(twice)}
    words = DOCUMENT + "The Statement Ids in the policy are not unique"
    assert refused("PutResourcePolicy", asked) == ("ValidationException", words)


def test_a_policy_that_forbids_its_own_replacement_must_be_confirmed(
    send: Send, refused: Refused, arn: str
) -> None:
    closed = document(arn, Effect="Deny", Principal="*", Action="dynamodb:PutResourcePolicy")
    asked = {"ResourceArn": arn, "Policy": json.dumps(closed)}
    assert refused("PutResourcePolicy", asked) == ("AccessDeniedException", LOCKED_OUT)


def test_arns_of_other_things_are_refused(
    refused: Refused, answered: Answered, comp_table: str, hash_table: str
) -> None:
    arn = arn_of(answered, comp_table)
    place = ":".join(arn.split(":")[:5])
    table = hash_table
    other = place.rpartition(":")[0]
    expected = {
        table: INVALID + f"ARNs must start with 'arn:': {table}",
        f"{arn}/index/gsi1": INVALID + "Invalid resource arn provided, only table or stream is accepted. "
        f"Provided resource arn: {arn}/index/gsi1",
        f"{arn}/backup/0170": INVALID + f"Provided Arn is not a DynamoDB resource arn: {arn}/backup/0170",
        f"{other}:999999999999:table/{table}": "This action is only supported by accounts that match the "
        "resource owner’s account.",
        arn.replace("arn:aws:", "arn:aws-cn:"): INVALID
        + f"Invalid resource Arn: {arn.replace('arn:aws:', 'arn:aws-cn:')}",
    }
    for given, message in expected.items():
        assert refused("GetResourcePolicy", {"ResourceArn": given}) == ("ValidationException", message)
    missing = {"ResourceArn": f"{place}:table/conf-never-made"}
    words = "Requested resource not found: Table: conf-never-made not found"
    for verb in ("GetResourcePolicy", "PutResourcePolicy", "DeleteResourcePolicy"):
        request = {**missing, "Policy": json.dumps(document(arn))}
        assert refused(verb, request) == ("ResourceNotFoundException", words)


def test_a_stream_has_a_policy_of_its_own(
    send: Send, answered: Answered, refused: Refused, new_table: NewTable
) -> None:
    table = new_table(StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"})
    told = answered("DescribeTable", {"TableName": table})["Table"]
    stream = told["LatestStreamArn"]
    revision = put(send, stream, document(stream, Action="dynamodb:GetRecords"))
    assert "GetRecords" in policy(send, stream, revision)
    assert refused("GetResourcePolicy", {"ResourceArn": told["TableArn"]})[0] == "PolicyNotFoundException"
    gone = stream.rpartition("/")[0] + "/2000-01-01T00:00:00.000"
    words = f"Requested resource not found: Stream: 2000-01-01T00:00:00.000 not found for Table: {table}"
    assert refused("GetResourcePolicy", {"ResourceArn": gone}) == ("ResourceNotFoundException", words)


def test_a_table_can_be_created_with_a_policy(
    send: Send, answered: Answered, hash_table: str, new_table: NewTable
) -> None:
    other = arn_of(answered, hash_table)
    table = new_table(ResourcePolicy=json.dumps(document(other)))
    told = answered("GetResourcePolicy", {"ResourceArn": arn_of(answered, table)})
    assert json.loads(told["Policy"]) == document(other)
    assert "ResourcePolicy" not in answered("DescribeTable", {"TableName": table})["Table"]


def test_a_table_with_a_bad_policy_is_not_created(refused: Refused, line: Line) -> None:
    name = "conf-policy-refused"
    asked = {**COMP_TABLE, "TableName": name, "BillingMode": "PAY_PER_REQUEST", "ResourcePolicy": "{}"}
    words = DOCUMENT + "Could not parse the policy: Statement is empty!"
    assert refused("CreateTable", asked) == ("ValidationException", words)
    assert refused("DescribeTable", {"TableName": name})[0] == "ResourceNotFoundException"
    drop(line, name)


def test_a_restored_table_has_no_policy(
    send: Send, answered: Answered, refused: Refused, arn: str, line: Line
) -> None:
    put(send, arn, document(arn))
    table = arn.rpartition("/")[2]
    backup = answered("CreateBackup", {"TableName": table, "BackupName": "with-policy"})["BackupDetails"]
    for _ in range(200):
        told = answered("DescribeBackup", {"BackupArn": backup["BackupArn"]})["BackupDescription"]
        if told["BackupDetails"]["BackupStatus"] == "AVAILABLE":
            break
        time.sleep(0.02)
    target = f"{table}-restored"
    answered("RestoreTableFromBackup", {"TargetTableName": target, "BackupArn": backup["BackupArn"]})
    for _ in range(200):
        status = answered("DescribeTable", {"TableName": target})["Table"]["TableStatus"]
        if status == "ACTIVE":
            break
        time.sleep(0.02)
    code, _ = refused("GetResourcePolicy", {"ResourceArn": arn_of(answered, target)})
    assert code == "PolicyNotFoundException"
    drop(line, target)
    answered("DeleteBackup", {"BackupArn": backup["BackupArn"]})
