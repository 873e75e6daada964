"""Design files on the command line: FILE.json, FILE.yaml. Must hold: an error names the file, the line and the part."""

from pathlib import Path
from typing import Any

from tablewright.cli.files import FileUnusable, read_text
from tablewright.design.files import YAML, DesignFile, DesignFileRefused, read_file
from tablewright.design.files.text import TagReader, from_json_text, from_yaml_text

SUFFIXES = (".json", *YAML)


def is_design_file(name: str) -> bool:
    """True if a text names a design file and not a system or a Python design."""
    return name.endswith(SUFFIXES)


def plain_of(path: Path, read_tag: TagReader | None = None) -> Any:
    """The plain values in a JSON or YAML file."""
    text = read_text(path)
    try:
        return from_yaml_text(text, read_tag) if path.suffix in YAML else from_json_text(text)
    except DesignFileRefused as error:
        raise unusable(path, error) from None


def load_design_file(path: Path) -> DesignFile:
    """The design in a file, built, with its lines."""
    try:
        return read_file(read_text(path), is_yaml=path.suffix in YAML)
    except DesignFileRefused as error:
        raise unusable(path, error) from None


def unusable(path: Path, error: DesignFileRefused) -> FileUnusable:
    """`shop.yaml:12: tables[0].pk: is missing`, a line for each problem."""
    return FileUnusable(
        "\n".join(
            f"{path}{f':{each.line}' if each.line else ''}: {each.place}: {each.why}"
            for each in error.problems
        )
    )
