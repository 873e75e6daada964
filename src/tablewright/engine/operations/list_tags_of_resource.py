"""ListTagsOfResource: the tags of a table, a page at a time."""

from typing import Any

from tablewright.engine.errors import ServiceError, invalid
from tablewright.engine.limits import TAGS_PAGE
from tablewright.engine.operations.tag_resource import RESOURCE_ARN, tagged_table
from tablewright.engine.shapes import Request, Struct, Text
from tablewright.engine.writing import Reading

SHAPE = Struct(
    "ListTagsOfResourceInput", {"ResourceArn": RESOURCE_ARN, "NextToken": Text()}, required=("ResourceArn",)
)


def list_tags_of_resource(reading: Reading, request: Request) -> dict[str, Any]:
    try:
        table = tagged_table(reading.tables, request)
    except ServiceError as mistake:
        if mistake.name != "ResourceNotFoundException":
            raise
        # The service does not tell a caller whether a table it may not see exists.
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
