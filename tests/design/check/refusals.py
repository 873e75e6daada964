"""How a rule is tested: the smallest design that breaks it, and the same design mended."""

import pytest

from tablewright.design import Design, DesignRefused, Finding


def refuses(design: Design, rule: str, at: str, *, why: str = "", fix: str) -> Finding:
    """The design is refused for this rule alone, at this place, and told this fix."""
    with pytest.raises(DesignRefused) as caught:
        design.build()
    found = caught.value.findings
    assert [(finding.rule, finding.where) for finding in found] == [(rule, at)]
    assert why in found[0].why
    assert fix in found[0].fix
    return found[0]
