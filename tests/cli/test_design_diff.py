"""`tablewright design diff`: two files, a skeleton, live tables."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest
from tests.cli.command import here
from tests.cli.test_own_designs import LOADED

from tablewright import Engine
from tablewright.client import embedded
from tablewright.design.files import load_design
from tablewright.mapping import Db
from tablewright.mapping.migrate import cutover
from tablewright.systems.travel.design import TRAVEL


@pytest.fixture
def versions(tmp_path: Path) -> tuple[str, str]:
    """Two versions in files of one name, each with a module beside it."""
    for name, text in (("one", LOADED), ("two", LOADED.replace('sk="PET#{name}"', 'sk="ANIMAL#{name}"'))):
        (tmp_path / name).mkdir()
        (tmp_path / name / "parts_of_clinic.py").write_text(text)
        (tmp_path / name / "clinic_design.py").write_text("from parts_of_clinic import clinic\n")
    return f"{tmp_path}/one/clinic_design.py:clinic", f"{tmp_path}/two/clinic_design.py:clinic"


def test_two_versions_are_compared_and_the_skeleton_is_written(
    versions: tuple[str, str], tmp_path: Path
) -> None:
    file = tmp_path / "migration.py"
    ran = here("design", "diff", *versions, "--skeleton", file)
    assert (ran.code, ran.err) == (1, f"tablewright: wrote {file}\n")
    assert ran.out.splitlines()[1].split()[:5] == [
        "key",
        "clinic.pet.SK",
        "PET#{name}",
        "ANIMAL#{name}",
        "new",
    ]
    assert ran.out.endswith("1 change: 1 needs new table\n")
    compile(file.read_text(), str(file), "exec")


def test_equal_versions_have_no_change(versions: tuple[str, str]) -> None:
    ran = here("design", "diff", versions[0], versions[0], "--json")
    assert (ran.code, json.loads(ran.out)["changes"]) == (0, [])


def test_a_design_is_compared_with_live_tables(tmp_path: Path) -> None:
    with Engine.open(tmp_path / "data") as engine:
        call = embedded(engine)
        Db(call, TRAVEL, environment=TRAVEL.environments["dev"]).create_tables()
        deleted = [{"Delete": {"IndexName": "GSI2"}}]
        call("UpdateTable", {"TableName": "skratch-data-dev", "GlobalSecondaryIndexUpdates": deleted})
        engine.settle()
    ran = here(
        "design", "diff", "travel", "--live", "--environment", "dev", "--data", tmp_path / "data", "--json"
    )
    told = json.loads(ran.out)["changes"]
    assert ran.code == 1
    (index,) = (each for each in told if each["what"] == "index GSI2")
    assert (index["live"], index["needs"]) == ("absent", "backfill")
    assert index["how"].startswith(
        "tablewright deploy apply; then, for items that were written without its keys: "
        "tablewright migrate backfill travel --environment dev --entity "
    )
    assert "how items' keys are made is not compared" in ran.err
    assert json.loads(ran.out)["notCompared"] == [ran.err.removeprefix("tablewright: ").strip()]


def test_without_an_environment_live_tables_have_plain_names_and_their_settings_are_not_compared(
    tmp_path: Path,
) -> None:
    with Engine.open(tmp_path / "data") as engine:
        call = embedded(engine)
        Db(call, TRAVEL).create_tables()
        on = {"PointInTimeRecoveryEnabled": True}
        call("UpdateContinuousBackups", {"TableName": "skratch-data", "PointInTimeRecoverySpecification": on})
    same = here("design", "diff", "travel", "--live", "--data", tmp_path / "data")
    assert (same.code, same.out) == (0, "no change\n")
    with Engine.open(tmp_path / "data") as engine:
        deleted = [{"Delete": {"IndexName": "GSI2"}}]
        embedded(engine)("UpdateTable", {"TableName": "skratch-data", "GlobalSecondaryIndexUpdates": deleted})
        engine.settle()
    ran = here("design", "diff", "travel", "--live", "--data", tmp_path / "data", "--json")
    assert [each["what"] for each in json.loads(ran.out)["changes"]] == ["index GSI2"]
    assert ran.code == 1


def test_an_endpoint_without_the_tables_asks_whether_the_environment_is_missing(tmp_path: Path) -> None:
    with Engine.open(tmp_path / "data") as engine:
        Db(embedded(engine), TRAVEL, environment=TRAVEL.environments["dev"]).create_tables()
    ran = here("design", "diff", "travel", "--live", "--data", tmp_path / "data")
    assert ran.err == "tablewright: no table of the design is there; is --environment missing?\n"
    assert ran.code == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("travel",), "name the new version, or add --live"),
        (("travel", "travel", "--data", "."), "--data is for live tables; add --live"),
        (("travel", "travel", "--live"), "leave out the second"),
        (("travel", "--live", "--environment", "moon", "--data", "."), "travel has no environment moon"),
    ],
)
def test_a_misuse_names_the_option(words: tuple[str, ...], said: str) -> None:
    ran = here("design", "diff", *words)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err


# --- from a skeleton to a new table ---

PARCELS = """
from pydantic import BaseModel
from tablewright.design import Design, Keys


