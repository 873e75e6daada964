"""A request as code to copy: boto3, the AWS CLI, the JavaScript SDK. Pure.

Must hold: the code runs as it is printed and sends the same request, whatever letters its keys and values have; so each
language has its own quotes, and a binary value is bytes where the SDK takes bytes. Nothing here reads a table.
Elsewhere: the requests of a pattern (explain.py), its typed call (typed_samples.py), the tabs that show these
(app/designs/templates/parts.html).
"""

import json
import re
import shlex
from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from tablewright.values.codec import KINDS

Request: TypeAlias = tuple[str, Mapping[str, Any]]
_WIDTH = 88
_WORD = re.compile(r"(?<=[a-z])(?=[A-Z])")
_CLI_BINARY = "# Binary values are in base64, as version 2 of the AWS CLI takes them."


ANY = "any"  # a key, for a server that takes any


@dataclass(frozen=True, slots=True)
class Target:
    """Where requests are sent; without a url to Amazon. Keys are found by the SDK, unless the server takes any."""

    url: str = ""
    region: str = ""
    takes_any_key: bool = False


AMAZON = Target()


@dataclass(frozen=True, slots=True)
class Sample:
    """Code in one language."""

    language: str
    text: str


@dataclass(frozen=True, slots=True)
class _Bytes:
    """A binary value, in base64."""

    text: str


def samples(requests: Sequence[Request], target: Target = AMAZON, typed: str = "") -> list[Sample]:
    """The same requests in each language; `typed` is a typed_program."""
    found = [
        Sample("boto3", boto3_code(requests, target)),
        Sample("AWS CLI", cli_code(requests, target)),
        Sample("JavaScript", javascript_code(requests, target)),
    ]
    return [*found, Sample("Typed Python", typed)] if typed else found


# --- boto3 ---


def boto3_code(requests: Sequence[Request], target: Target = AMAZON) -> str:
    """A program with boto3's client; each answer is in `response`."""
    keys = ANY if target.takes_any_key else ""
    given = [
        ("endpoint_url", target.url), ("region_name", target.region),
        ("aws_access_key_id", keys), ("aws_secret_access_key", keys),
    ]  # fmt: skip
    options = "".join(f"    {name}={_quoted(value)},\n" for name, value in given if value)
    client = f'boto3.client(\n    "dynamodb",\n{options})' if options else 'boto3.client("dynamodb")'
    lines = ["import boto3", "", f"client = {client}"]
    for verb, request in requests:
        members = [f"    {name}={_python(value, 4)},\n" for name, value in _with_bytes(request).items()]
        lines.append(f"response = client.{_joined(verb, '_')}(\n{''.join(members)})")
    return "\n".join(lines) + "\n"


def _python(value: Any, indent: int) -> str:
    return _laid_out(value, indent, _python_scalar, _python_scalar)


def _python_scalar(value: Any) -> str:
    return python_literal(b64decode(value.text) if isinstance(value, _Bytes) else value)


def python_literal(value: object) -> str:
    """The value in Python, with double quotes where it contains none."""
    text = repr(value)
    return text.replace("'", '"') if isinstance(value, str | bytes) and '"' not in text else text


# --- the AWS CLI ---


def cli_code(requests: Sequence[Request], target: Target = AMAZON) -> str:
    """A command for each request, for a POSIX shell."""
    commands = [_command(verb, request, target) for verb, request in requests]
    note = f"{_CLI_BINARY}\n" if any(_has_bytes(request) for _, request in requests) else ""
    return note + "\n".join(commands) + "\n"


def _command(verb: str, request: Mapping[str, Any], target: Target) -> str:
    options = [_option(name, value) for name, value in request.items()]
    where = (("endpoint-url", target.url), ("region", target.region))
    options += [f"--{name} {shlex.quote(value)}" for name, value in where if value]
    # Before the command, not exported: the keys of the reader's shell stay as they are.
    keys = [f"AWS_ACCESS_KEY_ID={ANY} AWS_SECRET_ACCESS_KEY={ANY}"] if target.takes_any_key else []
    return " \\\n  ".join([*keys, f"aws dynamodb {_joined(verb, '-')}", *options])


