"""`tablewright migrate backfill`: from a design with a new index to a complete index, on our own server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.command import here
from tests.places import KEY

from tablewright import testing
from tablewright.client import HttpCall
from tablewright.wire import serving

SHOP = """
from pydantic import BaseModel
from tablewright.design import Design, Environment, Keys


class Order(BaseModel):
    number: str
    state: str = "OPEN"


def order_key(number: str) -> None: ...


SHOP = Design("shop")
SHOP.environment(Environment("dev", "us-east-1", table_name="{table}-dev"))
table = SHOP.table("orders", pk="PK", sk="SK")
on = {}
INDEX
orders = table.entity(Order, order_key, tag="order", pk="ORDER#{number}", sk="ORDER", on=on)
SHOP.build()
"""
INDEX = 'on = {table.gsi("ByState", pk="GPK", sk="GSK"): Keys("STATE#{state}", "{number}")}'
FILLS = """
def fill_order(item):
    return {} if item["state"]["S"] != "OPEN" else {"state": {"S": "NEW"}}


def unfinished(item):
    raise NotImplementedError("fill in fill_order")


FILLS, TODO = {"order": fill_order}, {"order": unfinished}
"""


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """Two versions of a design, its tables on a server as the old version has them, and thirty orders."""
    (tmp_path / "shop_old_version.py").write_text(SHOP.replace("INDEX", ""))
    (tmp_path / "shop_new_version.py").write_text(SHOP.replace("INDEX", INDEX))
    (tmp_path / "shop_fills.py").write_text(FILLS)
    with testing.engine() as engine, serving(engine) as url:
        applied = here("deploy", "apply", f"{tmp_path}/shop_old_version.py:SHOP", "--environment", "dev",
                       "--endpoint", url)  # fmt: skip
        assert applied.code == 0, applied
        with HttpCall(url, "us-east-1", KEY) as call:
            for number in map(str, range(30)):
                item = {"PK": {"S": f"ORDER#{number}"}, "SK": {"S": "ORDER"}, "number": {"S": number},
                        "state": {"S": "OPEN"}}  # fmt: skip
                call("PutItem", {"TableName": "orders-dev", "Item": item})
        yield tmp_path, url


def indexed(url: str) -> list[str]:
    with HttpCall(url, "us-east-1", KEY) as call:
        found = call("Scan", {"TableName": "orders-dev", "IndexName": "ByState"})["Items"]
        return [*sorted({item["GPK"]["S"] for item in found}), str(len(found))]


def test_a_change_goes_from_diff_over_deploy_and_backfill_to_no_drift(shop: tuple[Path, str]) -> None:
    path, url = shop
    old, new = (f"{path}/shop_{which}_version.py:SHOP" for which in ("old", "new"))
    where = ("--environment", "dev", "--endpoint", url)
    told = json.loads(here("design", "diff", old, new, "--json").out)
    assert [each["needs"] for each in told["changes"]] == ["backfill"] * 3
    assert f"migrate backfill {new} --entity order" in told["skeleton"]
    assert here("design", "diff", new, "--live", *where).code == 1
    assert here("deploy", "apply", new, *where).code == 0
    lacking = here("migrate", "backfill", new, "--check", "--json", *where)
    assert (lacking.code, json.loads(lacking.out)["lacking"], indexed(url)) == (1, 30, ["0"])
    ran = here("migrate", "backfill", new, "--entity", "order", "--segments", "2", "--json", *where)
    assert (ran.code, json.loads(ran.out)["filled"]) == (0, 30), ran
    assert indexed(url) == ["STATE#OPEN", "30"]
    assert here("migrate", "backfill", new, "--check", *where).code == 0
    assert here("deploy", "drift", new, *where).code == 0
    assert here("design", "diff", new, "--live", *where).code == 0
    again = here("migrate", "backfill", new, "--entity", "order", *where)
    assert (again.code, "--again begins again" in again.err) == (0, True)


def test_functions_fill_what_the_design_cannot_derive(shop: tuple[Path, str]) -> None:
    path, url = shop
    new, where = f"{path}/shop_new_version.py:SHOP", ("--environment", "dev", "--endpoint", url)
    here("deploy", "apply", new, *where)
    todo = here("migrate", "backfill", new, "--fills", f"{path}/shop_fills.py:TODO", *where)
    assert (todo.code, "is not finished: fill in fill_order" in todo.err) == (2, True)
    assert here("migrate", "backfill", new, "--fills", f"{path}/shop_fills.py:FILLS", *where).code == 0
    assert indexed(url) == ["STATE#NEW", "30"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--table", "nothing"), "--table nothing: "),
        (("--entity", "nothing"), "--entity nothing: the table orders has"),
        (("--fills", "shop_fills.py"), "names no value"), (("--rate", "0"), "--segments and --rate must be at least 1"),
        (("--environment", "moon"), "has no environment moon"),
    ],
)  # fmt: skip
def test_a_misuse_names_the_option(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    (tmp_path / "shop_misuse.py").write_text(SHOP.replace("INDEX", INDEX))
    ran = here("migrate", "backfill", f"{tmp_path}/shop_misuse.py:SHOP", *words, "--data", tmp_path)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
