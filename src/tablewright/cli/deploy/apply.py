"""`tablewright deploy apply SYSTEM --environment NAME`: carry out the plan, step by step."""

import argparse

from tablewright.cli.deploy.comparison import (
    Comparison,
    add_deploy_arguments,
    plan_text,
    step_value,
    with_comparison,
)
from tablewright.cli.format import plural
from tablewright.cli.output import UsageError, print_message, print_result
from tablewright.client import CallFailed
from tablewright.design import DesignMistake
from tablewright.mapping.deploy import Step, apply
from tablewright.mapping.deploy.apply import Left
from tablewright.mapping.errors import MappingMistake

EXAMPLES = """The plan is shown first. Without --yes, steps that lose an index, a stream, recovery, tags or items are
left out. A run that was cut off is continued by running the command again. The exit code is 1 if something is left.

tablewright deploy apply travel --environment dev --endpoint http://127.0.0.1:8000
tablewright deploy apply travel --environment prod --region us-east-1 --yes"""
ERRORS = (DesignMistake, MappingMistake)


def arguments(parser: argparse.ArgumentParser) -> None:
    add_deploy_arguments(
        parser, json="print a JSON object with the steps that were carried out and those left"
    )
    parser.add_argument("--yes", action="store_true", help="carry out steps that lose something, too")


@with_comparison
def run(given: argparse.Namespace, comparison: Comparison) -> int:
    comparison.await_settled()
    steps = comparison.steps()
    title = comparison.deployment.title
    if steps:
        print_message(plan_text(steps))
    left = _carry_out(given, comparison, steps)
    # What is live now decides, not what was sent.
    still = [step for step in comparison.steps() if step.is_difference] if steps else []
    value = {
        "deployment": title,
        "target": comparison.target.name,
        "planned": [step_value(step) for step in steps],
        "left": [{"table": one.step.table, "subject": one.step.subject, "why": one.why} for one in left],
        "differences": [step_value(step) for step in still],
    }
    lines = [f"left: {one.step.table}: {one.step.action} {one.step.subject}: {one.why}" for one in left]
    told = {(one.step.table, one.step.subject) for one in left}
    lines += [
        f"still different: {step.table}: {step.subject}: {step.live} -> {step.design}"
        for step in still
        if (step.table, step.subject) not in told
    ]
    done = (
        f"{title}: {plural(len(steps) - len(left), 'step')} carried out"
        if steps
        else f"{title}: nothing to do"
    )
    print_result(given, value, "\n".join([*lines, done]))
    return 1 if still else 0


def _carry_out(
    given: argparse.Namespace, comparison: Comparison, steps: tuple[Step, ...]
) -> tuple[Left, ...]:
    try:
        return apply(
            comparison.target.call,
            steps,
            allow_loss=given.yes,
            scaling=comparison.scaling,
            notify=print_message,
            is_pending=lambda step: step.is_among(comparison.steps()),
        )
    except CallFailed as error:
        raise UsageError(
            f"{error}; the steps before this one are done, run the command again to continue"
        ) from None
