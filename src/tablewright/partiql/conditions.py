"""Terms to the conditions and operands of `expressions`, and so to its one way of evaluating them.

What PartiQL writes in other words is said in those of an expression: IS MISSING is attribute_not_exists, IS NULL is
attribute_type(..., 'NULL'). A condition may be compared with a truth value, which an expression does not know;
such a comparison is unfolded.
Every simple condition is checked as one of an expression would be, so its refusals are those of an expression.
"""

from collections.abc import Sequence

from tablewright.expressions import BadExpression, Condition
from tablewright.expressions.conditions import COMPARATORS
from tablewright.expressions.nodes import And, Between, Call, Compare, In, Not, Operand, Or
from tablewright.expressions.operand_checks import refuse_unfit_condition
from tablewright.expressions.text_checks import CONDITION_FUNCTIONS, MAX_OPTIONS, MISUSED
from tablewright.partiql.errors import BadStatement
from tablewright.partiql.keywords import TYPES
from tablewright.partiql.literals import is_literal, value_of
from tablewright.partiql.nodes import Attribute, Constant, Function, Operation, Parameter, Term
from tablewright.values import Value

_CONNECTIVES = frozenset((*COMPARATORS, "AND", "OR", "NOT", "IN", "BETWEEN", "IS", "IS NOT"))


def condition_of(term: Term, parameters: Sequence[Value]) -> Condition:
    """The condition a term says."""
    if isinstance(term, Function):
        return _checked(_call(term, parameters, as_operand=False))
    if not isinstance(term, Operation):
        raise BadStatement(f"Expected a condition at {term.at}")
    match term.op:
        case "AND":
            return And(tuple([condition_of(part, parameters) for part in term.operands]))
        case "OR":
            return _any([condition_of(part, parameters) for part in term.operands])
        case "NOT":
            return Not(condition_of(term.operands[0], parameters))
        case "IS" | "IS NOT":
            found = _type_test(term, parameters)
            return found if term.op == "IS" else Not(found)
        case "IN":
            return _in(term, parameters)
        case "BETWEEN":
            value, low, high = [_operand(one, parameters) for one in term.operands]
            return _checked(Between(value, low, high))
        case op if op in COMPARATORS:
            left, right = term.operands
            return _comparison(op, left, right, parameters)
        case _:
            raise _unsupported(term)


def _unsupported(term: Operation) -> BadStatement:
    return BadStatement(f"Unsupported operator in Condition Expression. Operator: {term.op}")


def _checked(node: Compare | Between | In | Call) -> Condition:
    refuse_unfit_condition(node)
    return node


def _operand(term: Term, parameters: Sequence[Value]) -> Operand:
    if isinstance(term, Attribute):
        return term.path
    if is_literal(term):
        return value_of(term, parameters)
    if isinstance(term, Function):
        return _call(term, parameters, as_operand=True)
    if isinstance(term, Operation):
        raise _unsupported(term)
    raise BadStatement(f"Unexpected path component at {term.at}")


def _call(term: Function, parameters: Sequence[Value], as_operand: bool) -> Call:
    if term.name not in CONDITION_FUNCTIONS:
        raise BadStatement(f"Unrecognized function: {term.name} at {term.at}")
    if (term.name == "size") is not as_operand:
        # size() is an operand and all others are conditions.
        raise BadExpression(MISUSED + term.name)
    return Call(term.name, tuple([_operand(one, parameters) for one in term.operands]))


def _type_test(term: Operation, parameters: Sequence[Value]) -> Condition:
    operand = _operand(term.operands[0], parameters)
    if term.kind == "MISSING":
        return _checked(Call("attribute_not_exists", (operand,)))
    kind = TYPES[term.kind]
    if kind is None:
        raise BadStatement("Unsupported operation: IsType")
    return _checked(Call("attribute_type", (operand, {"S": kind})))


def _in(term: Operation, parameters: Sequence[Value]) -> Condition:
    first, *options = term.operands
    if not options:
        raise BadExpression(
            "Incorrect number of operands for operator or function; operator or function: IN, number of operands: 1"
        )
    if len(options) > MAX_OPTIONS:
        raise BadExpression(
            f"The IN operator is provided with too many operands; number of operands: {len(options)}"
        )
    if _is_truth(first):
        return _any([_comparison("=", first, option, parameters) for option in options])
    return _checked(
        In(_operand(first, parameters), tuple([_operand(option, parameters) for option in options]))
    )


# --- conditions compared with truth values ---


def _comparison(op: str, left: Term, right: Term, parameters: Sequence[Value]) -> Condition:
    if not _is_truth(left) and not _is_truth(right):
        return _checked(Compare(op, _operand(left, parameters), _operand(right, parameters)))
    if op not in ("=", "<>"):
        raise BadExpression(
            f"Incorrect operand type for operator or function; operator or function: {op}, operand type: BOOL"
        )
    if not _is_truth(left):
        left, right = right, left
    truth = condition_of(left, parameters)
    same = _same(truth, right, parameters)
    return same if op == "=" else Not(same)


def _same(truth: Condition, other: Term, parameters: Sequence[Value]) -> Condition:
    """Whether a condition and something else are both true or both false."""
    if isinstance(other, Constant | Parameter):
        value = value_of(other, parameters)
        if "BOOL" in value:
            return truth if value["BOOL"] else Not(truth)
        return And((truth, Not(truth)))  # never
    if _is_truth(other):
        second = condition_of(other, parameters)
        return Or((And((truth, second)), And((Not(truth), Not(second)))))
    operand = _operand(other, parameters)
    yes, no = Compare("=", operand, {"BOOL": True}), Compare("=", operand, {"BOOL": False})
    return Or((And((truth, _checked(yes))), And((Not(truth), _checked(no)))))


def _any(parts: Sequence[Condition]) -> Condition:
    return parts[0] if len(parts) == 1 else Or(tuple(parts))


def _is_truth(term: Term) -> bool:
    if isinstance(term, Function):
        return term.name in CONDITION_FUNCTIONS and term.name != "size"
    return isinstance(term, Operation) and term.op in _CONNECTIVES
