"""`design check --fix`: the diff of a file with what can be fixed; --yes writes it.

Must hold: nothing is written without --yes; the file has the old content or the new one, also after a crash.
Elsewhere: the fixes (design/review/fixes.py), the text with them (design/files/fixed_text.py), what is left then
(design/files/text_findings.py).
"""

import argparse
import os
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from tablewright.cli.files import FileUnusable, read_text
from tablewright.cli.format import plural
from tablewright.cli.output import print_message, print_result
from tablewright.design.errors import Finding
from tablewright.design.files import YAML
from tablewright.design.files.edits import EditRefused
from tablewright.design.files.fixed_text import FixedText, diff_text, fixed_text
from tablewright.design.files.text_findings import found_in


def finding_text(finding: Finding) -> str:
    line = f" (line {finding.line})" if finding.line else ""
    evidence = f" [{finding.evidence}]" if finding.evidence else ""
    accepted = f"\n    accepted: {finding.reason}" if finding.reason else ""
    return (
        f"{finding.severity:<11} {finding.rule} at {finding.where}{line}: {finding.why}{evidence}. "
        f"Fix: {finding.fix}{accepted}"
    )


def fix_file(
    given: argparse.Namespace,
    findings: Sequence[Finding],
    *,
    is_design: bool,
    named: str | None = None,
    renames: Sequence[Finding] = (),
) -> None:
    """Print the diff on stdout, and write it if --yes is given. `named`: the text, if `renames` were made in it."""
    path = Path(given.system)
    text = read_text(path)
    try:
        made = fixed_text(
            named or text, findings, is_yaml=path.suffix in YAML, is_design=is_design, name=str(path)
        )
    except EditRefused as error:
        raise FileUnusable(f"{path}: {error}; --fix changed nothing") from None
    if renames:
        made = FixedText(made.text, diff_text(text, made.text, str(path)), (*renames, *made.findings))
        findings = (*renames, *findings)
    diff, is_written = made.diff, given.yes and made.text != text
    if is_written:
        _write(path, text, made.text)
    left = found_in(made.text, is_yaml=path.suffix in YAML, is_design=is_design)
    # What the target lacks is not in the text.
    left += [each for each in findings if each.rule.startswith("T0") and not each.reason]
    value = {"system": given.system, "diff": diff, "fixed": [asdict(each) for each in made.findings],
             "left": [asdict(each) for each in left], "written": is_written}  # fmt: skip
    if diff or given.json:
        print_result(given, value, diff.rstrip("\n"))
    open_ones = sum(not each.reason for each in findings)
    said = f"tablewright: {path}: {len(made.findings)} of {plural(open_ones, 'finding')} "
    if not made.findings:
        print_message(f"{said}can be fixed automatically")
    else:
        print_message(f"{said}{'fixed' if is_written else 'would be fixed; add --yes to write it'}")
        rest = "\n".join(map(finding_text, left))
        after = f"tablewright: {path}: a check of the fixed text finds {plural(len(left), 'finding')}"
        print_message(f"{after}:\n{rest}" if left else after)


def _write(path: Path, old: str, new: str) -> None:
    """A new file in the place of the old one, with its rights."""
    home = path.resolve()
    if home.read_bytes() != old.encode():
        raise FileUnusable(
            f"{path} has line ends of Windows, or has just been changed by another; --fix changed nothing"
        )
    handle, draft = tempfile.mkstemp(prefix=f".{home.name}.", dir=home.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(new)
            file.flush()
            os.fsync(file.fileno())
        shutil.copymode(home, draft)
        Path(draft).replace(home)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise
