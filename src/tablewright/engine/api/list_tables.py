"""ListTables: names in order, a page at a time."""

from typing import Any

from tablewright.engine.api.operation import ReadOperation
from tablewright.engine.api.shapes import Request, Struct, Text, Whole
from tablewright.engine.transaction import ReadTransaction

MOST = 100

SHAPE = Struct(
    "ListTablesInput",
    {"ExclusiveStartTableName": Text(3, 255, "[a-zA-Z0-9_.-]+"), "Limit": Whole(least=1, most=MOST)},
)


def list_tables(txn: ReadTransaction, request: Request) -> dict[str, Any]:
    start = request.get("ExclusiveStartTableName") or ""
    limit = int(request.get("Limit") or MOST)
    names = [name for name in sorted(txn.tables) if name > start]
    answer: dict[str, Any] = {"TableNames": names[:limit]}
    if len(names) > limit:
        answer["LastEvaluatedTableName"] = names[limit - 1]
    return answer


OPERATION = ReadOperation("ListTables", SHAPE, list_tables)
