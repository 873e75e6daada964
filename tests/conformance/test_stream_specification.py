"""StreamSpecification on CreateTable and UpdateTable: enabling, disabling, and what descriptions show of it.

Elsewhere: what a stream holds (test_get_records.py).
"""

from __future__ import annotations

import re

import pytest
from tests.conformance.stream_talk import VIEWS, arn_of, specification
from tests.conformance.talk import (
    HASH_TABLE,
    Answered,
    Json,
    Line,
    NewTable,
    Refused,
    index,
    wait_until_active,
)

INVALID = "One or more parameter values were invalid: "


def described(answered: Answered, table: str) -> Json:
    description: Json = answered("DescribeTable", {"TableName": table})["Table"]
    return description


def change(line: Line, answered: Answered, table: str, view: str | None) -> Json:
    answer = answered("UpdateTable", {"TableName": table, "StreamSpecification": specification(view)})
    wait_until_active(line, table)
    description: Json = answer["TableDescription"]
    return description


@pytest.mark.parametrize("view", VIEWS)
def test_a_table_made_with_a_stream_shows_its_view_label_and_arn(
    answered: Answered, new_table: NewTable, view: str
) -> None:
    table = described(answered, new_table(StreamSpecification=specification(view)))
    assert table["StreamSpecification"] == {"StreamEnabled": True, "StreamViewType": view}
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}", table["LatestStreamLabel"])
    assert table["LatestStreamArn"] == f"{table['TableArn']}/stream/{table['LatestStreamLabel']}"


def test_the_answer_to_create_table_has_the_arn_already(
    answered: Answered, new_table: NewTable, line: Line
) -> None:
    name = new_table()
    answered("DeleteTable", {"TableName": name})
    for _ in range(100):
        if line.call("DescribeTable", {"TableName": name}).code == "ResourceNotFoundException":
            break
    asked = {
        **HASH_TABLE,
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "StreamSpecification": specification("KEYS_ONLY"),
    }
    answer = answered("CreateTable", asked)["TableDescription"]
    assert answer["LatestStreamArn"].endswith(f":table/{name}/stream/{answer['LatestStreamLabel']}")
    wait_until_active(line, name)
    assert arn_of(answered, name) == answer["LatestStreamArn"]


@pytest.mark.parametrize("asked", [{}, {"StreamSpecification": {"StreamEnabled": False}}])
def test_a_table_without_a_stream_shows_nothing_of_one(
    answered: Answered, new_table: NewTable, asked: Json
) -> None:
    table = described(answered, new_table(**asked))
    assert not {"StreamSpecification", "LatestStreamLabel", "LatestStreamArn"} & table.keys()


def test_enabling_and_disabling_are_shown_and_the_last_arn_stays(
    line: Line, answered: Answered, new_table: NewTable
) -> None:
    table = new_table()
    answer = change(line, answered, table, "NEW_IMAGE")
    assert answer["StreamSpecification"] == specification("NEW_IMAGE")
    arn = arn_of(answered, table)
    assert answer["LatestStreamArn"] == arn
    change(line, answered, table, None)
    shown = described(answered, table)
    assert "StreamSpecification" not in shown
    assert shown["LatestStreamArn"] == arn


def test_disabling_and_enabling_makes_a_new_stream(
    line: Line, answered: Answered, new_table: NewTable
) -> None:
    table = new_table(StreamSpecification=specification("NEW_IMAGE"))
    arns = {arn_of(answered, table)}
    for view in ("OLD_IMAGE", "NEW_IMAGE"):
        change(line, answered, table, None)
        change(line, answered, table, view)
        arns.add(arn_of(answered, table))
    assert len(arns) == 3


@pytest.mark.parametrize("view", ["NEW_IMAGE", "KEYS_ONLY"])
def test_a_stream_cannot_be_enabled_twice_nor_its_view_be_changed(
    refused: Refused, new_table: NewTable, view: str
) -> None:
    table = new_table(StreamSpecification=specification("NEW_IMAGE"))
    asked = {"TableName": table, "StreamSpecification": specification(view)}
    assert refused("UpdateTable", asked) == (
        "ValidationException",
        f"Table already has an enabled stream: TableName: {table}",
    )


def test_a_stream_that_is_not_there_cannot_be_disabled(
    line: Line, answered: Answered, refused: Refused, new_table: NewTable
) -> None:
    table = new_table()
    expected = ("ValidationException", f"Table has no stream to disable: TableName: {table}")
    asked = {"TableName": table, "StreamSpecification": specification(None)}
    assert refused("UpdateTable", asked) == expected
    change(line, answered, table, "KEYS_ONLY")
    change(line, answered, table, None)
    assert refused("UpdateTable", asked) == expected


MISTAKES = {
    "enabled without a view": ({"StreamEnabled": True}, "If stream is being enabled then UpdateViewType is required"),
    "disabled with a view": (
        {"StreamEnabled": False, "StreamViewType": "KEYS_ONLY"},
        "If stream is being disabled, then UpdateViewType must not be specified",
    ),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_view_and_switch_must_agree(refused: Refused, new_table: NewTable, mistake: str) -> None:
    asked, words = MISTAKES[mistake]
    request = {"TableName": new_table(), "StreamSpecification": asked}
    assert refused("UpdateTable", request) == ("ValidationException", INVALID + words)


def test_a_new_table_s_stream_needs_a_view(refused: Refused) -> None:
    asked = {
        **HASH_TABLE,
        "TableName": "never-made",
        "BillingMode": "PAY_PER_REQUEST",
        "StreamSpecification": {"StreamEnabled": True},
    }
    assert refused("CreateTable", asked) == (
        "ValidationException",
        INVALID + "Table is being created with a stream enabled, UpdateViewType is required",
    )


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (
            {"StreamEnabled": True, "StreamViewType": "EVERYTHING"},
            "Value 'EVERYTHING' at 'streamSpecification.streamViewType' failed to satisfy constraint: "
            "Member must satisfy enum value set: [NEW_IMAGE, OLD_IMAGE, NEW_AND_OLD_IMAGES, KEYS_ONLY]",
        ),
        (
            {"StreamViewType": "NEW_IMAGE"},
            "Value null at 'streamSpecification.streamEnabled' failed to satisfy constraint: "
            "Member must not be null",
        ),
    ],
)
def test_a_specification_has_a_known_form(
    refused: Refused, new_table: NewTable, asked: Json, words: str
) -> None:
    code, message = refused("UpdateTable", {"TableName": new_table(), "StreamSpecification": asked})
    assert (code, message) == ("ValidationException", f"1 validation error detected: {words}")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"BillingMode": "PAY_PER_REQUEST"}, "You cannot modify stream status while updating table IOPS"),
        (
            {
                "AttributeDefinitions": [{"AttributeName": "g", "AttributeType": "S"}],
                "GlobalSecondaryIndexUpdates": [{"Create": index("gsi", ("g",), "ALL")}],
            },
            "You cannot create or delete index while changing stream status",
        ),
    ],
)
def test_a_stream_changes_in_a_request_of_its_own(
    refused: Refused, answered: Answered, new_table: NewTable, more: Json, words: str
) -> None:
    table = new_table()
    asked = {"TableName": table, "StreamSpecification": specification("NEW_IMAGE"), **more}
    assert refused("UpdateTable", asked) == ("ValidationException", INVALID + words)
    assert "StreamSpecification" not in described(answered, table)
