"""The command line: `tablewright <noun> <verb>`, one file per command; and `tablewright serve`, which is everything.

A command reads its arguments, calls the library, prints, returns a code: 0 fine, 1 found something, 2 it was
misused. stdout is the answer, stderr the talk. Must hold: nothing heavy is imported before a command runs.
A command's file has SUMMARY, EXAMPLES, `arguments(parser)` and `run(given) -> code`.
Elsewhere: where the tables are that a command looks at (where.py), how it prints (words.py), how it waits (waiting.py).
"""

import argparse
import re
import sys
from collections.abc import Sequence
from importlib import import_module

from tablewright import __version__

# A noun, what it is, and its verbs. A word without verbs is a command by itself; a verb of two words is one of several
# that share the first, and `db backup create` is in db_backup_create.py.
COMMANDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "serve": ("everything in one process: systems, console, DynamoDB", ()),
    "cost": ("what a system's design costs a month, with the arithmetic", ()),
    "engine": (
        "the database behind its HTTP port, in one region or several",
        ("serve", "replicas", "line", "compare", "promote", "rejoin", "release"),
    ),
    "db": (
        "tables, wherever they are: in a store on disk, behind an endpoint, on Amazon",
        (
            "tables",
            "describe",
            "backup create",
            "backup list",
            "backup delete",
            "recovery",
            "restore",
            "export",
            "import",
            "copies list",
            "copies restore",
            "metrics",
            "autoscaling",
            "stream tail",
            "stream on",
            "stream off",
            "parked list",
            "parked replay",
            "parked discard",
            "compact",
            "verify",
        ),
    ),
    "terraform": ("a design as Terraform", ()),
    "policies": ("a design as IAM policies", ()),
    "migrate": (
        "tables in a new form beside the old one: copied, followed, switched to, and back",
        ("plan", "run", "status", "verify", "switch", "rollback", "finish", "abandon"),
    ),
    "parental": (
        "parental controls: the registry of apps",
        ("registry load", "registry list"),
    ),
    "people": (
        "who may sign in to a server without the demo",
        ("add", "list", "change", "password", "close", "erase"),
    ),
}
SHARED: dict[str, str] = {
    "db backup": "tables as they were, kept until they are deleted",
    "db copies": "tables as a server copied them elsewhere, day by day",
    "db parked": "changes that a consumer could not handle",
    "db stream": "the changes of a table",
    "parental registry": "the apps that parents can block",
}
EXAMPLES = """examples:
  tablewright serve
  tablewright db verify ./data"""
_AS_WRITTEN = argparse.RawDescriptionHelpFormatter


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command in argv (by default this process's) and return its exit code."""
    given = _parser().parse_args(_joined(sys.argv[1:] if argv is None else argv))
    try:
        code: int = given.run(given)
        sys.stdout.flush()
    except BrokenPipeError:
        from tablewright.cli.where import nobody_reads

        nobody_reads()
        return 0
    return code


def _joined(argv: Sequence[str]) -> list[str]:
    """The words, with `--delay -5s` as `--delay=-5s`: else -5s is taken for an option, not for a wrong time."""
    words: list[str] = []
    for word in argv:
        if words and words[-1].startswith("--") and "=" not in words[-1] and re.match(r"-\d", word):
            words[-1] += f"={word}"
        else:
            words.append(word)
    return words


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
        first_of_each = [_examples(f"{noun}_{verb.replace(' ', '_')}")[0] for verb in verbs[:2]]
        noun_parser = nouns.add_parser(
            noun, help=meaning, epilog="\n".join(["examples:", *first_of_each]), formatter_class=_AS_WRITTEN
        )
        verb_parsers = noun_parser.add_subparsers(metavar="<verb>", required=True)
        shared: dict[str, argparse._SubParsersAction[argparse.ArgumentParser]] = {}
        for verb in verbs:
            first, _, second = verb.partition(" ")
            if not second:
                _add(verb_parsers, verb, f"{noun}_{verb}")
                continue
            if first not in shared:
                shared[first] = _shared(verb_parsers, noun, first)
            _add(shared[first], second, f"{noun}_{first}_{second}")
    return parser


def _shared(
    parsers: "argparse._SubParsersAction[argparse.ArgumentParser]", noun: str, first: str
) -> "argparse._SubParsersAction[argparse.ArgumentParser]":
    """The place of the verbs that begin with the same word; its help ends with examples of theirs."""
    words = f"{noun} {first}"
    seconds = [verb.partition(" ")[2] for verb in COMMANDS[noun][1] if verb.startswith(f"{first} ")]
    examples = [line for second in seconds for line in _examples(f"{noun}_{first}_{second}")]
    parser = parsers.add_parser(
        first,
        help=SHARED[words],
        epilog="\n".join(["examples:", *examples[:2]]),
        formatter_class=_AS_WRITTEN,
    )
    return parser.add_subparsers(metavar="<verb>", required=True)


def _examples(module: str) -> list[str]:
    """The examples of the command in that file, a line each."""
    text: str = import_module(f"tablewright.cli.{module}").EXAMPLES
    return text.partition("examples:\n")[2].splitlines()


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
