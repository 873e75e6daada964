"""`tablewright secrets DIR`: create the secrets that all processes on one endpoint share."""

import argparse
from pathlib import Path

from tablewright.app.endpoint import make_secrets
from tablewright.app.secret_variable import SecretsTooLarge, packed
from tablewright.app.systems import SYSTEMS
from tablewright.app.token_secret import SecretUnusable
from tablewright.cli.output import print_result
from tablewright.edge.identity import KeyFileExposed, KeyFileUnusable
from tablewright.kit.keyring import SecretUnusable as KeyringUnusable
from tablewright.world import real_world

EXAMPLES = """Existing files are never changed, so the command can be repeated. Copy the directory to every machine
that runs `tablewright serve --endpoint`, and keep a copy apart from the tables: without it sealed texts cannot be read.

tablewright secrets /etc/tablewright
tablewright secrets ./secrets --as-variable > secrets.json"""
ERRORS = (SecretUnusable, KeyringUnusable, KeyFileExposed, KeyFileUnusable, SecretsTooLarge, OSError)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("directory", metavar="DIR", type=Path, help="where the files are; created if missing")
    either = parser.add_mutually_exclusive_group()
    either.add_argument("--json", action="store_true", help="print the files as JSON")
    either.add_argument(
        "--as-variable",
        action="store_true",
        help="print the secrets themselves, as the value of the variable that `serve --secrets-variable` names",
    )


def run(given: argparse.Namespace) -> int:
    files = [str(path) for path in make_secrets(given.directory, SYSTEMS, real_world())]
    if given.as_variable:
        print(packed(given.directory))
        return 0
    print_result(given, files, "\n".join(files))
    return 0
