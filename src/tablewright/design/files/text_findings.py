"""What a check of a text finds, before its fixes and after them. Pure.

Must hold: a fix can bring to light what the rules could not see before, so what is left is found by the same rules in
the fixed text, never by subtraction. Elsewhere: the fixed text (fixed_text.py), unknown names (renames.py).
"""

from tablewright.design.check import findings
from tablewright.design.errors import DesignRefused, Finding
from tablewright.design.files import DesignFileRefused, read_file
from tablewright.design.files.errors import Problem
from tablewright.design.files.renames import renamed
from tablewright.design.review import from_json, review
from tablewright.design.review.designs import facts_of


def known_names(text: str, *, is_yaml: bool) -> tuple[str, tuple[Finding, ...]]:
    """The text of a design file with the keys that it is meant to have, and a finding for each that was changed."""
    try:
        read_file(text, is_yaml=is_yaml)
    except DesignFileRefused as error:
        made = renamed(text, error.problems)
        return made.text, tuple(map(_finding, made.problems))
    except DesignRefused:
        pass
    return text, ()


def found_in(text: str, *, is_yaml: bool, is_design: bool) -> list[Finding]:
    """The open findings of a design file or of a document of facts; what is wrong with the form of a file is one."""
    if not is_design:
        return [each for each in review(from_json(text)) if not each.reason]
    try:
        file = read_file(text, is_yaml=is_yaml)
    except DesignFileRefused as error:
        return list(map(_finding, error.problems))
    except DesignRefused as error:
        return list(error.findings)
    found = map(file.at_line, (*findings(file.design), *review(facts_of(file.design))))
    return sorted((each for each in found if not each.reason), key=lambda each: each.line)


def _finding(problem: Problem) -> Finding:
    fix = f"write {problem.instead}" if problem.instead else "write it as docs/design-files.md has it"
    return Finding("file", problem.place, problem.why, fix, line=problem.line)
