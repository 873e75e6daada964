"""The argument parser, built from the table of commands.

A command's module has EXAMPLES (the end of its help: notes, an empty line, two examples), `arguments(parser)`,
`run(given) -> exit code` and, if it needs them, ERRORS: further errors that the caller can correct.
Must hold: of all command modules only the one that the arguments name is imported.
"""

import argparse
from collections.abc import Sequence
from importlib import import_module

from tablewright import __version__
from tablewright.cli.commands import COMMANDS, Command, Group
from tablewright.cli.settings import SettingUnusable, add_settings

EXAMPLES = ("tablewright serve", "tablewright db verify ./data")


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """The arguments, with the command's `run` and `errors`; exits after --help, --version or a usage error."""
    return _parser(argv).parse_args(argv)


def _parser(argv: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tablewright",
        description="A DynamoDB-compatible database, and what is built around it.",
        epilog=_examples(EXAMPLES),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"tablewright {__version__}")
    # Groups have no options with values, so the words that are not options name the command.
    _add_commands(parser, (), [word for word in argv if not word.startswith("-")], argv)
    return parser


def _add_commands(
    parser: argparse.ArgumentParser, path: tuple[str, ...], asked: Sequence[str], argv: Sequence[str]
) -> None:
    """Add every command of a group by name and summary; only the one that was asked for gets its options."""
    subparsers = parser.add_subparsers(metavar="<command>", required=True)
    for entry in (each for each in COMMANDS if each.path[:-1] == path):
        word = entry.path[-1]
        child = subparsers.add_parser(
            word,
            help=entry.summary,
            description=entry.summary,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if asked[:1] != [word]:
            continue
        if isinstance(entry, Group):
            _add_commands(child, entry.path, asked[1:], argv)
        else:
            _add_options(child, entry, argv)


def _add_options(parser: argparse.ArgumentParser, command: Command, argv: Sequence[str]) -> None:
    module = import_module(f"tablewright.cli.{command.module}")
    notes, _, examples = module.EXAMPLES.rpartition("\n\n")
    parser.epilog = (f"{notes}\n\n" if notes else "") + _examples(examples.split("\n"))
    module.arguments(parser)
    if command.is_configurable:
        try:
            add_settings(parser, command.words, argv)
        except SettingUnusable as error:
            parser.error(str(error))
    parser.set_defaults(run=module.run, errors=getattr(module, "ERRORS", ()))


def _examples(lines: Sequence[str]) -> str:
    return "\n".join(["examples:", *(f"  {line}" for line in lines)])
