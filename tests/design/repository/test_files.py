"""A repository in a directory: written once, kept up to date, and never over what someone else has there."""

from pathlib import Path

import pytest
from tests.design.repository.pets import printed

from tablewright.design import Backups, ObjectBucket
from tablewright.design.repository import AnotherTree, NotOurs, differences, write


def test_a_repository_is_written_once_and_then_is_so(tmp_path: Path) -> None:
    files, tree = printed(), tmp_path / "tree"
    assert differences(files, tree).missing == tuple(files)
    write(files, tree)
    assert not differences(files, tree)
    for changed in ("terraform/dev/main.tf", "schemas/pets/pet.schema.json"):
        (tree / changed).write_text(files[changed] + "\n")
        assert differences(files, tree).changed == (changed,)
        assert write(files, tree).changed == (changed,)


def test_what_is_not_printed_any_more_goes_and_what_is_of_others_stays(tmp_path: Path) -> None:
    write(printed(objects=ObjectBucket(), backups=Backups("cron(0 3 * * ? *)", 30, "vault")), tmp_path)
    gone = tmp_path / "schemas" / "cats" / "cat.schema.json"
    gone.parent.mkdir()
    gone.write_text("{}")
    (tmp_path / "terraform" / "dev" / "backend.tf").write_text("terraform {}\n")
    (tmp_path / ".terraform").mkdir()
    (tmp_path / ".terraform" / "x.tf").write_text("# Printed by tablewright design repository pets: a copy\n")
    found = write(printed(), tmp_path)
    assert found.left_over == ("schemas/cats/cat.schema.json", "terraform/dev/objects.tf")
    assert not gone.parent.exists()
    assert not (tmp_path / "terraform" / "dev" / "objects.tf").exists()
    assert (tmp_path / "terraform" / "dev" / "backend.tf").exists()
    assert (tmp_path / ".terraform" / "x.tf").exists()


def test_the_repository_of_another_design_is_not_written_over(tmp_path: Path) -> None:
    write(printed(), tmp_path)
    before = (tmp_path / "README.md").read_text()
    with pytest.raises(AnotherTree, match="another design"):
        write(printed("cats"), tmp_path)
    assert (tmp_path / "README.md").read_text() == before


@pytest.mark.parametrize("name", ["README.md", "terraform/dev/main.tf", "schemas/pets/pet.schema.json"])
def test_nothing_is_written_where_somebodys_file_is_in_the_way(tmp_path: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text("{}\n")
    with pytest.raises(NotOurs, match="was not printed by tablewright"):
        write(printed(), tmp_path)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [tmp_path / name]
    assert (tmp_path / name).read_text() == "{}\n"
