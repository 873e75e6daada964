"""`network.tf`: the way from a network of one's own to the tables, if there is one (SK-D23).

DynamoDB is in no subnet; a gateway endpoint leads to it without the Internet, and its policy says to which tables.
It also holds for whatever else in these subnets talks to DynamoDB: other tables are not reached through it. Nor are
streams, of any table: Amazon has no gateway to them.
"""

from tablewright.design.deployment import Deployment
from tablewright.design.iam import ENCRYPTED, Statement, TableTarget, statement_json
from tablewright.design.policies import LISTS
from tablewright.design.terraform.hcl import Block, Comment, FunctionCall, Reference, block
from tablewright.design.terraform.roles import arn


def network(deployment: Deployment) -> list[Block | Comment]:
    parts = ("", "/index/*")
    tables = tuple(TableTarget(table.name, part) for table in deployment.tables for part in parts)
    account = {
        "StringEquals": {"aws:PrincipalAccount": Reference("data.aws_caller_identity.current.account_id")}
    }
    statements = (
        Statement("TheseTables", ("dynamodb:*",), tables, condition=account),
        Statement("Lists", tuple(f"dynamodb:{action}" for action in LISTS), ("*",), condition=account),
        ENCRYPTED,
    )
    said = [{**statement_json(each, arn), "Principal": "*"} for each in statements]
    return [
        block(
            "resource",
            "aws_vpc_endpoint",
            "dynamodb",
            body=[
                ("count", Reference("var.vpc_id == null ? 0 : 1")),
                ("vpc_id", Reference("var.vpc_id")),
                ("service_name", f"com.amazonaws.{deployment.environment.region}.dynamodb"),
                ("vpc_endpoint_type", "Gateway"),
                ("route_table_ids", Reference("var.route_table_ids")),
                ("policy", FunctionCall("jsonencode", {"Version": "2012-10-17", "Statement": said})),
            ],
        )
    ]