def _option(name: str, value: Any) -> str:
    flag = _joined(name, "-")
    if isinstance(value, bool):
        return f"--{flag}" if value else f"--no-{flag}"
    text = value if isinstance(value, str) else json.dumps(_plain(value), ensure_ascii=False)
    return f"--{flag} {shlex.quote(text)}"


# --- the JavaScript SDK, version 3 ---


def javascript_code(requests: Sequence[Request], target: Target = AMAZON) -> str:
    """A module for Node.js with the client of the SDK; each answer is printed whole."""
    commands = ", ".join(dict.fromkeys(f"{verb}Command" for verb, _ in requests))
    given = [
        f"{name}: {_quoted(value)}"
        for name, value in (("endpoint", target.url), ("region", target.region))
        if value
    ]
    if target.takes_any_key:
        given.append(f"credentials: {{ accessKeyId: {_quoted(ANY)}, secretAccessKey: {_quoted(ANY)} }}")
    where = "{\n" + "".join(f"  {each},\n" for each in given) + "}" if given else "{}"
    lines = [
        f'import {{ DynamoDBClient, {commands} }} from "@aws-sdk/client-dynamodb";',
        "",
        f"const client = new DynamoDBClient({where});",
    ]
    for verb, request in requests:
        literal = _laid_out(_with_bytes(request), 0, _javascript_scalar, _javascript_name)
        # Not console.log, which prints the attributes of a Query's items as [Object].
        lines.append(f"console.dir(await client.send(new {verb}Command({literal})), {{ depth: null }});")
    return "\n".join(lines) + "\n"


def _javascript_scalar(value: Any) -> str:
    if isinstance(value, _Bytes):
        return f'Buffer.from({_quoted(value.text)}, "base64")'
    return json.dumps(value, ensure_ascii=False)


def _javascript_name(name: str) -> str:
    # In an object literal this one name sets the prototype instead of a member, unless it is computed.
    return f"[{_quoted(name)}]" if name == "__proto__" else _quoted(name)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


# --- what the languages share ---


def _joined(name: str, by: str) -> str:
    """`TableName` as `table-name` or `table_name`."""
    return _WORD.sub(by, name).lower()


def _plain(value: Any) -> Any:
    """The same with dicts and lists, whatever mappings and sequences it is made of."""
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value


def _with_bytes(request: Mapping[str, Any]) -> dict[str, Any]:
    """The request with binary values marked. Attribute values are in some members only: a name may be `B` as well."""
    marked: dict[str, Callable[[Any], Any]] = {
        "Key": _item, "Item": _item, "ExclusiveStartKey": _item, "ExpressionAttributeValues": _item,
    }  # fmt: skip
    return {name: marked.get(name, _plain)(value) for name, value in request.items()}


def _item(item: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _value(each) for name, each in item.items()}


def _value(value: Mapping[str, Any]) -> dict[str, Any]:
    ((kind, content),) = value.items()
    assert kind in KINDS
    if kind == "B":
        return {kind: _Bytes(content)}
    if kind == "BS":
        return {kind: [_Bytes(each) for each in content]}
    if kind == "M":
        return {kind: _item(content)}
    return {kind: [_value(each) for each in content] if kind == "L" else content}


def _has_bytes(request: Mapping[str, Any]) -> bool:
    waiting: list[Any] = [_with_bytes(request)]
    while waiting:
        one = waiting.pop()
        if isinstance(one, _Bytes):
            return True
        waiting += one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()
    return False


def _laid_out(value: Any, indent: int, scalar: Callable[[Any], str], name_of: Callable[[str], str]) -> str:
    """A literal, on one line where it fits; the outermost object of a command always has a line for each member."""
    if not isinstance(value, dict | list):
        return scalar(value)
    inner = indent + (4 if scalar is _python_scalar else 2)
    parts = [
        (f"{name_of(name)}: " if name is not None else "") + _laid_out(each, inner, scalar, name_of)
        for name, each in (value.items() if isinstance(value, dict) else ((None, one) for one in value))
    ]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    flat = opening + ", ".join(parts) + closing
    if not parts or (indent and "\n" not in flat and len(flat) + indent <= _WIDTH):
        return flat
    lines = "".join(f"{' ' * inner}{part},\n" for part in parts)
    return f"{opening}\n{lines}{' ' * indent}{closing}"
