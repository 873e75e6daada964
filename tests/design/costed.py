"""A small design for the tests of what designs cost: pets by name, and in an index by kind and owner."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pydantic import BaseModel

from tablewright.design import Design, Environment, Keys, Load
from tablewright.design.cost import CostLine, CostReport
from tablewright.design.cost.calls import calls_of

HERE = Environment("here", region="us-east-1")
MILLION = 1_000_000


class Pet(BaseModel):
    name: str
    kind: str
    owner: str = ""
    note: str = ""
    chip: str | None = None
    born: datetime
    rev: int = 0


def pet_key(name: str) -> None: ...


def pets(
    load: Mapping[str, Load] | None = None, reads: Load | None = None, *, index: bool = True, **promises: Any
) -> Design:
    """Pets by name, and in an index by kind and owner."""
    design = Design("d")
    table = design.table("pets", pk="PK", ttl="dies", stream=promises.pop("stream", None))
    by_kind = table.gsi("ByKind", pk="GK", sk="GS", project=promises.pop("project", "ALL"))
    on = {by_kind: Keys("{kind}", promises.pop("sort", "{owner}"))} if index else {}
    pet = table.entity(Pet, pet_key, tag="pet", pk="PET#{name}", on=on, load=load or {}, **promises)
    if reads is not None:
        design.get(pet, load=reads)(by_name)
    return design.build()


def by_name(*, name: str) -> None:
    """A pet."""


def line(report: CostReport, name: str, part: str | None = None) -> CostLine:
    return next(each for each in report.lines if each.name == name and part in (None, each.part))


def units(design: Design, name: str) -> tuple[float, tuple[str, ...]]:
    """What one call takes, and what was assumed."""
    call = next(call for call in calls_of(design) if call.name == name)
    return float(call.units), call.assumed
