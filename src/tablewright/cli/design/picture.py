"""`tablewright design picture SYSTEM`: a design as SVG files, for slides and documents."""

import argparse
from pathlib import Path

from tablewright.app.pictures import KINDS, pictures_of
from tablewright.app.pictures.canvas import no_links
from tablewright.cli.designs import FORMS, load_designs
from tablewright.cli.format import plural
from tablewright.cli.output import UsageError, print_result
from tablewright.design import DesignMistake

EXAMPLES = """A file shows light colours, and dark ones where the screen is dark. Kinds: collections (what a partition
holds, one file per index), map (entities, indexes, patterns), matrix (patterns by index), states, keys (one for each
entity).

tablewright design picture travel
tablewright design picture shop.yaml --to drawn --kind map --kind matrix"""
ERRORS = (DesignMistake,)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("system", metavar="SYSTEM", help=f"a shipped system, or {FORMS}")
    parser.add_argument(
        "--to",
        metavar="DIR",
        type=Path,
        default=Path("pictures"),
        help="the directory; files in it are replaced (default: %(default)s)",
    )
    parser.add_argument(
        "--kind",
        choices=tuple(KINDS),
        action="append",
        metavar="KIND",
        help=f"only {', '.join(KINDS)}; can be repeated",
    )
    parser.add_argument("--json", action="store_true", help="print a JSON object with the files")


def run(given: argparse.Namespace) -> int:
    designs = load_designs(given.system)
    wanted = given.kind or tuple(KINDS)
    drawn = [one.draw(no_links) for design in designs for one in pictures_of(design) if one.kind in wanted]
    try:
        given.to.mkdir(parents=True, exist_ok=True)
        for picture in drawn:
            (given.to / f"{picture.name}.svg").write_text(picture.document(), "utf-8")
    except OSError as error:
        raise UsageError(f"--to {given.to}: {error.strerror or error}") from None
    files = [{"file": f"{picture.name}.svg", "title": picture.title} for picture in drawn]
    value = {"system": given.system, "directory": str(given.to), "files": files}
    lines = [f"{given.to / each['file']}: {each['title']}" for each in files]
    print_result(given, value, "\n".join([*lines, f"{plural(len(drawn), 'picture')} of {given.system}"]))
    return 0
