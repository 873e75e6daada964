"""Modules that the compiled wheel has as C extensions, and whether those installed are: `python -m tests.compiled`.

A module that was left as Python would prove nothing about the compiled ones (`make test-compiled`).
"""

import sys
import tomllib
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).parents[1]


def modules() -> Mapping[str, list[str]]:
    """Their names, by the pattern in pyproject.toml that lists them."""
    project = tomllib.loads((HERE / "pyproject.toml").read_text())
    patterns = project["tool"]["hatch"]["build"]["targets"]["wheel"]["hooks"]["mypyc"]["include"]
    return {pattern: [_name(file) for file in sorted(HERE.glob(pattern.lstrip("/")))] for pattern in patterns}


def _name(file: Path) -> str:
    return ".".join(file.relative_to(HERE / "src").with_suffix("").parts)


def python_ones() -> list[str]:
    """Those that are not C extensions here."""
    specs = {name: find_spec(name) for found in modules().values() for name in found}
    return [
        name
        for name, spec in specs.items()
        if spec is None or not (spec.origin or "").endswith((".so", ".pyd"))
    ]


if __name__ == "__main__":
    sys.exit(f"not compiled: {', '.join(left)}" if (left := python_ones()) else 0)
