"""What an environment sets on a table of a deployment: units, stream, recovery. Pure.

Used by terraform/tables.py (in a file) and mapping/deploy/desired.py (over a Call), so that both make the same table.
"""

from tablewright.design.deployment import Deployment, NotDeployable
from tablewright.design.environments import Provisioned
from tablewright.design.tables import Table

REPLICATED = "NEW_AND_OLD_IMAGES"


def capacity_of(deployment: Deployment, table: Table) -> Provisioned | None:
    """The units a table has; None if it is paid for as it is used, as those without entities always are."""
    if any(auxiliary.table == table for auxiliary in deployment.auxiliary):
        return None
    found = deployment.environment.capacity_of(table.name)
    if not isinstance(found, Provisioned):
        return None
    if deployment.vectors(table):
        raise NotDeployable(
            f"{deployment.title}.{table.name}",
            "it has reserved units and vector indexes, which only a table on demand can have",
            "write capacity=OnDemand()",
        )
    if deployment.environment.replicas:
        # DynamoDB makes a replica only of a table whose writes are scaled already, or paid for by the request; the
        # provider makes replicas with their table, before anything can scale it.
        raise NotDeployable(
            f"{deployment.title}.{table.name}",
            "it has reserved units and replicas, which Terraform's provider cannot make together",
            "write capacity=OnDemand(), or no replicas",
        )
    return found


def stream_of(deployment: Deployment, table: Table) -> str | None:
    """The stream a table has; one with replicas has one of both images, whether it is followed or not."""
    if not deployment.environment.replicas:
        return table.stream
    if table.stream not in (None, REPLICATED):
        raise NotDeployable(
            f"{deployment.title}.{table.name}",
            f"its stream is {table.stream}, and replicas live by {REPLICATED}",
            f'write stream="{REPLICATED}", or no replicas',
        )
    return REPLICATED


def recovery_days_of(deployment: Deployment, table: Table) -> int:
    """For how many days a table can be recovered; 0 if it cannot, as one beside the designs' own never can."""
    return deployment.environment.pitr_days if table in deployment.own else 0
