"""`tablewright design export SYSTEM --to FORMAT`: print a design as a file of its own, or as other tools read it.

What the format does not have is named on stderr. Elsewhere: the design file (design/files), the other formats
(mapping/formats).
"""

import argparse
from collections.abc import Callable, Sequence

from tablewright.cli.designs import FORMS, NoEnvironment, NoSuchEnvironment, load_designs
from tablewright.cli.output import UsageError, print_message
from tablewright.design import Design, DesignMistake, Environment
from tablewright.design.files import written
from tablewright.design.files.text import to_json_text, to_yaml_text
from tablewright.mapping.deployment import deployment_of
from tablewright.mapping.formats import template, workbench_model
from tablewright.mapping.formats.workbench import left_out
from tablewright.mapping.tables import create_table
from tablewright.world import real_world

EXAMPLES = """The result goes to stdout. CloudFormation needs --environment; create-table and workbench use plain table
names without it.

tablewright design export travel --to yaml > travel.yaml
tablewright design export shop.json --to cloudformation --environment prod > tables.template.json"""
ERRORS = (DesignMistake,)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("system", metavar="SYSTEM", help=f"a shipped system, or {FORMS}")
    parser.add_argument(
        "--to", choices=_WRITERS, metavar="FORMAT", required=True, help=f"one of {', '.join(_WRITERS)}"
    )
    parser.add_argument("--environment", metavar="NAME", help="an environment of the design, such as prod")


def run(given: argparse.Namespace) -> int:
    designs = load_designs(given.system)
    if len(designs) > 1:
        raise UsageError(f"{given.system} has {len(designs)} designs; a file has one: name one of them")
    (design,) = designs
    known = design.environments
    if given.environment not in (None, *known):
        raise NoSuchEnvironment(given.system, given.environment, list(known))
    text, missing = _WRITERS[given.to](design, known.get(given.environment))
    for each in missing:
        print_message(f"tablewright: not in the {given.to} file: {each}")
    print(text, end="")
    return 0


def _file(design: Design, as_text: Callable[..., str]) -> tuple[str, Sequence[str]]:
    made = written(design)
    return as_text(made.document), made.dropped


def _create_table(design: Design, environment: Environment | None) -> tuple[str, Sequence[str]]:
    requests = [create_table(design, table, environment) for table in design.tables.values()]
    ttl = [f"{table.name}: TTL by {table.ttl}" for table in design.tables.values() if table.ttl]
    return to_json_text(requests), ttl


def _cloudformation(design: Design, environment: Environment | None) -> tuple[str, Sequence[str]]:
    if not design.environments:
        raise NoEnvironment(design.name)
    if environment is None:
        raise UsageError(f"--to cloudformation needs --environment: one of {', '.join(design.environments)}")
    made = template(deployment_of(design.name, (design,), environment))
    vectors = made.get("Metadata", {}).get("VectorIndexesToCreate", {})
    return to_json_text(made), [
        f"{table}: vector index {name}" for table, names in vectors.items() for name in names
    ]


def _workbench(design: Design, environment: Environment | None) -> tuple[str, Sequence[str]]:
    return to_json_text(workbench_model(design, real_world().now(), environment)), left_out(design)


_WRITERS: dict[str, Callable[[Design, Environment | None], tuple[str, Sequence[str]]]] = {
    "json": lambda design, _: _file(design, to_json_text),
    "yaml": lambda design, _: _file(design, to_yaml_text),
    "create-table": _create_table,
    "cloudformation": _cloudformation,
    "workbench": _workbench,
}
