"""A field that says how far something got is a state machine in the design, or is listed with the reason why not."""

from enum import Enum
from typing import Any, Literal, get_args, get_origin

import pytest
from pydantic import BaseModel

from tablewright.app.alarms.design import alarm_design
from tablewright.app.design import app_design
from tablewright.app.systems import SYSTEMS
from tablewright.design import EntitySpec

_SECOND = "an entity has one machine, and `status` has it"
# (system, entity, field) -> why it is none.
NO_MACHINES = {
    ("portal", "tenant", "previous_status"): "a copy: the status before the suspension",
    ("parental", "action", "status"): "a record of one attempt; never changed",
    ("campus", "file", "upload_state"): _SECOND,
    ("campus", "file", "virus_scan_status"): "a copy: that of its current version",
    ("campus", "file_version", "virus_scan_status"): "free: the decision of an admin sets it from any state",
    ("campus", "submission", "marking_state"): "derived from the marks and the release at each change",
    ("chat", "v1_conversation", "status"): "of the first version, which alone changes it; read here",
    (
        "house_alarms",
        "alarm",
        "state",
    ): "derived from the metric at each evaluation: every state follows every other",
    ("house_alarms", "change", "state"): "a record of one change; never changed",
}
DESIGNS = [(system.name, design) for system in SYSTEMS for design in system.designs]
DESIGNS += [(design.name, design) for design in (app_design, alarm_design)]
SHAPES = [(name, shape) for name, design in DESIGNS for shape in design.shapes]


def is_closed(annotation: Any) -> bool:
    """Whether a field has one of a few named values."""
    parts = [part for part in get_args(annotation) if part is not type(None)]
    if get_origin(annotation) is Literal:
        return all(isinstance(part, str) for part in parts)
    if isinstance(annotation, type):
        return issubclass(annotation, Enum)
    return len(parts) == 1 and is_closed(parts[0])


def states_of(model: type[BaseModel]) -> set[str]:
    """The fields of closed values that are called state or status."""
    return {
        name
        for name, field in model.model_fields.items()
        if name.rpartition("_")[2] in ("state", "status") and is_closed(field.annotation)
    }


@pytest.mark.parametrize(("system", "shape"), SHAPES, ids=[f"{name}-{shape.tag}" for name, shape in SHAPES])
def test_a_state_of_closed_values_is_declared_as_states_or_has_a_reason(
    system: str, shape: EntitySpec
) -> None:
    declared = {shape.states.field} if shape.states is not None else set[str]()
    reasons = {field for name, tag, field in NO_MACHINES if (name, tag) == (system, shape.tag)}
    assert states_of(shape.model) - declared == reasons


def test_every_reason_is_of_an_entity() -> None:
    known = {(name, shape.tag) for name, shape in SHAPES}
    assert {(name, tag) for name, tag, _ in NO_MACHINES} <= known


def test_chat_users_are_erased_by_a_state_machine_too() -> None:
    (user,) = (shape for name, shape in SHAPES if (name, shape.tag) == ("chat", "user"))
    assert user.states is not None
    assert user.states.states == ("active", "erasing", "erased")
