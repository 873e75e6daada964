"""The command line: `tablewright <noun> <verb>`, one file per command; and `tablewright serve`, which is everything.

A command reads its arguments, calls the library, prints, returns a code: 0 fine, 1 found something, 2 it was
misused. stdout is the answer, stderr the talk. Must hold: nothing heavy is imported before a command runs.
A command's file has SUMMARY, EXAMPLES, `arguments(parser)` and `run(given) -> code`.
"""

import argparse
from collections.abc import Sequence
from importlib import import_module

from tablewright import __version__

# A noun, what it is, and its verbs. A word without verbs is a command by itself.
COMMANDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "serve": ("everything in one process: systems, console, DynamoDB", ()),
    "engine": ("the database behind its HTTP port", ("serve",)),
    "db": ("a store on disk", ("verify",)),
}
EXAMPLES = """examples:
  tablewright serve
  tablewright db verify ./data"""
_AS_WRITTEN = argparse.RawDescriptionHelpFormatter


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command in argv (by default this process's) and return its exit code."""
    given = _parser().parse_args(argv)
    code: int = given.run(given)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tablewright",
        description="A DynamoDB-compatible database, and what is built around it.",
        epilog=EXAMPLES,
        formatter_class=_AS_WRITTEN,
    )
    parser.add_argument("--version", action="version", version=f"tablewright {__version__}")
    nouns = parser.add_subparsers(metavar="<noun>", required=True)
    for noun, (meaning, verbs) in COMMANDS.items():
        if not verbs:
            _add(nouns, noun, noun)
            continue
        noun_parser = nouns.add_parser(noun, help=meaning, epilog=EXAMPLES, formatter_class=_AS_WRITTEN)
        verb_parsers = noun_parser.add_subparsers(metavar="<verb>", required=True)
        for verb in verbs:
            _add(verb_parsers, verb, f"{noun}_{verb}")
    return parser


def _add(parsers: "argparse._SubParsersAction[argparse.ArgumentParser]", word: str, module: str) -> None:
    """The command in a file of this room, under its word."""
    command = import_module(f"tablewright.cli.{module}")
    parser = parsers.add_parser(
        word,
        help=command.SUMMARY,
        description=command.SUMMARY,
        epilog=command.EXAMPLES,
        formatter_class=_AS_WRITTEN,
    )
    command.arguments(parser)
    parser.set_defaults(run=command.run)
