"""A design as one page of Markdown: what it stores, how it is read, what each call costs, who must act when. Pure.

    markdown(TRAVEL, TRAVEL.environments["prod"])

Must hold: the page is made of the design alone, so the same design always gives the same page; no text of a design
breaks a table of the page.
Elsewhere: what the figures rest on (cost/), what the rules mean (review/).
"""

from collections.abc import Iterator, Sequence
from decimal import Decimal

from tablewright.design.cost.calls import PlannedCall, calls_of
from tablewright.design.design import Design
from tablewright.design.entity_spec import EntitySpec
from tablewright.design.environments import Environment, Provisioned
from tablewright.design.patterns import Plan
from tablewright.design.prices import PRICES, PriceBook, PriceKind
from tablewright.design.table_spec import key_types, projection
from tablewright.design.tables import Table
from tablewright.design.traits import Retention, States
from tablewright.design.words import field_words
from tablewright.english import grouped, lifetime, plain, plural

_MILLION = 1_000_000
NOT_STATED = "not stated"


def markdown(design: Design, environment: Environment, book: PriceBook = PRICES) -> str:
    """The page; prices are those of the environment's region."""
    calls = {call.name: call for call in calls_of(design)}
    pieces = [f"# {design.name}", _about(design), *_tables(design), "## Entities"]
    for shape in design.shapes:
        pieces += _entity(shape)
    pieces += _patterns(design, calls, environment, book)
    pieces += _writes(design, calls, environment, book)
    pieces += [*_retention(design), *_alarms(design), *_accepted(design), *_environments(design)]
    return "\n\n".join(piece for piece in pieces if piece) + "\n"


def _about(design: Design) -> str:
    counts = ", ".join(
        (
            plural(len(design.tables), "table"),
            plural(len(design.shapes), "entity"),
            plural(len(design.plans), "access pattern"),
        )
    )
    about = f"{design.about.strip()}\n\n" if design.about else ""
    return f"{about}Version {design.version}: {counts}. This page is printed from the design."


# --- tables ---


def _tables(design: Design) -> Iterator[str]:
    yield "## Tables"
    for table in design.tables.values():
        yield f"### {_code(table.name)}"
        yield table.about
        yield _list(_facts(design, table))
        rows = list(_index_rows(design, table))
        if rows:
            yield _table(("index", "partition key", "sort key", "carries"), rows)


def _facts(design: Design, table: Table) -> Iterator[tuple[str, str]]:
    types = key_types(table, (), _shapes(design, table))
    yield "key", ", ".join(f"{_code(name)} ({letter})" for name, letter in types.items())
    if table.ttl:
        yield "time to live", _code(table.ttl)
    if table.stream:
        yield "stream", table.stream + (", followed" if table.followed else "")
    if table.whole:
        yield "read whole", "yes, by Scan"


def _index_rows(design: Design, table: Table) -> Iterator[Sequence[str]]:
    for index in (each for each in design.indexes if each.table == table):
        kind, carried = projection(index, _shapes(design, table))
        name = _code(index.name) + (" (local)" if index.local else "")
        yield name, _codes(index.pk), _codes(index.sk), f"{kind} {_codes(carried)}".strip()
    for vector in (each for each in design.vectors if each.table == table):
        what = f"vectors of {_code(vector.of)}, {vector.dimensions} dimensions, {vector.distance}"
        yield (
            _code(vector.name),
            _codes((vector.partition,) if vector.partition else ()),
            what,
            vector.project if isinstance(vector.project, str) else _codes(vector.project),
        )


def _shapes(design: Design, table: Table) -> list[EntitySpec]:
    return [shape for shape in design.shapes if shape.table == table]


# --- entities ---


