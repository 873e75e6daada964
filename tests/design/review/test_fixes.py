"""Each fix removes the finding it is for, brings no other, and changes no other line of the file."""

import json
from difflib import ndiff
from importlib.resources import files
from pathlib import Path

import pytest

from tablewright.design.errors import DesignRefused, Finding
from tablewright.design.files import read_file
from tablewright.design.files.edits import EditRefused, edited
from tablewright.design.files.text import from_yaml_text, to_json_text
from tablewright.design.review import design_fixes, document_fixes, from_json, review
from tablewright.design.review.catalogue import catalogue
from tablewright.design.review.designs import facts_of
from tablewright.design.review.document_fixes import Document
from tablewright.design.review.fixes import fixed

EXAMPLES = {
    code: example["bad"]
    for path in files("tablewright.design.review").joinpath("examples").iterdir()
    for code, example in json.loads(path.read_text("utf-8")).items()
}
AS_WRITTEN = Path(__file__).parents[3] / "examples" / "as-written"
# A design in a form of each finding. Comments stand where an edit could lose them.
NOTES = """# Notes of people.
format: tablewright-design/1
name: notes
tables:
  - name: notes # the only one
    pk: PK
    sk: SK{table}
    indexes:
      - {{name: by-day, pk: day, sk: SK, project: {project}}} # for the calendar
    entities:
      - tag: note
        fields:
          owner: string
          note_id: string
          day: string
          text: {{type: string, stored: body}} # what people write
          at: time
          is_read: boolean
        pk: OWNER#{{owner}}
        sk: NOTE#{{at:ms}}#{{note_id}}
        indexes:
          by-day: {{pk: "{{day}}", sk: "NOTE#{{at:ms}}#{{note_id}}"}}
        data: {{text: personal}}
        retention: {{period: 30 days, purpose: a diary, then: archived}}{entity}
patterns:
  - name: of_day
    of: [note]
    parameters: {{day: string}}
    index: by-day
    pk: "{pattern}"
environments:
  # Where people try it.
  - name: dev
    region: eu-west-1
  - name: prod
    region: eu-west-1 # near
{environment}
# The end.
"""
GOOD = {
    "pattern": "{day}",
    "table": "",
    "project": "ALL",
    "entity": "",
    "environment": "    pitr_days: 7\n    deletion_protection: true\n",
}
BROKEN = {
    "OPS-UNPROTECTED": {"environment": "    pitr_days: 7\n"},
    "OPS-REPLICA": {"environment": "    pitr_days: 7\n    replicas: [eu-central-1]\n"},
    "K001": {"entity": '\n        derived: {label: "{noteid}"} # for labels'},
    "K002": {"entity": '\n        derived: {label: "{is_read}"} # for labels'},
    "P001": {"pattern": "{dayy}"},
    "K015": {"entity": "\n        expires: at"},
    "K024": {"table": "\n    followed: true"},
    "P008": {"project": "[at]"},
}


def found_in(text: str, *, is_yaml: bool = True) -> list[Finding]:
    try:
        return list(review(facts_of(read_file(text, is_yaml=is_yaml).design)))
    except DesignRefused as refused:
        return list(refused.findings)


def rules(findings: list[Finding] | tuple[Finding, ...]) -> set[str]:
    return {each.rule for each in findings if not each.reason and each.severity != "information"}


@pytest.mark.parametrize("code", document_fixes.FIXES)
def test_a_fix_of_facts_removes_its_finding_and_brings_no_other(code: str) -> None:
    bad: Document = {"name": "bad", **EXAMPLES[code]}
    made = fixed(bad, review(from_json(json.dumps(bad))), is_design=False)
    assert {each.rule for each in made.findings} == {code}
    assert review(from_json(json.dumps(made.document))) == ()


@pytest.mark.parametrize("code", BROKEN)
@pytest.mark.parametrize("is_yaml", [True, False], ids=["yaml", "json"])
def test_a_fix_of_a_design_file_removes_its_finding_and_brings_no_other(code: str, is_yaml: bool) -> None:
    text = NOTES.format(**GOOD | BROKEN[code])
    text = text if is_yaml else to_json_text(from_yaml_text(text))
    before = found_in(text, is_yaml=is_yaml)
    assert rules(before) == {code}
    plain = from_yaml_text(text) if is_yaml else json.loads(text)
    made = fixed(plain, before, is_design=True)
    new = edited(text, made.document, is_yaml=is_yaml)
    assert rules(found_in(new, is_yaml=is_yaml)) == set()
    assert {each.rule for each in made.findings} == {code}


