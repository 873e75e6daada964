"""Options of the `dr` commands."""

import argparse
from pathlib import Path

from tablewright.cli.target import DATA


def add_store_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data", metavar="DIR", type=Path, default=Path(DATA), help="the store (default: %(default)s)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def add_table_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--table", action="append", metavar="NAME", help="one table (default: every table with replicas)"
    )
