from pathlib import Path

from tablewright import expressions

ROOM = Path(expressions.__file__).parent


def test_the_readme_lists_every_file_of_the_room_and_no_other() -> None:
    rows = [
        line.split("`")[1] for line in (ROOM / "README.md").read_text().splitlines() if line.startswith("| `")
    ]
    assert sorted(rows) == sorted(file.name for file in ROOM.glob("*.py") if file.name != "__init__.py")
