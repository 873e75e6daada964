"""No two modules import each other, directly or by way of others: each can be imported first, and be read alone."""

import ast
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src"


def modules(source: Path) -> Mapping[str, Path]:
    named = {path.relative_to(source).with_suffix("").parts: path for path in source.rglob("*.py")}
    return {".".join(parts).removesuffix(".__init__"): path for parts, path in named.items()}


def imports_on_load(body: list[ast.stmt]) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports that are made while a module is loaded: not those in functions, nor those for type checkers."""
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif isinstance(node, ast.If) and "TYPE_CHECKING" not in ast.unparse(node.test):
            yield from imports_on_load(node.body + node.orelse)
        elif isinstance(node, ast.Try | ast.With):
            yield from imports_on_load(node.body)


def graph(source: Path) -> dict[str, set[str]]:
    """Each module with those it names. A module of a package does not count as an import of the package."""
    known = modules(source)
    found: dict[str, set[str]] = {}
    for name, path in known.items():
        named: set[str] = set()
        for node in imports_on_load(ast.parse(path.read_text()).body):
            if isinstance(node, ast.Import):
                named.update(alias.name for alias in node.names)
            else:
                inside = {f"{node.module}.{alias.name}" for alias in node.names}
                named |= {one if one in known else str(node.module) for one in inside}
        found[name] = (named & known.keys()) - {name}
    return found


def cycle(source: Path) -> list[str]:
    try:
        TopologicalSorter(graph(source)).prepare()
    except CycleError as error:
        found: list[str] = error.args[1]
        return found
    return []


def test_no_module_imports_itself_by_way_of_others() -> None:
    assert cycle(SOURCE) == []


@pytest.mark.parametrize(
    ("first", "is_found"),
    [
        ("import shop.b", True),
        ("from shop import b", True),
        ("from shop.b import name", True),
        ("try:\n    import shop.b\nexcept ImportError:\n    pass", True),
        ("def later():\n    import shop.b", False),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import shop.b", False),
        ("import json", False),
    ],
)
def test_a_planted_cycle_is_found(tmp_path: Path, first: str, is_found: bool) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "__init__.py").write_text("")
    (tmp_path / "shop" / "a.py").write_text(first)
    (tmp_path / "shop" / "b.py").write_text("from shop.a import name")
    assert bool(cycle(tmp_path)) == is_found
