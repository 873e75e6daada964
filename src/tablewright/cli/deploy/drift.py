"""`tablewright deploy drift SYSTEM --environment NAME`: list the differences between design and tables."""

import argparse

from tablewright.cli.deploy.comparison import Comparison, add_deploy_arguments, with_comparison
from tablewright.cli.format import as_table, plural
from tablewright.cli.output import print_message, print_result
from tablewright.design import DesignMistake
from tablewright.mapping.deploy.steps import differences
from tablewright.mapping.errors import MappingMistake

EXAMPLES = """Both ways: what the design has and the tables lack, and what the tables have beyond the design. The exit
code is 1 if there is a difference. Settings that the endpoint does not have are named on stderr; they do not count.

tablewright deploy drift travel --environment dev --endpoint http://127.0.0.1:8000
tablewright deploy drift travel --environment prod --region us-east-1 --json"""
ERRORS = (DesignMistake, MappingMistake)
_HEAD = ("table", "what", "live", "design")


def arguments(parser: argparse.ArgumentParser) -> None:
    add_deploy_arguments(parser, json="print a JSON object with the differences")


@with_comparison
def run(given: argparse.Namespace, comparison: Comparison) -> int:
    steps = comparison.steps()
    for step in steps:
        if not step.is_difference:
            print_message(f"{step.table}: {step.subject}: not compared, {step.advice}")
    rows = [(one.table, one.subject, one.live or "-", one.design or "-") for one in differences(steps)]
    title = comparison.deployment.title
    value = {
        "deployment": title,
        "target": comparison.target.name,
        "differences": [dict(zip(_HEAD, row, strict=True)) for row in rows],
        "not_compared": [f"{step.table}: {step.subject}" for step in steps if not step.is_difference],
    }
    count = plural(len(comparison.desired), "table")
    print_result(given, value, as_table(_HEAD, rows) if rows else f"{title}: {count}, no difference")
    return 1 if rows else 0
