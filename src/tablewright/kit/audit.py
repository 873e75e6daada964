"""The audit log: who changed what, written in the transaction of the change.

    class AuditEntry(kit.audit.AuditEntry):
        family_id: str
    log = audit(DESIGN, table, AuditEntry, owner="family_id", pk="FAMILY#{family_id}", ...)
    db.write(change, log.entry(tables, family_id, "family changed", actor, before, after))
    db.page(log.of(family_id))

An entry is stored beside the record it is about, its owner, and by month if wanted.
Must hold: values are JSON, as the API shows them; pages put them into words.
Elsewhere: Actor (tables.py).
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, JsonValue

from tablewright.design import (
    Data,
    Design,
    DesignTable,
    Entity,
    Expires,
    Keys,
    Load,
    Pattern,
    Query,
    Retention,
    Write,
    begins,
)
from tablewright.kit.declarations import declared
from tablewright.kit.tables import Actor, Store

Values: TypeAlias = Mapping[str, JsonValue]


class AuditEntry(BaseModel):
    """Who changed or viewed what, when and why. A system adds the id of the record it belongs to,
    and the style of its attribute names by a base of its own."""

    model_config = ConfigDict(populate_by_name=True, extra="forbid", frozen=True)

    audit_at: datetime
    audit_id: str
    actor: str
    role: str
    action: str
    before: dict[str, JsonValue] = {}
    after: dict[str, JsonValue] = {}
    reason: str | None = None


A = TypeVar("A", bound=AuditEntry)


@dataclass(frozen=True, slots=True)
class AuditLog(Generic[A]):
    """The entries of one table. `noise` are the fields that every change changes."""

    model: type[A]
    owner: str
    entries: Entity[A, [str, datetime, str]]
    by_owner: Pattern[..., A]
    by_month: Pattern[..., A] | None
    noise: Collection[str]

    def entry(
        self,
        tables: Store,
        owner: str,
        action: str,
        actor: Actor,
        before: BaseModel | Values | None = None,
        after: BaseModel | Values | None = None,
        reason: str | None = None,
        **fields: str,
    ) -> Write[A]:
        """The entry of a change, to be written in the same transaction; `fields` are those the system added."""
        old, new = differences(before, after, self.noise)
        names: dict[str, Any] = {self.owner: owner, **fields}
        return self.entries.create(
            self.model(
                **names,
                audit_at=tables.now(),
                audit_id=tables.world.new_id(),
                actor=actor.name,
                role=actor.role,
                action=action,
                before=old,
                after=new,
                reason=reason,
            )
        )

    def of(self, owner: str) -> Query[A]:
        """The entries of a record, newest first."""
        return self.by_owner(owner)

    def of_month(self, at: datetime) -> Query[A]:
        """The entries of all records in a month, newest first."""
        assert self.by_month is not None, "this log has no index by month"
        return self.by_month(at)


def audit(
    design: Design,
    table: DesignTable,
    model: type[A],
    *,
    owner: str,
    pk: str,
    tag: str,
    name: str,
    retention: Retention,
    writes: Load,
    reads: Load,
    month_name: str = "",
    month_reads: Load | None = None,
    roles: Sequence[str] = (),
    at_most: int = 200,
    precision: str = "ms",
    noise: Collection[str] = (),
) -> AuditLog[A]:
    """An audit log in a table. `owner` is the field of the model that `pk` contains; `name` that of the pattern by it.

    With `month_name` the entries are in an index by month too. Entries expire unless `retention` archives them.
    """
    key: Callable[[str, datetime, str], None] = declared(
        "audit_key", "", **{owner: str}, audit_at=datetime, audit_id=str
    )
    # The index is sorted by the moment itself, under the name the system stores it by.
    moment = model.model_fields["audit_at"].alias or "audit_at"
    index = table.gsi("AuditIndex", pk="auditMonth", sk=moment) if month_name else None
    entries = table.entity(
        model,
        key,
        tag=tag,
        pk=pk,
        sk=f"AUDIT#{{audit_at:{precision}}}#{{audit_id}}",
        on={index: Keys("{audit_at:month}", "{audit_at}")} if index is not None else None,
        expires=Expires("audit_at", retention.period)
        if retention.then == "deleted" and retention.period is not None
        else None,
        data={"actor": Data.PERSONAL, "before": Data.PERSONAL, "after": Data.PERSONAL},
        retention=retention,
        load={"create": writes},
    )
    by_owner = design.query(
        entries,
        pk=pk,
        sk=begins("AUDIT#"),
        descending=True,
        page=50,
        at_most=at_most,
        roles=roles,
        load=reads,
    )(declared(name, "The audit log of a record, newest first.", **{owner: str}))
    by_month = None
    if index is not None:
        by_month = design.query(
            entries, on=index, pk="{at:month}", descending=True, page=50, at_most=at_most, roles=roles,
            load=month_reads,
        )(declared(month_name, "The audit log of a month, newest first.", at=datetime))  # fmt: skip
    return AuditLog(model, owner, entries, by_owner, by_month, noise)


def differences(
    before: BaseModel | Values | None, after: BaseModel | Values | None, noise: Collection[str] = ()
) -> tuple[dict[str, JsonValue], dict[str, JsonValue]]:
    """What was and what is, where the two differ, by the names of the API; `noise` are fields that always do."""
    old, new = _values(before, noise), _values(after, noise)
    names = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    return {n: old[n] for n in names if n in old}, {n: new[n] for n in names if n in new}


def _values(value: BaseModel | Values | None, noise: Collection[str]) -> Values:
    if isinstance(value, BaseModel):
        shown: Values = value.model_dump(mode="json", by_alias=True, exclude_none=True, exclude=set(noise))
        return shown
    return value or {}
