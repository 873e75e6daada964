"""Every rule has a test that breaks it, a docstring that names it, and a line in the room's README."""

import ast
import re
from pathlib import Path

from tablewright import design
from tablewright.design.check import LAYERS
from tablewright.design.check.codes import CODES

ROOM = Path(design.__file__).parent
RULE = re.compile(r"[KP]\d{3}")


def constants(path: Path) -> set[str]:
    """The rule numbers that stand alone in a text, as a finding's do."""
    tree = ast.parse(path.read_text())
    found = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return {value for value in found if isinstance(value, str) and RULE.fullmatch(value)}


def rules() -> set[str]:
    return {rule for path in ROOM.rglob("*.py") for rule in constants(path)}


def test_every_rule_is_broken_and_mended_by_a_test() -> None:
    tested = {rule for path in Path(__file__).parent.glob("test_*.py") for rule in constants(path)}
    assert rules() == tested


def test_every_rule_is_named_by_the_function_that_looks_for_it() -> None:
    docs = " ".join(rule.__doc__ or "" for layer in LAYERS for rule in layer)
    named = set(RULE.findall(re.sub(r"K002 to K005", "K002 K003 K004 K005", docs)))
    # These two are found while the design is being written.
    assert rules() - named == {"K010", "P011"}
    assert named <= rules()


def test_every_rule_has_its_words() -> None:
    sources = {rule for path in ROOM.rglob("*.py") if path.name != "codes.py" for rule in constants(path)}
    assert {code for code in CODES if RULE.fullmatch(code)} == sources


def test_every_rule_is_in_the_readme() -> None:
    assert set(RULE.findall((ROOM / "README.md").read_text())) == rules()
