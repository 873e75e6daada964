"""What `tablewright serve` keeps on the disk is readable by its owner only."""

import os
from pathlib import Path

from tablewright.app.runtime import open_app
from tablewright.app.systems import SYSTEMS


def open_to_others(directory: Path) -> list[str]:
    return [str(path) for path in (directory, *directory.rglob("*")) if path.lstat().st_mode & 0o077]


def test_nothing_of_the_seeded_systems_is_open_to_others(tmp_path: Path) -> None:
    data = tmp_path / "data"
    (tmp_path / "copies").mkdir()
    before = os.umask(0o000)
    try:
        with open_app(
            data, systems=SYSTEMS, seed=True, durability="relaxed", copies=str(tmp_path / "copies")
        ):
            assert all((data / "systems" / system.name).is_dir() for system in SYSTEMS)
            assert any((data / "systems" / "campus" / "objects").rglob("*")), "files of students"
            assert open_to_others(data) == []
    finally:
        os.umask(before)
    assert open_to_others(data) == []


def test_what_was_open_to_others_is_tightened(tmp_path: Path) -> None:
    for name in ("keys", "mail", "systems"):
        (tmp_path / "data" / name).mkdir(parents=True)
        (tmp_path / "data" / name).chmod(0o755)
    (tmp_path / "data" / "copies.id").write_text("one\n")
    with open_app(tmp_path / "data", systems=SYSTEMS, seed=False, jobs=False, durability="relaxed"):
        assert open_to_others(tmp_path / "data" / "keys") == []
        assert open_to_others(tmp_path / "data" / "mail") == []
        assert open_to_others(tmp_path / "data" / "copies.id") == []
        assert open_to_others(tmp_path / "data" / "systems") == []