@pytest.mark.parametrize("code", BROKEN)
def test_a_fix_of_yaml_keeps_every_comment_and_every_other_line(code: str) -> None:
    text = NOTES.format(**GOOD | BROKEN[code])
    made = fixed(from_yaml_text(text), found_in(text), is_design=True)
    new = edited(text, made.document, is_yaml=True)
    changes = [line for line in ndiff(text.splitlines(), new.splitlines()) if line[0] in "+-"]
    assert 0 < len(changes) <= 2
    assert [line.partition("#")[2] for line in text.splitlines() if " #" in line or line.startswith("#")] == [
        line.partition("#")[2] for line in new.splitlines() if " #" in line or line.startswith("#")
    ]


@pytest.mark.parametrize(
    ("entity", "fixed_line"),
    [
        ('\n        derived: {label: "NOTE#{notes}"}', ""),  # neither note_id nor text is near enough
        ("\n        immutable: [ownr]", "immutable: [owner]"),
        ("\n        version: is_red", "version: is_read"),
    ],
)
def test_a_name_is_changed_only_where_one_field_is_meant(entity: str, fixed_line: str) -> None:
    text = NOTES.format(**GOOD | {"entity": entity})
    made = fixed(from_yaml_text(text), found_in(text), is_design=True)
    assert (fixed_line in edited(text, made.document, is_yaml=True)) if fixed_line else made.findings == ()


def test_a_boolean_is_written_alike_in_the_pattern_that_reads_it() -> None:
    text = NOTES.format(**GOOD).replace("by-day, pk: day,", "by-day, pk: mark,")
    text = text.replace('pk: "{day}"', 'pk: "{is_read}"')
    text = text.replace("parameters: {day: string}", "parameters: {is_read: boolean}")
    made = fixed(from_yaml_text(text), found_in(text), is_design=True)
    new = edited(text, made.document, is_yaml=True)
    assert new.count('pk: "{is_read:bool}"') == 2
    assert not {"K002", "P005"} & rules(found_in(new))


def test_an_accepted_finding_is_left_alone() -> None:
    bad: Document = {
        "name": "bad",
        **EXAMPLES["EXPR-NOPAGE"],
        "accepted": [{"rule": "EXPR-NOPAGE", "reason": "nine items"}],
    }
    made = fixed(bad, review(from_json(json.dumps(bad))), is_design=False)
    assert (made.document, made.findings) == (bad, ())


def test_every_fix_is_tried_and_the_page_of_rules_says_which_rules_have_one() -> None:
    assert set(BROKEN) == set(design_fixes.FIXES)
    every = {*document_fixes.FIXES, *design_fixes.FIXES}
    rows = [line.split(" | ") for line in catalogue().splitlines() if line.startswith("| `")]
    assert {row[0].strip("| `") for row in rows if row[-1].strip(" |")} == every
    codes = ("K001", "K002", "K015", "K024", "P001", "P008")
    assert "".join(f"`{code}`" for code in codes) in catalogue().replace(", ", "")


@pytest.mark.parametrize("path", sorted(AS_WRITTEN.glob("*.json")), ids=lambda path: path.stem)
def test_the_fixes_of_a_large_document_remove_what_they_are_for_and_bring_nothing(path: Path) -> None:
    text = path.read_text("utf-8")
    before = review(from_json(text))
    made = fixed(json.loads(text), before, is_design=False)
    after = review(from_json(edited(text, made.document, is_yaml=False)))
    places = {(each.rule, each.where, each.why) for each in before}
    gone = {(each.rule, each.where, each.why) for each in made.findings}
    assert {(each.rule, each.where, each.why) for each in after if not each.reason} <= places - gone
    assert len(after) <= len(before) - len(made.findings)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a: |\n  text\n", {"a": "other"}),
        ("a: 1\nb: 2\n", {"a": 1}),
        ("a:\n  - 1\n", {"a": 2}),
    ],
)
def test_what_would_write_other_parts_again_is_refused(text: str, wanted: Document) -> None:
    with pytest.raises(EditRefused, match="by hand"):
        edited(text, wanted, is_yaml=True)
