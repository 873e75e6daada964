"""What resolved operands can get wrong before any item is read: their number, their types, their twins.

Only values given with the request have a type here; what a path leads to is not known yet, and if it
turns out to be of a wrong type a condition is just false.
Elsewhere: wrong types found in the item by an update (updates.py).
"""

from dataclasses import dataclass

from tablewright.expressions.errors import BadExpression
from tablewright.expressions.nodes import (
    Add,
    Arithmetic,
    Between,
    Call,
    Compare,
    Delete,
    In,
    Operand,
    Set,
    Update,
)
from tablewright.expressions.paths import spelled
from tablewright.values import compare

ORDERED = frozenset("SNB")
TEXTS = frozenset("SB")
NUMBERS = frozenset("N")
LISTS = frozenset("L")
SIZED = frozenset(("S", "B", "SS", "NS", "BS", "L", "M"))
ADDABLE = frozenset(("N", "SS", "NS", "BS"))
SETS = frozenset(("SS", "NS", "BS"))


@dataclass(frozen=True, slots=True)
class _Signature:
    """What a function asks of its operands."""

    count: int
    takes_a_path: bool = False  # first; nothing else will do
    types: frozenset[str] | None = None  # of all operands; None: any
    may_repeat: bool = False


_SIGNATURES = {
    "attribute_exists": _Signature(1, takes_a_path=True),
    "attribute_not_exists": _Signature(1, takes_a_path=True),
    "attribute_type": _Signature(2),
    "begins_with": _Signature(2, types=TEXTS),
    "contains": _Signature(2),
    "size": _Signature(1, types=SIZED),
    "if_not_exists": _Signature(2, takes_a_path=True, may_repeat=True),
    "list_append": _Signature(2, types=LISTS, may_repeat=True),
}

# Lists in the service's messages, in its own order.
TYPE_NAMES = "{N,BS,L,B,NULL,M,S,SS,NS,BOOL}"
_ANY_TYPE = (
    "{DECIMAL,HD,FS,DICT,B,FLOAT,SS,M,N,NS,HDS,INTSET,BOOL,L,DECIMALSET,INT,NULL,DOUBLE,DOUBLESET,S,BS}"
)

LONG_NAMES = {
    "S": "STRING",
    "N": "NUMBER",
    "B": "BINARY",
    "BOOL": "BOOLEAN",
    "NULL": "NULL",
    "L": "LIST",
    "M": "MAP",
    "SS": "STRING_SET",
    "NS": "NUMBER_SET",
    "BS": "BINARY_SET",
}


def refuse_unfit_condition(node: Compare | Between | In | Call) -> None:
    """One simple condition at a time: the first that is unfit is the one to name."""
    if isinstance(node, Compare):
        operands: tuple[Operand, ...] = (node.left, node.right)
        op, types = node.op, None if node.op in ("=", "<>") else ORDERED
        if types is None and type(node.left) is tuple and type(node.right) is dict:
            return  # a path that is or is not a value: any value fits
    elif isinstance(node, Call):
        _refuse_unfit_call(node)
        return
    elif isinstance(node, Between):
        operands = (node.operand, node.low, node.high)
        op, types = "BETWEEN", ORDERED
    else:
        operands = (node.operand, *node.options)
        op, types = "IN", None
    _refuse_unfit_calls(operands)
    _refuse_twins(op, operands)
    if types is not None:
        _refuse_types(op, types, operands)
    if op == "BETWEEN":
        _refuse_bad_bounds(*operands[1:])


def refuse_unfit_update(update: Update) -> None:
    for action in update.actions:
        if isinstance(action, Add):
            _refuse_addend("ADD", ADDABLE, action.value)
        elif isinstance(action, Delete):
            _refuse_addend("DELETE", SETS, action.value)
    for action in update.actions:
        if isinstance(action, Set):
            _refuse_unfit_calls((action.value,))


def _refuse_unfit_calls(operands: tuple[Operand, ...]) -> None:
    for operand in operands:
        if isinstance(operand, _PLAIN):
            continue
        if isinstance(operand, Call):
            _refuse_unfit_call(operand)
        elif isinstance(operand, Arithmetic):
            _refuse_unfit_calls((operand.left, operand.right))
            _refuse_types(operand.op, NUMBERS, (operand.left, operand.right))


_PLAIN = (tuple, dict)  # a path or a value: nearly all operands there are


def _refuse_unfit_call(call: Call) -> None:
    name, operands, signature = call.name, call.operands, _SIGNATURES[call.name]
    _refuse_unfit_calls(operands)
    if len(operands) != signature.count:
        raise BadExpression(
            "Incorrect number of operands for operator or function; "
            f"operator or function: {name}, number of operands: {len(operands)}"
        )
    if signature.takes_a_path and not isinstance(operands[0], tuple):
        raise BadExpression(f"Operator or function requires a document path; operator or function: {name}")
    if not signature.may_repeat:
        _refuse_twins(name, operands)
    if signature.types is not None:
        _refuse_types(name, signature.types, operands)
    if name == "attribute_type":
        _refuse_unknown_type(operands[1])


def _refuse_unknown_type(operand: Operand) -> None:
    kind = type_of(operand)
    if kind != "S" or not isinstance(operand, dict):
        raise _wrong_type("attribute_type", kind or _ANY_TYPE)
    if operand["S"] not in LONG_NAMES:
        raise BadExpression(
            f"Invalid attribute type name found; type: {operand['S']}, valid types: {TYPE_NAMES}"
        )


def type_of(operand: Operand) -> str | None:
    """The type an operand has whatever the item; None when that depends on the item."""
    if isinstance(operand, dict):
        return next(iter(operand))
    return "N" if isinstance(operand, Call) and operand.name == "size" else None


def _refuse_types(name: str, allowed: frozenset[str], operands: tuple[Operand, ...]) -> None:
    for operand in operands:
        if not isinstance(operand, tuple):
            kind = type_of(operand)
            if kind not in allowed and kind is not None:
                raise _wrong_type(name, kind)


def _wrong_type(name: str, kind: str) -> BadExpression:
    return BadExpression(
        f"Incorrect operand type for operator or function; operator or function: {name}, operand type: {kind}"
    )


def _refuse_addend(name: str, allowed: frozenset[str], operand: Operand) -> None:
    kind = type_of(operand)
    if kind is not None and kind not in allowed:
        raise BadExpression(
            f"Incorrect operand type for operator or function; operator: {name}, "
            f"operand type: {LONG_NAMES[kind]}, typeSet: ALLOWED_FOR_{name}_OPERAND"
        )


def _refuse_twins(name: str, operands: tuple[Operand, ...]) -> None:
    """Refuse a path compared with itself. Two equal values are allowed."""
    first = operands[0]
    if isinstance(first, tuple) and first in operands[1:]:
        raise BadExpression(
            "The first operand must be distinct from the remaining operands for this operator or function; "
            f"operator: {name}, first operand: {spelled(first)}"
        )


def _refuse_bad_bounds(low: Operand, high: Operand) -> None:
    if not isinstance(low, dict) or not isinstance(high, dict):
        return
    order = compare(low, high)
    if order is not None and order <= 0:
        return
    rule = "same data type for lower and upper bounds"
    if order is not None:
        rule = "upper bound to be greater than or equal to lower bound"
    raise BadExpression(
        f"The BETWEEN operator requires {rule}; "
        f"lower bound operand: AttributeValue: {_shown(low)}, "
        f"upper bound operand: AttributeValue: {_shown(high)}"
    )


def _shown(value: dict[str, str]) -> str:
    ((kind, content),) = value.items()
    return f"{{{kind}:{content}}}"
