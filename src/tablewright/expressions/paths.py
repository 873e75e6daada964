"""Document paths: where they lead in an item, and how two paths get in each other's way.

A tree of paths is nested dicts keyed by path element, with whatever was hung on the path at its end.
It exists for paths that neither overlap nor conflict, so the children of one branch are all names or
all list indexes.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

from tablewright.expressions.errors import BadExpression
from tablewright.expressions.nodes import Path
from tablewright.values import Item, Value

Tree: TypeAlias = dict[str | int, Any]

_REWRITE = "must remove or rewrite one of these paths; path one: {}, path two: {}"
OVERLAP = "Two document paths overlap with each other; " + _REWRITE
CONFLICT = "Two document paths conflict with each other; " + _REWRITE


def find(path: Path, item: Item) -> Value | None:
    """The value a resolved path leads to, None where it leads nowhere."""
    value = item.get(path[0])  # type: ignore[arg-type]  # the first element is always a name
    if len(path) == 1 or value is None:
        return value
    for element in path[1:]:
        if type(element) is int:
            members = value.get("L")
            if members is None or element >= len(members):
                return None
            value = members[element]
        else:
            members = value.get("M")
            if members is None or element not in members:
                return None
            value = members[element]
    return value


def spelled(path: Path) -> str:
    """As the service writes a path in its messages: `[m, [3], x]`."""
    return "[" + ", ".join(f"[{e}]" if isinstance(e, int) else e for e in path) + "]"


def refuse_clashes(paths: Sequence[Path]) -> None:
    """No path may lead into another, and no place may be a map to one path and a list to another."""
    if len({path[0] for path in paths}) == len(paths):
        return  # each in an attribute of its own, as usual
    if not are_apart(paths):
        raise BadExpression(_first_clash(paths))


def are_apart(paths: Sequence[Path]) -> bool:
    """Whether no path leads into another, and no place is a map to one path and a list to another."""
    tree: Tree = {}
    for path in paths:
        branch = tree
        for element in path[:-1]:
            if _is_of_the_other_kind(element, branch):
                return False
            branch = branch.setdefault(element, {})
            if branch is _END:
                return False
        if path[-1] in branch or _is_of_the_other_kind(path[-1], branch):
            return False
        branch[path[-1]] = _END
    return True


_END: Tree = {}


def _is_of_the_other_kind(element: str | int, branch: Tree) -> bool:
    """An index where names are, or a name where indexes are."""
    return bool(branch) and type(next(iter(branch))) is not type(element)


def _first_clash(paths: Sequence[Path]) -> str:
    """The sentence for paths that are not apart. A text holds up to a thousand: no pair by pair here."""
    conflict = ""
    number = {path: place for place, path in reversed(list(enumerate(paths)))}
    seen: set[Path] = set()
    begun: dict[Path, Path] = {}  # the beginning of a path, to the first path that begins so
    turned: dict[tuple[Path, bool], Path] = {}  # likewise, by whether an index comes next
    for path in paths:
        beginnings = [path[:length] for length in range(1, len(path))]
        overlapped = [beginning for beginning in beginnings if beginning in seen]
        if path in begun:
            overlapped.append(begun[path])
        if overlapped:
            return OVERLAP.format(spelled(min(overlapped, key=number.__getitem__)), spelled(path))
        for beginning in beginnings:
            is_index = isinstance(path[len(beginning)], int)
            if (beginning, not is_index) in turned and not conflict:
                conflict = CONFLICT.format(spelled(turned[beginning, not is_index]), spelled(path))
            turned.setdefault((beginning, is_index), path)
            begun.setdefault(beginning, path)
        begun[path] = path
        seen.add(path)
    # An overlap anywhere is reported before a conflict, wherever they stand.
    return conflict


def tree_of(ends: Iterable[tuple[Path, Any]]) -> Tree:
    """The tree whose branches are the paths, each ending in what stands beside it."""
    tree: Tree = {}
    for path, end in ends:
        branch = tree
        for element in path[:-1]:
            branch = branch.setdefault(element, {})
        branch[path[-1]] = end
    return tree


# --- projections ---


def project(paths: Sequence[Path], item: Item) -> Item:
    """The part of an item that the paths lead to.

    List elements come back in the order of their indexes with the gaps closed, whatever order they were asked
    for in; what is not there leaves no trace, not even an empty map where it would have been.
    """
    return _members(_tree(tuple(paths)), item)


@lru_cache(maxsize=512)
def _tree(paths: tuple[Path, ...]) -> Tree:
    # A leaf is None: the whole value is wanted.
    return tree_of((path, None) for path in paths)


def _members(tree: Tree, members: Item) -> Item:
    picked = {}
    for name, branch in tree.items():
        value = members.get(str(name))
        part = value if value is None or branch is None else _part(branch, value)
        if part is not None:
            picked[str(name)] = part
    return picked


def _part(tree: Tree, value: Value) -> Value | None:
    if "M" in value:
        picked = _members(tree, value["M"])
        return {"M": picked} if picked else None
    if "L" in value:
        elements = _elements(tree, value["L"])
        return {"L": elements} if elements else None
    return None


def _elements(tree: Tree, elements: list[Value]) -> list[Value]:
    picked = []
    for index in sorted(index for index in tree if isinstance(index, int) and index < len(elements)):
        branch = tree[index]
        part = elements[index] if branch is None else _part(branch, elements[index])
        if part is not None:
            picked.append(part)
    return picked
