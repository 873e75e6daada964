"""`tablewright design check`: what the rules find in a design or a document, and what a target lacks of what it needs.

The exit code is 1 if there is an error, or a warning that is not accepted with a reason.
Elsewhere: what a design must hold to work (design/check), what it should hold (design/review), targets
(design/capabilities.py).
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from tablewright.cli.design_files import is_design_file, load_design_file, plain_of
from tablewright.cli.design_fixes import finding_text, fix_file
from tablewright.cli.designs import FORMS, NoSuchEnvironment, load_designs
from tablewright.cli.files import read_text
from tablewright.cli.format import as_table, plural
from tablewright.cli.output import UsageError, print_message, print_result
from tablewright.design import Design, DesignMistake, Environment
from tablewright.design.capabilities import TARGETS, missing
from tablewright.design.check import findings
from tablewright.design.cost import cost_of
from tablewright.design.errors import DesignRefused, Finding
from tablewright.design.files import YAML, is_design
from tablewright.design.files.text_findings import found_in, known_names
from tablewright.design.review import Facts, from_json, review
from tablewright.design.review.catalogue import explain, listing, similar
from tablewright.design.review.designs import facts_of

EXAMPLES = """K and P: what a design must hold to work. T001: the target lacks something, T002: it has a part of it. All
are in docs/rules.md; --explain says what one means. A JSON document without "format" is the facts of a
design, as in examples/as-written.

