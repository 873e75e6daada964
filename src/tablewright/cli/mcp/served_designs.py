"""The designs that the server was started with, and those of design files as they are now.

A client that changes FILE.yaml and asks again is answered about what it wrote. A design in Python is code, and is not
run a second time. The tools that read and write tables keep the design of the start.
Must hold: two designs of one name are refused, for a tool could mean either.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tablewright.cli.design_files import is_design_file, load_design_file, unusable
from tablewright.cli.designs import load_designs
from tablewright.cli.output import UsageError
from tablewright.design import Design, DesignRefused, Finding
from tablewright.design.check import findings
from tablewright.design.files import DesignFileRefused, read_file
from tablewright.design.review import review
from tablewright.design.review.designs import facts_of


@dataclass(frozen=True, slots=True)
class ServedDesign:
    """A design as it was at the start, and the file it is in, if that is a design file."""

    started: Design
    file: Path | None = None

    @property
    def now(self) -> Design:
        """As its file has it now; FileUnusable or DesignRefused say what is wrong there."""
        return self.started if self.file is None else load_design_file(self.file).design

    def findings(self) -> list[Finding]:
        """What the rules find now, with the lines of a design file; also if build() refuses the design."""
        try:
            file = None if self.file is None else load_design_file(self.file)
        except DesignRefused as refused:
            return list(refused.findings)
        design = self.started if file is None else file.design
        found = [*findings(design), *review(facts_of(design))]
        return found if file is None else sorted(map(file.at_line, found), key=lambda each: each.line)


def served_designs(sources: Sequence[str]) -> dict[str, ServedDesign]:
    """The designs by their names."""
    found: dict[str, ServedDesign] = {}
    for source in sources:
        file = Path(source) if is_design_file(source) else None
        for design in load_designs(source):
            if design.name in found:
                raise UsageError(
                    f"{source}: a design named {design.name} is served already; name one of them, or rename the design"
                )
            found[design.name] = ServedDesign(design, file)
    return found


def design_in(document: str) -> Design:
    """The design in the text of a design file; errors name the line."""
    try:
        return read_file(document, is_yaml=not document.lstrip().startswith("{")).design
    except DesignFileRefused as error:
        raise unusable(Path("document"), error) from None
