"""Fixes that a machine can make: all that findings of a document allow, one after the other. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass

from tablewright.design.errors import Finding
from tablewright.design.review import design_fixes, document_fixes
from tablewright.design.review.document_fixes import Document, Fix


@dataclass(frozen=True, slots=True)
class Fixed:
    """A document with what could be fixed, and the findings that it was fixed for."""

    document: Document
    findings: tuple[Finding, ...]


def fixes_of(*, is_design: bool) -> dict[str, Fix]:
    """The fixes by rule: of design files, or of documents of facts."""
    return design_fixes.FIXES if is_design else document_fixes.FIXES


def fixed(document: Document, findings: Iterable[Finding], *, is_design: bool) -> Fixed:
    """The document after each fix that its open findings have; an accepted finding is left alone."""
    known, made, done = fixes_of(is_design=is_design), document, []
    for finding in findings:
        fix = known.get(finding.rule)
        found = fix(made, finding) if fix and not finding.reason else None
        if found is not None:
            made = found
            done.append(finding)
    return Fixed(made, tuple(done))


def fixable(code: str) -> tuple[str, ...]:
    """In which kinds of files a rule has a fix."""
    kinds = (("design files", design_fixes.FIXES), ("facts", document_fixes.FIXES))
    return tuple(kind for kind, known in kinds if code in known)
