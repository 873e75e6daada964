"""`tablewright db export`: a table goes out in the service's own layout, and comes back by `import`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.command import Ran, here
from tests.cli.stores import server_of, store_of_pets

from tablewright.engine import Engine, verify_store


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store of pets whose past is kept."""
    path = store_of_pets(tmp_path / "store")
    with Engine.open(path) as engine:
        wanted = {"PointInTimeRecoveryEnabled": True}
        engine.call(
            "UpdateContinuousBackups", {"TableName": "pets", "PointInTimeRecoverySpecification": wanted}
        )
        engine.settle()
    return path


def fine(ran: Ran) -> str:
    assert ran.code == 0, ran.out + ran.err
    return ran.out


def refused(ran: Ran) -> str:
    assert (ran.code, ran.out) == (2, "")
    return ran.err


def scanned(store: Path, table: str) -> list[dict[str, object]]:
    with Engine.open(store) as engine:
        found = engine.call("Scan", {"TableName": table})["Items"]
        return sorted(found, key=json.dumps)


def test_an_export_of_a_store_is_in_the_services_layout_and_imports_as_the_same_table(
    store: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    assert fine(here("db", "export", "pets", "--to", out, "--data", store)).startswith("3 items, ")
    (summary,) = out.glob("AWSDynamoDB/*/manifest-summary.json")
    assert json.loads(summary.read_text())["itemCount"] == 3
    for line in (summary.parent / "manifest-files.json").read_text().splitlines():
        assert (out / json.loads(line)["dataFileS3Key"]).is_file()
    told = fine(here("db", "import", out, "--to", "pets-again", "--data", store))
    assert told.startswith("created pets-again: 3 items from ")
    assert told.endswith(", matching the export's manifest\n")
    assert scanned(store, "pets-again") == scanned(store, "pets")
    described = json.loads(fine(here("db", "describe", "pets-again", "--data", store, "--json")))
    assert [index["IndexName"] for index in described["Table"]["GlobalSecondaryIndexes"]] == ["by-age"]
    assert verify_store(store) == []
    left = [path for path in (store / "buckets").rglob("*") if path.is_file() or path.is_symlink()]
    assert left == [], "nothing of it stays in the store"


def test_a_server_exports_to_a_bucket_of_its_own(store: Path) -> None:
    with server_of(store) as url:
        told = fine(
            here("db", "export", "pets", "--bucket", "kept", "--prefix", "p", "--endpoint", url, "--json")
        )
        assert (store / "buckets" / "kept" / json.loads(told)["ExportManifest"]).is_file()
        assert "--bucket NAME" in refused(here("db", "export", "pets", "--to", "out", "--endpoint", url))


def test_a_table_whose_past_is_not_kept_is_told_how_it_can_be(tmp_path: Path) -> None:
    store = store_of_pets(tmp_path / "store")
    said = refused(here("db", "export", "pets", "--to", tmp_path / "out", "--data", store))
    assert "switch it on with `tablewright db recovery pets --on --" in said
    fine(here("db", "recovery", "pets", "--on", "--data", store))
    fine(here("db", "export", "pets", "--to", tmp_path / "out", "--data", store))


def test_changes_are_exported_since_a_moment(store: Path, tmp_path: Path) -> None:
    words = ("db", "export", "pets", "--to", tmp_path / "out", "--data", store)
    early = here(*words, "--since", "2001-01-01T00:00:00Z", "--until", "2001-01-01T01:00:00Z")
    assert "InvalidExportTimeException" in refused(early)
    assert not (tmp_path / "out").exists()
    assert "--until needs --since" in refused(here(*words, "--until", "2001-01-01"))
    assert "cannot be combined" in refused(here(*words, "--at", "2001-01-01", "--since", "2001-01-01"))
