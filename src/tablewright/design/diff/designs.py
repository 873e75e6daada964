"""What changes between two versions of a design: tables, indexes, entities, patterns, settings. Pure.

    for change in changes(OLD, NEW): print(change.where, change.needs, change.why)

Must hold: two equal designs have no change; descriptions and stated loads are not compared, for nothing depends on
them.
Elsewhere: entities (entities.py), a design against live tables (mapping/deploy/).
"""

from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from inspect import Parameter

from tablewright.design.design import Design
from tablewright.design.diff.changes import ABSENT, Change, Needs, pairs, text
from tablewright.design.diff.entities import entity_changes
from tablewright.design.patterns import Plan
from tablewright.design.table_spec import key_types, projection
from tablewright.design.tables import Index, Table
from tablewright.design.vectors import SearchPlan
from tablewright.design.words import annotation_words

_WITH_OLD_IMAGE = ("NEW_AND_OLD_IMAGES", "OLD_IMAGE")
_TABLE_SETTINGS = ("stream", "followed", "whole")


def changes(old: Design, new: Design) -> tuple[Change, ...]:
    return tuple(_with_first(each, old, new) for each in _found(old, new))


def _with_first(change: Change, old: Design, new: Design) -> Change:
    first = first_of([design.tables.get(change.table) for design in (old, new)])
    if change.needs != "new table" or not change.table or not first:
        return change
    return replace(change, why=f"{change.why}; first {first}", first=first)


def first_of(versions: Sequence[Table | None]) -> str:
    """What versions of a table need before a migration between them: its followers read what items were."""
    if all(table is None or table.stream in _WITH_OLD_IMAGE for table in versions):
        return ""
    return "give both versions of the table the stream NEW_AND_OLD_IMAGES, and `tablewright deploy apply` the old one"


def _found(old: Design, new: Design) -> tuple[Change, ...]:
    return (
        *_tables(old, new),
        *_indexes(old, new),
        *_vectors(old, new),
        *entity_changes(*({shape.tag: shape for shape in each.shapes} for each in (old, new))),
        *_patterns(old, new),
        *_settings(old, new),
        *_rest(old, new),
    )


# --- tables and indexes ---


def _tables(old: Design, new: Design) -> Iterator[Change]:
    for name, before, after in pairs(old.tables, new.tables):
        if before is None or after is None:
            one, other = (ABSENT if each is None else _key(design, each)
                          for design, each in ((old, before), (new, after)))  # fmt: skip
            why = "deleting it loses its items" if after is None else ""
            yield Change("table", name, one, other, why=why)
            continue
        one, other = _key(old, before), _key(new, after)
        if one != other:
            yield Change("table", name, one, other, "new table", "the key of a table is fixed", name)
        for setting in _TABLE_SETTINGS:
            if getattr(before, setting) != getattr(after, setting):
                was, now = text(getattr(before, setting)), text(getattr(after, setting))
                yield Change("setting", f"{name} {setting}", was, now)
        if before.ttl != after.ttl:
            tags = [shape.tag for shape in new.shapes if shape.table == after and shape.expires]
            why = "existing items have the time under another name" if tags and after.ttl else ""
            needs: Needs = "backfill" if why else "nothing"
            yield Change(
                "setting", f"{name} time to live", text(before.ttl), text(after.ttl), needs, why,
                name if why else "", tags[0] if why else "", (after.ttl,) if why and after.ttl else (),
            )  # fmt: skip


def _key(design: Design, table: Table) -> str:
    types = key_types(table, (), [shape for shape in design.shapes if shape.table == table])
    return ", ".join(f"{name} ({letter})" for name, letter in types.items())


def _indexes(old: Design, new: Design) -> Iterator[Change]:
    sides = ({(each.table.name, each.name): each for each in design.indexes} for design in (old, new))
    for place, before, after in pairs(*sides):
        table, name = place
        if table not in new.tables:
            continue  # it goes with its table
        one, other = (ABSENT if each is None else _index(design, each)
                      for design, each in ((old, before), (new, after)))  # fmt: skip
        if one == other:
            continue
        where = f"{table}.{name}"
        is_local = any(each is not None and each.local for each in (before, after))
        if is_local and table in old.tables:
            yield Change(
                "index", where, one, other, "new table", "a local index is made with its table", table
            )
        elif after is None or table not in old.tables:
            yield Change("index", where, one, other, why="" if after else "requests to it are refused")
        else:
            why = "the service fills it" if before is None else "it is deleted, made again and filled"
            yield Change("index", where, one, other, "backfill", why)


