"""PartiQL: text -> tree -> a statement that waits for its table -> classic requests. All of it pure.

    select = statement('SELECT * FROM "pets" WHERE name = ?', [{"S": "rex"}])
    branches_of(select.where, "name", None)          # the reads it comes down to

A statement's conditions and updates are the nodes of `expressions`, so they are checked, evaluated and applied by the
same code as those of the classic verbs.
Every refusal is a `BadExpression` (mostly a `BadStatement`) whose text is the service's own sentence.
"""

from tablewright.partiql.errors import BadStatement
from tablewright.partiql.keys import Branch, KeyFound, branches_of, find_key, read_key, written_key
from tablewright.partiql.parse import parse
from tablewright.partiql.requests import projecting, worded
from tablewright.partiql.resolve import Column, Delete, Exists, Insert, Select, Statement, Update, statement

__all__ = [
    "BadStatement",
    "Branch",
    "Column",
    "Delete",
    "Exists",
    "Insert",
    "KeyFound",
    "Select",
    "Statement",
    "Update",
    "branches_of",
    "find_key",
    "parse",
    "projecting",
    "read_key",
    "statement",
    "worded",
    "written_key",
]
