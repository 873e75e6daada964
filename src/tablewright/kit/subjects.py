"""Export and erasure of a person's data, both from one declaration of where that data is.

    def customer(repository: Repository, erased: ErasedList) -> Subject[Tenant]:
        return Subject("customer", repository, lambda tenant: tenant.id, (
            Part(d.tenant_by_id, "tenant", redact=nameless),
            Part(d.orders_of_tenant, "orders", keep="tax law; they name no one"),
            Part(d.outbox.owned, "messages", show=repository.outbox.exported),
            Step("pictures", remove_pictures),
        ), erased)

    customer(...).export(tenant)    # {"tenant": {...}, "orders": [...], "messages": [...]}
    customer(...).erase(tenant)     # its Certificate; the tenant is on the list of the erased before

A part is what one access pattern reads: by the subject's key, or by the value that `key` returns. The parts are erased
in their order, so what the others are found by comes last.
Must hold: every entity with a field of the classes PERSONAL or CHILD is in a part or a step, or `Left` with a reason
(tests/systems/test_subjects.py); an export has no field of the class SECRET; an erasure may be repeated at any point.
Elsewhere: the list and the certificate (erased.py), an erasure that waits or takes several runs (tasks.py).
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeAlias, TypeVar

from pydantic import BaseModel

from tablewright.design import Data, Entity, Get, GetPattern, Pattern, Query, Write
from tablewright.design.entity_spec import EntitySpec
from tablewright.kit.erased import Certificate, ErasedList
from tablewright.kit.tables import Store

S = TypeVar("S")
E = TypeVar("E", bound=BaseModel)
Reads: TypeAlias = Pattern[..., E] | GetPattern[..., E]
Shown: TypeAlias = BaseModel | Mapping[str, Any]
# The actor of a state that changes with what a part's `redact` returns.
ERASURE = "erasure"


@dataclass(frozen=True, slots=True)
class Part(Generic[S, E]):
    """The items that a pattern reads for a subject; of them those for which `only` is true.

    In the export they are the list `name`, or one object if the pattern gets one item: each as `show` returns it, or
    whole, without the secret fields and those in `without`. `hidden` is the reason why they are not in it.
    An erasure deletes them; or replaces each by what `redact` returns; or leaves them, for the reason `keep`. They may
    lie in a partition that is deleted whole, by another part: then they go with it.
    """

    pattern: Reads[E]
    name: str = ""
    key: Callable[[S], object] | None = None
    only: Callable[[S, E], bool] | None = None
    show: Callable[[E], Shown] | None = None
    without: frozenset[str] = frozenset()
    hidden: str = ""
    redact: Callable[[S, E], E] | None = None
    keep: str = ""

    @property
    def entities(self) -> tuple[EntitySpec, ...]:
        return self.pattern.plan.shapes

    @property
    def is_whole(self) -> bool:
        """Whether an erasure deletes everything in a partition, of whichever entity."""
        plan, is_left = self.pattern.plan, self.keep or self.redact or self.only
        return plan.kind == "query" and plan.index is None and not plan.sk and not is_left

    @property
    def place(self) -> tuple[str, str, object]:
        """The table, its partition without the names of fields, which differ by entity, and what it is asked for."""
        shape = self.entities[0]
        return shape.table.name, re.sub(r"{[^}]*}", "{}", shape.pk.text), self.key

    @property
    def label(self) -> str:
        """What its items are counted under: their entity, or the pattern that reads several."""
        return self.entities[0].tag if len(self.entities) == 1 else self.pattern.plan.name


@dataclass(frozen=True, slots=True)
class Step(Generic[S]):
    """What an erasure does to data that no pattern reads by a subject: files, items of others. Returns how many.

    `of` are the entities it reaches, `hidden` the reason why an export does not have them.
    """

    label: str
    run: Callable[[S], int]
    of: Sequence[Entity[Any, Any]] = ()
    hidden: str = ""

    @property
    def entities(self) -> tuple[EntitySpec, ...]:
        return tuple(entity.shape for entity in self.of)


@dataclass(frozen=True, slots=True)
class Left:
    """Entities that have something of a subject and that no part reaches, with the reason."""

    of: Sequence[Entity[Any, Any]]
    reason: str

    @property
    def entities(self) -> tuple[EntitySpec, ...]:
        return tuple(entity.shape for entity in self.of)


@dataclass(frozen=True, slots=True)
class Subject(Generic[S]):
    """A sort of person. `key` is what the patterns are asked for, `entry` the name on the list of the erased.

    Without a list the system has one of its own, and has noted who is erased. `without` are fields that no export has.
    `copies` says in which copies something can still be read after an erasure, for its certificate.
    """

    name: str
    store: Store
    key: Callable[[S], object]
    parts: Sequence[Part[S, Any] | Step[S] | Left]
    erased: ErasedList | None = None
    entry: Callable[[S], str] | None = None
    without: frozenset[str] = field(default=frozenset())
    copies: Callable[[], Mapping[str, str]] = dict

    def export(self, who: S) -> dict[str, Any]:
        """What is kept about a subject, by the names of the parts."""
        found: dict[str, Any] = {}
        for part in self.parts:
            if isinstance(part, Part) and part.name:
                shown = [self._shown(part, item) for item in self._items(part, who)]
                found[part.name] = shown if isinstance(part.pattern, Pattern) else shown[0] if shown else None
        return found

    def erase(self, who: S, *labels: str) -> Certificate:
        """Erase a subject: first it is put on the list, then the parts go, then the certificate is written.

        With `labels`, only the parts and steps that are counted under them.
        """
        entry = self.entry(who) if self.entry is not None else str(self.key(who))
        begun = self._certificate(entry)
        if self.erased is not None:
            self.erased.note(entry, begun)
        counts = Counter(begun.erased)
        for part in self.parts:
            if isinstance(part, Left) or (labels and part.label not in labels) or self._in_a_whole(part):
                continue
            counts[part.label] += part.run(who) if isinstance(part, Step) else self._erase(part, who)
        done = {
            "done_at": self.store.now(),
            "erased": {name: n for name, n in counts.items() if n},
            "kept": {**begun.kept, **self.copies()},
        }
        certificate = begun.model_copy(update=done)
        if self.erased is not None:
            self.erased.note(entry, certificate)
        return certificate

    def _certificate(self, entry: str) -> Certificate:
        """The certificate of an erasure that begins, or that goes on."""
        before = None if self.erased is None else self.erased.proof(entry, Certificate)
        kept = {part.label: part.keep for part in self.parts if isinstance(part, Part) and part.keep}
        return before or Certificate(subject=self.name, begun_at=self.store.now(), kept=kept)

    # --- parts ---

    def _in_a_whole(self, part: Part[S, Any] | Step[S]) -> bool:
        """Whether its items lie in a partition that another part deletes whole."""
        if isinstance(part, Step) or part.is_whole or part.pattern.plan.index is not None:
            return False
        return any(isinstance(one, Part) and one.is_whole and one.place == part.place for one in self.parts)

    def _request(self, part: Part[S, E], who: S) -> Query[E] | Get[E]:
        asked = (one for one in part.pattern.plan.signature.parameters.values() if one.default is one.empty)
        return part.pattern(**{next(asked).name: (part.key or self.key)(who)})

    def _items(self, part: Part[S, E], who: S) -> Iterator[E]:
        request, db = self._request(part, who), self.store.db
        if isinstance(request, Query):
            found = list(db.all(request, deleted=True))
        else:
            found = [item for item in (db.one(request, deleted=True),) if item is not None]
        return (item for item in found if part.only is None or part.only(who, item))

    def _shown(self, part: Part[S, E], item: E) -> dict[str, Any]:
        shown: Shown = item if part.show is None else part.show(item)
        if not isinstance(shown, BaseModel):
            return dict(shown)
        hidden = self.without | part.without
        if part.show is None:
            hidden |= {name for it in part.entities for name, data in it.data.items() if data is Data.SECRET}
        return shown.model_dump(mode="json", by_alias=True, exclude_none=True, exclude=set(hidden))

    def _erase(self, part: Part[S, E], who: S) -> int:
        db = self.store.db
        if part.keep:
            return 0
        if part.redact is not None:
            pairs = [(item, part.redact(who, item)) for item in self._items(part, who)]
            writes = [_replaced(part, *pair) for pair in pairs if pair[0] != pair[1]]
            for write in writes:
                db.write(write)
            return len(writes)
        request = self._request(part, who)
        has_guards = any(shape.unique for shape in part.entities)
        if isinstance(request, Query) and request.index is None and part.only is None and not has_guards:
            return db.clear(request)  # what has expired or is unknown goes too
        gone = [_removed(part, item) for item in self._items(part, who)]
        if has_guards:
            for write in gone:
                db.write(write)
        elif undone := db.batch(gone):
            raise TimeoutError(f"{len(undone)} items were not deleted; erase again")
        return len(gone)


def _entity_of(part: Part[Any, E], item: E) -> Entity[E, ...]:
    return Entity(next(shape for shape in part.entities if shape.model is type(item)), type(item))


def _removed(part: Part[Any, E], item: E) -> Write[E]:
    """Remove the item, with its guards if it was not changed since; without guards, remove what is at its key."""
    entity = _entity_of(part, item)
    if entity.shape.unique:
        return entity.delete(item)
    return entity.discard(*(getattr(item, name) for name in entity.shape.key.parameters))


def _replaced(part: Part[Any, E], before: E, after: E) -> Write[E]:
    entity = _entity_of(part, before)
    states = entity.shape.states
    if states is not None and getattr(before, states.field) != getattr(after, states.field):
        return entity.move(before, after, by=ERASURE)
    is_guarded = entity.shape.version or entity.shape.unique or states
    return entity.change(before, after) if is_guarded else entity.put(after)
