"""The line of each part of a design file: `tables[0].pk` is on line 12. An error, or a finding, is shown with it.

Must hold: a text is read (text.py) before its lines are asked for, so it is taken to be JSON, or YAML, here.
Elsewhere: how steps are written as a place (errors.py).
"""

import json
import re
from collections.abc import Iterator
from typing import Any, TypeAlias

import yaml

Steps: TypeAlias = tuple[str | int, ...]
_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+|\n')


def repeated_key(text: str) -> tuple[Steps, int]:
    """The first key that is a second time in one object of a JSON text, and its line."""
    seen: set[Steps] = set()
    for steps, line in json_lines(text):
        if steps in seen:
            return steps, line
        seen.add(steps)
    raise AssertionError("no key is there twice")


def json_lines(text: str) -> Iterator[tuple[Steps, int]]:
    """Each key, and each member of a list, with its line."""
    line = 1
    # Around the present token: an object has the key it is at, a list the number of the member.
    around: list[str | int] = []
    is_key = False
    before = ""
    yield (), line
    for match in _TOKENS.finditer(text):
        token = match[0]
        if token == "\n":
            line += 1
            continue
        if around and isinstance(around[-1], int) and before in "[," and token != "]":
            yield tuple(around), line
        if token in ("{", "["):
            around.append("" if token == "{" else 0)
            is_key = token == "{"
        elif token in ("}", "]"):
            around.pop()
        elif token == ",":
            is_key = isinstance(around[-1], str)
            if not is_key:
                around[-1] = int(around[-1]) + 1
        elif is_key:
            around[-1] = json.loads(token)
            yield tuple(around), line
            is_key = False
        before = token


def yaml_lines(node: Any, steps: Steps = ()) -> Iterator[tuple[Steps, int]]:
    """Each key, and each member of a list, of the nodes of a YAML text, with its line."""
    if not steps:
        yield (), node.start_mark.line + 1
    inside: list[tuple[Any, str | int, Any]] = []
    if isinstance(node, yaml.MappingNode):
        inside = [(key, key.value, value) for key, value in node.value]
    elif isinstance(node, yaml.SequenceNode):
        inside = [(each, at, each) for at, each in enumerate(node.value)]
    for key, step, value in inside:
        yield (*steps, step), key.start_mark.line + 1
        yield from yaml_lines(value, (*steps, step))
