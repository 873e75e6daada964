"""Text to a statement, its clauses in their order; nothing about data, parameters or tables.

    SELECT columns FROM "table"["."index"] [WHERE term] [ORDER BY key [ASC|DESC], ...]
    INSERT INTO "table" VALUE {...}
    UPDATE "table" SET path = term, ... | REMOVE path, ... [WHERE term] [RETURNING ALL|MODIFIED OLD|NEW *]
    FROM "table" [WHERE term] SET ... | REMOVE ... [RETURNING ...]
    DELETE FROM "table" [WHERE term] [RETURNING ALL OLD *]
    EXISTS(SELECT ...)

What a text means depends on the text alone, so it is remembered by text.
"""

from functools import lru_cache

from tablewright.partiql.errors import BadStatement, not_well_formed
from tablewright.partiql.lexer import END, tokens_of
from tablewright.partiql.nodes import (
    Assignment,
    Attribute,
    DeleteText,
    ExistsText,
    InsertText,
    SelectText,
    Source,
    StatementText,
    Term,
    UpdateText,
)
from tablewright.partiql.terms import Reader, path, structure, term

# Texts remembered. An ordinary one makes some 3 KB of nodes, the longest possible 200 KB.
REMEMBERED = 512
LOOK_AHEAD = 4

LEFT_OVER = "Unexpected token after expression"
EXPECTED_STATEMENT = "Expected data manipulation"
EXPECTED_TABLE = "Expected identifier for simple path"
ALIASED = "Aliasing is not supported"
ONE_TABLE = "FROM clause may only contain a single table name"
TWO_COMPONENTS = "A path may contain at most 2 components in the FROM clause"
EMPTY_COMPONENT = "Path component cannot be an empty string"
NO_INDEX = "This operation is not supported on an index"

_UNSUPPORTED = ("LIMIT", "OFFSET", "GROUP", "HAVING")


@lru_cache(maxsize=REMEMBERED)
def parse(text: str) -> tuple[StatementText, int]:
    """The statement and the number of its parameters."""
    tokens = tokens_of(text)
    # A rule looks a few tokens ahead; behind the end there is nothing but the end.
    reader = Reader(tokens + tokens[-1:] * LOOK_AHEAD)
    statement, at = _statement(reader, 0)
    if reader.kind(at) == ";":
        at += 1
    if reader.kind(at) in _UNSUPPORTED:
        raise BadStatement(f"Unsupported clause: {reader.kind(at)} at {reader.tokens[at].at}")
    reader.expect(at, END, LEFT_OVER)
    return statement, reader.parameters


def _statement(reader: Reader, at: int) -> tuple[StatementText, int]:
    match reader.kind(at), reader.kind(at + 1):
        case "SELECT", _:
            return _select(reader, at + 1)
        case "INSERT", "INTO":
            return _insert(reader, at + 2)
        case "UPDATE", _:
            return _update(reader, at + 1)
        case "FROM", _:
            return _update_from(reader, at + 1)
        case "DELETE", "FROM":
            return _delete(reader, at + 2)
        case "EXISTS", "(" if reader.kind(at + 2) == "SELECT":
            select, at = _select(reader, at + 3)
            return ExistsText(select), reader.expect(at, ")", "Expected )")
        case _:
            raise not_well_formed(EXPECTED_STATEMENT)


# --- statements ---


def _select(reader: Reader, at: int) -> tuple[SelectText, int]:
    columns: tuple[Term, ...] | None = None
    if reader.kind(at) == "*":
        at += 1
    else:
        columns, at = _columns(reader, at)
    source, at = _source(reader, reader.expect(at, "FROM", LEFT_OVER), "Unexpected term")
    at = _refuse_alias(reader, at)
    where, at = _where(reader, at)
    order, at = _order(reader, at)
    return SelectText(columns, source, where, order), at


def _columns(reader: Reader, at: int) -> tuple[tuple[Term, ...], int]:
    column, at = term(reader, at)
    columns = [column]
    while reader.kind(at) == ",":
        column, at = term(reader, at + 1)
        columns.append(column)
    if reader.kind(at) == "AS" or reader.tokens[at].is_name:
        raise BadStatement(ALIASED)
    return tuple(columns), at


