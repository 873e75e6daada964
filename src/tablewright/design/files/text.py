"""JSON and YAML as plain values, and back: dicts, lists, texts, numbers, truths and null.

Must hold: a key that is there twice is refused, not overwritten; YAML is read with the types of version 1.2, in which
`on`, `no` and `12:30` are texts; from_yaml(to_yaml(value)) == value; nothing in a text is executed. Aliases are
refused, because a few lines of them are a document of any size; so are tags, unless the caller reads them.
Elsewhere: the lines of the parts (lines.py).
"""

import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import yaml

from tablewright.design.files.errors import WHOLE, DesignFileRefused, place_of, problem
from tablewright.design.files.lines import json_lines, repeated_key, yaml_lines

_STANDARD = "tag:yaml.org,2002:"
# The types of the core schema of YAML 1.2: a tag, a pattern, and the characters with which a match begins.
_CORE = (
    (f"{_STANDARD}null", re.compile(r"(?:~|null|Null|NULL|)"), ["~", "n", "N", ""]),
    (f"{_STANDARD}bool", re.compile(r"(?:true|True|TRUE|false|False|FALSE)"), list("tTfF")),
    (f"{_STANDARD}int", re.compile(r"[-+]?[0-9]+"), list("-+0123456789")),
    (
        f"{_STANDARD}float",
        re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"),
        list("-+.0123456789"),
    ),
)
_SCALARS: Mapping[str, Callable[[str], Any]] = {
    f"{_STANDARD}str": str,
    f"{_STANDARD}null": lambda text: None,
    f"{_STANDARD}bool": lambda text: text.lower() == "true",
    f"{_STANDARD}int": lambda text: _number(int, text),
    f"{_STANDARD}float": lambda text: _number(float, text),
}
# What builds a value of a tag such as !Sub: the tag without '!', and the plain value that it marks.
TagReader = Callable[[str, Any], Any]


class _Repeated(ValueError):
    """A key is twice in one object of JSON."""


def from_json_text(text: str) -> Any:
    try:
        return json.loads(
            text, object_pairs_hook=_once, parse_constant=_refuse_constant, parse_float=_float, parse_int=_integer
        )  # fmt: skip
    except json.JSONDecodeError as error:
        raise problem(WHOLE, f"is not JSON: {error.msg} (column {error.colno})", error.lineno) from None
    except _Repeated:
        steps, line = repeated_key(text)
        raise problem(place_of(steps), "this key is twice in one object", line) from None
    except RecursionError:
        raise problem(WHOLE, "is nested too deeply") from None


