"""`tablewright design import FILE...`: print a design of tables that exist elsewhere, with notes on what is missing.

FILE is a NoSQL Workbench model, a CloudFormation template, Terraform's state or plan as JSON, a table schema, or the
answer of DescribeTable; its content tells which. With --table, tables of an endpoint are read instead.
"""

import argparse
from pathlib import Path

from tablewright.cli.design_files import plain_of, unusable
from tablewright.cli.files import FileUnusable, read_text
from tablewright.cli.output import UsageError, print_message
from tablewright.cli.target import add_target_options, open_target
from tablewright.design import DesignMistake
from tablewright.design.files import YAML, DesignFileRefused, from_plain
from tablewright.design.files.text import lines_of, to_json_text, to_yaml_text
from tablewright.design.schemas import SchemaRefused
from tablewright.mapping.deploy.live import live_tables
from tablewright.mapping.formats import FormatUnknown, ImportedTable, imported_design, tables_in
from tablewright.mapping.formats.cloudformation_reader import read_tag
from tablewright.mapping.formats.sources import region_of

EXAMPLES = """FILE is a NoSQL Workbench model, a CloudFormation template (JSON or YAML), Terraform's state or plan
(`terraform show -json`), a table schema of `design repository`, or the answer of DescribeTable. The design goes to
stdout; its `notes` say what is missing.

tablewright design import tables.template.yaml --name shop > shop.json
tablewright design import --table orders --table customers --endpoint http://127.0.0.1:8000 --to yaml"""
ERRORS = (DesignMistake,)
_TEXTS = {"json": to_json_text, "yaml": to_yaml_text}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", metavar="FILE", nargs="*", type=Path, help="a file that describes tables")
    parser.add_argument(
        "--table", metavar="NAME", action="append", default=[], help="a table to read; can be repeated"
    )
    parser.add_argument("--name", metavar="NAME", help="the name of the design (default: imported)")
    parser.add_argument(
        "--to", choices=_TEXTS, default="json", metavar="FORMAT", help="json or yaml (default: json)"
    )
    add_target_options(parser)


def run(given: argparse.Namespace) -> int:
    if bool(given.files) == bool(given.table):
        raise UsageError("name one or more files, or tables with --table")
    tables = _live(given) if given.table else [table for path in given.files for table in _in_file(path)]
    document = imported_design(given.name or "imported", tables)
    from_plain(document)  # a document that could not be read again is not printed
    for note in document["notes"]:
        print_message(f"tablewright: {note}")
    print(_TEXTS[given.to](document), end="")
    return 0


def _in_file(path: Path) -> list[ImportedTable]:
    try:
        return tables_in(plain_of(path, read_tag))
    except FormatUnknown as error:
        raise FileUnusable(f"{path}: {error}") from None
    except SchemaRefused as error:
        raise FileUnusable("\n".join(f"{path}: {each}" for each in error.problems)) from None
    except DesignFileRefused as error:
        lines = lines_of(read_text(path), is_yaml=path.suffix in YAML)
        raise unusable(path, error.at_lines(lines)) from None


def _live(given: argparse.Namespace) -> list[ImportedTable]:
    with open_target(given) as target:
        found = live_tables(target.call, given.table)
    missing = [name for name, state in found.items() if state is None]
    if missing:
        raise UsageError(f"{target.name} has no table {', '.join(missing)}")
    return [
        ImportedTable(state, region=region_of(state.arn)) for state in found.values() if state is not None
    ]