class Parcel(BaseModel):
    owner: str
    number: str
    state: str = "OPEN"


class Depot(BaseModel):
    owner: str


def parcel_key(owner: str, number: str) -> None: ...
def depot_key(owner: str) -> None: ...


PARCELS = Design("parcels")
table = PARCELS.table("parcels", pk="PK", sk="SK", stream="NEW_AND_OLD_IMAGES")
by_state = table.gsi("ByState", pk="GPK", sk="GSK")
parcels = table.entity(
    Parcel, parcel_key, tag="parcel", pk="OWNER#{owner}", sk="PARCEL#{number}",
    on={by_state: Keys("STATE#{state}", "{number}")},
)
depots = table.entity(Depot, depot_key, tag="depot", pk="OWNER#{owner}", sk="DEPOT")
PARCELS.build()
"""


@pytest.fixture
def parcels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two versions of a design, and a store with items of the first."""
    monkeypatch.setattr(cutover, "MARGIN", 0.01)  # no other process has a cached state
    (tmp_path / "parcels_1.py").write_text(PARCELS)
    (tmp_path / "parcels_2.py").write_text(PARCELS.replace("PARCEL#{number}", "SENT#{number}"))
    old = runpy.run_path(str(tmp_path / "parcels_1.py"))
    with Engine.open(tmp_path / "store", durability="relaxed") as engine:
        db = Db(embedded(engine), old["PARCELS"])
        db.create_tables()
        db.write(old["depots"].create(old["Depot"](owner="ada")))
        for number in ("1", "2"):
            db.write(old["parcels"].create(old["Parcel"](owner="ada", number=number)))
    return tmp_path


def test_a_skeleton_that_is_filled_in_moves_the_table_by_the_migrate_commands(parcels: Path) -> None:
    file, store = parcels / "parcels_migration.py", ("--data", parcels / "store")
    named = f"{file}:PARCELS"
    assert here("design", "diff", f"{parcels}/parcels_1.py:PARCELS", f"{parcels}/parcels_2.py:PARCELS",
                "--skeleton", file).code == 1  # fmt: skip
    assert here("migrate", "plan", named, *store).code == 0
    unfinished = here("migrate", "run", named, *store)
    assert (unfinished.code, "is not finished: fill in forward_parcel" in unfinished.err) == (2, True)
    text = file.read_text()
    for function, given in (("forward_parcel", "old"), ("back_parcel", "new")):
        text = text.replace(f'raise NotImplementedError("fill in {function}")', f"return ({given},)")
    file.write_text(text)
    early = here("migrate", "switch", named, "--yes", *store)
    assert (early.code, f"migrate verify {named}" in early.err or f"migrate run {named}" in early.err) == (
        2,
        True,
    )
    for words in (("run",), ("verify",), ("switch", "--yes")):
        ran = here("migrate", words[0], named, *words[1:], *store)
        assert ran.code == 0, ran
    with Engine.open(parcels / "store", durability="relaxed") as engine:
        items = embedded(engine)("Scan", {"TableName": "parcels-2"})["Items"]
    keys = sorted((item["SK"]["S"], item.get("GPK", {}).get("S")) for item in items if "owner" in item)
    assert keys == [("DEPOT", None), ("SENT#1", "STATE#OPEN"), ("SENT#2", "STATE#OPEN")]


