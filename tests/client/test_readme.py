"""The room's README says what the code does."""

from __future__ import annotations

from pathlib import Path

import tablewright.client
from tablewright.client import Retries, Timeouts

README = (Path(tablewright.client.__file__).parent / "README.md").read_text()


def test_the_readme_lists_the_settings_as_they_are() -> None:
    retries, timeouts = Retries(), Timeouts()
    rows = [f"| `Retries.{name}` | {getattr(retries, name)} |\n" for name in ("attempts", "base", "cap")]
    rows += [
        f"| `Timeouts.{name}` | {getattr(timeouts, name)} |\n" for name in ("connect", "answer", "total")
    ]
    assert f"| setting | default |\n| --- | --- |\n{''.join(rows)}" in README


def test_the_readme_names_every_function_and_error() -> None:
    words = {name for name in tablewright.client.__all__ if name[0].islower() or name.endswith("Failed")}
    assert {name for name in words if f"`{name}`" not in README and f"{name}(" not in README} == set()
