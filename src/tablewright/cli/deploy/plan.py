"""`tablewright deploy plan SYSTEM --environment NAME`: show the steps from the live tables to the design."""

import argparse

from tablewright.cli.deploy.comparison import (
    Comparison,
    add_deploy_arguments,
    plan_text,
    step_value,
    with_comparison,
)
from tablewright.cli.output import print_result
from tablewright.design import DesignMistake
from tablewright.mapping.errors import MappingMistake

EXAMPLES = """Nothing is changed. The exit code is 1 if there is something to be done.

tablewright deploy plan travel --environment dev --endpoint http://127.0.0.1:8000
tablewright deploy plan shop.py:SHOP --environment prod --region eu-west-1 --json"""
ERRORS = (DesignMistake, MappingMistake)


def arguments(parser: argparse.ArgumentParser) -> None:
    add_deploy_arguments(parser, json="print a JSON object with the steps, their requests and costs")


@with_comparison
def run(given: argparse.Namespace, comparison: Comparison) -> int:
    steps = comparison.steps()
    title, place = comparison.deployment.title, comparison.target.name
    value = {"deployment": title, "target": place, "steps": [step_value(step) for step in steps]}
    print_result(given, value, plan_text(steps) or f"{title}: nothing to do, the tables are as designed")
    return 1 if any(step.is_difference for step in steps) else 0
