"""The tables of a deployment made what the design says, over a Call: states, a plan of steps, and carrying it out.

    plan(desired_tables(deployment), live_tables(call, names))      # a pure comparison: tuple[Step, ...]
    apply(call, steps, allow_loss=False)                            # one step after another, each awaited

Must hold: the plan of equal states is empty; a step that loses something says so, and runs only if that is allowed.
Elsewhere: the same tables as Terraform (design/terraform/), tables with a new key (mapping/migrate/).
"""

from tablewright.mapping.deploy.apply import apply, await_settled
from tablewright.mapping.deploy.desired import desired_tables
from tablewright.mapping.deploy.live import live_tables
from tablewright.mapping.deploy.plan import plan
from tablewright.mapping.deploy.states import TableState
from tablewright.mapping.deploy.steps import Step

__all__ = ["Step", "TableState", "apply", "await_settled", "desired_tables", "live_tables", "plan"]
