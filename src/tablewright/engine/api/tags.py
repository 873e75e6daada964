"""TagResource, UntagResource and ListTagsOfResource: the tags of a table."""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

import orjson

from tablewright.engine.api.operation import read_verb, write_verb
from tablewright.engine.api.shapes import Answer, ListOf, Request, Struct, Text
from tablewright.engine.catalog import Catalog, Table
from tablewright.engine.errors import ServiceError, invalid, invalid_parameter, resource_not_found
from tablewright.engine.limits import TAG_KEY_LENGTH, TAG_VALUE_LENGTH, TAGS, TAGS_PAGE
from tablewright.engine.transaction import ReadTransaction, WriteTransaction

RESOURCE_ARN = Text(1, 1283)
# The service answers TagResource and UntagResource with no body at all.
_NOTHING = cast(Answer, orjson.Fragment(b""))  # a dict would be sent as {}
TAG_LIST = ListOf(Struct("Tag", {"Key": Text(), "Value": Text()}))


@write_verb("TagResource", {"ResourceArn": RESOURCE_ARN, "Tags": TAG_LIST}, required=("ResourceArn", "Tags"))
def tag_resource(txn: WriteTransaction, request: Request) -> Answer:
    if not request["Tags"]:
        raise invalid("Atleast one Tag needs to be provided as Input.")
    table = tagged_table(txn.tables, request)
    txn.save_table(replace(table, tags=merged_tags(table.tags, request["Tags"])))
    return _NOTHING


def merged_tags(now: Mapping[str, str], asked: Sequence[Request]) -> dict[str, str]:
    given: dict[str, str] = {}
    for tag in asked:
        key, value = _checked_key(tag.get("Key")), tag.get("Value")
        if value is None or len(value) > TAG_VALUE_LENGTH or not _is_plain(value):
            raise invalid(f"The Tag Value provided is invalid, Value: {'null' if value is None else value}")
        if key.startswith("aws:"):
            raise invalid(f"Tag Key cannot be prefixed with aws:, Key: {key}")
        if key in given:
            raise invalid(f"Duplicate Tag Keys provided as input: Duplicate Tag Key found {key}")
        given[key] = value
    merged = {**now, **given}
    if len(merged) > TAGS:
        raise invalid("Number of Tags exceed the current limit for the provided ResourceArn")
    return merged


def _checked_key(key: str | None) -> str:
    if key is None or not 1 <= len(key) <= TAG_KEY_LENGTH or not _is_plain(key):
        raise invalid(f"The Tag Key provided is invalid, Key: {'null' if key is None else key}")
    return key


def _is_plain(text: str) -> bool:
    """Whether a text has letters, numbers and spaces of any script and `_.:/=+-@` only."""
    return all(char in "_.:/=+-@" or unicodedata.category(char)[0] in "LNZ" for char in text)


def tagged_table(tables: Catalog, request: Request) -> Table:
    arn = request["ResourceArn"]
    parts = arn.split(":")
    if len(parts) < 6 or parts[2] != "dynamodb" or not parts[5].startswith("table/"):
        raise invalid(f"Invalid TableArn: Invalid ResourceArn provided as input {arn}")
    if "/index/" in parts[5]:
        raise invalid_parameter(
            f"Invalid resource arn provided, only table or stream is accepted. Provided resource arn: {arn}"
        )
    table = tables.get(parts[5].partition("/")[2])
    if table is None or table.arn != arn or table.status != "ACTIVE":
        raise resource_not_found(f"Requested resource not found: ResourcArn: {arn} not found")
    return table


@write_verb(
    "UntagResource",
    {"ResourceArn": RESOURCE_ARN, "TagKeys": ListOf(Text())},
    required=("ResourceArn", "TagKeys"),
)
def untag_resource(txn: WriteTransaction, request: Request) -> Answer:
    if not request["TagKeys"]:
        raise invalid("Atleast one Tag Key needs to be provided as Input.")
    for key in request["TagKeys"]:
        _checked_key(key)
    table = tagged_table(txn.tables, request)
    remaining = {key: value for key, value in table.tags.items() if key not in request["TagKeys"]}
    txn.save_table(replace(table, tags=remaining))
    return _NOTHING


@read_verb(
    "ListTagsOfResource", {"ResourceArn": RESOURCE_ARN, "NextToken": Text()}, required=("ResourceArn",)
)
def list_tags_of_resource(txn: ReadTransaction, request: Request) -> Answer:
    try:
        table = tagged_table(txn.tables, request)
    except ServiceError as error:
        if error.name != "ResourceNotFoundException":
            raise
        # The service does not reveal whether a table exists that the caller may not see.
        arn = request["ResourceArn"]
        raise ServiceError(
            "AccessDeniedException",
            f"User is not authorized to perform: dynamodb:ListTagsOfResource on resource: {arn}",
        ) from None
    token = request.get("NextToken") or "0"
    if not (token.isascii() and token.isdecimal() and len(token) <= 3):
        raise invalid("Invalid NextToken: not one that ListTagsOfResource has given")
    start = int(token)
    tags = [{"Key": key, "Value": value} for key, value in sorted(table.tags.items())]
    answer: Answer = {"Tags": tags[start : start + TAGS_PAGE]}
    if start + TAGS_PAGE < len(tags):
        answer["NextToken"] = str(start + TAGS_PAGE)
    return answer
