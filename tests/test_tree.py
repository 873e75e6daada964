"""The tree of the platform: few modules at a package's top, nouns for names, files of readable length."""

from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "tablewright"

PLATFORM = (
    "values",
    "expressions",
    "partiql",
    "engine",
    "wire",
    "client",
    "design",
    "mapping",
    "edge",
    "cli",
)
ENGINE_MODULES = 16
REPLICATION_LINES = 1_500
FILE_LINES = 500

# Nouns that end in -ing, as the last word of a module's name. Any other -ing is a verb: name the thing instead.
NOUNS = frozenset(
    ("autoscaling", "billing", "encoding", "logging", "mapping", "ordering", "pacing", "paging", "pricing", "routing",
     "scaling", "setting", "signing", "string", "testing")
)  # fmt: skip


def modules() -> list[Path]:
    top = [path for path in SOURCE.glob("*.py") if path.stem not in ("__init__", "__main__")]
    return sorted([*top, *(path for package in PLATFORM for path in (SOURCE / package).rglob("*.py"))])


def lines(path: Path) -> int:
    return len(path.read_text().splitlines())


def test_the_top_of_the_engine_has_few_modules() -> None:
    found = sorted(path.stem for path in (SOURCE / "engine").glob("*.py") if path.stem != "__init__")
    assert len(found) <= ENGINE_MODULES, found


def test_modules_are_named_by_nouns() -> None:
    verbs = [
        path
        for path in modules()
        if (last := path.stem.rpartition("_")[2]).endswith("ing") and last not in NOUNS
    ]
    assert [path.relative_to(SOURCE).as_posix() for path in verbs] == []


def test_replication_stays_small() -> None:
    found = {path.stem: lines(path) for path in (SOURCE / "engine" / "replication").rglob("*.py")}
    assert sum(found.values()) <= REPLICATION_LINES, found


def test_no_file_is_too_long_to_read_in_one_sitting() -> None:
    assert [path.relative_to(SOURCE).as_posix() for path in modules() if lines(path) > FILE_LINES] == []
