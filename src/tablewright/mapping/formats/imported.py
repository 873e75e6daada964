"""Tables from elsewhere as the document of a design file.

Other tools know tables, keys, indexes, settings and at most attributes. Patterns and the rest of a design are left to
its author, and `notes` say so. A finding that rests on what no source says (how a text is spelled before it is stored,
how long a list may become) is accepted with that reason, so that a check shows what is wrong with the tables.
Must hold: the document makes the tables it was made from, key for key and index for index, under the same names.
Elsewhere: entities (entity_documents.py), settings (imported_environment.py), which tables, and their names
(table_names.py).
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from tablewright.design.errors import DesignRefused
from tablewright.design.files import FORMAT, from_plain
from tablewright.design.review import review
from tablewright.design.review.designs import facts_of
from tablewright.mapping.deploy.states import IndexState, VectorState
from tablewright.mapping.formats.entity_documents import entity_documents, halves, hides_expired, one_or_more
from tablewright.mapping.formats.imported_environment import imported_environment
from tablewright.mapping.formats.imported_tables import ImportedTable
from tablewright.mapping.formats.table_names import environment_in, own_tables, without

_ENTITIES = (
    "Entities: each table has one, with its keys as they are stored. Name what is really in the table, with its fields "
    "and with key templates such as USER#{user_id}."
)
_MISSING = (
    "Patterns: how the tables are read is not known. Add them, with the load of each.",
    "Load, retention, data classes, budget and alarms are not known.",
)
# Rules whose findings rest on what no source says.
_UNSAID = {
    "KEY-CASE": "imported: the source does not say whether it is normalised before it is stored; write {field:lower}, "
    "or say here what normalises it",
    "CAP-SIZE": "imported: the source does not say how many elements it may have; set max_length, or say here what "
    "limits it",
}
_UNPROTECTED = (
    "imported: the source does not say whether they are on; state pitr_days and deletion_protection of the "
    "environment"
)
_NO_EXPIRES = "imported: an index does not carry it, so reads of that index could not hide what has expired"


def imported_design(name: str, tables: Sequence[ImportedTable]) -> dict[str, Any]:
    """The document of a design with these tables, in one environment."""
    environment = environment_in(tables)
    own, left_out = own_tables(tables)
    here = [_that_builds(without(environment, table)) for table in own]
    document = _document(name, here, environment, left_out)
    accepted = list(_accepted(document, says_protection=any(table.says_protection for table in here)))
    return document | ({"accepted": accepted} if accepted else {})


def _that_builds(table: ImportedTable) -> ImportedTable:
    """The table; without its entities if they do not make a design, since a source does not say all of their keys."""
    if not table.entities:
        return table
    try:
        from_plain(_document("imported", [table]))
    except DesignRefused as refused:
        why = refused.findings[0]
        names = ", ".join(entity.tag for entity in table.entities)
        left_out = (
            f"{table.state.name}: its entities ({names}) are left out, as they are not complete: "
            f"{why.rule}, {why.why}."
        )
        attributes = {each.name: each for entity in table.entities for each in entity.attributes}
        return replace(
            table, entities=(), attributes=tuple(attributes.values()), notes=(*table.notes, left_out)
        )
    return table


def _document(
    name: str, tables: Sequence[ImportedTable], environment: str = "", left_out: Sequence[str] = ()
) -> dict[str, Any]:
    made, differing = imported_environment(tables, environment)
    tags: set[str] = set()
    return {
        "format": FORMAT,
        "name": name,
        "about": "Made from existing tables.",
        "notes": [
            *([] if all(table.entities for table in tables) else [_ENTITIES]),
            *_MISSING,
            *differing,
            *left_out,
            *(note for table in tables for note in (*table.notes, *_of_ttl(table), *_of_units(table))),
        ],
        "tables": [_table(table, tags) for table in tables],
        "environments": [made],
    }


def _of_ttl(table: ImportedTable) -> Iterator[str]:
    state = table.state
    if state.ttl and hides_expired(state):
        yield (
            f"{state.name}: items expire by {state.ttl}, in seconds since 1970; if it follows another time, name that "
            "field in `expires`."
        )
    elif state.ttl:
        yield (
            f"{state.name}: items expire by {state.ttl}, which not every index carries; project it, and name the field "
            "with `expires`."
        )


def _of_units(table: ImportedTable) -> Iterator[str]:
    """Indexes with other units than their table: a design reserves as many for each index as for the table."""
    state = table.state
    for index in state.indexes.values():
        if state.units is None or index.units in (None, state.units):
            continue
        note = (
            f"{state.name}: the index {index.name} has {index.units}, the table {state.units}; a design has one figure "
            "for both."
        )
        if index.units is not None and index.units.write < state.units.write:
            note += " With fewer write units than the table, an index that is throttled throttles writes to the table."
        yield note


def _accepted(document: dict[str, Any], *, says_protection: bool) -> Iterator[dict[str, str]]:
    hidden = {
        f"{table['name']}.{table.get('ttl')}"
        for table in document["tables"]
        if not any("expires" in entity for entity in table["entities"])
    }
    made: list[dict[str, str]] = []
    for finding in review(facts_of(from_plain(document))):
        reason = _UNSAID.get(finding.rule, "")
        if finding.rule == "OPS-UNPROTECTED" and not says_protection:
            reason = _UNPROTECTED
        if finding.rule in ("DOC-UNDECLARED", "KEY-UNDEFINED") and finding.where in hidden:
            reason = _NO_EXPIRES
        entry = {"rule": finding.rule, "where": finding.where, "reason": reason}
        # Two findings of a rule at one place are accepted by one entry.
        if reason and entry not in made:
            made.append(entry)
            yield entry


# --- a table ---


def _table(table: ImportedTable, tags: set[str]) -> dict[str, Any]:
    state = table.state
    pk, sk = halves(state.key)
    found: dict[str, Any] = {"name": state.name}
    found |= {
        key: value
        for key, value in (
            ("about", table.about), ("pk", pk[0]), ("sk", sk[0] if sk else None), ("ttl", state.ttl),
            ("stream", state.stream), ("indexes", [_index(each) for each in state.indexes.values()]),
            ("vectors", [_vector(each) for each in state.vectors.values()]),
        )
        if value
    }  # fmt: skip
    return found | {"entities": list(entity_documents(table, tags))}


def _index(index: IndexState) -> dict[str, Any]:
    pk, sk = halves(index.key)
    found: dict[str, Any] = {"name": index.name}
    if index.local:
        found |= {"local": True, "sk": sk[0]}
    else:
        found |= {"pk": one_or_more(pk)} | ({"sk": one_or_more(sk)} if sk else {})
    return found | _projection(index.carried)


def _vector(index: VectorState) -> dict[str, Any]:
    partition = [name for name, kind in index.searched if kind == "HASH"]
    filters = [name for name, kind in index.searched if kind != "HASH"]
    return {
        "name": index.name,
        "of": index.of,
        "dimensions": index.dimensions,
        "distance": index.distance,
        **({"partition": partition[0]} if partition else {}),
        **({"filters": filters} if filters else {}),
        **_projection(index.carried),
    }


def _projection(carried: tuple[str, frozenset[str]]) -> dict[str, Any]:
    kind, names = carried
    if kind == "ALL":
        return {}
    return {"project": sorted(names) if kind == "INCLUDE" else kind}
