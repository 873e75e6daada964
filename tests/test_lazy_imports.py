"""What an import of the package loads: the engine and SQLite only when a name of theirs is used."""

import subprocess
import sys
from importlib import import_module
from pkgutil import iter_modules

import pytest


def loaded_by(program: str) -> set[str]:
    """The modules that a new interpreter has loaded after a program."""
    show = "import sys; print(*sys.modules)"
    ran = subprocess.run(
        [sys.executable, "-c", f"{program}\n{show}"], capture_output=True, text=True, check=True
    )
    return set(ran.stdout.split())


def of_the_database(modules: set[str]) -> list[str]:
    return sorted(name for name in modules if name == "apsw" or name.startswith("tablewright.engine"))


@pytest.mark.parametrize(
    "program",
    [
        "import tablewright",
        "from tablewright import __version__",
        "import tablewright.design",
        "import tablewright.client",
        "import tablewright.mapping",
    ],
)
def test_an_import_that_needs_no_database_loads_none(program: str) -> None:
    assert of_the_database(loaded_by(program)) == []


@pytest.mark.parametrize(
    "program",
    [
        "import tablewright; tablewright.Engine",
        "from tablewright import Engine, ServiceError, testing",
        "from tablewright.client import embedded; assert callable(embedded)",
        "import tablewright.client; assert callable(tablewright.client.embedded)",
    ],
)
def test_a_public_name_of_the_engine_is_there_when_it_is_used(program: str) -> None:
    assert "tablewright.engine.engine" in loaded_by(program)


def test_the_engine_runs_without_what_prints_its_metrics() -> None:
    assert "prometheus_client" not in loaded_by("from tablewright import Engine; Engine.open().close()")
    assert "prometheus_client" not in loaded_by("import tablewright.wire.server")


def test_without_being_asked_nothing_of_opentelemetry_is_loaded() -> None:
    loaded = loaded_by("import tablewright.mapping.async_db, tablewright.client.async_http")
    assert [name for name in loaded if name.startswith("opentelemetry")] == []
    # FastAPI brings the API with it.
    ours = {"tablewright.mapping.telemetry", "tablewright.edge.request_spans"}
    assert ours.isdisjoint(loaded_by("import tablewright.cli.serve"))


@pytest.mark.parametrize("package", ["tablewright", "tablewright.client"])
def test_no_module_hides_a_public_name(package: str) -> None:
    at = import_module(package)
    modules = {found.name for found in iter_modules(at.__path__)}
    assert modules.isdisjoint(at.__all__)


@pytest.mark.parametrize("package", ["tablewright", "tablewright.client"])
def test_a_name_that_does_not_exist_loads_nothing(package: str) -> None:
    program = f"import {package}\nassert not hasattr({package}, 'nothing')"
    assert of_the_database(loaded_by(program)) == []
