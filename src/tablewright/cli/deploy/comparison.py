"""What the deploy commands share: a deployment and its live tables, compared; how steps are printed.

Must hold: on AWS, an environment is only compared with tables of its own region and account.
"""

import argparse
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

from tablewright.cli.designs import add_design_arguments, load_deployment, plain_deployment
from tablewright.cli.format import escape_unprintable
from tablewright.cli.output import UsageError, print_message
from tablewright.cli.target import REGION, Target, add_target_options, is_aws, open_target, run_with
from tablewright.client import Call, Credentials, HttpCall, through_boto3
from tablewright.client.aws_config import service_client
from tablewright.client.retries import Retries
from tablewright.design.deployment import Deployment
from tablewright.design.prices import PRICES, Prices
from tablewright.mapping.deploy import Step, TableState, await_settled, desired_tables, live_tables, plan

_SCALING = "application-autoscaling"


@dataclass(frozen=True, slots=True)
class Comparison:
    """A deployment and where it is deployed."""

    deployment: Deployment
    desired: tuple[TableState, ...]
    target: Target
    scaling: Call | None

    def steps(self) -> tuple[Step, ...]:
        """The plan from what is live now."""
        live = live_tables(self.target.call, (table.name for table in self.desired), self.scaling)
        _refuse_other_account(self, live)
        for name, table in live.items():
            if table is not None and table.busy:
                print_message(f"{name}: {table.busy}")
        return plan(self.desired, live, _prices(self.deployment), has_scaling=self.scaling is not None)

    def await_settled(self) -> None:
        """Wait for what an earlier run, or another process, has begun."""
        for table in self.desired:
            await_settled(self.target.call, table.name, Retries(), print_message)


def add_deploy_arguments(parser: argparse.ArgumentParser, *, json: str) -> None:
    add_design_arguments(parser)
    add_target_options(parser, json=json)
    parser.add_argument(
        "--scaling-endpoint",
        metavar="URL",
        help="where Application Auto Scaling is, for an --endpoint that is not AWS's (default: there is none)",
    )


@contextmanager
def open_comparison(given: argparse.Namespace) -> Iterator[Comparison]:
    """The deployment and the tables that the options name; without --environment, by their plain names."""
    deployment = plain_deployment(given.system) if given.environment is None else load_deployment(given)
    desired = desired_tables(deployment)
    with open_target(given) as target, _open_scaling(given, target) as scaling:
        region = getattr(target.call, "region", None)
        wanted = deployment.environment.region
        if given.environment is not None and _is_on_aws(target) and region != wanted:
            raise UsageError(
                f"{deployment.title} is of region {wanted}, and the tables are those of {region}; add --region {wanted}"
            )
        yield Comparison(deployment, desired, target, scaling)


with_comparison: Callable[
    [Callable[[argparse.Namespace, Comparison], int]], Callable[[argparse.Namespace], int]
] = run_with(open_comparison)


@contextmanager
def _open_scaling(given: argparse.Namespace, target: Target) -> Iterator[Call | None]:
    if not (_is_on_aws(target) or given.scaling_endpoint):
        yield None
        return
    region = target.call.region if isinstance(target.call, HttpCall) else given.region or REGION
    keys = None if _is_on_aws(target) else Credentials("any", "any")
    with closing(service_client(_SCALING, region, given.scaling_endpoint, given.profile, keys)) as client:
        yield through_boto3(client)


def _is_on_aws(target: Target) -> bool:
    return isinstance(target.call, HttpCall) and is_aws(target.call.endpoint)


def _refuse_other_account(comparison: Comparison, live: dict[str, TableState | None]) -> None:
    account = comparison.deployment.environment.account
    if not account or not _is_on_aws(comparison.target):
        return
    for table in filter(None, live.values()):
        found = table.arn.split(":")[4]
        if found != account:
            raise UsageError(
                f"{comparison.deployment.title} is of account {account}, and {table.name} is in {found}; use --profile"
            )


def _prices(deployment: Deployment) -> Prices | None:
    return PRICES.regions.get(deployment.environment.region)


def step_value(step: Step) -> dict[str, Any]:
    """A step as --json prints it."""
    return {
        "table": step.table,
        "action": step.action,
        "subject": step.subject,
        "live": step.live,
        "design": step.design,
        "needs": step.needs,
        "loses": step.loses or None,
        "advice": step.advice or None,
        "cost": {"once": step.cost.once, "monthly": step.cost.monthly, "how": step.cost.how},
        "calls": [{"verb": verb, "request": request} for verb, request in step.calls],
    }


def plan_text(steps: tuple[Step, ...]) -> str:
    return "\n".join(line for step in steps for line in _lines(step))


def _lines(step: Step) -> Iterator[str]:
    yield f"{step.table}: {step.action} {step.subject}"
    if step.live or step.design:
        yield escape_unprintable(f"    {step.live or '-'} -> {step.design}")
    if step.can_run:
        yield f"    needs: {step.needs}; costs: {step.cost.how}"
    else:
        yield f"    not done here ({step.needs}): {step.advice}"
    if step.loses:
        yield escape_unprintable(f"    LOSES {step.loses} (only with --yes)")