def _entity(shape: EntitySpec) -> Iterator[str]:
    yield f"### {_code(shape.tag)} in {_code(shape.table.name)}"
    yield shape.about
    keys = [(shape.table.name, key.name, key.template.text) for key in shape.primary]
    keys += [
        (index, key.name, key.template.text) for index, several in shape.index_keys.items() for key in several
    ]
    yield _table(("in", "attribute", "template"), [tuple(map(_code, row)) for row in keys])
    rows = [
        (
            _code(name),
            _code(attribute.stored) if attribute.stored != name else "",
            field_words(attribute) + (", may be empty" if attribute.optional else ""),
            shape.data[name].value if name in shape.data else "",
        )
        for name, attribute in shape.fields.items()
    ]
    yield _table(("field", "stored as", "type", "data class"), rows)
    yield _list(_promises(shape))
    if shape.states is not None:
        yield f"States of {_code(shape.states.field)}:\n\n```\n{states_text(shape.states)}\n```"


def _promises(shape: EntitySpec) -> Iterator[tuple[str, str]]:
    for unique in shape.unique:
        yield f"unique {unique.name}", _code(unique.value)
    if shape.version:
        yield "version", _code(shape.version)
    if shape.expires is not None:
        after = f"{lifetime(shape.expires.after)} after" if shape.expires.after else "at"
        yield "expires", f"{after} {_code(shape.expires.field)}"
    if shape.soft_delete is not None:
        yield (
            "deleted softly",
            f"unless {_code(shape.soft_delete.field)} is {str(shape.soft_delete.live).lower()}",
        )
    if shape.immutable:
        yield "never changes", _codes(shape.immutable)
    for copy in shape.copies:
        yield "copy", f"{_code(copy.field)} of {_code(f'{copy.of}.{copy.source}')}: {copy.refresh.value}"


def states_text(states: States) -> str:
    """Each state with its moves, and who may make them."""
    lines = []
    for state in states.states:
        moves = states.moves.get(state, {})
        mark = " (start)" if state == states.start else "" if moves else " (end)"
        lines.append(f"{state}{mark}")
        width = max(map(len, moves), default=0)
        lines += [f"  -> {end.ljust(width)}  by {', '.join(actors)}" for end, actors in moves.items()]
    if states.overrides:
        lines.append(f"any move: by {', '.join(states.overrides)}")
    return "\n".join(lines)


# --- calls ---


def _patterns(
    design: Design, calls: dict[str, PlannedCall], environment: Environment, book: PriceBook
) -> Iterator[str]:
    if not design.plans and not design.searches:
        return
    yield "## Access patterns"
    head = ("pattern", "reads", "keys", "roles", "calls a month", "units a call", "$ a million calls")
    rows = [
        (_code(plan.name), _reads(plan), _key_texts(plan), ", ".join(plan.roles),
         *_figures(calls.get(plan.name), environment, book))
        for plan in design.plans
    ]  # fmt: skip
    rows += [
        (
            _code(plan.name),
            f"{plan.shape.tag}, nearest {plan.top}",
            f"vectors of {_code(plan.index.name)}",
            "",
            "",
            "",
            "",
        )
        for plan in design.searches
    ]
    yield _table(head, rows)
    yield _unpriced(environment, book)
    yield _list((_code(plan.name), plan.about) for plan in design.plans if plan.about)


def _reads(plan: Plan) -> str:
    place = f"{plan.table.name}.{plan.index.name}" if plan.index is not None else plan.table.name
    entities = ", ".join(shape.tag for shape in plan.shapes)
    return f"{plan.kind} {entities} of {_code(place)}" + (", consistent" if plan.consistent else "")


def _key_texts(plan: Plan) -> str:
    sorts = (f"{sort.op} {' and '.join(map(_code, sort.texts))}" for sort in plan.sk)
    return "; ".join([*(_code(template.text) for template in plan.pk), *sorts])


