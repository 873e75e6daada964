"""Where the schema of a table is in a repository."""

from tablewright.design.deployment import Deployment, label
from tablewright.design.tables import Table


def schema_path(deployment: Deployment, table: Table) -> str:
    """`schemas/tenants/tenant.schema.json`: the table, and what one item of it is if the table is named after that."""
    tags = [shape.tag for shape in deployment.shapes(table)][:1]
    named = f"_{label(table.name)}"
    name = next((tag for tag in tags if named.endswith((f"_{tag}", f"_{tag}s"))), table.name)
    return f"schemas/{table.name}/{name}.schema.json"
