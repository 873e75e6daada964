"""An entity without its types: everything a request needs to reach it.

The typed interface is entities.py. Must hold: a key attribute that is a field is that field's own value; any other is a
template's text, or absent as a whole.
"""

import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Any

from pydantic import BaseModel

from tablewright.design.attributes import FINE_TIME, Attribute, attributes
from tablewright.design.errors import KeyPartUnusable, KeyTextUnusable
from tablewright.design.key_codecs import utc
from tablewright.design.large import Large
from tablewright.design.paths import Fields, field_paths
from tablewright.design.tables import Index, Keys, Table
from tablewright.design.templates import Template, matcher, parse
from tablewright.design.traits import Copy, Data, Expires, Load, Retention, Schema, SoftDelete, States, Unique
from tablewright.values import Item, Value


@dataclass(frozen=True, slots=True)
class KeyAttribute:
    """One key attribute of an entity: its own field, or text from a template."""

    name: str
    template: Template
    native: Attribute | None

    @property
    def letter(self) -> str:
        return self.native.kind.letter if self.native else "S"

    def value(self, values: Mapping[str, object]) -> Value | None:
        """The wire value; None where the entity is to stay out of the index."""
        if self.native:
            return native_value(self.native, self.native.field, values[self.native.field])
        text = self.template.render(values)
        return None if text is None else {"S": text}


def native_value(attribute: Attribute, name: str, given: object) -> Value | None:
    """A field's own value as a key; `name` is the field's, or that of the parameter that is compared with it."""
    if given is None:
        return None
    try:
        wire = attribute.kind.encode(given)
    except (AttributeError, TypeError, ValueError) as error:
        raise KeyPartUnusable(f"'{name}' as a key: {error}") from None
    if wire is not None and wire.get("S") == "":
        raise KeyTextUnusable(f"'{name}' is empty, and a key may not be", "")
    return wire


@dataclass(frozen=True)
class Guard:
    """A unique constraint, compiled."""

    unique: Unique
    table: Table
    value: Template
    pk: Template
    sk: Template | None
    keep: Mapping[str, Template]

    def key(self, values: Mapping[str, object]) -> dict[str, Value] | None:
        """Where the guard of these values lies; None if they have nothing to guard."""
        if self.value.render(values) is None:
            return None
        key: dict[str, Value] = {self.table.pk: {"S": self.pk.render(values) or ""}}
        if self.table.sk is not None and self.sk is not None:
            key[self.table.sk] = {"S": self.sk.render(values) or ""}
        return key


