"""`tablewright design new [FILE]`: write a small design file to start from."""

import argparse
from importlib.resources import files
from pathlib import Path

from tablewright.cli.design_files import SUFFIXES
from tablewright.cli.files import FileUnusable
from tablewright.cli.output import UsageError
from tablewright.design import files as design_files

EXAMPLES = """The file holds customers and orders of a shop, with comments (YAML) or `about` texts (JSON), and passes
`design check`. An existing file is not changed.

tablewright design new shop.yaml
tablewright design new design.json"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file",
        metavar="FILE",
        nargs="?",
        type=Path,
        default=Path("design.json"),
        help="where to write it; its name ends with .json or .yaml (default: design.json)",
    )


def run(given: argparse.Namespace) -> int:
    path: Path = given.file
    if path.suffix not in SUFFIXES:
        raise UsageError(f"FILE must end with one of {', '.join(SUFFIXES)}, got {path}")
    source = files(design_files).joinpath(
        "example.yaml" if path.suffix in design_files.YAML else "example.json"
    )
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(source.read_text("utf-8"))
    except FileExistsError:
        raise FileUnusable(f"{path} already exists; name another file") from None
    print(f"{path}: written. Change it, and look at it with:\n" + "\n".join(_next(path)))
    return 0


def _next(path: Path) -> list[str]:
    commands = {
        f"design check {path}": "what is wrong, and what would hurt later",
        f"design cost {path}": "what it costs in a month",
        f"design picture {path}": "drawn, as SVG files in ./pictures",
        f"serve --design {path}": "its tables, and pages to try it in a browser",
    }
    width = max(map(len, commands))
    return [f"  tablewright {command:<{width}}  {about}" for command, about in commands.items()]
