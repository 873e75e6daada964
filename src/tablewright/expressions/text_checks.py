"""What a text can get wrong on its own: functions, reserved words, parentheses, sizes.

The order of the checks is the service's: an expression with two mistakes must name the same one.
Elsewhere: what only the placeholders can get wrong (operand_checks.py), and syntax (parse.py).
"""

from collections.abc import Iterable, Sequence

from tablewright.expressions.errors import BadExpression
from tablewright.expressions.lexer import Token
from tablewright.expressions.nodes import (
    And,
    Call,
    Condition,
    In,
    Node,
    Not,
    Or,
    Path,
    Update,
    children,
    paths_in,
    walk,
)
from tablewright.expressions.operands import is_call
from tablewright.expressions.reserved import is_reserved

CONDITION_FUNCTIONS = frozenset(
    ("attribute_exists", "attribute_not_exists", "attribute_type", "begins_with", "contains", "size")
)
UPDATE_FUNCTIONS = frozenset(("if_not_exists", "list_append"))

MAX_OPERATORS = 300
MAX_OPTIONS = 100
MAX_PATH = 32
MAX_INDEX = 2**31 - 1

_CONDITION_OPERATORS = frozenset(("=", "<>", "<", "<=", ">", ">=", "AND", "OR", "NOT", "IN"))
_UPDATE_OPERATORS = frozenset("+-")
CLAUSES = frozenset(("SET", "REMOVE", "ADD", "DELETE"))

MISUSED = "The function is not allowed to be used this way in an expression; function: "


def refuse_bad_condition(tokens: list[Token], node: Condition) -> None:
    _refuse_redundant_parentheses(tokens)
    _refuse_functions_beyond(CONDITION_FUNCTIONS, "a condition", node)
    _refuse_misplaced_functions(node)
    paths = paths_in(node)
    _refuse_reserved_words(paths)
    _refuse_too_many_operators(tokens, _CONDITION_OPERATORS)
    _refuse_too_many_options(node)
    _refuse_endless_paths(paths)


def refuse_bad_update(tokens: list[Token], update: Update) -> None:
    paths = paths_in(update)
    _refuse_redundant_parentheses(tokens)
    _refuse_reserved_words(paths)
    _refuse_functions_beyond(UPDATE_FUNCTIONS, "an update", update)
    _refuse_nested_appends(update)
    _refuse_second_clauses(tokens)
    _refuse_too_many_operators(tokens, _UPDATE_OPERATORS)
    _refuse_endless_paths(paths)


def refuse_bad_projection(paths: Sequence[Path]) -> None:
    _refuse_reserved_words(paths)
    _refuse_endless_paths(paths)


def _refuse_redundant_parentheses(tokens: list[Token]) -> None:
    """A parenthesis is redundant when it holds another one and nothing else."""
    opened: list[int] = []
    inner = (-1, -1)  # where the last parenthesis to close was opened and closed
    for at, token in enumerate(tokens):
        if token.kind == "(":
            opened.append(at)
        elif token.kind == ")":
            start = opened.pop()
            if inner == (start + 1, at - 1) and _is_plain(tokens, start) and _is_plain(tokens, start + 1):
                raise BadExpression("The expression has redundant parentheses;")
            inner = (start, at)


def _is_plain(tokens: list[Token], at: int) -> bool:
    """A parenthesis for its own sake, not that of a function or of IN."""
    return at == 0 or tokens[at - 1].kind not in ("name", "IN")


def _refuse_functions_beyond(allowed: frozenset[str], place: str, node: Node) -> None:
    for part in walk(node):
        if isinstance(part, Call) and part.name not in allowed:
            if part.name in CONDITION_FUNCTIONS | UPDATE_FUNCTIONS:
                raise BadExpression(
                    f"The function is not allowed in {place} expression; function: {part.name}"
                )
            raise BadExpression(f"Invalid function name; function: {part.name}")


def _refuse_misplaced_functions(node: Condition) -> None:
    """size() is an operand and all others are conditions; neither may stand in the other's place."""
    if isinstance(node, Call) and node.name == "size":
        raise BadExpression(MISUSED + "size")
    for parent in walk(node):
        holds_conditions = isinstance(parent, And | Or | Not)
        for child in children(parent):
            if isinstance(child, Call) and (child.name == "size") is holds_conditions:
                raise BadExpression(MISUSED + child.name)


def _refuse_nested_appends(update: Update) -> None:
    for parent in walk(update):
        if isinstance(parent, Call) and parent.name == "list_append":
            for child in parent.operands:
                if isinstance(child, Call) and child.name == "list_append":
                    raise BadExpression(MISUSED + "list_append")


def _refuse_second_clauses(tokens: list[Token]) -> None:
    seen = set()
    for token in tokens:
        if token.kind in CLAUSES and token.kind in seen:
            raise BadExpression(f'The "{token.kind}" section can only be used once in an update expression;')
        seen.add(token.kind)


def _refuse_reserved_words(paths: Iterable[Path]) -> None:
    for path in paths:
        for element in path:
            if isinstance(element, str) and element[0] != "#" and is_reserved(element):
                raise BadExpression(f"Attribute name is a reserved keyword; reserved keyword: {element}")


def _refuse_too_many_operators(tokens: list[Token], operators: frozenset[str]) -> None:
    # The AND of a BETWEEN stands for the BETWEEN itself, which is not counted apart.
    count = sum(token.kind in operators or is_call(tokens, at) for at, token in enumerate(tokens))
    if count > MAX_OPERATORS:
        # The service stops counting at the first operator too many.
        raise BadExpression(
            f"The expression contains too many operators; operator count: {MAX_OPERATORS + 1}"
        )


def _refuse_too_many_options(node: Condition) -> None:
    for part in walk(node):
        if isinstance(part, In) and len(part.options) > MAX_OPTIONS:
            raise BadExpression(
                f"The IN operator is provided with too many operands; number of operands: {len(part.options)}"
            )


def _refuse_endless_paths(paths: Iterable[Path]) -> None:
    for path in paths:
        for element in path:
            if isinstance(element, int) and element > MAX_INDEX:
                raise BadExpression(f"List index is not within the allowable range; index: [{element}]")
        if len(path) > MAX_PATH:
            raise BadExpression(f"The document path has too many nesting levels; nesting levels: {len(path)}")
