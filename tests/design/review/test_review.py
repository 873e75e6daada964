"""Findings: accepted ones carry their reason, places are told once, a document with an unknown field is refused."""

import pytest
from pydantic import ValidationError

from tablewright.design.review import from_json, review

SCAN = '{"name": "x", "patterns": [{"name": "all", "table": "t", "verb": "scan", "line": 7}]%s}'


def test_a_finding_names_rule_severity_line_and_fix() -> None:
    (finding,) = review(from_json(SCAN % ""))
    assert (finding.rule, finding.severity, finding.line, finding.where) == ("EXPR-SCAN", "warning", 7, "all")
    assert (finding.fix, finding.reason) == ("add an index, or cache the result", "")


def test_what_is_accepted_stays_in_the_list_with_its_reason() -> None:
    accepted = ', "accepted": [{"rule": "EXPR-SCAN", "where": "all", "reason": "nine items"}]'
    (finding,) = review(from_json(SCAN % accepted))
    assert finding.reason == "nine items"


def test_an_acceptance_of_another_place_accepts_nothing() -> None:
    accepted = ', "accepted": [{"rule": "EXPR-SCAN", "where": "some", "reason": "nine items"}]'
    (finding,) = review(from_json(SCAN % accepted))
    assert finding.reason == ""


def test_a_field_that_is_not_a_fact_is_refused_by_name() -> None:
    with pytest.raises(ValidationError, match="is_bad"):
        from_json('{"name": "x", "patterns": [{"name": "all", "table": "t", "is_bad": true}]}')


def test_a_busy_index_on_few_values_is_an_error_and_a_quiet_one_a_warning() -> None:
    text = """{"name": "x", "tables": [{"name": "t", "hash": {"name": "id"}, "writes": %d}],
      "entities": [{"name": "e", "table": "t", "attributes": [{"name": "id"},
      {"name": "status", "values": ["a", "b"]}]}],
      "indexes": [{"name": "i", "table": "t", "hash": {"name": "status"}, "projection": {"kind": "KEYS_ONLY"}}]}"""
    assert [(f.severity, f.evidence) for f in review(from_json(text % 501))] == [
        ("error", "501 writes a second into 2 values")
    ]
    assert [f.severity for f in review(from_json(text % 500))] == ["warning"]
