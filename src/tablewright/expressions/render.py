"""Parsed nodes back to text: `parse(render(node)) == node` for all that parse can make.

Only placeholders have a text, so a resolved value cannot be rendered.
"""

from tablewright.expressions.nodes import (
    Action,
    Add,
    And,
    Arithmetic,
    Between,
    Call,
    Compare,
    Condition,
    Delete,
    In,
    Not,
    Operand,
    Or,
    Path,
    Remove,
    Set,
    Update,
    ValueRef,
)


def render(node: Condition | Update | tuple[Path, ...]) -> str:
    """The text of a condition, an update, or the paths of a projection."""
    if isinstance(node, tuple):
        return ", ".join(map(_path, node))
    return _update(node) if isinstance(node, Update) else _condition(node)


def _condition(node: Condition) -> str:
    match node:
        case Or(parts):
            # AND binds closer than OR and needs no parentheses here.
            return " OR ".join(_condition(p) if isinstance(p, And) else _tight(p) for p in parts)
        case And(parts):
            return " AND ".join(map(_tight, parts))
        case Not(part):
            return "NOT " + _tight(part)
        case Compare(op, left, right):
            return f"{_operand(left)} {op} {_operand(right)}"
        case Between(operand, low, high):
            return f"{_operand(operand)} BETWEEN {_operand(low)} AND {_operand(high)}"
        case In(operand, options):
            return f"{_operand(operand)} IN ({', '.join(map(_operand, options))})"
        case Call():
            return _operand(node)


def _tight(part: Condition) -> str:
    """A part of an AND or a NOT, in parentheses if it would otherwise be torn apart."""
    return f"({_condition(part)})" if isinstance(part, And | Or) else _condition(part)


def _operand(operand: Operand) -> str:
    match operand:
        case tuple():
            return _path(operand)
        case ValueRef(name):
            return name
        case Call(name, operands):
            return f"{name}({', '.join(map(_term, operands))})"
        case Arithmetic(op, left, right):
            return f"{_term(left)} {op} {_term(right)}"
        case _:
            raise TypeError("a resolved value has no text: render what parse gave")


def _term(operand: Operand) -> str:
    return f"({_operand(operand)})" if isinstance(operand, Arithmetic) else _operand(operand)


def _path(path: Path) -> str:
    text = str(path[0])
    for element in path[1:]:
        text += f"[{element}]" if isinstance(element, int) else f".{element}"
    return text


def _update(update: Update) -> str:
    text = ""
    clause: type[Action] | None = None
    for action in update.actions:
        if type(action) is clause:
            text += ", " + _action(action)
        else:
            clause = type(action)
            text += f" {clause.__name__.upper()} {_action(action)}"
    return text.lstrip()


def _action(action: Action) -> str:
    match action:
        case Set(path, value):
            return f"{_path(path)} = {_operand(value)}"
        case Remove(path):
            return _path(path)
        case Add(path, value) | Delete(path, value):
            return f"{_path(path)} {_operand(value)}"
