"""`tablewright deploy`: a design's tables on our server over HTTP, and on moto, which has autoscaling, too."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.command import Ran, here
from tests.terraform.command import moto

from tablewright import testing
from tablewright.wire import serving

SHOP = """
from pydantic import BaseModel
from tablewright.design import Design, Environment, Keys, Provisioned

class Pet(BaseModel):
    owner: str
    name: str
    colour: str
    age: int

def key(owner: str, name: str) -> None: ...

PETS = Design("pets")
table = PETS.table("pets", pk="owner", sk="name"{more})
on = {{}}
{indexes}
pet = table.entity(Pet, key, tag="pet", pk="{{owner}}", sk="{{name}}", on=on)
PETS.environment(Environment("dev", "us-east-1", table_name="{{table}}-{{env}}", tags={{"team": "{team}"}}))
PETS.environment(
    Environment("prod", "us-east-1", capacity=Provisioned(5, 5, max_read=50, max_write={high}), pitr_days=7)
)
"""
BY_COLOUR = 'on[table.gsi("by-colour", pk="colour", project={project})] = Keys("{{colour}}")\n'
BY_AGE = 'on[table.gsi("by-age", pk="age")] = Keys("{age}")\n'


class Shop:
    """A design in a file that is written again and again, and the deploy commands on it."""

    def __init__(self, file: Path, endpoint: str) -> None:
        self.file, self.endpoint = file, endpoint
        self._count = 0

    def write(self, indexes: str = "", more: str = "", team: str = "pets", high: int = 50) -> None:
        self._count += 1  # a module of the same name would be taken for the first
        self.file = self.file.with_name(f"shop{self._count}.py")
        self.file.write_text(SHOP.format(indexes=indexes, more=more, team=team, high=high))

    def __call__(self, command: str, *more: str, environment: str = "dev") -> Ran:
        where = ("--environment", environment, "--endpoint", self.endpoint)
        return here("deploy", command, f"{self.file}:PETS", *where, *more)


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[Any, str]]:
    with testing.engine() as engine, serving(engine) as url:
        yield engine, url


def test_a_design_is_deployed_changed_and_compared_over_http(served: tuple[Any, str], tmp_path: Path) -> None:
    engine, url = served
    shop = Shop(tmp_path / "shop.py", url)
    shop.write(BY_COLOUR.format(project='"ALL"'))
    ran = shop("plan")
    assert ran.code == 1
    assert "pets-dev: create table\n    absent -> owner (S) / name (S), with by-colour\n" in ran.out
    assert engine.call("ListTables", {})["TableNames"] == []
    ran = shop("apply")
    assert (ran.code, ran.out) == (0, "pets-dev: 3 steps carried out\n"), ran.err
    assert "1 of 3: pets-dev: create table" in ran.err
    assert (shop("plan").code, shop("drift").out) == (0, "pets-dev: 2 tables, no difference\n")

    shop.write(BY_COLOUR.format(project='"KEYS_ONLY"') + BY_AGE, ', ttl="ttl"', team="vets")
    drift = json.loads(shop("drift", "--json").out)["differences"]
    assert [(one["what"], one["live"], one["design"]) for one in drift if one["table"] == "pets-dev"] == [
        ("index by-colour", "colour (S), ALL", "colour (S), KEYS_ONLY"),
        ("index by-age", "absent", "age (N), ALL"),
        ("time to live", "off", "ttl"),
        ("tags", "team=pets", "team=vets"),
    ]
    ran = shop("apply")
    assert ran.code == 1
    assert "left: pets-dev: create index by-colour: the step before it was not carried out" in ran.out
    assert "LOSES the index; requests to it are refused until it is filled again (only with --yes)" in ran.err
    names = [one["IndexName"] for one in indexes(engine)]
    assert sorted(names) == ["by-age", "by-colour"]
    assert shop("apply", "--yes").code == 0
    projections = {one["IndexName"]: one["Projection"]["ProjectionType"] for one in indexes(engine)}
    assert projections == {"by-age": "ALL", "by-colour": "KEYS_ONLY"}

    engine.call("UpdateTable", {"TableName": "pets-dev", "TableClass": "STANDARD_INFREQUENT_ACCESS"})
    arn = engine.call("DescribeTable", {"TableName": "pets-dev"})["Table"]["TableArn"]
    engine.call("TagResource", {"ResourceArn": arn, "Tags": [{"Key": "mine", "Value": "1"}]})
    ran = shop("drift")
    assert ran.code == 1
    assert [line.split()[1] for line in ran.out.splitlines()[1:]] == ["extra", "table"]


def indexes(engine: Any) -> list[dict[str, Any]]:
    told = engine.call("DescribeTable", {"TableName": "pets-dev"})["Table"]
    return list(told["GlobalSecondaryIndexes"])


def test_on_moto_tables_indexes_and_autoscaling_are_made_and_show_no_drift(tmp_path: Path) -> None:
    with moto() as url:
        shop = Shop(tmp_path / "shop.py", url)
        shop.write(more=', ttl="ttl"')
        scaled = ("--scaling-endpoint", url)
        ran = shop("apply", *scaled, environment="prod")
        assert (ran.code, ran.out) == (0, "pets-prod: 7 steps carried out\n"), ran.err
        ran = shop("drift", *scaled, environment="prod")
        assert (ran.code, ran.out) == (0, "pets-prod: 2 tables, no difference\n")
        shop.write(BY_AGE, ', ttl="ttl"', high=80)
        drift = json.loads(shop("drift", *scaled, "--json", environment="prod").out)["differences"]
        assert [(one["what"], one["live"]) for one in drift] == [
            ("index by-age", "absent"),
            ("autoscaling of write units", "5 to 50 units at 70 %"),
            ("autoscaling of read units of index by-age", "not scaled"),
            ("autoscaling of write units of index by-age", "not scaled"),
        ]
        assert shop("apply", *scaled, environment="prod").code == 0
        assert shop("drift", *scaled, environment="prod").code == 0
        ran = shop("drift", environment="prod")
        assert ran.code == 0
        assert "pets: autoscaling: not compared, this endpoint has no Application Auto Scaling" in ran.err


def test_an_environment_is_not_compared_with_tables_of_another_region_of_aws(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "any")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "any")
    ran = here("deploy", "plan", "travel", "--environment", "prod", "--region", "eu-west-1")
    assert (ran.code, ran.out) == (2, "")
    assert "travel-prod is of region us-east-1, and the tables are those of eu-west-1" in ran.err


def test_a_refusal_in_the_middle_says_how_to_go_on(served: tuple[Any, str], tmp_path: Path) -> None:
    engine, url = served
    shop = Shop(tmp_path / "shop.py", url)
    shop.write(BY_COLOUR.format(project='"ALL"'), more=', stream="NEW_IMAGE"')
    engine.call("CreateTable", other_table())
    # What is kept without --yes stands in the way: an attribute has one type.
    ran = shop("apply", environment="prod")
    assert (ran.code, ran.out) == (2, "")
    assert "run the command again to continue" in ran.err
    assert shop("apply", "--yes", environment="prod").code == 0


def other_table() -> dict[str, Any]:
    """The table of production with an index by another type of colour."""
    letters = {"owner": "S", "name": "S", "colour": "N"}
    units = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}
    colour = [{"AttributeName": "colour", "KeyType": "HASH"}]
    index = {"IndexName": "old", "KeySchema": colour, "Projection": {"ProjectionType": "ALL"}}
    return {
        "TableName": "pets",
        "KeySchema": [
            {"AttributeName": "owner", "KeyType": "HASH"},
            {"AttributeName": "name", "KeyType": "RANGE"},
        ],
        "AttributeDefinitions": [
            {"AttributeName": name, "AttributeType": letter} for name, letter in letters.items()
        ],
        "ProvisionedThroughput": units,
        "GlobalSecondaryIndexes": [{**index, "ProvisionedThroughput": units}],
    }
