"""A design in a region whose prices are not known: every command says so, and only the price is missing."""

import json
from pathlib import Path

import pytest
from tests.cli.command import here

REGION = "eu-central-1"
KNOWN = "af-south-1, eu-west-1, us-east-1, us-east-2, us-west-1, us-west-2"


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    assert here("design", "new", "shop.yaml").code == 0
    file = tmp_path / "shop.yaml"
    file.write_text(file.read_text("utf-8").replace("us-east-1", REGION), "utf-8")
    return file


def test_the_page_is_written_without_prices_and_says_so(shop: Path) -> None:
    ran = here("design", "docs", shop.name)
    assert ran.code == 0, ran
    assert f"No prices of {REGION} are known here, only of {KNOWN}: the calls have no price." in ran.out
    assert "| pattern | reads | keys | calls a month | units a call |\n" in ran.out


def test_a_check_says_that_the_budget_was_not_checked(shop: Path) -> None:
    ran = here("design", "check", shop.name)
    assert ran.code == 0
    said = f"the budget of shop in prod was not checked: no prices of '{REGION}' are known here"
    assert said in ran.err
    (note,) = json.loads(here("design", "check", shop.name, "--json").out)["notes"]
    assert note.startswith(said)
    assert here("design", "check", "travel").err == ""


def test_a_cost_names_the_known_regions_and_the_option_that_prices_it_as_there(shop: Path) -> None:
    ran = here("design", "cost", shop.name)
    assert ran.code == 2
    assert (
        f"of these regions there are: {KNOWN}; price it as in one of them, such as with --region us-east-1"
        in (ran.err)
    )
    assert "shop, prod in us-east-1: $" in here("design", "cost", shop.name, "--region", "us-east-1").out


def test_replicas_and_copies_without_prices_are_priced_as_the_region_that_is_named(shop: Path) -> None:
    text = shop.read_text("utf-8").replace("vault: shop-prod", "vault: shop-prod, copy_to: eu-north-1")
    shop.write_text(text.replace("pitr_days: 35", "pitr_days: 35\n    replicas: [eu-west-3]"), "utf-8")
    assert here("design", "cost", shop.name).code == 2
    ran = here("design", "cost", shop.name, "--region", "us-east-1")
    assert ran.code in (0, 1), ran
    assert "Replication" in ran.out


def test_other_commands_do_not_need_prices(shop: Path) -> None:
    for words in (
        ("heat", shop.name),
        ("repository", shop.name, "--to", "tree"),
        ("export", shop.name, "--to", "json"),
    ):
        assert here("design", *words).code == 0


def test_a_load_run_reports_its_units_without_a_price(shop: Path) -> None:
    ran = here("load", shop.name, "--seconds", "0.2", "--scale", "1000")
    assert ran.code == 0, ran
    assert "write; no prices of the region are known here\n" in ran.out
