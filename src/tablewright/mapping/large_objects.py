"""Values in an object store: storing them before the item that names them, reading them, and which are still named.

    db = Db(call, reports_design, objects=store)         # a store of kit/objects, or anything with put_new and get
    report = Report(id="r1", body=db.large(content))     # 1. the object
    db.write(reports.create(report))                     # 2. the item
    db.content(report.body)

Why no item ever names an object that is gone, whatever crashes between the steps:
- An object has a name of its own and is never overwritten.
- A write names an object within NAMED_WITHIN of its storing, or LargeTooOld. Later a field can only keep the object
  that it has, which writes nothing. So of an older object the names only become fewer.
- What no item names is deleted after SWEPT_AFTER, far longer than NAMED_WITHIN, and the items are read after that
  was decided. A crash leaves an object too many, which the next sweep deletes, and never one too few.
Elsewhere: the value (design/large.py), deleting (kit/objects/sweep.py: `sweep(store, FOLDER, is_named(db),
SWEPT_AFTER, world)`). A table that is restored to an earlier moment may name what was swept since: that is ObjectLost.
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from hashlib import sha256
from typing import Any, Protocol

from pydantic import BaseModel

from tablewright.client import Call, pages
from tablewright.design import Design
from tablewright.design.entity_spec import EntitySpec
from tablewright.design.large import Large
from tablewright.design.requests import Write
from tablewright.mapping.errors import MappingMistake
from tablewright.values import Value
from tablewright.world import World

FOLDER = "large/"
# An eighth of an item: an entity may have several, and reads are charged for what is in the item.
INLINE_BYTES = 50 * 1024
NAMED_WITHIN = timedelta(hours=1)
SWEPT_AFTER = timedelta(days=1)


class LargeStore(Protocol):
    """What is needed of an object store."""

    def put_new(self, name: str, content: bytes) -> bool:
        """Store an object unless there is one of that name; False if there is."""
        ...

    def get(self, name: str) -> bytes | None:
        """The object; None if there is none."""
        ...


class NoObjectStore(MappingMistake):
    """A large value needs a store of objects, and this Db has none."""

    def __init__(self) -> None:
        super().__init__("this value is in an object store, or too large for an item: Db(..., objects=store)")


class ObjectLost(MappingMistake):
    """The object that an item names is gone, or its bytes are others than those that were stored."""

    def __init__(self, name: str, why: str) -> None:
        self.name = name
        super().__init__(f"object {name}: {why}; restore it from a copy of the object store")


class LargeTooOld(MappingMistake):
    """A write would name an object that was stored long ago and that its item does not have: it may be deleted."""

    def __init__(self, entity: str, field: str) -> None:
        self.entity, self.field = entity, field
        super().__init__(
            f"{entity}: '{field}' names an object from more than an hour ago that the item does not have; store the "
            "content again with db.large(db.content(value))"
        )


def store_large(store: LargeStore | None, content: bytes, inline_bytes: int, world: World) -> Large:
    """A value to write into an item; a large one is in the store when this returns."""
    digest = sha256(content).hexdigest()
    if len(content) <= inline_bytes:
        return Large(len(content), digest, content)
    if store is None:
        raise NoObjectStore
    # The time first: an object may be younger than it says, never older.
    stored = int(world.now().timestamp())
    while not store.put_new(name := f"{FOLDER}{world.new_id()}", content):
        pass  # an id that was given before: that object is another's
    return Large(len(content), digest, None, name, stored)


def load_large(store: LargeStore | None, value: Large) -> bytes:
    """The bytes of a value, verified; ObjectLost."""
    content = value.inline
    if value.object is not None:
        if store is None:
            raise NoObjectStore
        content = store.get(value.object)
    if content is None:
        raise ObjectLost(value.object or "inline", "there is none of this name")
    if len(content) != value.size or sha256(content).hexdigest() != value.sha256:
        raise ObjectLost(value.object or "inline", "its bytes have another checksum")
    return content


def refuse_old(write: Write[Any], now: int) -> None:
    """LargeTooOld if a write names an old object in a field that did not have it when the item was read.

    A field that keeps its value is not written, so what this lets through never names an old object again.
    """
    if not write.shape.large or write.kind in ("delete", "check"):
        return
    before = dict(_named(write.shape, write.before))
    names = dict(_named(write.shape, write.item))
    for step in write.steps:
        found = (step.value or {}).get("M", {})
        if "object" in found and "stored" in found:
            names[str(step.path.steps[0])] = (found["object"]["S"], int(found["stored"]["N"]))
    oldest = now - NAMED_WITHIN.total_seconds()
    for field, (name, stored) in names.items():
        if stored < oldest and before.get(field) != (name, stored):
            raise LargeTooOld(write.shape.tag, field)


def _named(shape: EntitySpec, model: BaseModel | None) -> Iterator[tuple[str, tuple[str, int]]]:
    """The fields of a model whose values are objects, with their names and times."""
    for attribute in shape.large if model is not None else ():
        value: Large | None = getattr(model, attribute.field)
        if value is not None and value.object is not None:
            yield attribute.stored, (value.object, value.stored)


class Tables(Protocol):
    """What is needed of a Db."""

    designs: tuple[Design, ...]

    @property
    def call(self) -> Call: ...

    def physical(self, table: str) -> str: ...


def is_named(db: Tables) -> Callable[[str], bool]:
    """Whether an item names an object. Tables with large values are read whole at the first question."""
    found: list[set[str]] = []

    def asked(name: str) -> bool:
        if not found:
            found.append(set(_all_named(db)))
        return name in found[0]

    return asked


def _all_named(db: Tables) -> Iterator[str]:
    fields: dict[str, set[str]] = {}
    for shape in (shape for design in db.designs for shape in design.shapes):
        if shape.large:
            fields.setdefault(shape.table.name, set()).update(one.stored for one in shape.large)
    for table, stored in fields.items():
        request = {"TableName": db.physical(table), "ConsistentRead": True}
        for answer in pages(db.call, "Scan", request):
            for item in answer["Items"]:
                yield from _names_in(item, stored)


def _names_in(item: Mapping[str, Value], stored: set[str]) -> Iterator[str]:
    for attribute in stored:
        inside = item.get(attribute, {}).get("M", {})
        if "S" in inside.get("object", {}):
            yield inside["object"]["S"]