@dataclass(frozen=True, repr=False)
class EntitySpec:
    """An entity as data."""

    tag: str
    table: Table
    # What is returned: the entity's own model, or that of a view.
    model: type[BaseModel]
    key: inspect.Signature
    pk: Template
    sk: Template | None
    on: Mapping[Index, Keys] = field(default_factory=dict)
    derived: Mapping[str, str] = field(default_factory=dict)
    unique: tuple[Unique, ...] = ()
    version: str | None = None
    expires: Expires | None = None
    soft_delete: SoftDelete | None = None
    states: States | None = None
    copies: tuple[Copy, ...] = ()
    immutable: tuple[str, ...] = ()
    data: Mapping[str, Data] = field(default_factory=dict)
    retention: Retention | None = None
    load: Mapping[str, Load] = field(default_factory=dict)
    about: str = ""
    # The entity's model, if `model` is a view: keys are made of it whatever is returned.
    whole: type[BaseModel] | None = None
    schema: Schema | None = None

    def __repr__(self) -> str:
        return f"<entity spec {self.table.design}.{self.tag}>"

    @cached_property
    def attributes(self) -> tuple[Attribute, ...]:
        """The fields of what is returned, as this entity stores them."""
        return self._stored_as(self.model)

    @cached_property
    def fields(self) -> Mapping[str, Attribute]:
        """The fields of the entity, by name."""
        return {attribute.field: attribute for attribute in self._stored_as(self.whole or self.model)}

    @cached_property
    def paths(self) -> Fields:
        """The fields of the entity as paths, by name."""
        return field_paths(self.fields)

    @cached_property
    def large(self) -> tuple[Attribute, ...]:
        """The fields that may be in an object store."""
        return tuple(attribute for attribute in self.fields.values() if attribute.kind.plain is Large)

    @property
    def texts(self) -> Iterator[tuple[str, str]]:
        """The text of every template, with what it is for."""
        yield self.table.pk, self.pk.text
        if self.sk is not None:
            yield self.table.sk or "sk", self.sk.text
        for index, keys in self.on.items():
            for name, text in zip(index.key_names, keys.texts, strict=False):
                yield f"{index.name}.{name}", text
        yield from self.derived.items()
        for unique in self.unique:
            own_pk = [unique.pk] if unique.pk else []
            for text in (unique.value, *own_pk, unique.sk, *unique.keep.values()):
                yield f"unique {unique.name}", text

    def _stored_as(self, model: type[BaseModel]) -> tuple[Attribute, ...]:
        """A model's fields as this entity stores them: times with six digits where a key has them."""
        fine = {part.field for _, text in self.texts for part in parse(text).parts if part.codec.name == "us"}
        return tuple(
            replace(attribute, kind=FINE_TIME)
            if attribute.field in fine and attribute.kind.plain is datetime
            else attribute
            for attribute in attributes(model)
        )

    @cached_property
    def stored(self) -> Mapping[str, Attribute]:
        """Of the entity, by the name in the item."""
        return {attribute.stored: attribute for attribute in self.fields.values()}

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        return tuple(self.key.parameters)

    @cached_property
    def primary(self) -> tuple[KeyAttribute, ...]:
        """The table's key."""
        pairs = [(self.table.pk, self.pk)]
        if self.table.sk is not None and self.sk is not None:
            pairs.append((self.table.sk, self.sk))
        return tuple(self._key_attribute(name, template) for name, template in pairs)

    @cached_property
    def index_keys(self) -> Mapping[str, tuple[KeyAttribute, ...]]:
        """The keys in each index, by the index's name."""
        pairs = {index.name: zip(index.key_names, keys.texts, strict=True) for index, keys in self.on.items()}
        return {
            index: tuple(self._key_attribute(name, parse(text)) for name, text in each)
            for index, each in pairs.items()
        }

    @cached_property
    def keys(self) -> tuple[KeyAttribute, ...]:
        """The key attributes of the table and of all indexes."""
        return (*self.primary, *(key for keys in self.index_keys.values() for key in keys))

    @cached_property
    def derivations(self) -> Mapping[str, Template]:
        """Every attribute made from fields, by name: index keys that are not fields, and declared derivations."""
        found = {
            key.name: key.template for keys in self.index_keys.values() for key in keys if key.native is None
        }
        primary = {key.name for key in self.primary}
        declared = {name: parse(text) for name, text in self.derived.items()}
        return {name: template for name, template in (found | declared).items() if name not in primary}

    @cached_property
    def sources(self) -> frozenset[str]:
        """The fields that attributes are made from: those of `derivations`, and of the time an item expires."""
        expiry = [] if self.expires is None else [self.expires.field]
        return frozenset(expiry).union(*(template.fields for template in self.derivations.values()))

    @cached_property
    def guards(self) -> tuple[Guard, ...]:
        return tuple(self._guard(unique) for unique in self.unique)

    @cached_property
    def fixed(self) -> frozenset[str]:
        """Fields that never change: the key's own, and those declared so."""
        return frozenset(self.immutable).union(*(key.template.fields for key in self.primary))

    @cached_property
    def unsettable(self) -> frozenset[str]:
        """Fields that no step of an update sets: those that never change, the version, the state, what guards hold."""
        own = [self.version, self.states.field if self.states is not None else None]
        guarded = (self.guarded_by(guard) for guard in self.guards)
        return self.fixed.union([name for name in own if name is not None], *guarded)

    def guarded_by(self, guard: Guard) -> set[str]:
        """The fields that a guard is made of."""
        kept = {name for template in guard.keep.values() for name in template.fields}
        dies = {self.expires.field} if self.expires is not None else set()
        return {*guard.value.fields, *kept, *dies}

    @cached_property
    def _matchers(self) -> tuple[tuple[str, re.Pattern[str] | None], ...]:
        return tuple((key.name, None if key.native else matcher(key.template)) for key in self.primary)

    def _key_attribute(self, name: str, template: Template) -> KeyAttribute:
        native = self.stored.get(name)
        is_native = native is not None and template.only_field == native.field
        return KeyAttribute(name, template, native if is_native else None)

    def _guard(self, unique: Unique) -> Guard:
        table = unique.table or self.table
        pk = unique.pk or f"UNIQUE#{self.tag}#{unique.name}#{unique.value}"
        sk = parse(unique.sk) if table.sk is not None else None
        keep = {name: parse(text) for name, text in unique.keep.items()}
        return Guard(unique, table, parse(unique.value), parse(pk), sk, keep)

    # --- keys and derived attributes of values ---

    def key_of(self, values: Mapping[str, object]) -> dict[str, Value]:
        """The primary key, from the fields it is made of."""
        key: dict[str, Value] = {}
        for part in self.primary:
            value = part.value(values)
            if value is None:
                raise KeyPartUnusable(
                    f"{self.tag}: the key attribute {part.name} needs {', '.join(part.template.fields)}"
                )
            key[part.name] = value
        return key

    def key_values(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Mapping[str, object]:
        """The fields of a key, from the arguments of `get` and its like."""
        # Binding a signature costs more than the engine's whole answer: do it only where it is needed.
        if not kwargs and len(args) == len(self.parameters):
            return dict(zip(self.parameters, args, strict=True))
        bound = self.key.bind(*args, **kwargs)
        bound.apply_defaults()
        return bound.arguments

    def derive(self, values: Mapping[str, object]) -> Item:
        """The attributes made from fields, without those that are absent."""
        derived: Item = {}
        for name, template in self.derivations.items():
            text = template.render(values)
            if text is not None:
                derived[name] = {"S": text}
        if self.expires is not None and self.table.ttl is not None:
            moment = self.expiry(values)
            if moment is not None:
                derived[self.table.ttl] = {"N": str(moment)}
        return derived

    def expiry(self, values: Mapping[str, object]) -> int | None:
        """When an item expires, in epoch seconds."""
        if self.expires is None:
            return None
        moment = values[self.expires.field]
        if moment is None:
            return None
        if isinstance(moment, datetime):
            return int((utc(moment) + self.expires.after).timestamp())
        if isinstance(moment, int):
            return moment + int(self.expires.after.total_seconds())
        raise KeyPartUnusable(
            f"{self.tag}: '{self.expires.field}' is not a time; expires= needs a datetime or epoch seconds"
        )

    def recognises(self, item: Mapping[str, Value]) -> bool:
        """Whether an item's key is one this entity could have."""
        for name, pattern in self._matchers:
            value = item.get(name)
            if value is None:
                return False
            if pattern is not None and ("S" not in value or pattern.fullmatch(value["S"]) is None):
                return False
        return True
