"""`tables.tf`: the tables with all that is set on them.

Must hold: exactly the key attributes are defined; what is protected from deletion cannot be destroyed by Terraform
either; a replica is as recoverable as its table, and has its tags. It is not protected from deletion: that is a setting
of the replica's own, which the provider we print for (5.100) cannot say; see deploy/README.md.
"""

from tablewright.design.deployment import Deployment, NotDeployable, label
from tablewright.design.environments import Provisioned
from tablewright.design.table_spec import key_types, projection
from tablewright.design.tables import Index, Table
from tablewright.design.terraform.encryption import encryption, key_address, keys
from tablewright.design.terraform.hcl import Block, Comment, Entry, Reference, block

REPLICATED = "NEW_AND_OLD_IMAGES"


def tables(deployment: Deployment) -> list[Block | Comment]:
    found: list[Block | Comment] = []
    for table in deployment.tables:
        if table.about:
            found.append(Comment(table.about))
        found.append(_table(deployment, table))
    return found + keys(deployment)


def address(table: Table | str) -> str:
    """Where Terraform keeps a table."""
    return f"aws_dynamodb_table.{label(table if isinstance(table, str) else table.name)}"


def _table(deployment: Deployment, table: Table) -> Block:
    environment, indexes = deployment.environment, deployment.indexes(table)
    stream = _stream(deployment, table)
    return block(
        "resource",
        "aws_dynamodb_table",
        label(table.name),
        body=[
            ("name", deployment.physical(table.name)),
            *_capacity(deployment, table),
            ("hash_key", table.pk),
            ("range_key", table.sk) if table.sk else None,
            ("stream_enabled", True) if stream else None,
            ("stream_view_type", stream) if stream else None,
            ("deletion_protection_enabled", environment.deletion_protection),
            *(
                block("attribute", body=[("name", name), ("type", letter)])
                for name, letter in key_types(table, indexes, deployment.shapes(table)).items()
            ),
            *(_index(deployment, index) for index in indexes),
            block("ttl", body=[("attribute_name", table.ttl), ("enabled", True)]) if table.ttl else None,
            _recovery(deployment, table),
            encryption(deployment),
            *(_replica(deployment, table, region) for region in environment.replicas),
            _lifecycle(deployment, table),
        ],
    )


def is_recovered(deployment: Deployment, table: Table) -> bool:
    return table in deployment.own and deployment.environment.pitr_days > 0


def capacity_of(deployment: Deployment, table: Table) -> Provisioned | None:
    """The units a table has; None if it is paid for as it is used, as those without entities always are."""
    if any(auxiliary.table == table for auxiliary in deployment.auxiliary):
        return None
    found = deployment.environment.capacity_of(table.name)
    return found if isinstance(found, Provisioned) else None


def _capacity(deployment: Deployment, table: Table) -> list[Entry]:
    units = capacity_of(deployment, table)
    if units is None:
        return [("billing_mode", "PAY_PER_REQUEST")]
    if deployment.environment.replicas:
        # DynamoDB makes a replica only of a table whose writes are scaled already, or paid for by the request; the
        # provider makes replicas with their table, before anything can scale it.
        raise NotDeployable(
            f"{deployment.title}.{table.name}",
            "it has reserved units and replicas, which Terraform's provider cannot make together",
            "write capacity=OnDemand(), or no replicas",
        )
    return [("billing_mode", "PROVISIONED"), ("read_capacity", units.read), ("write_capacity", units.write)]


def _stream(deployment: Deployment, table: Table) -> str | None:
    """The stream a table has; one with replicas has one of both images, whether anybody follows it or not."""
    if not deployment.environment.replicas:
        return table.stream
    if table.stream not in (None, REPLICATED):
        raise NotDeployable(
            f"{deployment.title}.{table.name}",
            f"its stream is {table.stream}, and replicas live by {REPLICATED}",
            f'write stream="{REPLICATED}", or no replicas',
        )
    return REPLICATED


def _index(deployment: Deployment, index: Index) -> Block:
    if len(index.pk) > 1 or len(index.sk) > 1:
        raise NotDeployable(
            f"{deployment.title}.{index.table.name}.{index.name}",
            "its key has several attributes in one half, which Terraform's provider cannot say",
            "make one attribute of them by a template",
        )
    kind, names = projection(index, deployment.shapes(index.table))
    carried: list[Entry | None] = [
        ("projection_type", kind),
        ("non_key_attributes", names) if names else None,
    ]
    if index.local:
        body: list[Entry | None] = [("name", index.name), ("range_key", index.sk[0]), *carried]
        return block("local_secondary_index", body=body)
    units = capacity_of(deployment, index.table)
    return block(
        "global_secondary_index",
        body=[
            ("name", index.name),
            ("hash_key", index.pk[0]),
            ("range_key", index.sk[0]) if index.sk else None,
            ("read_capacity", units.read) if units else None,
            ("write_capacity", units.write) if units else None,
            *carried,
        ],
    )


def _recovery(deployment: Deployment, table: Table) -> Block:
    if not is_recovered(deployment, table):
        return block("point_in_time_recovery", body=[("enabled", False)])
    days = deployment.environment.pitr_days
    return block("point_in_time_recovery", body=[("enabled", True), ("recovery_period_in_days", days)])


# --- replicas, and staying ---


def _replica(deployment: Deployment, table: Table, region: str) -> Block:
    key = f"{key_address(deployment, region)}.arn"
    return block(
        "replica",
        body=[
            ("region_name", region),
            ("kms_key_arn", Reference(key)) if deployment.environment.encryption == "customer" else None,
            ("point_in_time_recovery", is_recovered(deployment, table)),
            ("propagate_tags", True),
        ],
    )


def _lifecycle(deployment: Deployment, table: Table) -> Block | None:
    units = capacity_of(deployment, table)
    ignored = []
    if units is not None and units.max_read:
        ignored.append(Reference("read_capacity"))
    if units is not None and units.max_write:
        ignored.append(Reference("write_capacity"))
    stays = deployment.environment.deletion_protection
    if not (ignored or stays):
        return None
    return block(
        "lifecycle",
        body=[("prevent_destroy", True) if stays else None, ("ignore_changes", ignored) if ignored else None],
    )
