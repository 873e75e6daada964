"""What the endpoint of --endpoint is, and what tests of it are skipped for: capabilities that it lacks, by name.

Must hold: nothing is skipped but for what design/capabilities.py says, with its source; the reason names it.
"""

from __future__ import annotations

import pytest

from tablewright.design import Design
from tablewright.design.capabilities import FEATURES, missing

# The option --target: one of capabilities.TARGETS.
target = "embedded"
# The option --endpoint: None for our engine in this process.
endpoint: str | None = None


def skip_lacking(design: Design) -> None:
    """Skip the test if the target lacks what the design needs: `serve --target` refuses its system there."""
    lacks = [finding.why for finding in missing((design,), target) if finding.rule == "T001"]
    if lacks:
        pytest.skip("; ".join(dict.fromkeys(lacks)))


def skip_elsewhere(why: str) -> None:
    """Skip the test at an endpoint: it needs more of its engine than requests can ask for."""
    if endpoint is not None:
        pytest.skip(f"only with the engine of this process: {why}")


def skip_without(name: str) -> None:
    """Skip the test unless the target has all of this feature."""
    feature = next(each for each in FEATURES if each.name == name)
    support = next(support for each, support in feature.support.items() if each == target)
    if support.level != "has":
        pytest.skip(f"{target} has in part only: {feature.title}: {support.note}")