def _index(design: Design, index: Index) -> str:
    shapes = [shape for shape in design.shapes if shape.table == index.table]
    types = key_types(index.table, (index,), shapes)
    kind, names = projection(index, shapes)
    halves = "; ".join(
        ", ".join(f"{name} ({types[name]})" for name in half) for half in (index.pk, index.sk) if half
    )
    return f"{'local: ' if index.local else ''}{halves}; {kind}{' ' + ', '.join(names) if names else ''}"


def _vectors(old: Design, new: Design) -> Iterator[Change]:
    sides = ({f"{each.table.name}.{each.name}": each for each in design.vectors} for design in (old, new))
    for where, before, after in pairs(*sides):
        one, other = (
            ABSENT if each is None else
            f"{each.of}, {each.dimensions} dimensions, {each.distance}; {text(each.searched)}; {text(each.project)}"
            for each in (before, after)
        )  # fmt: skip
        if one != other:
            yield Change("vector index", where, one, other, "backfill" if after else "nothing")


# --- patterns ---


def _patterns(old: Design, new: Design) -> Iterator[Change]:
    plans = ({plan.name: _plan(plan) for plan in design.plans} for design in (old, new))
    searches = ({plan.name: _search(plan) for plan in design.searches} for design in (old, new))
    for name, before, after in pairs(*plans):
        if before != after:
            yield Change("pattern", name, before or ABSENT, after or ABSENT)
    for name, before, after in pairs(*searches):
        if before != after:
            yield Change("search", name, before or ABSENT, after or ABSENT)


def _plan(plan: Plan) -> str:
    place = f"{plan.table.name}.{plan.index.name}" if plan.index is not None else plan.table.name
    keys = [*(each.text for each in plan.pk), *(f"{sort.op} {' and '.join(sort.texts)}" for sort in plan.sk)]
    signs = [name for name in ("descending", "consistent", "others") if getattr(plan, name)]
    roles = [f"for {', '.join(plan.roles)}"] if plan.roles else []
    entities = "+".join(shape.tag for shape in plan.shapes)
    return "; ".join(
        [f"{plan.kind} {entities} of {place}", *keys, f"page {plan.page} of {plan.at_most}", *signs, *roles]
    )


def _search(plan: SearchPlan) -> str:
    asked = ", ".join(map(_parameter, plan.signature.parameters.values()))
    return f"{plan.index.table.name}.{plan.index.name}; {asked}; top {plan.top}"


def _parameter(parameter: Parameter) -> str:
    kind = (
        f": {annotation_words(parameter.annotation)}" if parameter.annotation is not Parameter.empty else ""
    )
    is_given = parameter.default in (None, Parameter.empty)
    return f"{parameter.name}{kind}" + ("" if is_given else f", by default {text(parameter.default)}")


# --- settings ---


def _settings(old: Design, new: Design) -> Iterator[Change]:
    for name, before, after in pairs(old.environments, new.environments):
        if before is None or after is None:
            one, other = (ABSENT if each is None else each.region for each in (before, after))
            yield Change("setting", f"environment {name}", one, other)
            continue
        for each in fields(before):
            was, now = getattr(before, each.name), getattr(after, each.name)
            if was != now:
                is_renamed = each.name in ("table_name", "renamed", "region", "account")
                why = "the tables are others: copy them (`tablewright copy run`)" if is_renamed else ""
                needs: Needs = "new table" if is_renamed else "nothing"
                yield Change("setting", f"environment {name} {each.name}", text(was), text(now), needs, why)


def _rest(old: Design, new: Design) -> Iterator[Change]:
    alarms = ({each.name: each.condition for each in design.alarms} for design in (old, new))
    for name, before, after in pairs(*alarms):
        if before != after:
            yield Change("alarm", name, before or ABSENT, after or ABSENT)
    for name, before, after in pairs(old.principals, new.principals):
        if before != after:
            yield Change("role", name, text(before) if before else ABSENT, text(after) if after else ABSENT)
