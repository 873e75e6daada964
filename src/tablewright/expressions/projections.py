"""The part of an item that some paths lead to.

List elements come back in the order of their indexes with the gaps closed, whatever order they were asked
for in; what is not there leaves no trace, not even an empty map where it would have been.
"""

from collections.abc import Sequence
from functools import lru_cache

from tablewright.expressions.nodes import Path
from tablewright.expressions.paths import Tree, tree_of
from tablewright.values import Item, Value


def project(paths: Sequence[Path], item: Item) -> Item:
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
