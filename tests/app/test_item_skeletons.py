"""The form of a new item: what is written in it before anybody types."""

from datetime import datetime

from pydantic import BaseModel, Field

from tablewright.app.designs.item_skeletons import skeleton
from tablewright.design import Design


class Appointment(BaseModel):
    pet: str
    minutes: int = 30
    version: int = 1
    tags: list[str] = ["first visit"]
    made_at: datetime = Field(default_factory=datetime.now)
    note: str | None = None


def appointment_key(pet: str) -> None: ...


def test_a_new_item_has_the_defaults_of_its_fields_and_the_others_empty() -> None:
    design = Design("clinic")
    table = design.table("clinic", pk="PK")
    entity = table.entity(Appointment, appointment_key, tag="appointment", pk="PET#{pet}", version="version")
    assert skeleton(entity.shape) == {
        "PK": {"S": "PET#{pet}"},
        "pet": {"S": ""},
        "minutes": {"N": "30"},
        "version": {"N": "1"},
        "tags": {"L": [{"S": "first visit"}]},
        "made_at": {"S": ""},
    }