YAML = """
format: tablewright-design/1
name: parcels
tables:
  - name: parcels
    pk: PK
    sk: SK
    stream: NEW_AND_OLD_IMAGES
    indexes: []
    entities:
      - tag: parcel
        fields: {owner: string, number: string, state: string}
        pk: OWNER#{owner}
        sk: PARCEL#{number}
"""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A design file, and a store with an item of it."""
    monkeypatch.setattr(cutover, "MARGIN", 0.01)  # no other process has a cached state
    (tmp_path / "designs").mkdir()
    (tmp_path / "designs" / "old.yaml").write_text(YAML)
    old = load_design(tmp_path / "designs" / "old.yaml")
    with Engine.open(tmp_path / "store", durability="relaxed") as engine:
        Db(embedded(engine), old).create_tables()
        item = {"PK": "OWNER#ada", "SK": "PARCEL#1", "owner": "ada", "number": "1", "state": "OPEN"}
        stored = {name: {"S": value} for name, value in item.items()}
        embedded(engine)("PutItem", {"TableName": "parcels", "Item": stored})
    return tmp_path


def test_a_skeleton_of_two_design_files_loads_them_and_moves_the_table(files: Path) -> None:
    (files / "new.yaml").write_text(YAML.replace("PARCEL#{number}", "SENT#{number}"))
    old, new, file = files / "designs" / "old.yaml", files / "new.yaml", files / "migration.py"
    assert here("design", "diff", old, new, "--skeleton", file).code == 1
    text = file.read_text()
    assert 'OLD = load_design(Path(__file__).parent / "designs/old.yaml")' in text
    assert 'NEW = load_design(Path(__file__).parent / "new.yaml")' in text
    assert f"tablewright migrate plan {file}:PARCELS" in text
    for function, given in (("forward_parcel", "old"), ("back_parcel", "new")):
        text = text.replace(f'raise NotImplementedError("fill in {function}")', f"return ({given},)")
    file.write_text(text)
    for words in (("plan",), ("run",), ("verify",), ("switch", "--yes")):
        ran = here("migrate", words[0], f"{file}:PARCELS", *words[1:], "--data", files / "store")
        assert ran.code == 0, ran
    with Engine.open(files / "store", durability="relaxed") as engine:
        items = embedded(engine)("Scan", {"TableName": "parcels-2"})["Items"]
    assert [item["SK"]["S"] for item in items if "owner" in item] == ["SENT#1"]


def test_the_note_on_a_backfill_names_the_design_file_and_runs(files: Path) -> None:
    index = YAML.replace("indexes: []", "indexes: [{name: ByState, pk: GPK}]")
    (files / "new.yaml").write_text(f'{index}        indexes: {{ByState: {{pk: "STATE#{{state}}"}}}}\n')
    old, new, file = files / "designs" / "old.yaml", files / "new.yaml", files / "migration.py"
    assert here("design", "diff", old, new, "--skeleton", file).code == 1
    (line,) = (each for each in file.read_text().splitlines() if "tablewright migrate backfill" in each)
    assert line == f"#   tablewright migrate backfill {new} --entity parcel"
    words = line.removeprefix("#   tablewright ").split()
    ran = here(*words, "--data", files / "store")
    assert ran.code == 0, ran
    with Engine.open(files / "store", durability="relaxed") as engine:
        (item,) = embedded(engine)("Scan", {"TableName": "parcels"})["Items"]
    assert item["GPK"] == {"S": "STATE#OPEN"}


def test_a_design_file_that_a_skeleton_loads_and_that_is_wrong_is_named_with_its_line(files: Path) -> None:
    (files / "new.yaml").write_text(YAML.replace("PARCEL#{number}", "SENT#{number}"))
    file = files / "migration.py"
    assert (
        here("design", "diff", files / "designs" / "old.yaml", files / "new.yaml", "--skeleton", file).code
        == 1
    )
    (files / "new.yaml").write_text(YAML.replace("pk: PK", "pkk: PK"))
    ran = here("migrate", "plan", f"{file}:PARCELS", "--data", files / "store")
    assert (ran.code, ran.out) == (2, "")
    assert f"{files / 'new.yaml'}:6: tables[0].pkk: is not known here" in ran.err


@pytest.mark.parametrize(
    ("named", "said"),
    [("parcels_1.py:table", "is not a Migration"), ("parcels_1.py:nothing", "parcels_1.py has no nothing"),
     ("parcels_1.py", "names no value"), ("nothing.py:M", "no such file")],
)  # fmt: skip
def test_what_is_not_a_migration_is_a_sentence_and_code_2(parcels: Path, named: str, said: str) -> None:
    ran = here("migrate", "plan", f"{parcels}/{named}", "--data", parcels / "store")
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