tablewright design check shop.py:SHOP --target extenddb --environment prod
tablewright design check shop.yaml --fix"""
ERRORS = (DesignMistake,)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "system",
        metavar="SYSTEM",
        nargs="?",
        help=f"a shipped system, {FORMS}, or a JSON document with facts",
    )
    parser.add_argument(
        "--target", choices=TARGETS, metavar="NAME", help=f"where it is to run: {', '.join(TARGETS)}"
    )
    parser.add_argument(
        "--environment", metavar="NAME", help="compare the settings of this environment with the target, too"
    )
    parser.add_argument(
        "--accepted", action="store_true", help="also show what is accepted, with the reasons"
    )
    parser.add_argument(
        "--explain",
        metavar="RULE",
        help="say what a rule means and what to do, and nothing else; `all` lists every rule",
    )
    parser.add_argument(
        "--fix",
        action="store_true",
        help="show, as a diff, what would change in a JSON or YAML file for findings that have a fix",
    )
    parser.add_argument("--yes", action="store_true", help="write what --fix shows")
    parser.add_argument("--json", action="store_true", help="print a JSON object with the findings")


class _Checked(NamedTuple):
    """What was found, in which designs, and what could not be checked."""

    findings: list[Finding]
    designs: list[str]
    notes: Sequence[str] = ()


def run(given: argparse.Namespace) -> int:
    if given.explain is not None:
        return _explain(given)
    if given.system is None:
        raise UsageError("name what to check: a system, a design or a JSON document")
    if given.yes and not given.fix:
        raise UsageError("--yes writes what --fix shows; give both")
    if given.fix and not is_design_file(given.system):
        raise UsageError(
            f"--fix changes JSON and YAML files, and {given.system} is none; make the change in its source"
        )
    if given.fix:
        is_renamed = _fix(given)
        if is_renamed and not given.yes:
            return 1
        return _code(_found(given).findings)
    checked = _found(given)
    found, names = checked.findings, checked.designs
    for note in checked.notes:
        print_message(f"tablewright: {note}")
    open_ones = [each for each in found if not each.reason]
    shown = found if given.accepted else open_ones
    value = {
        "system": given.system,
        "target": given.target,
        "environment": given.environment,
        "designs": names,
        "findings": [asdict(each) for each in shown],
        "accepted": len(found) - len(open_ones),
        "notes": list(checked.notes),
    }
    print_result(given, value, "\n".join([*map(finding_text, shown), _summary(given, found, names)]))
    return _code(found)


def _fix(given: argparse.Namespace) -> bool:
    """Show or write the fixes; True if names of the form are among them, without which the file is not a design."""
    if is_facts(given.system):
        fix_file(given, _document(given).findings, is_design=False)
        return False
    path = Path(given.system)
    is_yaml = path.suffix in YAML
    named, renames = known_names(read_text(path), is_yaml=is_yaml)
    if not renames:
        fix_file(given, _designs(given).findings, is_design=True)
        return False
    # Rules find nothing in what is still no design; what is left is said after the fixes.
    found = [each for each in found_in(named, is_yaml=is_yaml, is_design=True) if each.rule != "file"]
    fix_file(given, found, is_design=True, named=named, renames=renames)
    return True


def _found(given: argparse.Namespace) -> _Checked:
    return _document(given) if is_facts(given.system) else _designs(given)


def _code(found: Sequence[Finding]) -> int:
    return 1 if any(each.severity != "information" and not each.reason for each in found) else 0


def _explain(given: argparse.Namespace) -> int:
    code = given.explain.upper().removeprefix("R-")
    rows = listing()
    if code == "ALL":
        value = [{"rule": name, "severity": severity, "finds": finds} for name, severity, finds in rows]
        print_result(given, value, as_table(("rule", "severity", "what it finds"), rows))
        return 0
    if code not in {name for name, _, _ in rows}:
        near = f"did you mean {' or '.join(similar(code))}? " if similar(code) else ""
        raise UsageError(
            f"--explain: there is no rule {given.explain}; {near}"
            "`tablewright design check --explain all` lists every rule"
        )
    print_result(given, {"rule": code, "explanation": explain(code)}, explain(code).rstrip("\n"))
    return 0


def _designs(given: argparse.Namespace) -> _Checked:
    """All findings. A design that build() refuses has findings of its own only."""
    file = None
    try:
        if is_design_file(given.system):
            file = load_design_file(Path(given.system))
        designs = load_designs(given.system) if file is None else (file.design,)
    except DesignRefused as refused:
        return _Checked(list(refused.findings), [refused.design])
    found = [finding for design in designs for finding in (*findings(design), *review(facts_of(design)))]
    if file is not None:
        found = sorted(map(file.at_line, found), key=lambda each: each.line)
    if given.target is not None:
        found += missing(designs, given.target, _environment(given, designs))
    notes = [note for design in designs for note in _budgets_not_checked(design)]
    return _Checked(found, [design.name for design in designs], notes)


def _budgets_not_checked(design: Design) -> Iterator[str]:
    """Why the budget of an environment was not compared with what the design costs there."""
    for environment in design.environments.values():
        if environment.budget is None:
            continue
        try:
            cost_of(design, replace(environment, budget=None))
        except DesignMistake as error:
            yield f"the budget of {design.name} in {environment.name} was not checked: {error}"


def is_facts(system: str) -> bool:
    """Whether it names a JSON document of facts, and not a design file."""
    return system.endswith(".json") and not is_design(plain_of(Path(system)))


def _document(given: argparse.Namespace) -> _Checked:
    if given.target is not None or given.environment is not None:
        raise UsageError("--target and --environment are for designs, not for documents")
    facts = facts_in(given.system)
    return _Checked(list(review(facts)), [facts.name])


def facts_in(file: str) -> Facts:
    """The facts in a JSON document; a usage error that names the field which is wrong."""
    try:
        return from_json(Path(file).read_bytes())
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the document"
        raise UsageError(f"{file}: {place}: {first['msg']}") from None


def _environment(given: argparse.Namespace, designs: Sequence[Design]) -> Environment | None:
    known = designs[0].environments
    if given.environment not in (None, *known):
        raise NoSuchEnvironment(given.system, given.environment, list(known))
    return known.get(given.environment)


def _summary(given: argparse.Namespace, found: Sequence[Finding], names: Sequence[str]) -> str:
    counts = {
        plural(len(several), kind): bool(several)
        for kind in ("error", "warning")
        for several in [[each for each in found if each.severity == kind and not each.reason]]
    }
    accepted = sum(bool(each.reason) for each in found)
    where = f" on {given.target}" if given.target else ""
    said = ", ".join(words for words, is_any in counts.items() if is_any) or "OK"
    more = (
        f"; {plural(accepted, 'finding')} accepted with a reason (--accepted shows them)" if accepted else ""
    )
    return f"{given.system}: {plural(len(names), 'design')} checked{where}, {said}{more}"