def to_json_text(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _Repeated
    return found


def _refuse_constant(name: str) -> Any:
    raise problem(WHOLE, f"{name} is not a number of JSON")


def _integer(text: str) -> Any:
    return _in_file(int, text)


def _float(text: str) -> Any:
    return _in_file(float, text)


def _in_file(kind: Callable[[str], Any], text: str) -> Any:
    try:
        return _number(kind, text)
    except ValueError as error:
        raise problem(WHOLE, str(error)) from None


def _number(kind: Callable[[str], Any], text: str) -> Any:
    """Python refuses whole numbers of thousands of digits; a float that is too large would become infinite."""
    found = kind(text) if len(text) <= 400 else math.inf
    if math.isinf(found):
        raise ValueError(f"{text[:20]}... is too large for a number")
    return found


def lines_of(text: str, *, is_yaml: bool) -> dict[str, int]:
    """The line of each place in a text that was read; that of the whole is ''."""
    if is_yaml:
        node = composed(text)
        found = yaml_lines(node) if node is not None else iter(())
    else:
        found = json_lines(text)
    return {place_of(steps): line for steps, line in found}


# --- YAML ---


class _Composer(yaml.SafeLoader):  # type: ignore[misc]  # PyYAML has no types
    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - PyYAML's own name

    def scan_plain(self) -> Any:
        """PyYAML ends a text inside of {} and [] at '?', as version 1.1 does; `time?` is one text in version 1.2."""
        if not self.flow_level:
            return super().scan_plain()
        peek = super().peek
        # What a text is made of is cut from the buffer; the scanner only compares what it peeks at.
        self.peek = lambda index=0: "_" if (found := peek(index)) == "?" else found
        try:
            return super().scan_plain()
        finally:
            del self.peek

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            event = self.peek_event()
            line = event.start_mark.line + 1
            raise problem(WHOLE, f"the alias *{event.anchor} is not read; write the part out", line)
        return super().compose_node(parent, index)


class _Dumper(yaml.SafeDumper):  # type: ignore[misc]  # PyYAML has no types
    def ignore_aliases(self, data: Any) -> bool:
        return True


for _tag, _pattern, _first in _CORE:
    # PyYAML matches from the beginning: the end of the text is part of the pattern.
    _whole = re.compile(rf"(?:{_pattern.pattern})\Z")
    _Composer.add_implicit_resolver(_tag, _whole, _first)
    # Beside those of YAML 1.1: what either version would not read as text is written in quotes.
    _Dumper.add_implicit_resolver(_tag, _whole, _first)


def from_yaml_text(text: str, read_tag: TagReader | None = None) -> Any:
    try:
        node = composed(text)
        return None if node is None else _plain(node, read_tag)
    except RecursionError:
        raise problem(WHOLE, "is nested too deeply") from None


def composed(text: str) -> Any:
    """The nodes of a YAML text, with their lines; None if it is empty."""
    try:
        return yaml.compose(text, Loader=_Composer)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        why = getattr(error, "problem", None) or str(error).split("\n")[0]
        raise problem(WHOLE, f"is not YAML: {why}", 0 if mark is None else mark.line + 1) from None


def _plain(node: Any, read_tag: TagReader | None) -> Any:
    inner: Any
    if isinstance(node, yaml.ScalarNode):
        if node.tag in _SCALARS:
            return _scalar(node)
        inner = node.value
    elif isinstance(node, yaml.SequenceNode):
        inner = [_plain(each, read_tag) for each in node.value]
        if node.tag == f"{_STANDARD}seq":
            return inner
    else:
        inner = _mapping(node, read_tag)
        if node.tag == f"{_STANDARD}map":
            return inner
    if read_tag is None or not node.tag.startswith("!"):
        name = node.tag.replace(_STANDARD, "!!")
        raise _wrong(node, f"the tag {name} is not for a design file")
    return read_tag(node.tag[1:], inner)


def _scalar(node: Any) -> Any:
    try:
        return _SCALARS[node.tag](node.value)
    except ValueError as error:
        raise _wrong(node, str(error)) from None


def _mapping(node: Any, read_tag: TagReader | None) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key_node, value_node in node.value:
        # A template of CloudFormation may have the number of an account as a key.
        key = key_node.value if read_tag is not None else _plain(key_node, None)
        if not isinstance(key, str):
            raise _wrong(key_node, f"the key {key!r} is not text; write it in quotes")
        if key in found:
            raise _wrong(key_node, f"the key '{key}' is twice in one object")
        found[key] = _plain(value_node, read_tag)
    return found


def _wrong(node: Any, why: str) -> DesignFileRefused:
    return problem(WHOLE, why, node.start_mark.line + 1)


def to_yaml_text(value: Mapping[str, Any]) -> str:
    text: str = yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110)
    return text


def _text_node(dumper: Any, text: str) -> Any:
    return dumper.represent_scalar(f"{_STANDARD}str", text, style="|" if _is_block(text) else None)


def _is_block(text: str) -> bool:
    """Several lines that a block shows as they are."""
    return "\n" in text and all(
        line == line.rstrip() and (not line or line.isprintable()) for line in text.split("\n")
    ) and not text.startswith((" ", "\n"))  # fmt: skip


_Dumper.add_representer(str, _text_node)
