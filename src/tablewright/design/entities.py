"""An entity: a model, its place in a table, and the requests one can make of it.

    tenants.get("tenant_1")                               one item
    tenants.create(tenant)                                if there is none
    tenants.change(before, after)                         if it is unchanged since it was read
    tenants.update("tenant_1").at(lambda t: t.logins).add(1)
    tenants.move(before, after, by="admin")               if the state machine allows it
    tenants.update("tenant_1").move("closed", by="admin") the same without reading the item

The key's parameters are those of the function or class given as `key`, so a type checker knows them.
"""

from dataclasses import replace
from typing import Any, Generic, ParamSpec, TypeVar

from pydantic import BaseModel

from tablewright.design.entity_spec import EntitySpec
from tablewright.design.errors import FieldIsFixed, StateNeedsAMove
from tablewright.design.requests import Get, Write, WriteKind

E = TypeVar("E", bound=BaseModel)
W = TypeVar("W", bound=BaseModel)
K = ParamSpec("K")


class Readable(Generic[E]):
    """What a pattern can return: an entity, or a view of one."""

    def __init__(self, shape: EntitySpec, model: type[E]) -> None:
        self.shape, self.model, self.tag = shape, model, shape.tag


class Entity(Readable[E], Generic[E, K]):
    """An EntitySpec with the types of its model and key."""

    def __repr__(self) -> str:
        return f"<entity {self.shape.table.design}.{self.tag}>"

    def view(self, model: type[W]) -> Readable[W]:
        """The same items with fewer fields, for an index that does not carry them all."""
        return Readable(replace(self.shape, model=model, whole=self.shape.whole or self.shape.model), model)

    # --- reads ---

    def get(self, *args: K.args, **kwargs: K.kwargs) -> Get[E]:
        """One item by its key."""
        return Get(f"{self.tag}.get", self.shape, self.shape.key_of(self.shape.key_values(args, kwargs)))

    # --- writes ---

    def create(self, item: E) -> Write[E]:
        """A new item; AlreadyExists if its key is taken, NotUnique if a unique value is."""
        return self._whole("create", item)

    def put(self, item: E) -> Write[E]:
        """Write the item, replacing any other. For records with one writer."""
        if self.shape.unique or self.shape.version or self.shape.states:
            why = "is versioned, unique or has states: a blind put would overwrite another's change"
            raise FieldIsFixed(
                f"{self.tag} {why}; write {self.tag}.create(item) or {self.tag}.change(before, after)"
            )
        return self._whole("put", item)

    def change(self, before: E, after: E) -> Write[E]:
        """Replace the item that was read; Stale if it was changed since."""
        states = self.shape.states
        if states is not None and getattr(before, states.field) != getattr(after, states.field):
            raise StateNeedsAMove(self.tag, states.field)
        return self._changed(before, after)

    def move(self, before: E, after: E, *, by: str) -> Write[E]:
        """A change of state by an actor; MoveNotAllowed if the machine has no such move for them."""
        states = self.shape.states
        if states is None:
            raise FieldIsFixed(f"{self.tag} has no states; write {self.tag}.change(before, after)")
        start, end = (getattr(item, states.field) for item in (before, after))
        states.check(self.tag, str(getattr(start, "value", start)), str(getattr(end, "value", end)), by)
        return replace(self._changed(before, after), moved=True)

    def update(self, *args: K.args, **kwargs: K.kwargs) -> Write[E]:
        """Change single fields of an item that exists, without reading it; Missing if it does not."""
        return self._at_key("update", args, kwargs)

    def upsert(self, start: E) -> Write[E]:
        """Change single fields; if there is no item yet, begin with this one."""
        if self.shape.unique:
            raise FieldIsFixed(f"{self.tag} has unique values; use db.get_or_create({self.tag}.create(item))")
        return self._whole("upsert", start)

    def delete(self, item: E) -> Write[E]:
        """Remove an item that was read, with its guards; Stale if it was changed since."""
        return replace(self._whole("delete", item), before=item)

    def discard(self, *args: K.args, **kwargs: K.kwargs) -> Write[E]:
        """Remove the item at a key, if there is one."""
        if self.shape.unique:
            why = "has guards to remove: read the item and write"
            raise FieldIsFixed(f"{self.tag} {why} {self.tag}.delete(item)")
        return self._at_key("delete", args, kwargs)

    def check(self, *args: K.args, **kwargs: K.kwargs) -> Write[E]:
        """Write nothing, but make a transaction depend on this item's existence; add `.when(...)` for more."""
        return self._at_key("check", args, kwargs)

    # --- parts ---

    def _at_key(self, kind: WriteKind, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Write[E]:
        values = self.shape.key_values(args, kwargs)
        return Write(kind, self.shape, self.shape.key_of(values), values)

    def _whole(self, kind: WriteKind, item: E) -> Write[E]:
        if not isinstance(item, self.model):
            raise TypeError(f"{self.tag} stores {self.model.__name__}, not {type(item).__name__}")
        values = item.__dict__
        return Write(kind, self.shape, self.shape.key_of(values), values, item=item)

    def _changed(self, before: E, after: E) -> Write[E]:
        if self.shape.version:
            # What is stored next is known already, so the write's item can be answered with.
            after = after.model_copy(update={self.shape.version: getattr(before, self.shape.version) + 1})
        write = self._whole("change", after)
        for name in self.shape.fixed:
            if getattr(before, name) != getattr(after, name):
                raise FieldIsFixed(f"{self.tag}: '{name}' never changes: create a new item instead")
        return replace(write, before=before)
