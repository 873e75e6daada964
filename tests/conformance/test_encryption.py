"""SSESpecification: the key of a table is checked, kept and described."""

from __future__ import annotations

import pytest
from tests.conformance.talk import HASH_TABLE, Answered, Json, Line, NewTable, Refused, drop

INVALID = "One or more parameter values were invalid: "
KEY_ID = "8963cda5-0fac-4af1-8635-0af67d16fe14"
ALREADY = (
    INVALID + "Table is already encrypted with given KMSMasterKeyId. "
    "Use KMSMasterKeyId parameter if you want to change Master Key"
)
MANAGED = {"Enabled": True, "SSEType": "KMS"}


def own(key: str) -> Json:
    return {**MANAGED, "KMSMasterKeyId": key}


def described(answered: Answered, table: str) -> Json | None:
    found: Json | None = answered("DescribeTable", {"TableName": table})["Table"].get("SSEDescription")
    return found


def home(answered: Answered, table: str) -> str:
    """The beginning of the ARNs of keys in this region and account."""
    parts = answered("DescribeTable", {"TableName": table})["Table"]["TableArn"].split(":")
    return f"arn:aws:kms:{parts[3]}:{parts[4]}:"


def change(answered: Answered, table: str, asked: Json) -> Json:
    found: Json = answered("UpdateTable", {"TableName": table, "SSESpecification": asked})["TableDescription"]
    return found


def test_a_table_is_described_with_the_key_it_was_created_with(
    answered: Answered, new_table: NewTable
) -> None:
    table = new_table(SSESpecification=own(KEY_ID))
    arn = f"{home(answered, table)}key/{KEY_ID}"
    assert described(answered, table) == {"Status": "ENABLED", "SSEType": "KMS", "KMSMasterKeyArn": arn}


def test_a_table_without_a_key_is_described_without_encryption(
    answered: Answered, new_table: NewTable
) -> None:
    for asked in ({}, {"Enabled": False}):
        assert described(answered, new_table(SSESpecification=asked)) is None
    assert described(answered, new_table()) is None


@pytest.mark.parametrize("asked", [{"Enabled": True}, MANAGED, {"SSEType": "KMS"}])
def test_without_a_key_the_services_own_one_is_used(
    answered: Answered, new_table: NewTable, asked: Json
) -> None:
    one, other = new_table(SSESpecification=asked), new_table(SSESpecification=MANAGED)
    told = described(answered, one)
    assert told is not None
    assert told["KMSMasterKeyArn"].startswith(f"{home(answered, one)}key/")
    assert told == described(answered, other)


def test_an_arn_is_kept_and_an_alias_is_a_key(answered: Answered, new_table: NewTable) -> None:
    arn = "arn:aws:kms:us-east-1:000000000000:key/mrk-0123456789abcdef0123456789abcdef"
    told = described(answered, new_table(SSESpecification=own(arn)))
    assert told is not None
    assert told["KMSMasterKeyArn"] == arn
    told = described(answered, new_table(SSESpecification=own("alias/orders")))
    assert told is not None
    assert ":key/" in told["KMSMasterKeyArn"]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"Enabled": False, "SSEType": "KMS"}, INVALID + "SSEType can not be specified if Enabled is false"),
        (
            {"Enabled": False, "KMSMasterKeyId": KEY_ID},
            INVALID + "KMSMasterKeyId can not be specified if Enabled is false",
        ),
        (
            {"Enabled": True, "KMSMasterKeyId": KEY_ID},
            INVALID + "SSEType KMS is required if KMSMasterKeyId is specified",
        ),
        ({"Enabled": True, "SSEType": "AES256"}, INVALID + "SSEType AES256 is not supported"),
        (
            {"Enabled": True, "SSEType": "AES-256"},
            "1 validation error detected: Value 'AES-256' at 'sSESpecification.sSEType' failed to satisfy "
            "constraint: Member must satisfy enum value set: [AES256, KMS]",
        ),
    ],
)
@pytest.mark.parametrize("verb", ["CreateTable", "UpdateTable"])
def test_what_does_not_fit_together_is_refused(
    refused: Refused, line: Line, hash_table: str, verb: str, asked: Json, message: str
) -> None:
    name = "conf-encryption-refused" if verb == "CreateTable" else hash_table
    definition = {**HASH_TABLE, "BillingMode": "PAY_PER_REQUEST"} if verb == "CreateTable" else {}
    request = {"TableName": name, **definition, "SSESpecification": asked}
    assert refused(verb, request) == ("ValidationException", message)
    if verb == "CreateTable":
        drop(line, name)


def test_a_key_that_cannot_be_one_is_refused(refused: Refused, hash_table: str) -> None:
    asked = {"TableName": hash_table, "SSESpecification": own("no key at all")}
    code, message = refused("UpdateTable", asked)
    assert code == "ValidationException"
    assert message.startswith("KMS validation error: com.amazonaws.services.kms.model.NotFoundException")


def test_a_change_leaves_the_table_active_and_shows_the_old_key(
    answered: Answered, new_table: NewTable
) -> None:
    table = new_table()
    told = change(answered, table, MANAGED)
    assert (told["TableStatus"], told["SSEDescription"]) == ("ACTIVE", {"Status": "UPDATING"})
    managed = described(answered, table)
    assert managed is not None
    told = change(answered, table, own(KEY_ID))
    assert told["SSEDescription"] == {**managed, "Status": "UPDATING"}
    changed = described(answered, table)
    assert changed is not None
    assert changed["KMSMasterKeyArn"].endswith(KEY_ID)
    change(answered, table, {"Enabled": False})
    assert described(answered, table) is None


def test_what_would_change_nothing_is_refused(
    answered: Answered, refused: Refused, new_table: NewTable
) -> None:
    table = new_table()
    default = {"TableName": table, "SSESpecification": {"Enabled": False}}
    expected = INVALID + "Table is already encrypted by default"
    assert refused("UpdateTable", default) == ("ValidationException", expected)
    change(answered, table, own(KEY_ID))
    same = {"TableName": table, "SSESpecification": own(KEY_ID)}
    assert refused("UpdateTable", same) == ("ValidationException", ALREADY)


def test_the_services_own_key_may_be_asked_for_again(answered: Answered, new_table: NewTable) -> None:
    table = new_table(SSESpecification=MANAGED)
    before = described(answered, table)
    change(answered, table, own("alias/aws/dynamodb"))
    assert described(answered, table) == before


def test_encryption_is_changed_alone(refused: Refused, hash_table: str) -> None:
    asked = {"TableName": hash_table, "SSESpecification": MANAGED, "BillingMode": "PAY_PER_REQUEST"}
    words = INVALID + "Server-Side Encryption modification must be the only operation in the request"
    assert refused("UpdateTable", asked) == ("ValidationException", words)
