"""An item and an update to the item as it will be.

Must hold: the old item never changes, and shares with the new one whatever the update did not touch;
every right-hand side, and every list index, is about the old item; what comes out is canonical.
Elsewhere: which attributes may be written at all, and how big an item may grow (the engine).
"""

from collections.abc import Collection, Sequence

from tablewright.expressions.errors import BadExpression
from tablewright.expressions.nodes import (
    Action,
    Add,
    Arithmetic,
    Call,
    Delete,
    Operand,
    Path,
    Remove,
    Set,
    Update,
)
from tablewright.expressions.paths import Tree, find, tree_of
from tablewright.values import Item, Value, admit
from tablewright.values.codec import MAX_CONTAINERS, TOO_DEEP
from tablewright.values.numbers import BadNumber, add, subtract

BAD_PATH = "The document path provided in the update expression is invalid for update"
NOT_THERE = "The provided expression refers to an attribute that does not exist in the item"
WRONG_TYPE = "An operand in the update expression has an incorrect data type"
WRONG_TYPE_LEGACY = "Type mismatch for attribute to update"


def apply(update: Update, item: Item, is_new: bool = False) -> Item:
    """The new item. With `is_new`, `item` is only the key of one that does not exist yet.

    From an item that does not exist a REMOVE or DELETE may lead nowhere; from any other not.
    """
    changes = [(action.path, _outcome(action, item, update.is_legacy)) for action in update.actions]
    if is_new or not item:
        changes = [(path, value) for path, value in changes if value is not None]
    new = dict(item)
    nested = []
    for path, value in changes:
        if len(path) > 1:
            nested.append((path, value))
        elif value is None:
            new.pop(str(path[0]), None)
        else:
            new[str(path[0])] = value
    if nested:
        _refuse_depth(nested)
        for name, branch in tree_of((path, (value,)) for path, value in nested).items():
            new[str(name)] = _rewritten(item.get(str(name)), branch)
    return new


def touched(update: Update) -> tuple[Path, ...]:
    """The paths an update writes, in order of appearance."""
    return tuple([action.path for action in update.actions])


def changed_names(update: Update) -> Collection[str]:
    """The attributes an update writes to, in order of appearance."""
    return dict.fromkeys([action.path[0] for action in update.actions])  # type: ignore[misc]  # each is a name


# The values


def _outcome(action: Action, item: Item, is_legacy: bool) -> Value | None:
    """The value that will be at the action's path, None for none."""
    if isinstance(action, Remove):
        return None
    value = action.value
    if isinstance(action, Set) and isinstance(value, dict):
        return value  # most actions
    try:
        if isinstance(action, Add):
            return _sum(find(action.path, item), _value(action.value, item))
        if isinstance(action, Delete):
            return _difference(find(action.path, item), _value(action.value, item))
        return _value(action.value, item)
    except _WrongType:
        raise BadExpression(WRONG_TYPE_LEGACY if is_legacy else WRONG_TYPE) from None
    except BadNumber as bad:
        raise BadExpression(str(bad)) from None


class _WrongType(Exception):
    """An operand is of a type the operator does not take."""


def _value(operand: Operand, item: Item) -> Value:
    if isinstance(operand, dict):
        return operand
    if isinstance(operand, tuple):
        value = find(operand, item)
        if value is None:
            raise BadExpression(NOT_THERE)
        return value
    if isinstance(operand, Arithmetic):
        left, right = _value(operand.left, item), _value(operand.right, item)
        if "N" not in left or "N" not in right:
            raise _WrongType
        return {"N": (add if operand.op == "+" else subtract)(left["N"], right["N"])}
    assert isinstance(operand, Call), "an update has no other operands once it is resolved"
    first, second = operand.operands
    if operand.name == "if_not_exists":
        found = find(first, item) if isinstance(first, tuple) else None
        return _value(second, item) if found is None else found
    left, right = _value(first, item), _value(second, item)
    if "L" not in left or "L" not in right:
        raise _WrongType
    return {"L": left["L"] + right["L"]}


def _sum(old: Value | None, value: Value) -> Value:
    if old is None:
        return value
    ((kind, content),) = value.items()
    if kind not in old:
        raise _WrongType
    if kind == "N":
        return {"N": add(old["N"], content)}
    if kind == "L":  # AttributeUpdates only
        return {"L": old["L"] + content}
    return admit({kind: list({*old[kind], *content})})[0]


def _difference(old: Value | None, value: Value) -> Value | None:
    if old is None:
        return None
    ((kind, content),) = value.items()
    if kind not in old:
        raise _WrongType
    gone = frozenset(content)
    left = [member for member in old[kind] if member not in gone]
    return {kind: left} if left else None


# The places


def _rewritten(value: Value | None, tree: Tree) -> Value:
    """The value with the changes of the tree, whose leaves are 1-tuples of a new value or None."""
    if value is None:
        raise BadExpression(BAD_PATH)
    if isinstance(next(iter(tree)), int):
        if "L" not in value:
            raise BadExpression(BAD_PATH)
        return {"L": _rewritten_list(value["L"], tree)}
    if "M" not in value:
        raise BadExpression(BAD_PATH)
    return {"M": _rewritten_map(value["M"], tree)}


def _rewritten_map(members: Item, tree: Tree) -> Item:
    new = dict(members)
    for key, branch in tree.items():
        name = str(key)
        if isinstance(branch, dict):
            new[name] = _rewritten(members.get(name), branch)
        elif branch[0] is None:
            new.pop(name, None)
        else:
            new[name] = branch[0]
    return new


def _rewritten_list(elements: list[Value], tree: Tree) -> list[Value]:
    """Indexes beyond the end append, in their order; removals close the gaps at the very end."""
    new: list[Value | None] = list(elements)
    for index in sorted(index for index in tree if isinstance(index, int)):
        branch = tree[index]
        is_there = index < len(elements)
        if isinstance(branch, dict):
            new_value: Value | None = _rewritten(elements[index] if is_there else None, branch)
        else:
            new_value = branch[0]
        if is_there:
            new[index] = new_value
        else:
            new.append(new_value)
    return [element for element in new if element is not None]


def _refuse_depth(changes: Sequence[tuple[Path, Value | None]]) -> None:
    for path, value in changes:
        if value is not None and len(path) - 1 + _depth(value) > MAX_CONTAINERS:
            raise BadExpression(TOO_DEEP)


def _depth(value: Value) -> int:
    if "M" in value:
        return 1 + max(map(_depth, value["M"].values()), default=0)
    if "L" in value:
        return 1 + max(map(_depth, value["L"]), default=0)
    return 0
