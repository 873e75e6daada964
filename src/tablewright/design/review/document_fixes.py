"""Fixes of facts: what a machine can change in a document of facts so that a rule finds nothing there. Pure.

Must hold: a fix has one possible result and follows from the document alone. The document then says what the code must
do; the code is not changed. A fix returns None where it cannot decide. Elsewhere: fixes of design files
(design_fixes.py), the text of the file (files/edits.py).
"""

import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any, TypeAlias

from tablewright.design.errors import Finding

Document: TypeAlias = dict[str, Any]
Fix: TypeAlias = Callable[[Document, Finding], Document | None]
_GRACE_HOURS = 72
_REPLICA = ("pitr", "deletion protection", "tags")


def _named(document: Document, group: str, name: str) -> Iterator[Document]:
    """The facts of a group that a finding names."""
    yield from (each for each in document.get(group, ()) if each.get("name") == name)


def _set(group: str, key: str, value: Any) -> Fix:
    """Set one value of the facts that the finding names."""

    def fix(document: Document, finding: Finding) -> Document | None:
        made = deepcopy(document)
        for each in _named(made, group, finding.where):
            each[key] = value
        return made if made != document else None

    return fix


def _pages(document: Document, finding: Finding) -> Document | None:
    made = deepcopy(document)
    for call in _named(made, "calls", finding.where):
        if call.get("verb") in ("query", "scan") and call.get("limit") is None:
            call["pages"] = True
    return made if made != document else None


def _reserved(document: Document, finding: Finding) -> Document | None:
    """The word that the finding quotes, with '#' before it, wherever the expressions of the call have it."""
    quoted = re.match(r"'(\w+)' is a reserved word", finding.why)
    made = deepcopy(document)
    for call in _named(made, "calls", finding.where):
        for part in ("update", "condition", "filter"):
            if quoted and call.get(part):
                alone = rf"(?<![#:\w.]){quoted[1]}(?!\w)"
                call[part]["text"] = re.sub(alone, f"#{quoted[1]}", call[part]["text"])
    return made if made != document else None


def _counter(document: Document, finding: Finding) -> Document | None:
    made = deepcopy(document)
    for call in _named(made, "calls", finding.where):
        if call.get("update"):
            call["update"]["text"] = re.sub(
                r"([#\w.]+)(\s*=\s*)\1(\s*\+)", r"\1\2if_not_exists(\1, :zero)\3", call["update"]["text"]
            )
    return made if made != document else None


def _first_page(document: Document, finding: Finding) -> Document | None:
    made = deepcopy(document)
    for call in _named(made, "calls", finding.where):
        if (call.get("start_key") or {}).get("nullable"):
            call["start_key"]["nullable"] = False
    return made if made != document else None


def _consistent(document: Document, finding: Finding) -> Document | None:
    """Only for reads of a table: a global index has no strongly consistent read."""
    made = deepcopy(document)
    for call in _named(made, "calls", finding.where):
        if not call.get("index") and call.get("claims"):
            call["consistent"] = True
    return made if made != document else None


def _exists(document: Document, finding: Finding) -> Document | None:
    """The condition that the item exists, where the table's key is known."""
    made = deepcopy(document)
    tables = {each["name"]: each["hash"]["name"] for each in made.get("tables", ())}
    homes = {each["name"]: each.get("table", "") for each in made.get("entities", ())}
    for call in _named(made, "calls", finding.where):
        key = tables.get(call.get("table") or homes.get(call.get("entity", ""), ""))
        if key is None or call.get("verb") != "update" or call.get("creates"):
            continue
        exists, condition = f"attribute_exists({key})", call.get("condition")
        if condition is None:
            call["condition"] = {"text": exists}
        else:
            condition["text"] = f"({condition['text']}) AND {exists}"
    return made if made != document else None


def _index(document: Document, finding: Finding) -> Document | None:
    """The index whose key the call compares, if there is only one."""
    made = deepcopy(document)
    for call in _named(made, "calls", finding.where):
        found = [
            index["name"]
            for index in made.get("indexes", ())
            if index["hash"]["name"] in call.get("key_condition", ())
            and call.get("table", "") in ("", index["table"])
        ]
        if len(found) == 1 and not call.get("index"):
            call["index"] = found[0]
    return made if made != document else None


def _index_units(document: Document, finding: Finding) -> Document | None:
    made = deepcopy(document)
    for each in made.get("capacities", ()):
        units = (each.get("index_write"), each.get("write"))
        if each.get("table") == finding.where and None not in units and units[0] < units[1]:
            each["index_write"] = each["write"]
    return made if made != document else None


def _replica(document: Document, finding: Finding) -> Document | None:
    made = deepcopy(document)
    for each in made.get("replicas", ()):
        if (
            f"{each.get('table')} in {each.get('region')}" == finding.where
            and each.get("settings") is not None
        ):
            each["settings"] += [name for name in _REPLICA if name not in each["settings"]]
    return made if made != document else None


def _filtered(document: Document, finding: Finding) -> Document | None:
    made = deepcopy(document)
    for each in made.get("retentions", ()):
        if each.get("subject") == finding.where and each.get("ttl") and each.get("enforces"):
            each["filtered"] = True
    return made if made != document else None


def _restore(document: Document, finding: Finding) -> Document | None:
    """The settings that the finding lists as not applied again."""
    made = deepcopy(document)
    listed = re.match(r"not applied again: (.*)", finding.why)
    for each in _named(made, "restores", finding.where):
        if listed:
            each["applies"] = [*each.get("applies", ()), *listed[1].split(", ")]
    return made if made != document else None


def _resource(document: Document, finding: Finding) -> Document | None:
    """The declared indexes that the finding lists as left out."""
    made = deepcopy(document)
    for each in made.get("resources", ()):
        if each.get("address") == finding.where:
            declared = [
                index["name"] for index in made.get("indexes", ()) if index["table"] == each.get("table")
            ]
            there = each.get("indexes", [])
            each["indexes"] = [*there, *(name for name in declared if name not in there)]
    return made if made != document else None


FIXES: dict[str, Fix] = {
    "EXPR-RESERVED": _reserved,
    "EXPR-COUNTER": _counter,
    "EXPR-GHOST": _exists,
    "EXPR-NOPAGE": _pages,
    "EXPR-NONEKEY": _first_page,
    "EXPR-GET": _set("patterns", "verb", "get"),
    "EXPR-CONSISTENCY": _consistent,
    "IDX-UNNAMED": _index,
    "IDX-GSI-WCU": _index_units,
    "TTL-PROMPT": _filtered,
    "TTL-MARGIN": _set("health_checks", "grace_hours", _GRACE_HOURS),
    "OPS-REPLICA": _replica,
    "OPS-RESTORE": _restore,
    "IAC-INCOMPLETE": _resource,
}
