"""The facts of a `Design`: what can be derived from the value, and nothing else. Pure.

Calls, documents, migrations and infrastructure are not in a design: writes are made by `requests.py`, which adds
conditions and omits what is None, and Terraform is printed. What the design language guarantees is stated as such:
parts of keys are escaped and never empty, a key that is too long is refused by name (mapping/error_mapping.py),
reads hide what has expired. Must hold: a part of a key with a codec has a name of its own, `{at:ms}` is `at_ms`, since
the same field may stand in another key in another form.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from uuid import UUID

from annotated_types import Len, MaxLen

from tablewright.design.alarms import DYNAMODB, Comparison
from tablewright.design.attributes import LARGE, VECTOR, Attribute
from tablewright.design.cardinality import attribute_cardinality, part_cardinality
from tablewright.design.check.vectors import MOST_DIMENSIONS
from tablewright.design.cost import cost_of
from tablewright.design.cost.calls import items_per_month
from tablewright.design.cost.format import count
from tablewright.design.design import Design
from tablewright.design.entity_spec import EntitySpec
from tablewright.design.environments import Environment, Provisioned
from tablewright.design.errors import DesignMistake
from tablewright.design.large import LARGE_PARTS
from tablewright.design.partitions import PEAK, place_loads
from tablewright.design.patterns import Plan
from tablewright.design.review.facts import Facts, Text, access, operations, promises, schema
from tablewright.design.review.index_figures import IndexKey, change_units, writes_by_key
from tablewright.design.table_spec import key_types, projection
from tablewright.design.tables import Table, names
from tablewright.design.templates import Part, Template, parse
from tablewright.design.traits import SECONDS_PER_MONTH, Data

_SIGNS: dict[Comparison, str] = {
    "GreaterThanThreshold": ">",
    "GreaterThanOrEqualToThreshold": ">=",
    "LessThanThreshold": "<",
    "LessThanOrEqualToThreshold": "<=",
}
_PERSONAL = (Data.PERSONAL, Data.CHILD)
_OFTEN = 1_000_000
_DELETED = "deleted"
_FORMATS: dict[type | None, str] = {datetime: "iso", date: "date", UUID: "uuid"}
_WRITES = ("create", "put", "update", "upsert", "change", "delete")


def facts_of(design: Design) -> Facts:
    """The facts of a built design."""
    environments = design.environments.values()
    writes = writes_by_key(design)
    return Facts(
        name=design.name,
        tables=tuple(_table(design, table) for table in design.tables.values()),
        entities=tuple(_entity(design, shape, writes) for shape in design.shapes),
        indexes=tuple(_indexes(design)),
        patterns=tuple(_patterns(design)),
        machines=tuple(_machines(design)),
        retentions=tuple(_retentions(design)),
        copies=tuple(
            promises.Copy(
                entity=shape.tag,
                attribute=copy.field,
                source=f"{copy.of}.{copy.source}",
                refresh=copy.refresh.value,
            )
            for shape in design.shapes
            for copy in shape.copies
        ),
        capacities=tuple(
            _capacity(design, environment, table) for environment in environments for table in design.tables
        ),
        backups=tuple(each for environment in environments for each in _backups(environment)),
        protections=tuple(
            operations.Protection(
                environment=environment.name,
                pitr=environment.pitr_days > 0,
                deletion_protection=environment.deletion_protection,
            )
            # Production is the last.
            for environment in list(environments)[-1:]
        ),
        budgets=tuple(each for environment in environments for each in _budgets(design, environment)),
        replicas=tuple(each for environment in environments for each in _replicas(design, environment)),
        alarms=tuple(
            operations.Alarm(
                name=alarm.name,
                metric=alarm.metric if alarm.namespace == DYNAMODB else f"{alarm.namespace}/{alarm.metric}",
                comparison=Text(text=f"{_SIGNS[alarm.comparison]} {alarm.threshold}"),
                threshold=alarm.threshold,
                minutes=alarm.minutes,
                statistic=alarm.statistic,
            )
            for alarm in design.alarms
        ),
        accepted=tuple(
            promises.Acceptance(rule=each.rule, reason=each.reason, where=each.where)
            for each in design.accepted
        ),
    )


# --- what is stored ---


def _table(design: Design, table: Table) -> schema.Table:
    types = _types(design, table)
    loads = [
        load
        for shape in design.shapes
        if shape.table == table
        for verb, load in shape.load.items()
        if verb in _WRITES
    ]
    return schema.Table(
        name=table.name,
        hash=schema.KeyAttribute(name=table.pk, type=types[table.pk]),
        range=schema.KeyAttribute(name=table.sk, type=types[table.sk]) if table.sk else None,
        ttl=Text(text=table.ttl) if table.ttl else None,
        writes=float(sum(items_per_month(load) for load in loads)) / SECONDS_PER_MONTH,
    )


def _types(design: Design, table: Table) -> dict[str, str]:
    mine = [index for index in design.indexes if index.table == table]
    return key_types(table, mine, [shape for shape in design.shapes if shape.table == table])


def _indexes(design: Design) -> Iterator[schema.Index]:
    for index in design.indexes:
        types = _types(design, index.table)
        kind, listed = projection(index, design.shapes)
        yield schema.Index(
            name=index.name,
            table=index.table.name,
            hash=_half(index.pk, types),
            range=_half(index.sk, types) if index.sk else None,
            local=index.local,
            projection=schema.Projection(kind=_kind(kind), names=tuple(listed)),
            entities=tuple(shape.tag for shape in design.shapes if index in shape.on),
        )


def _kind(kind: str) -> schema.ProjectionKind:
    return "ALL" if kind == "ALL" else "KEYS_ONLY" if kind == "KEYS_ONLY" else "INCLUDE"


def _half(key: tuple[str, ...], types: dict[str, str]) -> schema.KeyAttribute:
    """A half of a key; several attributes are one of a joined name."""
    return schema.KeyAttribute(name="_and_".join(key), type=types[key[0]] if len(key) == 1 else "S")


def _entity(design: Design, shape: EntitySpec, writes: Mapping[IndexKey, float]) -> schema.Entity:
    keys: list[schema.KeyTemplate] = []
    parts: dict[str, schema.Attribute] = {}
    for name, template in _templates(shape):
        keys.append(schema.KeyTemplate(attribute=name, template=_text(shape, template), text=template.text))
        parts |= {_hole(shape, part): _part(shape, part) for part in template.parts if not _is_plain(part)}
    guard_keys: list[schema.KeyTemplate] = []
    for name, template in _guard_templates(shape):
        guard_keys.append(
            schema.KeyTemplate(attribute=name, template=_text(shape, template), text=template.text)
        )
        parts |= {_hole(shape, part): _part(shape, part) for part in template.parts if not _is_plain(part)}
    expiry = [schema.Attribute(name=shape.table.ttl, type="N")] if shape.expires and shape.table.ttl else []
    derived = [
        schema.Attribute(name=name, computed=True, definition=text) for name, text in shape.derived.items()
    ]
    guarded = {part.field for guard in shape.guards for part in guard.value.parts}
    owners = [
        shape.fields[field].stored
        for tags in design.principals.values()
        for field in tags
        if field in shape.fields
    ]
    return schema.Entity(
        name=shape.tag,
        table=shape.table.name,
        keys=tuple(keys),
        attributes=(*(_attribute(shape, each) for each in shape.fields.values()), *expiry, *derived),
        parts=tuple(parts.values()),
        owner=owners[0] if owners else "",
        version=shape.version or "",
        guards=tuple(shape.fields[name].stored for name in sorted(guarded)),
        guard_keys=tuple(guard_keys),
        index_writes=tuple(
            schema.IndexWrites(
                index=name, writes=writes.get((shape.table.name, name, keys[0].template.text), 0)
            )
            for name, keys in shape.index_keys.items()
        ),
        table_writes=writes.get((shape.table.name, "", shape.primary[0].template.text)),
        item_bytes=_item_bytes(shape),
        created_if_absent=True,
    )


def _templates(shape: EntitySpec) -> Iterator[tuple[str, Template]]:
    """The key attributes that are made from templates; a native one is itself."""
    yield from ((key.name, key.template) for key in shape.primary if key.native is None)
    for index, keys in shape.on.items():
        for half, texts in ((index.pk, names(keys.pk)), (index.sk, names(keys.sk))):
            own = shape.stored.get(half[0]) if len(half) == 1 else None
            native = own is not None and parse(texts[0]).only_field == own.field
            if half and not native:
                yield "_and_".join(half), parse("#".join(texts))


def _guard_templates(shape: EntitySpec) -> Iterator[tuple[str, Template]]:
    """The keys of the guards of its unique values."""
    for guard in shape.guards:
        yield guard.table.pk, guard.pk
        if guard.sk is not None and guard.table.sk is not None:
            yield guard.table.sk, guard.sk


def _is_plain(part: Part) -> bool:
    return part.codec.name in ("", "lower", "upper")


def _hole(shape: EntitySpec, part: Part) -> str:
    """The attribute that a part is, by its name in items; or the part, which has a name of its own."""
    if _is_plain(part):
        return shape.fields[part.field].stored
    return f"{part.field}_{part.codec.name.replace('.', '_').replace('-', '_')}"


def _text(shape: EntitySpec, template: Template) -> str:
    return "".join(
        piece if isinstance(piece, str) else f"{{{_hole(shape, piece)}}}" for piece in template.pieces
    )


def _part(shape: EntitySpec, part: Part) -> schema.Attribute:
    """A part of a key that has a form of its own: a time of fixed width, a shard, a digest."""
    is_time = part.codec.takes == (datetime,)
    counted = part_cardinality(part, shape.fields.get(part.field))
    return schema.Attribute(
        name=_hole(shape, part),
        format="iso" if is_time else "id" if part.codec.fixed else "",
        cardinality=counted.values,
        shards=part.codec.shards,
        timed=counted.timed,
        sparse=counted.sparse,
        hashed=part.codec.name.startswith("hash"),
        escaped=True,
        length_checked=True,
        min_length=1,
        personal=shape.data.get(part.field) in _PERSONAL and not part.codec.shards,
    )


def _attribute(shape: EntitySpec, attribute: Attribute) -> schema.Attribute:
    kind = attribute.kind
    codecs = {
        part.codec.name
        for _, text in shape.texts
        for part in parse(text).parts
        if part.field == attribute.field
    }
    busy = {
        verb: items_per_month(load)
        for verb, load in shape.load.items()
        if verb in _WRITES and load.changes and attribute.field in load.changes
    }
    a_month = sum(busy.values())
    units, index_units = change_units(shape, attribute, busy)
    unique = any(attribute.field == guard.value.only_field for guard in shape.guards)
    return schema.Attribute(
        name=attribute.stored,
        type=kind.letter,
        required=not attribute.optional,
        format=_FORMATS.get(kind.plain, "email" if attribute.field == "email" else ""),
        values=kind.choices,
        cardinality=attribute_cardinality(attribute).values,
        min_length=1,
        max=_most(shape, attribute),
        personal=shape.data.get(attribute.field) in _PERSONAL,
        normalised=bool(codecs & {"lower", "upper"}),
        escaped=True,
        length_checked=True,
        unique=unique,
        number="decimal" if kind.plain is Decimal else "",
        changes=f"every one of {count(a_month)} writes a month" if a_month >= _OFTEN else "",
        change_units=units,
        index_units=index_units,
    )


def _item_bytes(shape: EntitySpec) -> int | None:
    """The largest item that is written; not known where a field may be in an object beside it."""
    if any(each.kind is LARGE for each in shape.attributes):
        return None
    return max((load.item_bytes for verb, load in shape.load.items() if verb in _WRITES), default=None)


def _most(shape: EntitySpec, attribute: Attribute) -> int | None:
    """The most elements or characters; a model inside of another has its fields."""
    if attribute.kind is VECTOR:
        return MOST_DIMENSIONS
    if attribute.kind is LARGE:
        return LARGE_PARTS
    model = attribute.kind.model
    if model is not None and attribute.kind.letter == "M":
        return len(model.model_fields)
    info = (shape.whole or shape.model).model_fields[attribute.field]
    bounds = [each.max_length for each in info.metadata if isinstance(each, MaxLen | Len)]
    return next((bound for bound in bounds if bound is not None), None)


def _machines(design: Design) -> Iterator[access.StateMachine]:
    for shape in design.shapes:
        if shape.states is not None:
            yield access.StateMachine(
                entity=shape.tag,
                attribute=shape.fields[shape.states.field].stored,
                states=shape.states.states,
                version=shape.version or "",
                moves=tuple(
                    access.Move(start=start, end=end, source="the design")
                    for start, ends in shape.states.moves.items()
                    for end in ends
                ),
            )


def _retentions(design: Design) -> Iterator[operations.Retention]:
    for shape in design.shapes:
        retention, ttl = shape.retention, shape.table.ttl
        if retention is None:
            continue
        days = Decimal(retention.period.days) if retention.period else None
        yield operations.Retention(
            subject=shape.tag,
            entity=shape.tag,
            period=f"{days} days" if days is not None else retention.purpose or "for ever",
            days=days,
            # What is deleted after a time is deleted by TTL; archives and erasures are work of a job.
            ttl=shape.expires is not None or (days is not None and retention.then == _DELETED),
            attribute=(ttl or "") if shape.expires is not None else "",
            filtered=True,
        )


# --- how it is read, and where it runs ---


def _patterns(design: Design) -> Iterator[access.Pattern]:
    for plan in design.plans:
        for shape in plan.shapes:
            yield _pattern(plan, shape)
    for table in design.tables.values():
        if table.whole:
            yield access.Pattern(name=f"every item of {table.name}", table=table.name, verb="scan")


def _pattern(plan: Plan, shape: EntitySpec) -> access.Pattern:
    index = plan.index.name if plan.index else ""
    half = plan.index.pk if plan.index else (plan.table.pk,)
    templates = dict(_templates(shape))
    name = "_and_".join(half)
    template = templates.get(name)
    ranged = plan.sk and plan.sk[-1].op not in ("=", "begins")
    sort = (plan.index.sk[-1:] if plan.index else (plan.table.sk or "",))[0] if ranged else ""
    joined = "_and_".join(plan.index.sk) if plan.index and ranged else sort
    return access.Pattern(
        name=plan.name,
        table=plan.table.name,
        entity=shape.tag,
        verb=plan.kind,
        index=index,
        given=tuple(_hole(shape, part) for part in template.parts) if template else (name,),
        range=joined,
        prefix=plan.sk[-1].texts[0] if plan.sk and plan.sk[-1].op == "begins" else "",
        consistent=plan.consistent,
        audience="public" if "public" in plan.roles else "owner",
    )


def _capacity(design: Design, environment: Environment, table: str) -> operations.Capacity:
    given = environment.capacity_of(table)
    if not isinstance(given, Provisioned):
        return operations.Capacity(table=table, mode="on demand", environment=environment.name)
    # The load is that of production, which is the last.
    is_production = environment is list(design.environments.values())[-1]
    read, write = _units_taken(design, table) if is_production else (None, None)
    return operations.Capacity(
        table=table,
        mode="provisioned",
        environment=environment.name,
        write=given.write,
        index_write=given.write,
        most_read=given.max_read or given.read,
        most_write=given.max_write or given.write,
        load_read=read,
        load_write=write,
    )


def _units_taken(design: Design, table: str) -> tuple[float, float]:
    """The read and write units a second of a table or of the busiest of its indexes, on average."""
    mine = [each for each in place_loads(design) if each.table == table]
    return (
        max((float(each.read) / PEAK for each in mine), default=0.0),
        max((float(each.write) / PEAK for each in mine), default=0.0),
    )


def _backups(environment: Environment) -> Iterator[operations.Backup]:
    kept = environment.backups
    plans = [kept.schedule] if kept else []
    plans += ["continuous"] if environment.pitr_days else []
    if plans:
        days = kept.keep_days if kept else environment.pitr_days
        yield operations.Backup(environment=environment.name, schedule=" and ".join(plans), keep_days=days)


def _budgets(design: Design, environment: Environment) -> Iterator[operations.Budget]:
    """The limit beside the computed total."""
    if environment.budget is None:
        return
    try:
        # Without its estimates, which `design cost` compares.
        computed = cost_of(design, replace(environment, budget=None)).total
    except DesignMistake:
        # A region without prices, a schedule that is none: `design cost` says so.
        return
    yield operations.Budget(environment=environment.name, limit=environment.budget.limit, computed=computed)


def _replicas(design: Design, environment: Environment) -> Iterator[operations.Replica]:
    """A replica is read-only until it is promoted; Terraform gives it the settings of its table."""
    settings = (("pitr", environment.pitr_days > 0), ("deletion protection", environment.deletion_protection))
    for table in design.tables:
        for region in environment.replicas:
            yield operations.Replica(
                table=table,
                region=region,
                writers="one region",
                settings=(*(name for name, there in settings if there), "tags"),
            )
