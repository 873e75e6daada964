"""Fixes of design files: what a machine can change in one so that a finding is gone. Pure.

Must hold: a fix has one possible result and changes no key of a stored item. A fix returns None where it cannot decide.
Elsewhere: fixes of facts (document_fixes.py), the text of the file (files/edits.py).
"""

import re
from collections.abc import Iterator
from copy import deepcopy

from tablewright.design.errors import Finding
from tablewright.design.review import name_fixes
from tablewright.design.review.document_fixes import Document, Fix
from tablewright.design.review.name_fixes import place_name

_PITR_DAYS = 35


def _recovery(document: Document, finding: Finding) -> Document | None:
    """What the finding misses in production, the last environment."""
    made = deepcopy(document)
    for environment in made.get("environments", ())[-1:]:
        if "deletion protection" in finding.why:
            environment["deletion_protection"] = True
        else:
            environment["pitr_days"] = _PITR_DAYS
    return made if made != document else None


def _replica(document: Document, finding: Finding) -> Document | None:
    """What the finding lists as missing, in each environment with a replica in that region."""
    made = deepcopy(document)
    region = finding.where.rpartition(" in ")[2]
    for environment in made.get("environments", ()):
        if region in environment.get("replicas", ()):
            environment["pitr_days"] = environment.get("pitr_days") or _PITR_DAYS
            environment["deletion_protection"] = True
    return made if made != document else None


def _stream(document: Document, finding: Finding) -> Document | None:
    """Both images: whatever follows the table finds what it needs."""
    made = deepcopy(document)
    for table in made.get("tables", ()):
        if table["name"] == place_name(document, finding) and table.get("followed"):
            table["stream"] = "NEW_AND_OLD_IMAGES"
    return made if made != document else None


def _ttl(document: Document, finding: Finding) -> Document | None:
    """The attribute `ttl`, if no field of the table is stored under that name."""
    made = deepcopy(document)
    if "has no TTL attribute" not in finding.why:
        return None
    for table in made.get("tables", ()):
        entities = table.get("entities", ())
        taken = {stored for entity in entities for stored in _stored(entity).values()}
        mine = any(
            entity["tag"] == place_name(document, finding) and entity.get("expires") for entity in entities
        )
        if mine and table.get("ttl") is None and not {"ttl"} & {*taken, table["pk"], table.get("sk")}:
            table["ttl"] = "ttl"
    return made if made != document else None


def _stored(entity: Document) -> dict[str, str]:
    """The name of the attribute of each field."""
    return {
        name: field.get("stored", name) if isinstance(field, dict) else name
        for name, field in entity.get("fields", {}).items()
    }


def _project(document: Document, finding: Finding) -> Document | None:
    """The index carries what the pattern returns, too."""
    made = deepcopy(document)
    said = re.match(r"the index (\S+) does not carry (.*) of \S+$", finding.why)
    patterns = made.get("patterns", ())
    read = next((each for each in patterns if each["name"] == place_name(document, finding)), None)
    if said is None or read is None:
        return None
    for table, index in _indexes(made, said[1]):
        for entity in table.get("entities", ()):
            stored = _stored(entity)
            if entity["tag"] in _tags(read) and isinstance(index.get("project"), list):
                names = [stored[field] for field in said[2].split(", ") if field in stored]
                index["project"] += [each for each in names if each not in index["project"]]
    return made if made != document else None


def _indexes(document: Document, name: str) -> Iterator[tuple[Document, Document]]:
    for table in document.get("tables", ()):
        for index in table.get("indexes", ()):
            if index["name"] == name:
                yield table, index


def _tags(read: Document) -> list[str]:
    return [each if isinstance(each, str) else each["entity"] for each in read["of"]]


FIXES: dict[str, Fix] = {
    "OPS-UNPROTECTED": _recovery,
    "OPS-REPLICA": _replica,
    "K001": name_fixes.field,
    "K002": name_fixes.boolean,
    "K015": lambda document, finding: _ttl(document, finding) or name_fixes.trait(document, finding),
    "K024": _stream,
    "P001": name_fixes.parameter,
    "P008": _project,
}
