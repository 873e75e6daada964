"""docs/verbs.md is printed from the engine's own table of verbs: `python tests/test_verbs_page.py > docs/verbs.md`."""

from pathlib import Path
from typing import Any

import botocore.session
import pytest

from tablewright.engine.api.operation import WriteOperation
from tablewright.engine.api.registry import STREAM_VERBS, VERBS
from tablewright.engine.api.shapes import ListOf, MapOf, Shape, Struct

PAGE = Path(__file__).parent.parent / "docs" / "verbs.md"

INTRODUCTION = """# Verbs

Printed from the code; a test compares. Every argument of DynamoDB's API model is honoured except those in the
last column, which are refused with a ValidationException. Any other operation answers UnknownOperationException.
"""

KEPT = """## What is kept and described, and has no effect

Templates set these. The engine checks them as the service does, keeps them over restarts and shows them; it does
nothing else with them. A change is complete at once: there is no state in between, and no limit to the number of
changes a day.

- **`SSESpecification`** and `KMSMasterKeyId` of a replica. The store is not encrypted by it: use an encrypted disk.
  There is no KMS, so any well-formed key is taken, and the key of an alias has an id that is derived from the alias.
  A backup shows the key, and a restored table has it.
- **Resource policies** of tables and streams. Requests are not evaluated against them. Documents are checked (JSON,
  statements, required members, service of the actions, access for all, replacing the policy forbidden) and returned
  in the service's canonical form; names of actions and existence of principals are not checked.
- **Kinesis streaming destinations**. Nothing is sent: read the table's stream instead. A stream with a well-formed
  ARN of this region is ACTIVE, whether it exists or not; others are ENABLE_FAILED.
- **Contributor insights**. The names of the rules are those that CloudWatch would have; keys are not counted.

Policies, destinations and insights belong to one table in one region: backups and restores do not include them, and
replicas have their own.

## Filtered exports

`FilterSpecification` has the expressions of Query, refused with its messages. In an incremental export each image is
filtered alone: an item that begins to match looks as if created, one that no longer matches as if deleted.
The billed size is that of the exported items. A filtered export has more and smaller files.

## Bulk loads

`StartBulkPutItems` writes the items of a bucket's objects into an existing table, which stays in use: indexes, streams,
TTL and recovery see each item as they would one of `PutItem`. They use none of the table's capacity;
`MaxWriteRequestUnits` limits the rate, and `PerformanceTier` is only described. A load continues after a restart, and
each record is written once. Ours: failed records are in `<S3KeyPrefix>/AWSDynamoDB/<id>/errors.json` of the output
bucket (the first 1 000), lines are `{"Item": {...}}` (a line with a condition is refused, so `CONDITION_CHECK_FAILURE`
has nothing to report), `TotalInputBytes` is not shown, loads of several tables take turns by age, and a load whose
table becomes a global table ends FAILED. Amazon Ion is refused in bulk loads, imports and exports: it would need a
reader for a second set of types, and JSON says the same.
"""


def refused(shape: Shape) -> list[str]:
    """Arguments the service knows and this engine refuses, anywhere in the shape."""
    match shape:
        case Struct(_, members, _, names):
            return [*names, *(name for member in members.values() for name in refused(member))]
        case ListOf(member) | MapOf(member):
            return refused(member)
        case _:
            return []


def page() -> str:
    rows = [
        f"| {verb} | {'write' if isinstance(operation, WriteOperation) else 'read'} | "
        f"{', '.join(dict.fromkeys(refused(operation.shape)))} |"
        for verb, operation in sorted(VERBS.items())
    ]
    also = f"""
{", ".join(sorted(STREAM_VERBS))} are DynamoDB Streams: on the same port,
with `DynamoDBStreams_20120810` as their target.

{KEPT}"""
    return (
        INTRODUCTION
        + "\n| verb | kind | refused arguments |\n|---|---|---|\n"
        + "\n".join(rows)
        + "\n"
        + also
    )


def overlooked(shape: Shape, model: Any, path: str) -> list[str]:
    """Arguments of the service's model that a shape neither honours nor refuses."""
    if isinstance(shape, Struct) and model.type_name == "structure":
        known = {*shape.members, *shape.refused}
        return [path + name for name in model.members if name not in known] + [
            place
            for name, member in shape.members.items()
            for place in overlooked(member, model.members[name], f"{path}{name}.")
        ]
    if isinstance(shape, ListOf) and model.type_name == "list":
        return overlooked(shape.member, model.member, path)
    if isinstance(shape, MapOf) and model.type_name == "map":
        return overlooked(shape.member, model.value, path)
    return []


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_every_argument_of_the_services_model_is_honoured_or_refused(verb: str) -> None:
    service = "dynamodbstreams" if verb in STREAM_VERBS else "dynamodb"
    model = botocore.session.get_session().get_service_model(service)
    assert overlooked(VERBS[verb].shape, model.operation_model(verb).input_shape, "") == []


def test_the_page_of_verbs_says_what_the_engine_does() -> None:
    assert PAGE.read_text() == page(), "print it again: python tests/test_verbs_page.py > docs/verbs.md"


if __name__ == "__main__":
    print(page(), end="")