def _order(reader: Reader, at: int) -> tuple[tuple[tuple[Attribute, bool], ...], int]:
    if reader.kind(at) != "ORDER":
        return (), at
    at = reader.expect(at + 1, "BY", "Expected BY after ORDER")
    order: list[tuple[Attribute, bool]] = []
    while True:
        key, at = path(reader, at)
        order.append((key, reader.kind(at) == "DESC"))
        at += reader.kind(at) in ("ASC", "DESC")
        if reader.kind(at) != ",":
            return tuple(order), at
        at += 1


def _insert(reader: Reader, at: int) -> tuple[InsertText, int]:
    source, at = _source(reader, at, EXPECTED_TABLE)
    if source.index is not None:
        raise BadStatement(ONE_TABLE)
    item, at = structure(reader, reader.expect(at, "VALUE", LEFT_OVER))
    return InsertText(source, item), at


def _update(reader: Reader, at: int) -> tuple[UpdateText, int]:
    source, at = _source(reader, at, EXPECTED_TABLE)
    at = _refuse_alias(reader, at)
    assignments, at = _assignments(reader, at)
    where, at = _where(reader, at)
    returning, at = _returning(reader, at)
    return UpdateText(_table_only(source), assignments, where, returning), at


def _update_from(reader: Reader, at: int) -> tuple[UpdateText, int]:
    source, at = _source(reader, at, "Unexpected term")
    at = _refuse_alias(reader, at)
    where, at = _where(reader, at)
    assignments, at = _assignments(reader, at)
    returning, at = _returning(reader, at)
    return UpdateText(_table_only(source), assignments, where, returning), at


def _delete(reader: Reader, at: int) -> tuple[DeleteText, int]:
    source, at = _source(reader, at, EXPECTED_TABLE)
    at = _refuse_alias(reader, at)
    where, at = _where(reader, at)
    returning, at = _returning(reader, at)
    return DeleteText(_table_only(source), where, returning), at


# --- clauses ---


def _source(reader: Reader, at: int, otherwise: str) -> tuple[Source, int]:
    if not reader.tokens[at].is_name:
        raise not_well_formed(otherwise)
    names = [reader.tokens[at].text]
    at += 1
    while reader.kind(at) == ".":
        if not reader.tokens[at + 1].is_name:
            raise not_well_formed("Invalid path dot component")
        names.append(reader.tokens[at + 1].text)
        at += 2
    if "" in names:
        raise BadStatement(EMPTY_COMPONENT)
    if len(names) > 2:
        raise BadStatement(TWO_COMPONENTS)
    return Source(*names), at


def _table_only(source: Source) -> Source:
    if source.index is not None:
        raise BadStatement(NO_INDEX)
    return source


def _refuse_alias(reader: Reader, at: int) -> int:
    if reader.kind(at) in ("AS", "AT", "BY") or reader.tokens[at].is_name:
        raise BadStatement(ALIASED)
    return at


def _where(reader: Reader, at: int) -> tuple[Term | None, int]:
    return term(reader, at + 1) if reader.kind(at) == "WHERE" else (None, at)


def _assignments(reader: Reader, at: int) -> tuple[tuple[Assignment, ...], int]:
    assignments: list[Assignment] = []
    while reader.kind(at) in ("SET", "REMOVE"):
        sets = reader.kind(at) == "SET"
        while True:
            target, at = path(reader, at + 1)
            value: Term | None = None
            if sets:
                value, at = term(reader, reader.expect(at, "=", "Expected = after the path to set"))
            assignments.append(Assignment(target, value))
            if reader.kind(at) != ",":
                break
    if not assignments:
        raise not_well_formed(EXPECTED_STATEMENT)
    return tuple(assignments), at


def _returning(reader: Reader, at: int) -> tuple[str | None, int]:
    """`ALL OLD`, `ALL NEW`, `MODIFIED OLD` or `MODIFIED NEW`."""
    if reader.kind(at) != "RETURNING":
        return None, at
    how, when = reader.kind(at + 1), reader.kind(at + 2)
    if how not in ("ALL", "MODIFIED"):
        raise not_well_formed("Expected ALL or MODIFIED after RETURNING")
    if when not in ("OLD", "NEW"):
        raise not_well_formed("Expected OLD or NEW in RETURNING")
    return f"{how} {when}", reader.expect(at + 3, "*", "Expected * in RETURNING")
