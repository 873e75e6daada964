"""A text of JSON or YAML with some of its values changed, and nothing else: comments, order and form stay.

Must hold: only the characters of what changes are touched; the result reads as the wanted value, or EditRefused says
why not. Values are set, and added to objects and lists; nothing is removed. JSON is edited by the marks of YAML,
which has JSON in it.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from tablewright.design.files.errors import DesignFileRefused
from tablewright.design.files.text import composed, from_json_text, from_yaml_text


class EditRefused(Exception):
    """A change that cannot be made without writing other parts of the file again."""


@dataclass(frozen=True, slots=True)
class Edit:
    """`text` in place of what stands from `start` to `end`."""

    start: int
    end: int
    text: str


def edited(text: str, wanted: Any, *, is_yaml: bool) -> str:
    """The text with the values of `wanted`; EditRefused if that is not possible at the places of the changes."""
    read = from_yaml_text if is_yaml else from_json_text
    made = text
    try:
        edits = sorted(_edits(text, composed(text), read(text), wanted, is_yaml), key=lambda each: each.start)
        for edit in reversed(edits):
            made = made[: edit.start] + edit.text + made[edit.end :]
        if read(made) == wanted:
            return made
    except DesignFileRefused:
        # Such as JSON that is indented with tabs, which YAML does not read.
        pass
    raise EditRefused("the change does not fit the form of the file; make it by hand")


def _edits(text: str, node: Any, old: Any, new: Any, is_yaml: bool) -> Iterator[Edit]:
    if old == new and type(old) is type(new):
        return
    if isinstance(old, dict) and isinstance(new, dict):
        nodes = {key.value: value for key, value in node.value}
        _refuse_removal(set(old) - set(new))
        for name, value in old.items():
            yield from _edits(text, nodes[name], value, new[name], is_yaml)
        added = {name: value for name, value in new.items() if name not in old}
        if added:
            lines = [f"{_value(name, is_yaml)}: {_value(value, is_yaml)}" for name, value in added.items()]
            yield _added(text, node, lines, "")
    elif isinstance(old, list) and isinstance(new, list):
        _refuse_removal(set(range(len(new), len(old))))
        for each, before, after in zip(node.value, old, new, strict=False):
            yield from _edits(text, each, before, after, is_yaml)
        if len(new) > len(old):
            yield _added(text, node, [_value(each, is_yaml) for each in new[len(old) :]], "- ")
    else:
        if not isinstance(node, yaml.ScalarNode) or node.style in ("|", ">"):
            raise EditRefused(f"line {node.start_mark.line + 1} has another form; make the change by hand")
        is_plain = is_yaml and node.style is None and isinstance(new, str) and _reads_plain(node.value, new)
        yield Edit(node.start_mark.index, node.end_mark.index, new if is_plain else _value(new, is_yaml))


def _reads_plain(old: str, new: str) -> bool:
    """Whether a text needs no quotes where another has none: in a block, or between the brackets of a list."""
    in_block = any(sign in old for sign in "{}[],")
    try:
        return bool(
            from_yaml_text(f"a: {new}" if in_block else f"a: [{new}]") == {"a": new if in_block else [new]}
        )
    except DesignFileRefused:
        return False


def _refuse_removal(gone: set[Any]) -> None:
    if gone:
        raise EditRefused(f"{', '.join(map(str, sorted(gone)))} would be removed; do that by hand")


def _value(value: Any, is_yaml: bool) -> str:
    """JSON, which is YAML too; there, a name needs no quotes."""
    if is_yaml and isinstance(value, str) and value.isidentifier() and from_yaml_text(value) == value:
        return value
    return json.dumps(value, ensure_ascii=False)


def _added(text: str, node: Any, members: list[str], dash: str) -> Edit:
    """Members behind the last of an object or a list, in the form which that has."""
    inside = [each[0] if isinstance(each, tuple) else each for each in node.value]
    if not node.flow_style:
        simple = [each for each in node.value if isinstance(each, tuple) and _is_simple(each[1])]
        end = text.find("\n", _last(simple[-1] if simple else node))
        at = len(text) if end < 0 else end
        column = node.start_mark.column
        return Edit(at, at, "".join(f"\n{' ' * column}{dash}{each}" for each in members))
    if not inside:
        return Edit(node.start_mark.index + 1, node.end_mark.index - 1, ", ".join(members))
    at = _last(node.value[-1])
    own_line = inside[-1].start_mark.line != node.start_mark.line
    between = f",\n{' ' * inside[-1].start_mark.column}" if own_line else ", "
    return Edit(at, at, "".join(f"{between}{each}" for each in members))


def _is_simple(node: Any) -> bool:
    """A value on the line of its key, behind which another key is better placed than behind pages of parts."""
    return node.flow_style if not isinstance(node, yaml.ScalarNode) else node.style not in ("|", ">")


def _last(node: Any) -> int:
    """Where the last character of a node ends. A block's own mark is behind the comments that follow it."""
    if isinstance(node, tuple):
        return _last(node[1]) if node[1].value or node[1].start_mark != node[1].end_mark else _last(node[0])
    if isinstance(node, yaml.ScalarNode):
        if node.style in ("|", ">"):
            raise EditRefused(f"line {node.start_mark.line + 1} is a block of text; make the change by hand")
        return int(node.end_mark.index)
    return int(node.end_mark.index) if node.flow_style or not node.value else _last(node.value[-1])