def _writes(
    design: Design, calls: dict[str, PlannedCall], environment: Environment, book: PriceBook
) -> Iterator[str]:
    names = {plan.name for plan in design.plans}
    rows = [
        (_code(call.name), *_figures(call, environment, book))
        for call in calls.values()
        if call.name not in names
    ]
    if rows:
        yield "## Gets and writes"
        yield _table(("call", "calls a month", "units a call", "$ a million calls"), rows)
        yield _unpriced(environment, book)


def _unpriced(environment: Environment, book: PriceBook) -> str:
    """Why no call has a price; empty if the region has prices."""
    if environment.region in book.regions:
        return ""
    known = ", ".join(sorted(book.regions))
    return f"No prices of {environment.region} are known here, only of {known}: the calls have no price."


def _figures(call: PlannedCall | None, environment: Environment, book: PriceBook) -> tuple[str, str, str]:
    if call is None:
        return NOT_STATED, "", ""
    units = f"{call.units.normalize():f} {call.kind}"
    return plain(grouped(int(call.a_month))), units, _price(call, environment, book)


def _price(call: PlannedCall, environment: Environment, book: PriceBook) -> str:
    if environment.region not in book.regions:
        return ""
    write: PriceKind = "replicated_write" if environment.replicas else "write"
    price = book.of(environment.region)["read" if call.kind == "read" else write]
    paid = [use.units for use in call.uses if not isinstance(environment.capacity_of(use.table), Provisioned)]
    if not paid:
        return "paid by the hour"
    return f"{price.of(sum(paid, Decimal()) * _MILLION):.2f}"


# --- the rest ---


def _retention(design: Design) -> Iterator[str]:
    rows = [
        (_code(shape.tag), _kept(shape, shape.retention))
        for shape in design.shapes
        if shape.retention is not None
    ]
    if rows:
        yield "## Retention"
        yield _table(("entity", "kept"), rows)


def _kept(shape: EntitySpec, retention: Retention) -> str:
    if retention.period is None:
        return retention.words
    kept = f"{lifetime(retention.period)}, then {retention.then} ({retention.purpose})"
    is_deleted = retention.then != "deleted" or (shape.expires is not None and shape.table.ttl is not None)
    return kept if is_deleted else f"{kept}; it has no time to live: a job has to delete it"


def _alarms(design: Design) -> Iterator[str]:
    rows = [(_code(alarm.name), alarm.condition, alarm.advice, alarm.requirement) for alarm in design.alarms]
    if rows:
        yield "## Alarms"
        yield _table(("alarm", "when", "what to do", "from"), rows)


def _accepted(design: Design) -> Iterator[str]:
    rows = [
        (each.rule, _code(each.where) if each.where else "everywhere", each.reason)
        for each in design.accepted
    ]
    if rows:
        yield "## Accepted findings"
        yield _table(("rule", "where", "why"), rows)


def _environments(design: Design) -> Iterator[str]:
    rows = [
        (_code(each.name), each.region, ", ".join(each.replicas), _capacity(each),
         plural(each.pitr_days, "day") if each.pitr_days else "off")
        for each in design.environments.values()
    ]  # fmt: skip
    if rows:
        yield "## Environments"
        yield _table(("environment", "region", "replicas", "capacity", "point-in-time recovery"), rows)


def _capacity(environment: Environment) -> str:
    capacity = environment.capacity
    if isinstance(capacity, Provisioned):
        return f"{capacity.read} read and {capacity.write} write units"
    return "on demand"


# --- Markdown ---


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns that are empty in every row are left out."""
    used = [at for at in range(len(head)) if any(row[at] for row in rows)]
    lines = [[head[at] for at in used], ["---"] * len(used), *([row[at] for at in used] for row in rows)]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _list(pairs: Iterator[tuple[str, str]]) -> str:
    return "\n".join(f"- {name}: {' '.join(words.split())}" for name, words in pairs)


def _code(text: str) -> str:
    return f"`{text}`"


def _codes(texts: Sequence[str]) -> str:
    return ", ".join(map(_code, texts))
