"""ExecuteStatement: one PartiQL statement, a page of a SELECT or a write to one item."""

from typing import Any

from tablewright.engine.arguments import find_table
from tablewright.engine.errors import invalid
from tablewright.engine.item_writes import single_answer
from tablewright.engine.members import RETURN_CAPACITY
from tablewright.engine.selects import select_page
from tablewright.engine.shapes import Request, Struct, Text, Whole
from tablewright.engine.statement_tokens import FOREIGN_TOKEN
from tablewright.engine.statements import (
    CONSISTENT,
    EXISTS_ALONE,
    STATEMENT,
    Changing,
    carry_through,
    read_statement,
    reading_of,
    write_of,
)
from tablewright.engine.writing import Reading, Writing
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


def execute_statement(writing: Writing, request: Request) -> dict[str, Any]:
    asked = _asked(request)
    if isinstance(asked, Select):
        return select_page(reading_of(writing), asked, request)
    return _write(writing, asked, request)


def execute_select(reading: Reading, request: Request) -> dict[str, Any]:
    """The same for a statement that is known to be a SELECT: it needs no writer."""
    asked = _asked(request)
    assert isinstance(asked, Select), "whoever calls this has looked (statements.only_reads)"
    return select_page(reading, asked, request)


def _asked(request: Request) -> Select | Changing:
    asked = read_statement(request)
    if isinstance(asked, Exists):
        raise invalid(EXISTS_ALONE)
    return asked


def _write(writing: Writing, asked: Changing, request: Request) -> dict[str, Any]:
    if request.get("NextToken") is not None:
        raise invalid(FOREIGN_TOKEN)
    table = find_table(writing.tables, asked.table)
    decided, entries, shown = carry_through(writing, write_of(writing.tables, table, asked, request), asked)
    how = {"ReturnConsumedCapacity": request.get("ReturnConsumedCapacity")}
    answer = single_answer(writing, how, decided, entries, shown)
    items = answer.pop("Attributes", None)
    return {"Items": [] if items is None else [items], **answer}
