"""A design file on the page "Check a design": what the rules find in it by line, what it costs, its pictures.

Must hold: nothing of it is stored, and no code in it is run: a design file is plain values (design/files).
Elsewhere: the page (document_check.py), the same in a terminal (`tablewright design check|cost|design picture`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tablewright.app import uploaded_designs
from tablewright.app.designs.findings import Findings, explained
from tablewright.app.pictures import Picture, pictures_of
from tablewright.app.pictures.canvas import no_links
from tablewright.design import Design, DesignMistake
from tablewright.design.cost import STATE_LOAD, CostReport, cost_of, usual_environment
from tablewright.design.errors import DesignRefused, Finding
from tablewright.design.files import DesignFileRefused, is_design, read_file
from tablewright.design.files.edits import EditRefused
from tablewright.design.files.fixed_text import diff_text, fixed_text
from tablewright.design.files.text import from_json_text, from_yaml_text
from tablewright.design.files.text_findings import found_in, known_names
from tablewright.design.review import review
from tablewright.design.review.designs import facts_of

Mistakes = list[tuple[str, str]]


class FileMistaken(ValueError):
    """A design file that is none; `mistakes` are places with what is wrong there, `fix` repairs what it can."""

    def __init__(self, mistakes: Mistakes, fix: "Fix") -> None:
        self.mistakes, self.fix = mistakes, fix
        super().__init__(f"{len(mistakes)} mistakes")


@dataclass(frozen=True, slots=True)
class Fix:
    """What `design check --fix` would change, as a diff, and what a check of the fixed text finds."""

    diff: str = ""
    left: Sequence[Finding] = ()


def fix_of(text: str, findings: Sequence[Finding], *, is_yaml: bool, is_design: bool, name: str) -> Fix:
    """The fix; none where the command would refuse it. Forms end lines as Windows does: a diff does not show that."""
    text = text.replace("\r\n", "\n")
    named, _ = known_names(text, is_yaml=is_yaml) if is_design else (text, ())
    if named != text:
        found = found_in(named, is_yaml=is_yaml, is_design=True)
        findings = [each for each in found if each.rule != "file"]
    try:
        new = fixed_text(named, findings, is_yaml=is_yaml, is_design=is_design, name=name).text
    except (EditRefused, DesignFileRefused):
        new = named
    if new == text:
        return Fix()
    return Fix(diff_text(text, new, name), found_in(new, is_yaml=is_yaml, is_design=is_design))


@dataclass(frozen=True, slots=True)
class FileReport:
    """A design file as the page shows it. `cost` is None where `no_cost` says why.

    `is_whole` is False if it cannot be built: then the findings are all there is, and `counted` is empty.
    """

    name: str
    findings: Findings
    counted: Mapping[str, int]
    cost: CostReport | None
    no_cost: str
    pictures: tuple[Picture, ...]
    fix: Fix
    is_whole: bool = True


def file_report(text: str) -> FileReport | None:
    """The report on a design file, JSON or YAML; None if the text is something else; FileMistaken."""
    is_yaml = uploaded_designs.is_yaml(text)
    try:
        if not is_design(from_yaml_text(text) if is_yaml else from_json_text(text)):
            return None
        file = read_file(text, is_yaml=is_yaml)
    except DesignFileRefused as error:
        if not is_yaml and "format" not in text:
            return None  # a broken document of facts: its own reader says how
        fix = fix_of(text, (), is_yaml=is_yaml, is_design=True, name="the file")
        raise FileMistaken([(_at(each.line, each.place), each.why) for each in error.problems], fix) from None
    except DesignRefused as error:
        fix = fix_of(text, error.findings, is_yaml=is_yaml, is_design=True, name=error.design)
        return FileReport(error.design, explained(error.findings), {}, None, "", (), fix, is_whole=False)
    found = sorted(map(file.at_line, review(facts_of(file.design))), key=lambda each: each.line)
    cost, no_cost = _cost(file.design)
    drawn = tuple(one.draw(no_links) for one in pictures_of(file.design))
    fix = fix_of(text, found, is_yaml=is_yaml, is_design=True, name=file.design.name)
    return FileReport(file.design.name, explained(found), _counted(file.design), cost, no_cost, drawn, fix)


def _at(line: int, place: str) -> str:
    return f"line {line}: {place}" if line else place


def _cost(design: Design) -> tuple[CostReport | None, str]:
    try:
        report = cost_of(design, usual_environment(design))
    except DesignMistake as mistake:
        return None, f"No price can be calculated: {mistake}."
    return (report, "") if report.is_priced else (None, f"{STATE_LOAD}.")


def _counted(design: Design) -> Mapping[str, int]:
    return {
        "tables": len(design.tables),
        "entities": len(design.shapes),
        "indexes": len(design.indexes),
        "patterns": len(design.plans),
    }
