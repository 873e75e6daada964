"""ListTagsOfResource: the tags of a table, a page at a time."""

from typing import Any

from tablewright.engine.api.operation import ReadOperation
from tablewright.engine.api.shapes import Request, Struct, Text
from tablewright.engine.api.tag_resource import RESOURCE_ARN, tagged_table
from tablewright.engine.errors import ServiceError, invalid
from tablewright.engine.limits import TAGS_PAGE
from tablewright.engine.transaction import ReadTransaction

SHAPE = Struct(
    "ListTagsOfResourceInput", {"ResourceArn": RESOURCE_ARN, "NextToken": Text()}, required=("ResourceArn",)
)


def list_tags_of_resource(txn: ReadTransaction, request: Request) -> dict[str, Any]:
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
    answer: dict[str, Any] = {"Tags": tags[start : start + TAGS_PAGE]}
    if start + TAGS_PAGE < len(tags):
        answer["NextToken"] = str(start + TAGS_PAGE)
    return answer


OPERATION = ReadOperation("ListTagsOfResource", SHAPE, list_tags_of_resource)
