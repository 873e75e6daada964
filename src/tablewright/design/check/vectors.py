"""Rules K025 and K026 about vector indexes, P015 and P016 about searches."""

from collections.abc import Iterator

from tablewright.design.attributes import VECTOR
from tablewright.design.check.context import CheckContext, Rule, is_typed_as, type_name
from tablewright.design.errors import Finding
from tablewright.design.vectors import MOST_RESULTS, VectorIndex, parameters_of, projection

MOST_INDEXES, MOST_DIMENSIONS, MOST_FILTERS = 5, 4096, 18


def vector_indexes_are_within_limits(design: CheckContext) -> Iterator[Finding]:
    """K025: DynamoDB's limits on vector indexes."""
    for table in design.tables.values():
        mine = [index for index in design.vectors if index.table == table]
        if len(mine) > MOST_INDEXES:
            why = f"{len(mine)} vector indexes; DynamoDB allows {MOST_INDEXES}"
            yield Finding("K025", table.name, why, "drop one")
        names = [index.name for index in design.indexes if index.table == table]
        names += [index.name for index in mine]
        for name in dict.fromkeys(index.name for index in mine):
            if names.count(name) > 1:
                yield Finding("K025", f"{table.name}.{name}", "two indexes have this name", "rename one")
        sizes: dict[str, int] = {}
        for index in mine:
            yield from _limits(index)
            if sizes.setdefault(index.of, index.dimensions) != index.dimensions:
                why = f"another index has {sizes[index.of]} dimensions for '{index.of}', this one {index.dimensions}"
                yield Finding("K025", _place(index), why, "index another attribute")


def _limits(index: VectorIndex) -> Iterator[Finding]:
    if not 1 <= index.dimensions <= MOST_DIMENSIONS:
        why = f"{index.dimensions} dimensions; DynamoDB allows 1 to {MOST_DIMENSIONS}"
        yield Finding("K025", _place(index), why, "use a model with fewer dimensions")
    if len(index.filters) > MOST_FILTERS:
        why = f"{len(index.filters)} filters; DynamoDB allows {MOST_FILTERS}"
        yield Finding("K025", _place(index), why, "drop some of them")
    if len(set(index.searched)) < len(index.searched):
        yield Finding("K025", _place(index), "an attribute is named twice", "name it once")


def vectors_are_fields(design: CheckContext) -> Iterator[Finding]:
    """K026: one entity has the indexed vector, as an optional field, and every attribute that is searched by."""
    for index in design.vectors:
        here = [shape for shape in design.shapes if shape.table == index.table and index.of in shape.stored]
        if len(here) != 1:
            why = f"{'no entity stores' if not here else 'several entities store'} '{index.of}'"
            fix = "give each entity a vector of its own name, and an index"
            yield Finding("K026", _place(index), why, fix)
        for shape in here:
            field = shape.stored[index.of]
            if field.kind is not VECTOR or not field.optional:
                why = f"{shape.tag}.{field.field} is {type_name(field.annotation)}: a search does not return the vector"
                yield Finding("K026", _place(index), why, "declare it tuple[float, ...] | None = None")
            for name in index.searched:
                fields = parameters_of(shape, name)
                if not fields:
                    why = f"{shape.tag} has no attribute '{name}'"
                    yield Finding("K026", _place(index), why, "name a stored field, or a derived attribute")
                elif name in shape.stored and shape.stored[name].kind.letter not in ("S", "N", "B"):
                    why = f"'{name}' is neither a text, a number nor bytes"
                    yield Finding("K026", _place(index), why, "search by another attribute")


def searches_name_what_they_compare(design: CheckContext) -> Iterator[Finding]:
    """P015: the parameters of a search are the fields of its partition and filters, with their types."""
    for plan in design.searches:
        parameters, index = plan.signature.parameters, plan.index
        if index not in design.vectors or plan.shape.table != index.table:
            yield Finding(
                "P015", plan.name, f"{index.name} is not an index of its entity's table", "name one"
            )
            continue
        if not 1 <= plan.top <= MOST_RESULTS:
            why = f"top is {plan.top}; a search returns 1 to {MOST_RESULTS} items"
            yield Finding("P015", plan.name, why, "choose such a number")
        wanted = {field for name in index.searched for field in parameters_of(plan.shape, name)}
        for name in parameters:
            if name not in wanted:
                why = f"'{name}' is neither the partition nor a filter of {index.name}"
                yield Finding("P015", plan.name, why, f"use {', '.join(sorted(wanted)) or 'no parameters'}")
            elif not is_typed_as(parameters[name], plan.shape.fields[name]):
                given, field = type_name(parameters[name].annotation), plan.shape.fields[name]
                why = f"'{name}' is {given}, and {plan.shape.tag}.{name} is {type_name(field.annotation)}"
                yield Finding("P015", plan.name, why, "give the parameter the field's type")
        missing = [f for f in parameters_of(plan.shape, index.partition or "") if f not in parameters]
        if missing:
            why = f"the partition of {index.name} needs {', '.join(missing)}"
            yield Finding("P015", plan.name, why, "add the parameter")


def searches_return_what_the_index_carries(design: CheckContext) -> Iterator[Finding]:
    """P016: every field of the model a search returns, but the vector, is in the index."""
    for plan in design.searches:
        kind, listed = projection(plan.index, design.shapes)
        if kind == "ALL":
            continue
        carried = {*listed, *plan.index.searched, *plan.index.table.key_names, plan.index.of}
        lacking = ", ".join(each.field for each in plan.shape.attributes if each.stored not in carried)
        if lacking:
            why = f"the index {plan.index.name} does not carry {lacking} of {plan.shape.model.__name__}"
            yield Finding("P016", plan.name, why, "project them, or return entity.view(SmallerModel)")


def _place(index: VectorIndex) -> str:
    return f"{index.table.name}.{index.name}"


INDEXES: tuple[Rule, ...] = (vector_indexes_are_within_limits, vectors_are_fields)
SEARCHES: tuple[Rule, ...] = (searches_name_what_they_compare, searches_return_what_the_index_carries)
