"""The text of a design file, or of a document of facts, after the fixes that its findings have; and the diff. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import unified_diff

from tablewright.design.errors import Finding
from tablewright.design.files.edits import edited
from tablewright.design.files.text import from_json_text, from_yaml_text
from tablewright.design.review.fixes import fixed


@dataclass(frozen=True, slots=True)
class FixedText:
    """The new text, its unified diff ('' if nothing changes), and the findings that it was fixed for."""

    text: str
    diff: str
    findings: tuple[Finding, ...]


def fixed_text(
    text: str, findings: Iterable[Finding], *, is_yaml: bool, is_design: bool, name: str
) -> FixedText:
    """The text with every fix; EditRefused where only other parts of it could be written again."""
    plain = from_yaml_text(text) if is_yaml else from_json_text(text)
    made = fixed(plain, findings, is_design=is_design)
    new = edited(text, made.document, is_yaml=is_yaml)
    return FixedText(new, diff_text(text, new, name), made.findings)


def diff_text(text: str, new: str, name: str) -> str:
    return "".join(unified_diff(_lines(text), _lines(new), name, name))


def _lines(text: str) -> list[str]:
    """The lines of a text, each with its end, so that a diff can be shown."""
    return [f"{line}\n" for line in text.removesuffix("\n").split("\n")]
