"""A printed tree and a directory: what of it is not so, and writing it.

Must hold: a file that is not ours, or of another tree, is never written over nor removed; both are known by its first
line.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tablewright.design.errors import DesignMistake

# As long as every header begins so, trees of older versions are known as ours.
MARK = "# Printed by tablewright terraform"


class NotOurs(DesignMistake):
    """A file that tablewright did not print has the name of one that is to be printed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        super().__init__(
            f"{path} was not printed by tablewright: move it away, or print into another directory"
        )


class AnotherTree(DesignMistake):
    """The tree of another design or environment is where one is to be printed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        super().__init__(
            f"{path} was printed from another design or environment: print into another directory, or remove it"
        )


@dataclass(frozen=True, slots=True)
class Differences:
    """Names of files that are missing, say something else, or are not printed any more."""

    missing: tuple[str, ...]
    changed: tuple[str, ...]
    left_over: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.missing or self.changed or self.left_over)


def differences(printed: Mapping[str, str], directory: Path) -> Differences:
    """How a directory differs from what is printed; files of others are not looked at, unless one is in the way."""
    if directory.exists() and not directory.is_dir():
        raise NotOurs(directory)
    there = {path.name: _text(path) for path in sorted(directory.glob("*.tf"))}
    for name in printed:
        if name in there and not there[name].startswith(MARK):
            raise NotOurs(directory / name)
        if name in there and _whose(there[name]) != _whose(printed[name]):
            raise AnotherTree(directory / name)
    ours = [name for name, text in there.items() if text.startswith(MARK)]
    return Differences(
        tuple(name for name in printed if name not in there),
        tuple(name for name, text in printed.items() if name in there and there[name] != text),
        tuple(name for name in ours if name not in printed),
    )


def _text(path: Path) -> str:
    """The text of a file; empty for a directory. Binary content never begins with our first line."""
    return "" if path.is_dir() else path.read_text("utf-8", errors="replace")


def _whose(text: str) -> str:
    """What the first line says a file was printed from."""
    return text.partition("\n")[0].partition(": ")[0]


def write(printed: Mapping[str, str], directory: Path) -> Differences:
    """Make a directory what is printed; what was not so before. NotOurs, and nothing written, if one is in the way."""
    found = differences(printed, directory)
    directory.mkdir(parents=True, exist_ok=True)
    for name in (*found.missing, *found.changed):
        (directory / name).write_text(printed[name], "utf-8")
    for name in found.left_over:
        (directory / name).unlink()
    return found
