"""A user's own design in the console: it has what the shipped ones have; what cannot be served is refused in words."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.app.browsing import browsers
from tests.app.test_console_frame import text_of
from tests.cli.command import here

from tablewright import testing
from tablewright.app.own_designs import DesignNameUnusable, own_system
from tablewright.app.runtime import Runtime, open_app
from tablewright.app.serve import app_of
from tablewright.cli.designs import load_designs
from tablewright.design import Design
from tablewright.edge import serving_app

CLINIC = """
from datetime import datetime
from pydantic import BaseModel
from tablewright.design import Design, Keys, Load

class Pet(BaseModel):
    owner: str
    name: str
    status: str

def pet_key(owner: str, name: str) -> None: ...

CLINIC = Design("clinic", about="Pets and their owners.")
table = CLINIC.table("clinic", pk="PK", sk="SK")
by_status = table.gsi("by-status", pk="GPK", sk="GSK")
pets = table.entity(
    Pet, pet_key, tag="pet", pk="OWNER#{owner}", sk="PET#{name}", load={"create": Load(per_month=1000)},
    on={by_status: Keys("STATUS#{status}", "{name}")},
)

@CLINIC.query(pets, pk="OWNER#{owner}", load=Load(per_month=1000))
def pets_of(*, owner: str) -> None:
    '''The pets of an owner.'''

SECOND = Design("clinic")
SECOND.table("other", pk="id")
BROKEN = Design("broken")
BROKEN.table("t", pk="PK").entity(Pet, pet_key, tag="pet", pk="OWNER#{nobody}")
"""


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("clinic") / "own_clinic.py"
    file.write_text(CLINIC)
    return file


@pytest.fixture(scope="module")
def runtime(clinic: Path) -> Iterator[Runtime]:
    system = own_system(load_designs(f"{clinic}:CLINIC"))
    with open_app(memory=True, systems=(system,), world=testing.Clock().world(), jobs=False) as opened:
        opened.call(
            "PutItem",
            {
                "TableName": "clinic",
                "Item": {
                    "PK": {"S": "OWNER#ana"}, "SK": {"S": "PET#rex"}, "owner": {"S": "ana"}, "name": {"S": "rex"},
                    "status": {"S": "well"}, "GPK": {"S": "STATUS#well"}, "GSK": {"S": "rex"},
                },
            },
        )  # fmt: skip
        yield opened


@pytest.fixture(scope="module")
def rosa(runtime: Runtime) -> Iterator[httpx.Client]:
    with serving_app(app_of(runtime)) as url, browsers(url) as enter:
        yield enter("engineer_rosa")


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/", "Your design: 1 table in this store"),
        ("/console/designs", "Pets and their owners."),
        ("/console/designs/clinic", "OWNER# {owner}"),
        ("/console/designs/clinic/tables/clinic", "by-status"),
        ("/console/designs/clinic/entities/pet", "PET# {name}"),
        ("/console/designs/clinic/patterns/pets_of?owner=ana&run=1", "Result: 1 item"),
        ("/console/designs/clinic/cost", "Monthly cost"),
        ("/console/designs/clinic/findings", "Findings in clinic"),
        ("/console/designs/clinic/pictures/clinic-collections", "Item collections of clinic"),
        ("/console/designs/items?table=clinic", "PET#rex"),
        ("/console/designs/item?table=clinic&k.PK=OWNER%23ana&k.SK=PET%23rex", "Decoded by the design"),
        ("/console/designs/metrics?table=clinic", "clinic"),
    ],
)
def test_an_own_design_has_every_page(rosa: httpx.Client, path: str, words: str) -> None:
    page = rosa.get(path)
    assert page.status_code == 200
    assert words in text_of(page)


@pytest.mark.parametrize("name", ["store", "check", "a b", "../up", ""])
def test_a_name_that_cannot_be_an_address_is_refused(name: str) -> None:
    with pytest.raises(DesignNameUnusable):
        own_system([Design(name)])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--no-systems", "--no-systems needs a design to serve"),
        ("--only portal --design {}:CLINIC", "--only serves one shipped system"),
        ("--design {}:NOTHING", "has no NOTHING; designs in it: CLINIC"),
        ("--design {}:BROKEN", "the design 'broken' has"),
        ("--design {}:CLINIC --design {}:SECOND --no-systems", "two systems have the same name 'clinic'"),
        ("--only nothing", "there is no system 'nothing'"),
    ],
)
def test_what_cannot_be_served_is_a_sentence_and_code_2(clinic: Path, options: str, words: str) -> None:
    ran = here("serve", "--memory", "--port", "0", "--no-dynamodb", *options.format(clinic, clinic).split())
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err


def test_pictures_are_written_as_files(clinic: Path, tmp_path: Path) -> None:
    ran = here("design", "picture", f"{clinic}:CLINIC", "--to", tmp_path / "to" / "here")
    assert (ran.code, ran.err) == (0, "")
    names = {path.name for path in (tmp_path / "to" / "here").iterdir()}
    assert names == {
        "clinic-collections.svg", "clinic-collections-by-status.svg", "clinic-map.svg", "clinic-matrix.svg",
        "clinic-keys-pet.svg",
    }  # fmt: skip
    only = here("design", "picture", f"{clinic}:CLINIC", "--to", tmp_path / "map", "--kind", "map", "--json")
    assert '"file": "clinic-map.svg"' in only.out
    assert [path.name for path in (tmp_path / "map").iterdir()] == ["clinic-map.svg"]


def test_a_directory_that_cannot_be_written_is_named(clinic: Path) -> None:
    ran = here("design", "picture", f"{clinic}:CLINIC", "--to", clinic)
    assert ran.code == 2
    assert f"--to {clinic}" in ran.err
