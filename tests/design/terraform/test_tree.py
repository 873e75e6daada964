"""What is printed of a design: everything it says, nothing it does not, and a refusal where it cannot be said."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any, Literal

import pytest
from pydantic import BaseModel

from tablewright.design import Alarm, Backups, Budget, Design, Environment, Keys, ObjectBucket, Provisioned
from tablewright.design.deployment import Deployment, NotDeployable, label
from tablewright.design.schemas import schema_of
from tablewright.design.terraform import environment_files, module_files
from tablewright.mapping.deployment import deployment_of
from tablewright.systems.portal.design import PORTAL


class Pet(BaseModel):
    owner: str
    name: str
    age: int
    colour: str = ""


def pet_key(owner: str, name: str) -> None: ...


def pets(*alarms: Alarm, **table: Any) -> Design:
    design = Design("pets")
    made = design.table("PetsOfOwners", pk="owner", sk="name", **table)
    by_age = made.lsi("by-age", sk="age", project=("colour",))
    by_colour = made.gsi("by-colour", pk="colourKey", project="KEYS_ONLY")
    on = {by_age: Keys("{owner}", "{age}"), by_colour: Keys("COLOUR#{colour}")}
    made.entity(Pet, pet_key, tag="pet", pk="{owner}", sk="{name}", on=on)
    for alarm in alarms:
        design.alarm(alarm)
    return design.build()


def deployed(design: Design, name: str = "dev", **said: Any) -> Deployment:
    return deployment_of("pets", (design,), Environment(name, "eu-west-1", **said))


def printed(design: Design, name: str = "dev", **said: Any) -> dict[str, str]:
    return environment_files(deployed(design, name, **said))


def module(design: Design, **said: Any) -> str:
    """The resource of a table, and what is around it."""
    return squeezed(module_files([deployed(design, **said)])["dynamodb_table/main.tf"])


def squeezed(text: str) -> str:
    return re.sub(r"\s+", " ", text)


# --- tables ---


def test_a_table_is_a_call_of_the_module_with_its_schema() -> None:
    said = squeezed(printed(pets())["main.tf"])
    assert 'module "pets_of_owners" { source = "../modules/dynamodb_table" name = "PetsOfOwners"' in said
    schema = "schemas/PetsOfOwners/PetsOfOwners.schema.json"
    assert f'schema = jsondecode(file("${{path.module}}/../../{schema}"))' in said
    assert "deletion_protection = var.deletion_protection pitr_days = var.pitr_days }" in said


def test_the_module_defines_the_key_attributes_of_a_schema_and_no_others() -> None:
    said = module(pets())
    keys = "[local.partition_key, local.sort_key], module.gsi.keys, local.local_indexes[*].sortKey"
    assert f"keys = distinct(compact(concat({keys})))" in said
    assert 'dynamic "attribute" { for_each = local.keys' in said


@pytest.mark.parametrize(
    ("encryption", "said"),
    [
        ("owned", None),
        ("managed", "encryption = { kms_key_arn = null }"),
        ("customer", "encryption = { kms_key_arn = aws_kms_key.tables.arn }"),
    ],
)
def test_sk_34_a_table_is_encrypted_with_the_key_that_the_environment_says(
    encryption: Literal["owned", "managed", "customer"], said: str | None
) -> None:
    found = squeezed(printed(pets(), encryption=encryption)["main.tf"])
    assert said is None or said in found
    assert ("encryption =" in found) is (said is not None)
    assert ("enable_key_rotation = true" in found) is (encryption == "customer")


def test_a_key_of_ones_own_is_made_in_every_region_that_has_a_replica() -> None:
    said = printed(pets(), encryption="customer", replicas=("us-east-1",))
    tables = squeezed(said["main.tf"])
    assert "replicas = { us-east-1 = aws_kms_key.us_east_1.arn }" in tables
    assert 'resource "aws_kms_key" "us_east_1" { provider = aws.us_east_1' in tables
    assert 'alias = "us_east_1"' in tables


def test_what_is_protected_from_deletion_cannot_be_destroyed_either() -> None:
    for protected in (True, False):
        files = printed(pets(), deletion_protection=protected)
        said = squeezed(files["main.tf"])
        assert ("prevent_destroy = true" in said) is protected
        assert ("pets_of_owners = module.pets_of_owners.id" in said) is protected
        assert f"deletion_protection = {str(protected).lower()}" in squeezed(files["dev.tfvars"])


def test_reserved_units_and_replicas_are_refused_before_amazon_refuses_them() -> None:
    with pytest.raises(NotDeployable, match="reserved units and replicas"):
        printed(pets(), replicas=("us-east-1",), capacity=Provisioned(5, 5, 50, 50))
    assert printed(pets(), replicas=("us-east-1",))


def test_units_have_a_floor_a_ceiling_and_are_left_as_they_were_scaled_to() -> None:
    said = printed(pets(), capacity=Provisioned(5, 2, max_read=50, target=60))
    tables, scaling = squeezed(said["main.tf"]), squeezed(said["scaling.tf"])
    assert (
        scaling.count("min_capacity = 5 max_capacity = 50")
        == scaling.count('"aws_appautoscaling_target"')
        == 2
    )
    assert 'resource_id = "table/${module.pets_of_owners.name}/index/by-colour"' in scaling
    assert scaling.count("target_value = 60") == 2
    assert tables.count("capacity = {") == 1  # the receipts are paid for as they are used


def test_a_replica_is_recoverable_and_tagged_and_its_table_has_the_stream_it_lives_by() -> None:
    files = printed(pets(), replicas=("us-east-1",), pitr_days=7)
    assert "replicas = { us-east-1 = null }" in squeezed(files["main.tf"])
    assert "pitr_days = 7" in squeezed(files["dev.tfvars"])
    said = module(pets())
    replica = said.partition('dynamic "replica"')[2]
    assert "point_in_time_recovery = local.is_recovered propagate_tags = true" in replica
    assert 'view = length(var.replicas) > 0 ? "NEW_AND_OLD_IMAGES" : var.schema.streams.viewType' in said
    assert "recovery_period_in_days = local.is_recovered ? var.pitr_days : null" in said


def test_what_cannot_be_said_in_terraform_is_refused() -> None:
    with pytest.raises(
        NotDeployable, match="its stream is KEYS_ONLY, and replicas live by NEW_AND_OLD_IMAGES"
    ):
        printed(pets(stream="KEYS_ONLY"), replicas=("us-east-1",))
    with pytest.raises(NotDeployable, match="two tables are called 'all'"):
        printed(pets(), table_name="all")


def test_a_key_of_several_attributes_needs_a_provider_that_can_say_it() -> None:
    design = Design("pets")
    made = design.table("pets", pk="owner", sk="name")
    both, age = made.gsi("by-both", pk=("owner", "colour"), sk=("age", "name")), made.gsi("by-age", pk="age")
    on = {both: Keys(("{owner}", "{colour}"), ("{age}", "{name}")), age: Keys("{age}")}
    made.entity(Pet, pet_key, tag="pet", pk="{owner}", sk="{name}", on=on)
    design.build()
    deployment = deployed(design)
    files = module_files([deployment])
    table, gsi = squeezed(files["dynamodb_table/main.tf"]), squeezed(files["gsi/main.tf"])
    assert 'dynamic "key_schema" { for_each = global_secondary_index.value.key_schema' in table
    assert "hash_key = global_secondary_index" not in table
    assert "warm_throughput = try(var.existing[index.indexName].warm_throughput, [])" in gsi
    (index, _) = schema_of([deployment], deployment.own[0]).global_secondary_indexes
    assert (index.partition_key, index.sort_key) == (("owner", "colour"), ("age", "name"))
    assert 'version = ">= 6.30"' in squeezed(printed(design)["main.tf"])
    assert 'version = ">= 5.100, < 6.13"' in squeezed(printed(pets())["main.tf"])
    assert "key_schema" not in module(pets())


def test_the_units_of_a_table_and_its_indexes_are_those_they_were_scaled_to() -> None:
    units = Provisioned(5, 2, max_read=50)
    called = squeezed(printed(pets(), capacity=units)["main.tf"])
    assert 'capacity = { read = 5 write = 2 scaled = ["read"] }' in called
    scaled, gsi = module(pets(), capacity=units), module_files([deployed(pets())])["gsi/main.tf"]
    now = "try(data.aws_dynamodb_table.existing[0].read_capacity, 0)"
    assert f'max(contains(var.capacity.scaled, "read") ? {now} : 0, var.capacity.read)' in scaled
    assert "try(var.existing[index.indexName].read_capacity, 0) : 0, var.capacity.read)" in gsi
    assert "try(contains(data.aws_dynamodb_tables.existing[0].names, var.name), false) ? 1 : 0" in scaled
    assert "aws_dynamodb_tables" not in module(pets(), capacity=Provisioned(5, 2)) + module(pets())


@pytest.mark.parametrize(
    ("name", "written"),
    [("skratch-data", "skratch_data"), ("ParentalPolicies", "parental_policies"), ("GSI1", "gsi1"),
     ("FTDRuleMapping", "ftd_rule_mapping"), ("PrivateIPIndex", "private_ip_index"), ("us-east-1", "us_east_1")],
)  # fmt: skip
def test_names_are_as_terraform_writes_them(name: str, written: str) -> None:
    assert label(name) == written


# --- around them ---


def test_sk_32_backups_are_made_by_schedule_and_copied_to_another_region() -> None:
    backups = Backups("cron(0 3 * * ? *)", 30, "vault", copy_to="us-west-2")
    files = printed(pets(), backups=backups)
    said = squeezed(files["main.tf"])
    assert "providers = { aws = aws, aws.copy = aws.us_west_2 }" in said
    assert 'vault = "vault" copy_vault = "vault-copies"' in said
    assert "tables = [module.pets_of_owners.arn]" in said
    settings = squeezed(files["dev.tfvars"])
    assert 'backup_schedule = "cron(0 3 * * ? *)" backup_keep_days = 30' in settings
    module = squeezed(module_files([deployed(pets())])["backup/main.tf"])
    assert "destination_vault_arn = copy_action.value lifecycle { delete_after = var.keep_days }" in module


def test_cp_69_the_backups_of_the_portal_have_the_names_of_the_document() -> None:
    said = squeezed(
        environment_files(deployment_of("portal", (PORTAL,), PORTAL.environments["prod"]))["main.tf"]
    )
    names = (
        'plan = "bbws-dynamodb-prod-hourly" rule = "hourly_backup" selection = "bbws-dynamodb-prod-selection"'
    )
    assert names in said
    for table in ("tenants", "products", "campaigns"):
        assert f"module.{table}.arn" in said.partition("tables = [")[2]


def test_sk_d23_the_endpoint_is_made_only_for_a_network_and_leads_to_these_tables_only() -> None:
    said = squeezed(printed(pets())["network.tf"])
    assert "count = var.vpc_id == null ? 0 : 1" in said
    assert 'vpc_endpoint_type = "Gateway"' in said
    assert '"${module.pets_of_owners.arn}/index/*"' in said
    assert "/stream/" not in said  # to which there is no gateway


def test_sk_d24_data_events_are_off_until_somebody_asks() -> None:
    said = printed(pets())
    blocks = said["audit.tf"].count("resource ")
    assert blocks == said["audit.tf"].count("= var.data_events ? 1 : 0") == 7
    assert re.search(r'variable "data_events" \{[^}]*default\s+= false', said["variables.tf"])


def test_an_alarm_looks_at_a_figure_as_amazon_keeps_it() -> None:
    alarms = (
        Alarm("reads", "ConsumedReadCapacityUnits", Decimal(100), 1),
        Alarm("throttled", "ThrottledRequests", Decimal(10), 5),
        Alarm("lag", "ReplicationLatency", Decimal(5000), 5, "Maximum", "ms"),
    )
    alone = squeezed(printed(pets(*alarms))["alarms.tf"])
    assert alone.count('"aws_cloudwatch_metric_alarm"') == 2
    reads, throttled = alone.split('"aws_cloudwatch_metric_alarm"')[1:]
    assert "dimensions = { TableName = module.pets_of_owners.name }" in reads
    assert 'expression = "SUM(METRICS())"' in throttled
    assert 'Operation = "TransactWriteItems"' in throttled
    replicated = squeezed(printed(pets(*alarms), replicas=("us-east-1",))["alarms.tf"])
    assert 'ReceivingRegion = "us-east-1"' in replicated


def test_an_alarm_has_its_own_periods_comparison_and_dimensions() -> None:
    alarms = (
        Alarm(
            "index", "ReadThrottleEvents", Decimal(10), 1, periods=3, to_alarm=2, missing="breaching",
            comparison="GreaterThanOrEqualToThreshold", index="by-colour",
        ),
        Alarm("gets", "SystemErrors", Decimal(5), 5, operation="GetItem"),
        Alarm("quota", "QuotaUsed", Decimal(80), 30, "Maximum", missing="ignore", namespace="Tablewright"),
    )  # fmt: skip
    said = squeezed(printed(pets(*alarms))["alarms.tf"])
    index, gets, quota = said.split('"aws_cloudwatch_metric_alarm"')[1:]
    for words in (
        'comparison_operator = "GreaterThanOrEqualToThreshold"',
        "evaluation_periods = 3",
        "datapoints_to_alarm = 2",
        'treat_missing_data = "breaching"',
        'GlobalSecondaryIndexName = "by-colour"',
    ):
        assert words in index, words
    assert gets.count("Operation = ") == 1
    assert 'namespace = "Tablewright"' in quota
    assert 'dimensions = { System = "pets" }' in quota


def test_an_alarm_on_a_figure_that_no_table_has_is_refused() -> None:
    with pytest.raises(NotDeployable, match="Amazon keeps no figure UserErrors of a table"):
        printed(pets(Alarm("mistakes", "UserErrors", Decimal(10), 5)))


def test_a_budget_is_of_the_account_that_is_named_or_of_dynamodb_where_it_is_shared() -> None:
    money = Budget(Decimal(15), Decimal(12))
    for account in ("", "123456789012"):
        said = printed(pets(), budget=money, account=account)
        assert "limit_amount = tostring(var.budget_limit)" in squeezed(said["budget.tf"])
        assert "budget_limit = 15 budget_alert_at = 12" in squeezed(said["dev.tfvars"])
        assert ("Amazon DynamoDB" in said["budget.tf"]) is (not account)
        assert ("allowed_account_ids" in said["main.tf"]) is bool(account)
        assert "alarms.tf" in said  # the topic that is told


def test_a_budget_counts_the_backups_too_which_are_on_a_bill_of_their_own() -> None:
    said: dict[str, Any] = {
        "budget": Budget(Decimal(15), Decimal(12)),
        "backups": Backups("cron(0 3 * * ? *)", 7, "vault"),
    }
    assert 'values = ["Amazon DynamoDB", "AWS Backup"]' in squeezed(printed(pets(), **said)["budget.tf"])


def test_a_file_that_would_be_empty_is_not_there() -> None:
    assert set(printed(pets())) == {
        "main.tf", "variables.tf", "outputs.tf", "dev.tfvars", "network.tf", "audit.tf", "roles.tf",
    }  # fmt: skip


def test_cp_s14_the_portal_has_the_tags_of_the_document_everywhere_and_is_guarded_in_production() -> None:
    for name, environment in PORTAL.environments.items():
        said = environment_files(deployment_of("portal", (PORTAL,), environment))
        tags = dict(re.findall(r'^ {2}(\w+)\s+= "(.*)"$', said[f"{name}.tfvars"], re.MULTILINE))
        wanted = {
            "Environment": name, "Project": "BBWS WP Containers", "Owner": "Tebogo", "CostCenter": "AWS",
            "ManagedBy": "Terraform", "Component": "dynamodb", "Application": "CustomerPortalPublic",
        }  # fmt: skip
        if name == "prod":
            wanted |= {"BackupPolicy": "hourly", "DR": "enabled", "LLD": "2.1.8"}
        assert tags == wanted
        tables = said["main.tf"].count('source              = "../modules/dynamodb_table"')
        assert tables == 6
        guarded = tables if name == "prod" else 0
        assert said["main.tf"].count("eu-west-1 = null") == guarded
        assert ("prevent_destroy = true" in said["main.tf"]) is bool(guarded)
        protected = f"deletion_protection = {str(name == 'prod').lower()}"
        assert protected in squeezed(said[f"{name}.tfvars"])


def test_who_is_trusted_is_named_by_roles_that_are_there() -> None:
    known = 'setsubtract(keys(var.trusted), ["service", "deployer", "restorer"])'
    assert known in printed(pets())["variables.tf"]


# --- objects ---


def test_a_bucket_is_printed_for_an_environment_with_objects_and_for_no_other() -> None:
    without, found = printed(pets()), printed(pets(), objects=ObjectBucket())
    assert found.keys() - without.keys() == {"objects.tf"}
    assert not any("page_origins" in said or "aws_s3_bucket.objects" in said for said in without.values())
    said = squeezed(found["objects.tf"])
    assert 'bucket = "pets-dev-objects-${data.aws_caller_identity.current.account_id}"' in said
    for closed in (
        "block_public_acls",
        "block_public_policy",
        "ignore_public_acls",
        "restrict_public_buckets",
    ):
        assert f"{closed} = true" in said
    assert 'versioning_configuration { status = "Enabled" }' in said
    assert '"aws:SecureTransport" = "false"' in said
    assert 'sse_algorithm = "AES256"' in said
    assert "aws_s3_bucket.objects.arn" in found["roles.tf"]
    assert "aws_s3_bucket.objects.id" in found["outputs.tf"]


def test_what_is_unfinished_or_replaced_goes_and_an_archive_is_in_the_archive_tier() -> None:
    kept = ObjectBucket(archive="old", replaced_days=3, unfinished_days=2)
    said = squeezed(printed(pets(), objects=kept)["objects.tf"])
    assert "abort_incomplete_multipart_upload { days_after_initiation = 2 }" in said
    assert "noncurrent_version_expiration { noncurrent_days = 3 }" in said
    assert 'prefix = "old/"' in said
    assert 'transition { days = 1 storage_class = "GLACIER" }' in said
    assert "transition" not in printed(pets(), objects=ObjectBucket())["objects.tf"]


def test_pages_may_send_parts_to_a_bucket_from_the_origins_that_are_named() -> None:
    found = printed(pets(), objects=ObjectBucket())
    said = squeezed(found["objects.tf"])
    assert "count = length(var.page_origins) > 0 ? 1 : 0" in said
    assert 'allowed_origins = var.page_origins allowed_methods = ["PUT"]' in said
    assert 'variable "page_origins"' in found["variables.tf"]


def test_a_key_of_ones_own_encrypts_objects_too_and_a_protected_bucket_stays() -> None:
    found = printed(pets(), objects=ObjectBucket(), encryption="customer", deletion_protection=True)
    said = squeezed(found["objects.tf"])
    assert 'sse_algorithm = "aws:kms" kms_master_key_id = aws_kms_key.tables.arn' in said
    assert "prevent_destroy = true" in said
    assert '"s3.eu-west-1.amazonaws.com"' in found["main.tf"]
    assert "s3.eu" not in printed(pets(), encryption="customer")["main.tf"]


def test_cc_57_a_backup_that_fails_is_told_of_where_there_are_backups() -> None:
    budget = Budget(Decimal(10), Decimal(8))
    with_backups = printed(pets(), budget=budget, backups=Backups("cron(0 2 * * ? *)", 30, "pets"))
    assert 'metric_name = "NumberOfBackupJobsFailed"' in squeezed(with_backups["alarms.tf"])
    assert "NumberOfBackupJobsFailed" not in printed(pets(), budget=budget)["alarms.tf"]
