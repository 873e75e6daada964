"""A printed repository and a directory: what of it is not so, and writing it.

Must hold: a file that is not ours, or of another repository, is never written over nor removed. A file is ours if its
first line says so; a schema, which has no place for such a line, if the README of the directory says that it is a
repository of ours.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tablewright.design.errors import DesignMistake

MARK = "Printed by tablewright design repository"
_SUFFIXES = (".tf", ".tfvars", ".yml", ".py", ".md", ".schema.json")
# What tools write into a repository of ours, or others have there: never looked into.
_OTHERS = frozenset((".git", ".terraform", ".venv", "node_modules", "__pycache__", ".pytest_cache"))


class NotOurs(DesignMistake):
    """A file that tablewright did not print has the name of one that is to be printed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        super().__init__(
            f"{path} was not printed by tablewright: move it away, or print into another directory"
        )


class AnotherTree(DesignMistake):
    """The repository of another design is where one is to be printed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        super().__init__(
            f"{path} was printed from another design: print into another directory, or remove it"
        )


@dataclass(frozen=True, slots=True)
class Differences:
    """Names of files that are missing, say something else, or are not printed any more."""

    missing: tuple[str, ...]
    changed: tuple[str, ...]
    left_over: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.missing or self.changed or self.left_over)


def marked(path: str, text: str, name: str) -> str:
    """The text of a file with the line that says what it was printed from, in a comment of its language."""
    said = f"{MARK} {name}: change the design and print it again."
    if path.endswith(".json"):
        return text
    return f"<!-- {said} -->\n\n{text}" if path.endswith(".md") else f"# {said}\n\n{text}"


def differences(printed: Mapping[str, str], directory: Path) -> Differences:
    """How a directory differs from what is printed; files of others are not looked at, unless one is in the way."""
    if directory.exists() and not directory.is_dir():
        raise NotOurs(directory)
    there = {path.relative_to(directory).as_posix(): path for path in _files(directory)}
    readme = printed["README.md"]
    is_ours = "README.md" in there and _whose(_text(there["README.md"])) == _whose(readme)
    left_over, changed = [], []
    for name, path in there.items():
        text, is_schema = _text(path), name.endswith(".json")
        is_marked = is_ours if is_schema else MARK in text.partition("\n")[0]
        if name in printed:
            if not is_marked:
                raise NotOurs(path)
            if not is_schema and _whose(text) != _whose(readme):
                raise AnotherTree(path)
            if text != printed[name]:
                changed.append(name)
        elif is_marked and (not is_schema or name.startswith("schemas/")):
            left_over.append(name)
    missing = tuple(name for name in printed if name not in there)
    for name in missing:
        if (directory / name).exists():
            raise NotOurs(directory / name)
    return Differences(missing, tuple(changed), tuple(left_over))


def _files(directory: Path) -> Iterator[Path]:
    """The files that could be ours, of this directory and those in it."""
    for path in sorted(directory.iterdir()) if directory.is_dir() else ():
        if path.is_dir() and path.name not in _OTHERS and not path.is_symlink():
            yield from _files(path)
        elif path.is_file() and path.name.endswith(_SUFFIXES):
            yield path


def _text(path: Path) -> str:
    """The text of a file. Binary content never begins with our first line."""
    return path.read_text("utf-8", errors="replace")


def _whose(text: str) -> str:
    """What the first line says a file was printed from."""
    return text.partition("\n")[0].partition(MARK)[2].partition(": ")[0]


def write(printed: Mapping[str, str], directory: Path) -> Differences:
    """Make a directory what is printed; what was not so before. NotOurs, and nothing written, if one is in the way."""
    found = differences(printed, directory)
    for name in (*found.missing, *found.changed):
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(printed[name], "utf-8")
    for name in found.left_over:
        path = directory / name
        path.unlink()
        if not any(path.parent.iterdir()):
            path.parent.rmdir()
    return found
