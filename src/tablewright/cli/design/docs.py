"""`tablewright design docs SYSTEM`: a design as a page of Markdown."""

import argparse
from pathlib import Path

from tablewright.cli.designs import FORMS, NoSuchEnvironment, load_designs
from tablewright.cli.files import error_text, read_text
from tablewright.cli.output import UsageError, print_message
from tablewright.design import DesignMistake
from tablewright.design.cost import environments_of, usual_environment
from tablewright.design.markdown import markdown

EXAMPLES = """Tables, entities with fields and data classes, keys, patterns with what a call costs, states, retention,
alarms and accepted findings. A system of several designs has one page after the other. With --check nothing is
written; the exit code is 1 if the file is out of date.

tablewright design docs travel --to travel.md
tablewright design docs ./clinic.py:clinic --environment prod"""
ERRORS = (DesignMistake,)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("system", metavar="SYSTEM", help=f"a shipped system, or {FORMS}")
    parser.add_argument("--to", metavar="PATH", type=Path, help="the file to write (default: stdout)")
    parser.add_argument(
        "--check", action="store_true", help="compare the file with the design, and write nothing"
    )
    parser.add_argument(
        "--environment",
        metavar="NAME",
        help="the environment whose prices are used (default: prod, or the last)",
    )


def run(given: argparse.Namespace) -> int:
    designs = load_designs(given.system)
    known = environments_of(designs[0])
    if given.environment not in (None, *known):
        raise NoSuchEnvironment(given.system, given.environment, list(known))
    pages = [
        markdown(design, known[given.environment] if given.environment else usual_environment(designs[0]))
        for design in designs
    ]
    text = "\n".join(pages)
    if given.to is None:
        if given.check:
            raise UsageError("--check needs --to: the file to compare")
        print(text, end="")
        return 0
    if given.check:
        is_current = given.to.is_file() and read_text(given.to) == text
        print(f"{given.to}: {'up to date' if is_current else 'out of date'}")
        return 0 if is_current else 1
    try:
        given.to.write_text(text, "utf-8")
    except OSError as error:
        raise UsageError(f"--to: {error_text(error)}") from None
    print_message(f"tablewright: wrote {given.to}")
    return 0
