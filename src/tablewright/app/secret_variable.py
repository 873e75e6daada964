"""The secrets of an endpoint's processes in one environment variable, for machines without a directory of their own.

The value is a JSON object: the path of each file below the directory of secrets, and its bytes as base64. A process
unpacks it into a directory in memory, if the machine has one, that only it can read and that is removed when it ends.
Must hold: what is unpacked stays below its directory, and a value that cannot be used is refused without being printed.
Elsewhere: which secrets there must be (endpoint.py), the command that prints a value (cli/secrets.py).
"""

import base64
import binascii
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from tablewright.app.endpoint import EndpointMistake
from tablewright.private_files import private_directory, private_file

# Secrets and settings, and neither the mail nor the simulated firewalls of a demo.
_PACKED = ("page-tokens.secret", "keys/[0-9]*.json", "systems/*/secrets/*", "systems/*/*.json")
# Linux takes no longer text in a variable (MAX_ARG_STRLEN), with its name and its end.
MOST_BYTES = 128 * 1024 - 256
_MEMORY = "/dev/shm"


class SecretVariableUnusable(EndpointMistake):
    """A variable that is not set, or whose value is not what `tablewright secrets DIR --as-variable` prints."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(
            f"--secrets-variable {name}: {why}; its value is what `tablewright secrets DIR --as-variable` prints"
        )


class SecretsTooLarge(EndpointMistake):
    """The files do not fit into a variable."""

    def __init__(self, directory: Path, size: int) -> None:
        super().__init__(
            f"{directory}: its secrets are {size} bytes as a variable, and Linux takes {MOST_BYTES}; use --secrets DIR"
        )


def packed(directory: Path) -> str:
    """The secrets and settings of a directory as the value of a variable."""
    files = sorted({path for pattern in _PACKED for path in directory.glob(pattern) if path.is_file()})
    text = json.dumps(
        {
            path.relative_to(directory).as_posix(): base64.b64encode(path.read_bytes()).decode()
            for path in files
        },
        separators=(",", ":"),
    )
    if len(text) > MOST_BYTES:
        raise SecretsTooLarge(directory, len(text))
    return text


@contextmanager
def unpacked(name: str, environment: Mapping[str, str]) -> Iterator[Path]:
    """The secrets of a variable as a directory that exists as long as the block."""
    if name not in environment:
        raise SecretVariableUnusable(name, "the variable is not set")
    files = _files(name, environment[name])
    with TemporaryDirectory(
        prefix="tablewright-secrets-", dir=_MEMORY if os.access(_MEMORY, os.W_OK) else None
    ) as directory:
        for path, content in files.items():
            _write(Path(directory) / path, content)
        yield Path(directory)


def _files(name: str, text: str) -> dict[PurePosixPath, bytes]:
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        raise SecretVariableUnusable(name, "its value is not JSON") from None
    if not isinstance(value, dict):
        raise SecretVariableUnusable(name, "its value is not a JSON object")
    return {_path(name, path): _content(name, path, content) for path, content in value.items()}


def _path(name: str, text: str) -> PurePosixPath:
    path = PurePosixPath(text)
    if ".." in path.parts or not any(_fits(path, PurePosixPath(pattern)) for pattern in _PACKED):
        raise SecretVariableUnusable(name, f"{text!r} is not the path of a secret")
    return path


def _fits(path: PurePosixPath, pattern: PurePosixPath) -> bool:
    return len(path.parts) == len(pattern.parts) and path.match(str(pattern))


def _content(name: str, path: str, content: object) -> bytes:
    try:
        return base64.b64decode(content if isinstance(content, str) else "?", validate=True)
    except binascii.Error:
        raise SecretVariableUnusable(name, f"{path} is not base64") from None


def _write(path: Path, content: bytes) -> None:
    private_directory(path.parent)
    with os.fdopen(private_file(path, os.O_WRONLY), "wb") as file:
        file.write(content)
