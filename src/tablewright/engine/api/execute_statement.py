"""ExecuteStatement: one PartiQL statement, a page of a SELECT or a write to one item."""

from typing import Any

from tablewright.engine.api.arguments import find_table
from tablewright.engine.api.common_members import RETURN_CAPACITY
from tablewright.engine.api.operation import WriteOperation
from tablewright.engine.api.shapes import Request, Struct, Text, Whole
from tablewright.engine.errors import invalid
from tablewright.engine.mutations import single_answer
from tablewright.engine.partiql.page_tokens import FOREIGN_TOKEN
from tablewright.engine.partiql.select import select_page
from tablewright.engine.partiql.statements import (
    CONSISTENT,
    EXISTS_ALONE,
    STATEMENT,
    Changing,
    apply_statement,
    read_statement,
    read_view,
    write_of,
)
from tablewright.engine.transaction import ReadTransaction, WriteTransaction
from tablewright.partiql import Exists, Select

SHAPE = Struct(
    "ExecuteStatementInput",
    {
        **STATEMENT,
        **CONSISTENT,
        "NextToken": Text(1, 32768),
        "ReturnConsumedCapacity": RETURN_CAPACITY,
        "Limit": Whole(least=1),
    },
    required=("Statement",),
)


def execute_statement(txn: WriteTransaction, request: Request) -> dict[str, Any]:
    asked = _asked(request)
    if isinstance(asked, Select):
        return select_page(read_view(txn), asked, request)
    return _write(txn, asked, request)


def execute_select(txn: ReadTransaction, request: Request) -> dict[str, Any]:
    """The same for a statement that is known to be a SELECT: it needs no write transaction."""
    asked = _asked(request)
    assert isinstance(asked, Select), "called for SELECTs only (statements.only_reads)"
    return select_page(txn, asked, request)


def _asked(request: Request) -> Select | Changing:
    asked = read_statement(request)
    if isinstance(asked, Exists):
        raise invalid(EXISTS_ALONE)
    return asked


def _write(txn: WriteTransaction, asked: Changing, request: Request) -> dict[str, Any]:
    if request.get("NextToken") is not None:
        raise invalid(FOREIGN_TOKEN)
    table = find_table(txn.tables, asked.table)
    evaluated, entries, attributes = apply_statement(txn, write_of(txn.tables, table, asked, request), asked)
    how = {"ReturnConsumedCapacity": request.get("ReturnConsumedCapacity")}
    answer = single_answer(txn, how, evaluated, entries, attributes)
    items = answer.pop("Attributes", None)
    return {"Items": [] if items is None else [items], **answer}


OPERATION = WriteOperation("ExecuteStatement", SHAPE, execute_statement, run_reads=execute_select)
