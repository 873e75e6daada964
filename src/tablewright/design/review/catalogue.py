"""The rules in words: one of them for a terminal, all of them as docs/rules.md. Pure.

`python -m tablewright.design.review.catalogue > docs/rules.md` writes the page; a test compares it.
"""

from collections.abc import Iterator
from difflib import get_close_matches

from tablewright.design.check.codes import CODES, Code
from tablewright.design.review import RULES, SECTIONS, Rule
from tablewright.design.review.design_fixes import FIXES
from tablewright.design.review.fixes import fixable

_OPENING = """# Rules of the design checker

Printed from `tablewright.design.review`; each rule has a good and a bad example beside it, in `review/examples/`.
An **error** makes the check fail, a **warning** needs a recorded reason (`Design.accept`, or `accepted` in a file), an
**information** is only shown. What a design must hold to work at all (K: keys and storage, P: patterns) is at the end,
with what a target can lack (T): each of those is an error, and none can be accepted.

`tablewright design check FILE --fix` shows the change as a diff, and `--yes` writes it. The last column says in which
files a rule has such a fix: in *design files*, or in *facts*, which then state what the code has to do. A fix is
made where only one change is possible and no key of a stored item changes; all other rules need a decision.
"""


_CODE_SECTIONS = {
    "Design language: keys and storage": "K",
    "Design language: patterns": "P",
    "Targets": "T",
}
EVERY: dict[str, Rule | Code] = {**{rule.code: rule for rule in RULES}, **CODES}


def explain(code: str) -> str:
    """A rule or a code for a terminal: what it means, what to do. KeyError where there is none."""
    found = EVERY[code]
    where = " and in ".join(fixable(code))
    automatic = f"`design check FILE --fix` makes the change in {where}.\n" if where else ""
    return f"{code} ({_severity(found)})\n\n{found.explanation}\n\nFix: {found.fix}.\n{automatic}"


def listing() -> list[tuple[str, str, str]]:
    """Every rule and code: its name, its severity, what it finds in one sentence."""
    return [
        (code, _severity(found), found.explanation.partition(". ")[0] + ".") for code, found in EVERY.items()
    ]


def similar(code: str) -> list[str]:
    """The names that are nearest to one that does not exist; first those with the same words in them."""
    words = [code, *(part for part in code.split("-") if len(part) > 2)]
    near = get_close_matches(code, EVERY, 1, 0.8)
    if near:
        return near
    near = [found for word in words for found in get_close_matches(word, EVERY, 3, 0.6)]
    inside = [known for known in EVERY for part in words[1:] if part in known.split("-")[1:]]
    return list(dict.fromkeys([*near, *inside]))[:5]


def _severity(found: Rule | Code) -> str:
    return found.severity if isinstance(found, Rule) else "error"


def catalogue() -> str:
    """The page of all rules."""
    counts = ", ".join(
        f"{sum(rule.severity == severity for rule in RULES)} {plural}"
        for severity, plural in (
            ("error", "errors"),
            ("warning", "warnings"),
            ("information", "informations"),
        )
    )
    automatic = [rule for rule in RULES if fixable(rule.code)]
    others = ", ".join(f"`{code}`" for code in FIXES if code in CODES)
    parts = [
        _OPENING,
        f"{len(RULES)} rules: {counts}. {len(automatic)} have a fix of `--fix`; so have {others} in design files.\n",
    ]
    codes = {name: [code for code in CODES if code[0] == letter] for name, letter in _CODE_SECTIONS.items()}
    for section, names in {
        **{name: [rule.code for rule in rules] for name, rules in SECTIONS.items()},
        **codes,
    }.items():
        parts.append(
            f"\n## {section}\n\n| rule | severity | what it finds | fix | `--fix` |\n| --- | --- | --- | --- | --- |"
        )
        parts.extend(_rows(names))
    return "\n".join(parts) + "\n"


def _rows(codes: list[str]) -> Iterator[str]:
    for code in codes:
        found = EVERY[code]
        cells = (f"`{code}`", _severity(found), found.explanation, found.fix, ", ".join(fixable(code)))
        yield f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |"


if __name__ == "__main__":
    print(catalogue(), end="")
