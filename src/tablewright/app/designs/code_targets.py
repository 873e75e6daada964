"""Where the code of the engineers' pages sends its requests, and the typed calls of patterns and items on this server.

Must hold: where there is no typed call, the page says why. Elsewhere: the code itself (mapping/code_samples.py,
mapping/typed_samples.py).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath

from pydantic import BaseModel

from tablewright.app.designs.secrets import is_secret
from tablewright.app.runtime import Runtime
from tablewright.app.uploaded_designs import is_yaml
from tablewright.client import HttpCall
from tablewright.design import Design, EntitySpec, Plan
from tablewright.design.files import YAML
from tablewright.mapping.code_samples import Target
from tablewright.mapping.typed_samples import Tables, typed_get, typed_program

_UPLOADED = "the file that was uploaded"


@dataclass(frozen=True, slots=True)
class TypedCode:
    """The typed call as a program; or, where it is empty, why there is none."""

    text: str = ""
    why_none: str = ""


def target_of(runtime: Runtime) -> Target:
    """The DynamoDB port of this process, which takes any key on this machine; or the endpoint of the tables."""
    place = runtime.place
    if runtime.dynamodb_url and place.regions is not None:
        return Target(runtime.dynamodb_url, place.regions.home, takes_any_key=True)
    return Target(place.call.endpoint, place.call.region) if isinstance(place.call, HttpCall) else Target()


def typed_of(runtime: Runtime, design: Design, plan: Plan, arguments: Mapping[str, object]) -> TypedCode:
    """The typed call of a pattern."""
    if _is_moved(runtime, design, plan.table.name):
        return TypedCode(why_none=_moved(plan.table.name))
    return _found(design, typed_program(design, plan, arguments, _tables(runtime, design)))


def typed_item(
    runtime: Runtime, design: Design, shape: EntitySpec, model: BaseModel, *, deleted: bool
) -> TypedCode:
    """The typed call that reads an item of an entity by its key."""
    if _is_moved(runtime, design, shape.table.name):
        return TypedCode(why_none=_moved(shape.table.name))
    if any(is_secret(shape, name) for key in shape.primary for name in key.template.fields):
        return TypedCode(why_none="a part of its key is marked as secret")
    key = {name: getattr(model, name) for name in shape.parameters if name in shape.fields}
    return _found(design, typed_get(design, shape, key, _tables(runtime, design), deleted=deleted))


def _found(design: Design, text: str) -> TypedCode:
    why = f"the module of {design.name} cannot be imported by name, or its tables have other names here"
    return TypedCode(text) if text else TypedCode(why_none=why)


def _is_moved(runtime: Runtime, design: Design, table: str) -> bool:
    _, db = runtime.designs[design.name]
    return runtime.open_table(db, table) != db.physical(table)


def _moved(table: str) -> str:
    return f"a migration has moved {table}, and a program of its own would not follow it"


def _tables(runtime: Runtime, design: Design) -> Tables:
    _, db = runtime.designs[design.name]
    file, note = _file_of(runtime, design)
    return Tables(target_of(runtime), db.environment, file, note)


def _file_of(runtime: Runtime, design: Design) -> tuple[str, str]:
    """The file of a design that is written in one, and what a program says of it."""
    upload = runtime.uploads.all().get(design.name)
    if upload is not None:
        kind = "yaml" if is_yaml(upload.text) else "json"
        fits = (PurePath(upload.file).suffix in YAML) == (kind == "yaml")
        return upload.file if fits else f"{design.name}.{kind}", _UPLOADED
    system = next((each.system for each in runtime.running if design in each.system.designs), None)
    source = system.source if system is not None else ""
    return (source, "") if PurePath(source).suffix in (*YAML, ".json") else ("", "")
