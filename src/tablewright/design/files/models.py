"""Fields and types of a design file as pydantic models, made once for each type.

Must hold: a type that contains itself, or that is not there, is refused by its place; so is a default that is not of
its field's type.
"""

import json
import re
import warnings
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Literal, Union

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, create_model
from pydantic.errors import PydanticSchemaGenerationError, PydanticUserError

from tablewright.design.attributes import without_none
from tablewright.design.files.document import ModelDocument, NamedType
from tablewright.design.files.errors import problem
from tablewright.design.files.field_types import (
    OPTIONAL,
    SCALARS,
    ChoiceType,
    FieldDocument,
    FieldOrType,
    ListType,
    MapType,
    ParameterDocument,
    ParameterOrType,
    SetType,
    TypeDocument,
)

_CONFIG = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, protected_namespaces=())
_LIMITS = ("min_length", "max_length", "pattern")
_BOUNDS = ("ge", "gt", "le", "lt")
_NAME = re.compile(r"[A-Za-z]\w*")


class Models:
    """The named types of a file, as annotations."""

    def __init__(self, types: Mapping[str, NamedType]) -> None:
        self._types = types
        self._made: dict[str, Any] = {}
        self._open: list[str] = []
        for name in types:
            if name in SCALARS or not _NAME.fullmatch(name):
                raise problem(f"types.{name}", "is not a name for a type; use another one")

    def named(self, name: str, place: str) -> Any:
        """The annotation of a type by its name; every mistake in it is refused where the type is."""
        if name in SCALARS:
            return SCALARS[name]
        if name not in self._types:
            known = ", ".join((*SCALARS, *self._types))
            raise problem(place, f"there is no type '{name}'; there are {known}")
        if name in self._open:
            raise problem(place, f"the type '{name}' contains itself; store the inner ones as items")
        if name not in self._made:
            self._open.append(name)
            said = self._types[name]
            self._made[name] = (
                self.model(name, said.about, said.fields, f"types.{name}.fields")
                if isinstance(said, ModelDocument)
                else self.annotation(said, f"types.{name}")
            )
            self._open.pop()
        return self._made[name]

    def view(self, name: str, place: str) -> type[BaseModel]:
        """The model of a type that has fields."""
        found = self.named(name, place)
        if not isinstance(self._types.get(name), ModelDocument):
            raise problem(place, f"'{name}' has no fields; a view is a type with fields")
        model: type[BaseModel] = found
        return model

    def annotation(self, said: TypeDocument, place: str) -> Any:
        """A type as Python has it."""
        match said:
            case str():
                found = self.named(said.removesuffix(OPTIONAL), place)
                return _or_none(found) if said.endswith(OPTIONAL) else found
            case ListType():
                found = list[self.annotation(said.members, f"{place}.list")]  # type: ignore[misc]
            case SetType():
                found = set[self.annotation(said.members, f"{place}.set")]  # type: ignore[misc]
            case MapType():
                keys: Any = Literal[said.keys] if said.keys else str
                found = dict[keys, self.annotation(said.members, f"{place}.map")]  # type: ignore[misc]
            case ChoiceType():
                found = Literal[said.choice]
        return _or_none(found) if said.optional else found

    def model(self, name: str, about: str, fields: Mapping[str, FieldOrType], place: str) -> type[BaseModel]:
        """A model with these fields."""
        made = {field: self._field(field, said, f"{place}.{field}") for field, said in fields.items()}
        title = "".join(word.capitalize() for word in re.split(r"\W|_", name)) or "Model"
        with warnings.catch_warnings():
            # A field may have the name of a method of BaseModel, such as `copy`.
            warnings.simplefilter("ignore", UserWarning)
            try:
                found: type[BaseModel] = create_model(  # type: ignore[call-overload]  # fields by name
                    title if not name[:1].isupper() else name,
                    __config__=_CONFIG,
                    __doc__=about or None,
                    **made,
                )
            except (PydanticUserError, PydanticSchemaGenerationError, TypeError, RuntimeError) as error:
                raise problem(place, " ".join(str(error).split("\n")[0].split())) from None
        return found

    def parameter(self, said: ParameterOrType, place: str) -> tuple[Any, Any]:
        """The annotation of a parameter and its default, each `...` where there is none."""
        form = said if isinstance(said, ParameterDocument) else ParameterDocument(type=said)
        if form.type is None:
            return ..., form.default if "default" in form.model_fields_set else ...
        annotation = self.annotation(form.type, place)
        return annotation, self._default(form, annotation, place)

    def _field(self, name: str, said: FieldOrType, place: str) -> tuple[Any, Any]:
        if not _NAME.fullmatch(name) or (name.startswith("model_") and hasattr(BaseModel, name)):
            raise problem(
                place, "is not a name for a field; use letters, digits and _, and name it in `stored`"
            )
        form = said if isinstance(said, FieldDocument) else FieldDocument(type=said)
        annotation = self.annotation(form.type, place)
        more: dict[str, Any] = {each: found for each in _LIMITS if (found := getattr(form, each)) is not None}
        exact = without_none(annotation)[0] is Decimal
        for each in _BOUNDS:
            bound = getattr(form, each)
            if bound is not None:
                more[each] = Decimal(str(bound)) if exact else bound
        if form.stored not in (None, name):
            more["alias"] = form.stored
        if form.about:
            more["description"] = form.about
        return annotation, Field(self._default(form, annotation, place), **more)

    def _default(self, form: FieldDocument | ParameterDocument, annotation: Any, place: str) -> Any:
        if form.required:
            return ...
        if "default" not in form.model_fields_set:
            return None if without_none(annotation)[1] else ...
        if form.default is None and without_none(annotation)[1]:
            return None
        try:
            return TypeAdapter(annotation).validate_json(json.dumps(form.default))
        except ValidationError as error:
            raise problem(f"{place}.default", error.errors()[0]["msg"]) from None


def _or_none(annotation: Any) -> Any:
    # Not `annotation | None`: that of a text, such as a name that is resolved later, is an error.
    return Union[annotation, None]  # noqa: UP007
