"""`network.tf`: the way from a network of one's own to the tables, if there is one (SK-D23).

DynamoDB is in no subnet; a gateway endpoint leads to it without the Internet, and its policy says to which tables.
It also holds for whatever else in these subnets talks to DynamoDB: other tables are not reached through it. Nor are
streams, of any table: Amazon has no gateway to them.
"""

from tablewright.design.deployment import Deployment
from tablewright.design.iam import ENCRYPTED, Statement, TableTarget, statement_json
from tablewright.design.policies import LISTS
from tablewright.design.terraform.hcl import Block, Reference, block, policy
from tablewright.design.terraform.roles import arn
from tablewright.design.terraform.versions import ACCOUNT


def network(deployment: Deployment) -> list[Block]:
    tables = [TableTarget(table.name, part) for table in deployment.tables for part in ("", "/index/*")]
    own = {"StringEquals": {"aws:PrincipalAccount": ACCOUNT}}
    statements = (
        Statement("TheseTables", ("dynamodb:*",), tuple(tables), condition=own),
        Statement("Lists", tuple(f"dynamodb:{action}" for action in LISTS), ("*",), condition=own),
        ENCRYPTED,
    )
    endpoint = {
        "count": Reference("var.vpc_id == null ? 0 : 1"),
        "vpc_id": Reference("var.vpc_id"),
        "service_name": f"com.amazonaws.{deployment.environment.region}.dynamodb",
        "vpc_endpoint_type": "Gateway",
        "route_table_ids": Reference("var.route_table_ids"),
        "policy": policy(*({**statement_json(each, arn), "Principal": "*"} for each in statements)),
    }
    return [block("resource", "aws_vpc_endpoint", "dynamodb", endpoint)]
