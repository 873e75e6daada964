"""The tree: few modules at the top of a package or system, nouns for names, files of readable length."""

from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "tablewright"
SYSTEMS = sorted(path.parent for path in (SOURCE / "systems").glob("*/service.py"))

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
# A system: at most so many modules at its top, and folders by bounded context besides those that every system may have.
SYSTEM_MODULES, SYSTEM_CONTEXTS = 16, 5
SYSTEM_PARTS = frozenset(
    ("design", "model", "errors", "repository", "service", "jobs", "seed", "api", "pages")
)
# Decisions, and the rules for single fields: a system has one of them or both.
SYSTEM_RULES = frozenset(("rules", "field_rules"))
SYSTEM_FOLDERS = frozenset(("api", "data", "design", "pages"))
ABOVE = ("kit", "pages", "systems", "app")
REPLICATION_LINES = 1_500
FILE_LINES = 500

# Nouns that end in -ing, as the last word of a module's name. Any other -ing is a verb: name the thing instead.
NOUNS = frozenset(
    ("autoscaling", "billing", "embedding", "encoding", "housekeeping", "keyring", "logging", "mapping", "monitoring",
     "ordering", "pacing", "paging", "pricing", "routing", "scaling", "setting", "signing", "string", "testing")
)  # fmt: skip


def modules() -> list[Path]:
    top = [path for path in SOURCE.glob("*.py") if path.stem not in ("__init__", "__main__")]
    return sorted([*top, *(path for package in PLATFORM for path in (SOURCE / package).rglob("*.py"))])


def folders(system: Path) -> set[str]:
    """The folders with something in them: git keeps no others, a working tree may."""
    every = (path for path in system.rglob("*") if path.is_file() and path.suffix != ".pyc")
    return {path.relative_to(system).parts[0] for path in every if path.parent != system}


def lines(path: Path) -> int:
    return len(path.read_text().splitlines())


def test_the_top_of_the_engine_has_few_modules() -> None:
    found = sorted(path.stem for path in (SOURCE / "engine").glob("*.py") if path.stem != "__init__")
    assert len(found) <= ENGINE_MODULES, found


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda path: path.name)
def test_a_system_has_few_modules_at_its_top_and_folders_by_bounded_context(system: Path) -> None:
    found = sorted(path.stem for path in system.glob("*.py") if path.stem != "__init__")
    assert len(found) <= SYSTEM_MODULES, found
    assert {*found, *folders(system)} >= SYSTEM_PARTS
    assert SYSTEM_RULES & set(found)
    contexts = folders(system) - SYSTEM_FOLDERS
    assert len(contexts) <= SYSTEM_CONTEXTS, sorted(contexts)


def test_modules_are_named_by_nouns() -> None:
    above = [path for package in ABOVE for path in (SOURCE / package).rglob("*.py")]
    verbs = [
        path
        for path in (*modules(), *above)
        if (last := path.stem.rpartition("_")[2]).endswith("ing") and last not in NOUNS
    ]
    assert [path.relative_to(SOURCE).as_posix() for path in verbs] == []


def test_replication_stays_small() -> None:
    found = {path.stem: lines(path) for path in (SOURCE / "engine" / "replication").rglob("*.py")}
    assert sum(found.values()) <= REPLICATION_LINES, found


def test_no_file_is_too_long_to_read_in_one_sitting() -> None:
    assert [path.relative_to(SOURCE).as_posix() for path in modules() if lines(path) > FILE_LINES] == []
