"""`tablewright design schema`: print the JSON Schema of design files, for editors and other tools."""

import argparse

from tablewright.cli.format import as_json
from tablewright.design.files import json_schema

EXAMPLES = """The same schema is docs/design-file.schema.json.

tablewright design schema > design-file.schema.json
tablewright design schema > .vscode/design.schema.json"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """It has none."""


def run(given: argparse.Namespace) -> int:
    print(as_json(json_schema()))
    return 0
