"""Design files: a design without Python, as JSON or YAML.

    from_json(to_json(design))     the same tables, keys, patterns, cost and findings
    load_design("shop.yaml")       the design in a file
    read_file(text, is_yaml=True)  the design, and the line of each of its parts
    json_schema()                  what may be in a file; docs/design-file.schema.json is this

See docs/design-files.md. Must hold: an error names its place, `tables[0].entities[2].sk`, and its line; nothing in a
file is executed.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from tablewright.design.design import Design
from tablewright.design.errors import DesignRefused, Finding
from tablewright.design.files.document import FORMAT, DesignDocument, json_schema
from tablewright.design.files.errors import WHOLE, DesignFileRefused, line_of, problem, refused
from tablewright.design.files.places import place_of_finding
from tablewright.design.files.reader import design_of
from tablewright.design.files.text import from_json_text, from_yaml_text, lines_of, to_json_text, to_yaml_text
from tablewright.design.files.writer import Written, written

YAML = (".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class DesignFile:
    """A design, built, with the document it is made of and the line of each part."""

    design: Design
    document: DesignDocument
    lines: Mapping[str, int]

    def at_line(self, finding: Finding) -> Finding:
        """A finding in the design with the line of what it names, if the file has it."""
        return _at_line(finding, self.document, self.lines)


def to_json(design: Design) -> str:
    """The JSON of a design; what a file cannot say is in its `notes`."""
    return to_json_text(written(design).document)


def to_yaml(design: Design) -> str:
    """The YAML of a design."""
    return to_yaml_text(written(design).document)


def from_json(text: str) -> Design:
    """The design in a JSON text, built; DesignFileRefused or DesignRefused."""
    return read_file(text, is_yaml=False).design


def from_yaml(text: str) -> Design:
    """The design in a YAML text, built."""
    return read_file(text, is_yaml=True).design


def load_design(path: str | Path) -> Design:
    """The design in a file, JSON or YAML by its name, built; an error names the file."""
    path = Path(path)
    try:
        return read_file(path.read_text("utf-8"), is_yaml=path.suffix in YAML).design
    except DesignFileRefused as error:
        found = [(f"{path}:{each.line}" if each.line else str(path), each) for each in error.problems]
        raise DesignFileRefused(
            [replace(each, place=f"{where}: {each.place}", line=0) for where, each in found]
        ) from None


def read_file(text: str, *, is_yaml: bool) -> DesignFile:
    """The design in the text of a file; DesignFileRefused or DesignRefused say what is wrong, with lines."""
    value = from_yaml_text(text) if is_yaml else from_json_text(text)
    lines = lines_of(text, is_yaml=is_yaml)
    try:
        document = document_of(value)
        return DesignFile(design_of(document), document, lines)
    except DesignFileRefused as error:
        raise error.at_lines(lines) from None
    except DesignRefused as error:
        # Only design_of raises it, so there is a document.
        raise DesignRefused(
            error.design, [_at_place(each, document, lines) for each in error.findings]
        ) from None


def from_plain(value: Any) -> Design:
    """The design in the plain values of a document."""
    return design_of(document_of(value))


def document_of(value: Any) -> DesignDocument:
    """The document, with everything in its form; DesignFileRefused names each place that is not."""
    if not isinstance(value, dict):
        raise problem(WHOLE, f'is not a design: it has no "format": "{FORMAT}"')
    if not is_design(value):
        found = f"found {value['format']!r}" if "format" in value else "is missing"
        raise problem("format", f"{found}; write `format: {FORMAT}` as the first line of a design")
    try:
        # As JSON, in which a list may stand for a tuple, and yet no text for a number.
        return DesignDocument.model_validate_json(json.dumps(value))
    except ValidationError as error:
        raise refused(error) from None


def is_design(value: Any) -> bool:
    """True if a document says that it is a design; others are facts, or from elsewhere."""
    return isinstance(value, dict) and str(value.get("format", "")).startswith("tablewright-design/")


def _at_line(finding: Finding, document: DesignDocument, lines: Mapping[str, int]) -> Finding:
    place = place_of_finding(document, finding.where)
    return replace(finding, line=line_of(place, lines)) if place else finding


def _at_place(finding: Finding, document: DesignDocument, lines: Mapping[str, int]) -> Finding:
    """What build() finds, with its place in the file beside what it names."""
    place = place_of_finding(document, finding.where)
    found = _at_line(finding, document, lines)
    return replace(found, where=f"{place} ({finding.where})") if place else found


__all__ = [
    "FORMAT", "YAML", "DesignFile", "DesignFileRefused", "Written", "document_of", "from_json", "from_plain",
    "from_yaml", "is_design", "json_schema", "load_design", "read_file", "to_json", "to_yaml", "written",
]  # fmt: skip
