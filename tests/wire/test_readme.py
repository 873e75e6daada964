"""The room's README says what the code does."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import tablewright.wire
from tablewright.wire import Limits


def test_the_readme_lists_the_limits_as_they_are() -> None:
    readme = (Path(tablewright.wire.__file__).parent / "README.md").read_text()
    rows = "".join(f"| {name} | {number} |\n" for name, number in asdict(Limits()).items())
    assert f"| limit | number |\n| --- | --- |\n{rows}" in readme
