"""`tablewright mcp`: serve designs and their access patterns to a model's client, on stdio or on 127.0.0.1.

Must hold: without --write no tool writes; without --personal no personal value is in an answer; on stdio nothing but
the protocol is on stdout.
Elsewhere: the tools and the protocol (the other files of this folder).
"""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from importlib import import_module
from pathlib import Path
from typing import Any

from tablewright.cli.argument_types import port
from tablewright.cli.designs import FORMS, NoSuchEnvironment, shipped_systems
from tablewright.cli.format import plural
from tablewright.cli.mcp.design_tools import design_tools, explain_tool
from tablewright.cli.mcp.entity_tools import write_tools
from tablewright.cli.mcp.masks import masked_by, plain
from tablewright.cli.mcp.pattern_tools import read_tools
from tablewright.cli.mcp.served_designs import ServedDesign, served_designs
from tablewright.cli.mcp.tools import Tool
from tablewright.cli.output import UsageError, print_message
from tablewright.cli.target import DATA, Target, add_target_options, open_target
from tablewright.client import CallRefused
from tablewright.design import DesignMistake
from tablewright.edge.app import run as run_app
from tablewright.engine.storage.sqlite import exists
from tablewright.mapping import Db

EXAMPLES = """A client starts the command and speaks to it on stdin and stdout; with --http it connects to
http://127.0.0.1:PORT/mcp. Name one system: each of its patterns and entities is a tool. Needs the extra: pip install
'tablewright[mcp]'. See docs/mcp.md.

tablewright mcp travel --data ./data
tablewright mcp shop.yaml --endpoint http://127.0.0.1:8000 --http 8765"""
ERRORS = (DesignMistake,)
_SERVER = "tablewright.cli.mcp.server"


def arguments(parser: argparse.ArgumentParser) -> None:
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "systems", metavar="SYSTEM", nargs="*", default=[],
        help=f"a shipped system, or {FORMS} (default: all shipped systems)",
    )  # fmt: skip
    which.add_argument(
        "--system", metavar="NAME", action="append", choices=shipped_systems(),
        help="the same as SYSTEM; can be repeated",
    )  # fmt: skip
    which.add_argument(
        "--design", metavar="DESIGN", action="append", help="the same as SYSTEM, your own; can be repeated"
    )
    parser.add_argument(
        "--environment", metavar="NAME", help="the environment that gives tables their names (default: plain)"
    )
    parser.add_argument("--write", action="store_true", help="also create, put, update and delete items")
    parser.add_argument(
        "--personal", action="store_true", help="show personal and secret fields (default: masked)"
    )
    parser.add_argument(
        "--http",
        metavar="PORT",
        type=port,
        help="serve HTTP on 127.0.0.1, 0 for a free port (default: stdio)",
    )
    add_target_options(parser)


def run(given: argparse.Namespace) -> int:
    # A design is a program: what it prints must not get into the protocol.
    with redirect_stdout(sys.stderr):
        designs = _designs(given)
        protocol = _protocol()
    with _tables(given) as target:
        tools = _tools(given, designs, target)
        server = protocol.server_of(tools, designs)
        told = f"{plural(len(designs), 'design')}, {plural(len(tools), 'tool')}"
        told += f", tables of {target.name}" if target else ""
        if given.http is None:
            print_message(f"tablewright: serving {told} on stdio")
            protocol.serve_stdio(server)
        else:
            run_app(
                protocol.http_app(server),
                host=protocol.HOST,
                port=given.http,
                ready=lambda url: print(f"tablewright: serving {told} on {url}/mcp", flush=True),
            )
    return 0


def _designs(given: argparse.Namespace) -> dict[str, ServedDesign]:
    designs = served_designs(given.systems or given.design or given.system or shipped_systems())
    for design in (each.started for each in designs.values()):
        if given.environment not in (None, *design.environments):
            raise NoSuchEnvironment(design.name, given.environment, list(design.environments))
    return designs


def _protocol() -> Any:
    try:
        return import_module(_SERVER)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("tablewright"):
            raise
        raise UsageError(
            f"`tablewright mcp` needs {error.name}; install it with: pip install 'tablewright[mcp]'"
        ) from None


@contextmanager
def _tables(given: argparse.Namespace) -> Iterator[Target | None]:
    """The tables that are named; none if none are and there is no store in the usual place."""
    is_named = any((given.data, given.endpoint, given.region, given.profile))
    if not is_named and not exists(Path(DATA)):
        if given.write:
            raise UsageError(f"--write needs tables: there is no store in {DATA}; use --data or --endpoint")
        print_message(
            f"tablewright: no store in {DATA}: tools about designs only; --data or --endpoint names tables"
        )
        yield None
        return
    with open_target(given) as target:
        yield target


def _tools(
    given: argparse.Namespace, designs: Mapping[str, ServedDesign], target: Target | None
) -> list[Tool]:
    reads: list[Tool] = []
    writes: list[Tool] = []
    for design in (each.started for each in designs.values()):
        environment = design.environments[given.environment] if given.environment else None
        db = Db(target.call if target else _no_tables, design, environment=environment)
        show = plain if given.personal else masked_by(design)
        reads += read_tools(design, db, show)
        writes += write_tools(design, db, show) if given.write else ()
    tools = [*design_tools(designs), explain_tool(reads), *(reads if target else ()), *writes]
    _refuse_duplicates(tools)
    return tools


def _refuse_duplicates(tools: Sequence[Tool]) -> None:
    seen: set[str] = set()
    for tool in tools:
        if tool.name in seen:
            raise UsageError(f"two tools are named {tool.name}; rename a pattern or an entity of the design")
        seen.add(tool.name)


def _no_tables(verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
    raise CallRefused("ResourceNotFoundException", "no tables are named; start with --data or --endpoint")
