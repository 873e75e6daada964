"""The command line: `tablewright <noun> <verb>`, one file per command.

A command reads its arguments, calls the library, prints, returns a code: 0 fine, 1 found something, 2 it was
misused. stdout is the answer, stderr the talk. Must hold: nothing heavy is imported before a command runs.
A command's file has SUMMARY, EXAMPLES, `arguments(parser)` and `run(given) -> code`.
"""

import argparse
from collections.abc import Sequence
from importlib import import_module

from tablewright import __version__

COMMANDS = {
    "engine": ("the database behind its HTTP port", ("serve",)),
    "db": ("a store on disk", ("verify",)),
}
EXAMPLES = """examples:
  tablewright engine serve --data ./data
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
        noun_parser = nouns.add_parser(noun, help=meaning, epilog=EXAMPLES, formatter_class=_AS_WRITTEN)
        verb_parsers = noun_parser.add_subparsers(metavar="<verb>", required=True)
        for verb in verbs:
            command = import_module(f"tablewright.cli.{noun}_{verb}")
            verb_parser = verb_parsers.add_parser(
                verb,
                help=command.SUMMARY,
                description=command.SUMMARY,
                epilog=command.EXAMPLES,
                formatter_class=_AS_WRITTEN,
            )
            command.arguments(verb_parser)
            verb_parser.set_defaults(run=command.run)
    return parser
