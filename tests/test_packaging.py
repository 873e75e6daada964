"""The wheel has all that the product needs, and the examples of how it is run are ones that it takes."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path
from zipfile import ZipFile

import pytest
from tests import compiled

from tablewright.cli.endpoint_options import check_endpoint_options
from tablewright.cli.parser import parse

HOME = Path(__file__).parent.parent
EXAMPLES = HOME / "examples"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("wheel")
    # Built without an environment of its own: that would install the build backend each time.
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(directory)],
        cwd=HOME,
        check=True,
        capture_output=True,
        timeout=120,
    )
    (built,) = directory.glob("*.whl")
    return built


def test_the_wheel_has_every_file_of_the_package(wheel: Path) -> None:
    listed = subprocess.run(
        ["git", "ls-files", "src"], cwd=HOME, check=True, capture_output=True, text=True
    ).stdout.split()
    if not listed:
        pytest.skip("not a git checkout: there is no list of files to compare with")
    with ZipFile(wheel) as zipped:
        assert {name.removeprefix("src/") for name in listed} <= set(zipped.namelist())


def test_an_installed_wheel_serves_a_system_with_pages_and_assets(wheel: Path, tmp_path: Path) -> None:
    installed, elsewhere = tmp_path / "installed", tmp_path / "elsewhere"
    elsewhere.mkdir()
    with ZipFile(wheel) as zipped:
        zipped.extractall(installed)
    process = subprocess.Popen(
        [sys.executable, "-m", "tablewright", "serve", "--memory", "--port", "0", "--no-dynamodb", "--only", "travel"],
        cwd=elsewhere,
        env={**os.environ, "PYTHONPATH": str(installed)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        url = next(found[0] for line in process.stdout if (found := re.search(r"http://[0-9.:]+", line)))
        front = _read(f"{url}/console/travel/sign-in")
        assert "Skratch" in front
        assets = set(re.findall(r'(?:href|src)="(/[^"]+\.(?:css|js|svg)[^"]*)"', front))
        assert assets
        assert all(_read(url + asset) for asset in assets)
        assert _read(f"{url}/ready")
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait(60)
        process.stdout.close()
    assert list(elsewhere.iterdir()) == []


def _read(url: str) -> str:
    with urllib.request.urlopen(url, timeout=30) as answer:
        return str(answer.read().decode())


def test_the_example_of_a_file_sets_options_of_serve() -> None:
    given = parse(["serve", "--config", str(EXAMPLES / "tablewright.toml")])
    assert (given.data, given.no_demo_sign_in, given.name) == (
        "/var/lib/tablewright",
        True,
        ["tables.example.com"],
    )


def test_the_environment_of_the_image_sets_options_of_serve(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (EXAMPLES / "Containerfile").read_text()
    variables = dict(re.findall(r"(TABLEWRIGHT_\w+)=([^\s\\]+)", text.partition("\nENV")[2]))
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    given = parse(["serve"])
    assert (given.host, given.data, given.no_demo_sign_in, given.log) == (
        "0.0.0.0",
        "./data",
        True,
        "json",
    )
    assert "\nWORKDIR /\nVOLUME /data\n" in text
    assert len(variables) == 5


def test_the_image_serves_tables_on_amazon_with_variables_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (EXAMPLES / "Containerfile").read_text()
    for name, value in re.findall(r"(TABLEWRIGHT_SERVE_\w+)=([^\s\\]+)", text):
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("TABLEWRIGHT_SERVE_MAIL_FROM", "post@example.com")
    given = parse(["serve"])
    check_endpoint_options(given)
    assert (given.amazon, given.secrets_variable) == ("eu-west-1", "SECRETS")


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
def test_systemd_takes_the_example_of_a_unit(tmp_path: Path) -> None:
    unit = tmp_path / "tablewright.service"
    text = (EXAMPLES / "tablewright.service").read_text()
    unit.write_text(text.replace("/opt/tablewright/bin/tablewright", shutil.which("true") or "/bin/true"))
    done = subprocess.run(
        ["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_each_module_that_is_to_be_compiled_exists() -> None:
    found = compiled.modules()
    assert [pattern for pattern, names in found.items() if not names] == []
    assert "tablewright.engine.mutations" in found["/src/tablewright/engine/mutations.py"]
