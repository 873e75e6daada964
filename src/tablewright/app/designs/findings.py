"""What the design checker finds in a design, with its rules: by severity, with the place, the reason and the fix.

Elsewhere: the rules (design/review), the same in a terminal (cli/design/check.py), documents (document_check.py).
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response

from tablewright.app.designs.choices import chosen, refuse_unknown
from tablewright.app.designs.lookup import command_name, find_design
from tablewright.app.json_words import pretty
from tablewright.app.runtime import Runtime
from tablewright.design import Design
from tablewright.design.check.codes import CODES
from tablewright.design.errors import Finding
from tablewright.design.review import (
    RULES,
    SECTIONS,
    Facts,
    Rule,
    examples,
    facts_adapter,
    review,
    rule_named,
)
from tablewright.design.review.designs import facts_of
from tablewright.edge.identity.guards import FindPrincipal
from tablewright.edge.problems import not_found
from tablewright.english import plural
from tablewright.pages.forms import Form, asked
from tablewright.pages.layout import Console, Crumb

# How the names of design files end.
FILES = (".json", ".yaml", ".yml")
# What a design must hold to be built; not of the review, so without examples.
BUILD = "Build"
TONES = {"error": "bad", "warning": "warn", "information": ""}


@dataclass(frozen=True, slots=True)
class ExplainedFinding:
    """A finding, what its rule means, and the page of the element it is about, if there is one."""

    finding: Finding
    explanation: str
    href: str = ""

    @property
    def tone(self) -> str:
        return TONES[self.finding.severity]


@dataclass(frozen=True, slots=True)
class Findings:
    """What was found: what is to be done, and what is accepted with a reason."""

    open: tuple[ExplainedFinding, ...]
    accepted: tuple[ExplainedFinding, ...]

    @property
    def counts(self) -> dict[str, int]:
        """Of what is open, by severity."""
        return {name: sum(each.finding.severity == name for each in self.open) for name in TONES}

    @property
    def summary(self) -> str:
        """`2 warnings`, `none open`: for a figure."""
        said = [plural(count, name) for name, count in self.counts.items() if count and name != "information"]
        return ", ".join(said) or "none open"


def add_findings(router: APIRouter, runtime: Runtime, console: Console, allowed: FindPrincipal) -> None:
    guard = [Depends(allowed)]

    @router.get("/{design}/findings", dependencies=guard)
    def findings(request: Request, design: str) -> Response:
        found, _ = find_design(runtime, design)
        findings, named = findings_of(found), command_name(runtime, found)
        return console.page(
            request,
            "designs/findings.html",
            title=f"Findings in {found.name}",
            crumbs=[Crumb(found.name, f"/console/designs/{found.name}")],
            design=found,
            findings=findings,
            rule_count=len(RULES),
            command=f"tablewright design check {named} --accepted" if named else "",
            file=named if named.endswith(FILES) else "",
            accepted=acceptance(findings, is_json=named.endswith(".json")) if named.endswith(FILES) else "",
        )


def add_rules(router: APIRouter, runtime: Runtime, console: Console, allowed: FindPrincipal) -> None:
    guard = [Depends(allowed)]

    @router.get("/rules", dependencies=guard)
    def rules(request: Request, form: Annotated[Form, Depends(asked)]) -> Response:
        refuse_unknown(form, ("section",))
        section = chosen(form, "section", [*SECTIONS, BUILD], next(iter(SECTIONS)))
        return console.page(
            request,
            "designs/rules.html",
            title="Rules of the design checker",
            sections={**{name: len(rules) for name, rules in SECTIONS.items()}, BUILD: len(CODES)},
            section=section,
            rules=SECTIONS.get(section, ()),
            build_rules=CODES if section == BUILD else {},
            total=len(RULES),
            tones=TONES,
        )

    @router.get("/rules/{code}", dependencies=guard)
    def rule(request: Request, code: str) -> Response:
        found = _rule(code)
        if code in CODES:
            return console.page(
                request,
                "designs/build_rule.html",
                title=code,
                crumbs=[Crumb("Rules", "/console/designs/rules"), Crumb(BUILD)],
                code=code,
                explanation=CODES[code].explanation,
                fix=CODES[code].fix,
            )
        if found is None:
            raise not_found("NO_SUCH_RULE", "The design checker has no rule of this name.")
        section = next(name for name, rules in SECTIONS.items() if found in rules)
        bad, good = examples(code)
        return console.page(
            request,
            "designs/rule.html",
            title=code,
            crumbs=[Crumb("Rules", "/console/designs/rules"), Crumb(section)],
            rule=found,
            tone=TONES[found.severity],
            bad=document_of(bad),
            good=document_of(good),
            found=[each for each in review(bad) if each.rule == code],
            designs=[
                (name, [each for each in (*of.open, *of.accepted) if each.finding.rule == code])
                for name, (design, _) in runtime.designs.items()
                for of in [findings_of(design)]
                if any(each.finding.rule == code for each in (*of.open, *of.accepted))
            ],
        )


def _rule(code: str) -> Rule | None:
    try:
        return rule_named(code)
    except KeyError:
        return None


def document_of(facts: Facts) -> str:
    """Facts as the document that states them."""
    given: Any = facts_adapter().dump_python(facts, mode="json", exclude_defaults=True)
    return pretty(given)


@lru_cache(maxsize=256)
def findings_of(design: Design) -> Findings:
    """What the rules find in a design. A design that is built does not change, so it is looked at once."""
    return explained(review(facts_of(design)), lambda where: _href(design, where))


def findings_on(design: Design, *names: str) -> tuple[ExplainedFinding, ...]:
    """What is open about an element of a design, by its names."""
    return tuple(each for each in findings_of(design).open if set(each.finding.where.split(".")) & set(names))


def explained(found: Sequence[Finding], href: Any = lambda where: "") -> Findings:
    every = [ExplainedFinding(each, _explanation(each.rule), href(each.where)) for each in found]
    by_weight = sorted(every, key=lambda each: list(TONES).index(each.finding.severity))
    return Findings(
        tuple(each for each in by_weight if not each.finding.reason),
        tuple(each for each in by_weight if each.finding.reason),
    )


def acceptance(findings: Findings, *, is_json: bool) -> str:
    """How a design file accepts a finding: the first open warning, or any. An error is to be fixed."""
    first = next((each.finding for each in findings.open if each.finding.severity == "warning"), None)
    rule, where = (first.rule, first.where) if first else ("IDX-LOWCARD", "by-status")
    entry = {"rule": rule, "where": where, "reason": "why this is right here"}
    if is_json:
        return json.dumps({"accepted": [entry]}, indent=2)
    return "accepted:\n" + "\n".join(
        f"{'  - ' if name == 'rule' else '    '}{name}: {value}" for name, value in entry.items()
    )


def _explanation(code: str) -> str:
    found = _rule(code) or CODES.get(code)
    return found.explanation if found is not None else ""


def _href(design: Design, where: str) -> str:
    """The page of the element that a place names: an entity, a pattern, a table, or the table of an index."""
    base = f"/console/designs/{design.name}"
    names = where.split(".")
    for name in names:
        if any(shape.tag == name for shape in design.shapes):
            return f"{base}/entities/{name}"
        if any(plan.name == name for plan in design.plans):
            return f"{base}/patterns/{name}"
    for name in names:
        if name in design.tables:
            return f"{base}/tables/{name}"
    index = next((index for index in design.indexes if index.name in names), None)
    return f"{base}/tables/{index.table.name}" if index else ""
