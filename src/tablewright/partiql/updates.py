"""The SET and REMOVE clauses of a statement as an update of `expressions`.

set_add and set_delete are the ADD and DELETE of an update expression, written as an assignment to the set itself.
"""

from collections.abc import Sequence

from tablewright.expressions import Update
from tablewright.expressions.nodes import Action, Add, Arithmetic, Call, Delete, Operand, Remove, Set
from tablewright.expressions.operand_checks import refuse_unfit_update
from tablewright.expressions.paths import refuse_clashes
from tablewright.partiql.errors import BadStatement
from tablewright.partiql.literals import is_literal, value_of
from tablewright.partiql.nodes import Assignment, Attribute, Function, Operation, Term
from tablewright.values import Value

_SET_FUNCTIONS: dict[str, type[Add] | type[Delete]] = {"set_add": Add, "set_delete": Delete}
_SETS = ("SS", "NS", "BS")


def update_of(assignments: Sequence[Assignment], parameters: Sequence[Value]) -> Update:
    update = Update(tuple([_action(one, parameters) for one in assignments]))
    refuse_clashes([action.path for action in update.actions])
    refuse_unfit_update(update)
    return update


def _action(assignment: Assignment, parameters: Sequence[Value]) -> Action:
    path, value = assignment.target.path, assignment.value
    if value is None:
        return Remove(path)
    if isinstance(value, Function) and value.name in _SET_FUNCTIONS:
        return _SET_FUNCTIONS[value.name](path, _members(assignment.target, value, parameters))
    return Set(path, _operand(value, parameters))


def _members(target: Attribute, call: Function, parameters: Sequence[Value]) -> Value:
    """The set to add or to take away."""
    name = call.name.upper()
    if len(call.operands) != 2:
        raise BadStatement(f"{name} must have exactly two arguments at {call.at}")
    first, second = call.operands
    if not isinstance(first, Attribute) or first.path != target.path:
        raise BadStatement(f"The first argument to {name} must equal the assignment value at {call.at}")
    value = value_of(second, parameters) if is_literal(second) else {}
    if not any(kind in value for kind in _SETS):
        # The place the service names is that of the first argument.
        raise BadStatement(f"The second argument to {name} must be a value with type SET at {first.at}")
    return value


def _operand(term: Term, parameters: Sequence[Value]) -> Operand:
    if isinstance(term, Attribute):
        return term.path
    if is_literal(term):
        return value_of(term, parameters)
    if isinstance(term, Function):
        if term.name != "list_append":
            raise BadStatement(f"Unrecognized function: {term.name} at {term.at}")
        return Call(term.name, tuple([_operand(one, parameters) for one in term.operands]))
    if isinstance(term, Operation) and term.op in ("+", "-"):
        left, right = [_operand(one, parameters) for one in term.operands]
        return Arithmetic(term.op, left, right)
    what = term.op if isinstance(term, Operation) else "*"
    raise BadStatement(f"Unsupported operator in Update Expression. Operator: {what}")
