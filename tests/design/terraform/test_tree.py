"""What is printed of a design: everything it says, nothing it does not, and a refusal where it cannot be said."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import BaseModel

from tablewright.design import Alarm, Backups, Budget, Design, Environment, Keys, ObjectBucket, Provisioned
from tablewright.design.deployment import NotDeployable, label
from tablewright.design.terraform import AnotherTree, NotOurs, differences, tree, write
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


def printed(design: Design, name: str = "dev", **said: Any) -> dict[str, str]:
    return tree(deployment_of("pets", (design,), Environment(name, "eu-west-1", **said)))


def squeezed(text: str) -> str:
    return re.sub(r"\s+", " ", text)


# --- tables ---


def test_a_table_defines_its_key_attributes_with_their_types_and_no_others() -> None:
    said = squeezed(printed(pets())["tables.tf"]).partition('"receipts"')[0]
    found = re.findall(r'attribute \{ name = "(\w+)" type = "(\w)" \}', said)
    assert found == [("owner", "S"), ("name", "S"), ("age", "N"), ("colourKey", "S")]
    assert 'local_secondary_index { name = "by-age" range_key = "age" projection_type = "INCLUDE"' in said
    assert 'non_key_attributes = ["colour"]' in said
    assert 'hash_key = "colourKey" projection_type = "KEYS_ONLY"' in said


@pytest.mark.parametrize(
    ("encryption", "said"),
    [
        ("owned", None),
        ("managed", "server_side_encryption { enabled = true }"),
        ("customer", "server_side_encryption { enabled = true kms_key_arn = aws_kms_key.tables.arn }"),
    ],
)
def test_sk_34_a_table_is_encrypted_with_the_key_that_the_environment_says(
    encryption: Literal["owned", "managed", "customer"], said: str | None
) -> None:
    found = squeezed(printed(pets(), encryption=encryption)["tables.tf"])
    assert said is None or said in found
    assert ("server_side_encryption" in found) is (said is not None)
    assert ("enable_key_rotation = true" in found) is (encryption == "customer")


def test_a_key_of_ones_own_is_made_in_every_region_that_has_a_replica() -> None:
    said = printed(pets(), encryption="customer", replicas=("us-east-1",))
    tables = squeezed(said["tables.tf"])
    assert "kms_key_arn = aws_kms_key.us_east_1.arn" in tables
    assert 'resource "aws_kms_key" "us_east_1" { provider = aws.us_east_1' in tables
    assert 'alias = "us_east_1"' in squeezed(said["terraform.tf"])


def test_what_is_protected_from_deletion_cannot_be_destroyed_either() -> None:
    for protected in (True, False):
        said = squeezed(printed(pets(), deletion_protection=protected)["tables.tf"])
        assert ("prevent_destroy = true" in said) is protected
        assert f"deletion_protection_enabled = {str(protected).lower()}" in said


def test_reserved_units_and_replicas_are_refused_before_amazon_refuses_them() -> None:
    with pytest.raises(NotDeployable, match="reserved units and replicas"):
        printed(pets(), replicas=("us-east-1",), capacity=Provisioned(5, 5, 50, 50))
    assert printed(pets(), replicas=("us-east-1",))


def test_units_have_a_floor_a_ceiling_and_are_left_as_they_were_scaled_to() -> None:
    said = printed(pets(), capacity=Provisioned(5, 2, max_read=50, target=60))
    tables, scaling = squeezed(said["tables.tf"]), squeezed(said["scaling.tf"])
    assert 'billing_mode = "PROVISIONED" read_capacity = 5 write_capacity = 2' in tables
    assert "ignore_changes = [read_capacity]" in tables
    assert (
        scaling.count("min_capacity = 5 max_capacity = 50")
        == scaling.count('"aws_appautoscaling_target"')
        == 2
    )
    assert 'resource_id = "table/${aws_dynamodb_table.pets_of_owners.name}/index/by-colour"' in scaling
    assert scaling.count("target_value = 60") == 2
    assert "PAY_PER_REQUEST" in tables.partition('"receipts"')[2]


def test_a_replica_is_recoverable_and_tagged_and_its_table_has_the_stream_it_lives_by() -> None:
    said = squeezed(printed(pets(), replicas=("us-east-1",), pitr_days=7)["tables.tf"])
    assert 'replica { region_name = "us-east-1" point_in_time_recovery = true propagate_tags = true }' in said
    assert 'stream_enabled = true stream_view_type = "NEW_AND_OLD_IMAGES"' in said
    assert "recovery_period_in_days = 7" in said


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
    said = printed(design.build())
    tables = squeezed(said["tables.tf"])
    parts = re.findall(r'key_schema \{ attribute_name = "(\w+)" key_type = "(\w+)" \}', tables)
    assert parts == [
        ("owner", "HASH"), ("colour", "HASH"), ("age", "RANGE"), ("name", "RANGE"), ("age", "HASH"),
    ]  # fmt: skip
    assert 'version = ">= 6.30"' in squeezed(said["terraform.tf"])
    assert 'for_each = try(local.pets_indexes["by-both"].warm_throughput, [])' in tables
    assert 'version = ">= 5.100, < 6.13"' in squeezed(printed(pets())["terraform.tf"])


def test_the_units_of_an_index_are_those_it_was_scaled_to() -> None:
    scaled = squeezed(printed(pets(), capacity=Provisioned(5, 2, max_read=50))["tables.tf"])
    now = 'local.pets_of_owners_indexes["by-colour"].read_capacity'
    assert f"read_capacity = max(try({now}, 5), 5) write_capacity = 2" in scaled
    assert 'try(contains(data.aws_dynamodb_tables.existing.names, "PetsOfOwners"), false) ? 1 : 0' in scaled
    fixed = printed(pets(), capacity=Provisioned(5, 2))["tables.tf"]
    assert "data.aws_dynamodb_tables" not in fixed + printed(pets())["tables.tf"]


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
    said = squeezed(printed(pets(), backups=backups)["backups.tf"])
    assert 'schedule = "cron(0 3 * * ? *)" lifecycle { delete_after = 30 }' in said
    assert (
        "copy_action { destination_vault_arn = aws_backup_vault.copy.arn lifecycle { delete_after = 30 } }"
        in said
    )
    assert 'resource "aws_backup_vault" "copy" { provider = aws.us_west_2' in said
    assert "resources = [aws_dynamodb_table.pets_of_owners.arn]" in said


def test_sk_d23_the_endpoint_is_made_only_for_a_network_and_leads_to_these_tables_only() -> None:
    said = squeezed(printed(pets())["network.tf"])
    assert "count = var.vpc_id == null ? 0 : 1" in said
    assert 'vpc_endpoint_type = "Gateway"' in said
    assert '"${aws_dynamodb_table.pets_of_owners.arn}/index/*"' in said
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
    assert "dimensions = { TableName = aws_dynamodb_table.pets_of_owners.name }" in reads
    assert 'expression = "SUM(METRICS())"' in throttled
    assert 'Operation = "TransactWriteItems"' in throttled
    replicated = squeezed(printed(pets(*alarms), replicas=("us-east-1",))["alarms.tf"])
    assert 'ReceivingRegion = "us-east-1"' in replicated


def test_an_alarm_on_a_figure_that_no_table_has_is_refused() -> None:
    with pytest.raises(NotDeployable, match="Amazon keeps no figure UserErrors of a table"):
        printed(pets(Alarm("mistakes", "UserErrors", Decimal(10), 5)))


def test_a_budget_is_of_the_account_that_is_named_or_of_dynamodb_where_it_is_shared() -> None:
    money = Budget(Decimal(15), Decimal(12))
    for account in ("", "123456789012"):
        said = printed(pets(), budget=money, account=account)
        assert 'limit_amount = "15"' in squeezed(said["budget.tf"])
        assert ("Amazon DynamoDB" in said["budget.tf"]) is (not account)
        assert ("allowed_account_ids" in said["terraform.tf"]) is bool(account)
        assert "alarms.tf" in said  # the topic that is told


def test_a_budget_counts_the_backups_too_which_are_on_a_bill_of_their_own() -> None:
    said: dict[str, Any] = {
        "budget": Budget(Decimal(15), Decimal(12)),
        "backups": Backups("cron(0 3 * * ? *)", 7, "vault"),
    }
    assert 'values = ["Amazon DynamoDB", "AWS Backup"]' in squeezed(printed(pets(), **said)["budget.tf"])


def test_a_file_that_would_be_empty_is_not_there() -> None:
    assert set(printed(pets())) == {
        "terraform.tf", "variables.tf", "tables.tf", "network.tf", "audit.tf", "roles.tf", "outputs.tf",
    }  # fmt: skip


def test_cp_s14_the_portal_has_the_tags_of_the_document_everywhere_and_is_guarded_in_production() -> None:
    for name, environment in PORTAL.environments.items():
        said = tree(deployment_of("portal", (PORTAL,), environment))
        tags = dict(re.findall(r'^ {6}(\w+)\s+= "(.*)"$', said["terraform.tf"], re.MULTILINE))
        tags = {key: value for key, value in tags.items() if key not in ("source", "version")}
        wanted = {
            "Environment": name, "Project": "BBWS WP Containers", "Owner": "Tebogo", "CostCenter": "AWS",
            "ManagedBy": "Terraform", "Component": "dynamodb", "Application": "CustomerPortalPublic",
        }  # fmt: skip
        if name == "prod":
            wanted |= {"BackupPolicy": "hourly", "DR": "enabled", "LLD": "2.1.8"}
        assert tags == wanted
        tables = said["tables.tf"].count('resource "aws_dynamodb_table"')
        assert tables == 6
        guarded = tables if name == "prod" else 0
        assert said["tables.tf"].count("prevent_destroy = true") == guarded
        assert said["tables.tf"].count('region_name            = "eu-west-1"') == guarded


# --- in a directory ---


def test_a_tree_is_written_once_and_then_is_so(tmp_path: Path) -> None:
    files = printed(pets())
    assert differences(files, tmp_path / "tree").missing == tuple(files)
    write(files, tmp_path / "tree")
    assert not differences(files, tmp_path / "tree")
    (tmp_path / "tree" / "tables.tf").write_text(files["tables.tf"] + "# by hand\n")
    assert differences(files, tmp_path / "tree").changed == ("tables.tf",)


def test_a_file_of_ours_that_is_not_printed_any_more_goes_and_one_of_somebodys_stays(tmp_path: Path) -> None:
    backups = Backups("cron(0 3 * * ? *)", 30, "vault")
    write(printed(pets(), backups=backups), tmp_path)
    (tmp_path / "backend.tf").write_text("terraform {}\n")
    found = write(printed(pets()), tmp_path)
    assert found.left_over == ("backups.tf",)
    assert not (tmp_path / "backups.tf").exists()
    assert (tmp_path / "backend.tf").exists()


def test_the_tree_of_another_environment_is_not_written_over(tmp_path: Path) -> None:
    write(printed(pets()), tmp_path)
    before = (tmp_path / "tables.tf").read_text()
    with pytest.raises(AnotherTree, match="another design or environment"):
        write(printed(pets(), name="other"), tmp_path)
    assert (tmp_path / "tables.tf").read_text() == before


def test_who_is_trusted_is_named_by_roles_that_are_there() -> None:
    known = 'setsubtract(keys(var.trusted), ["service", "deployer", "restorer"])'
    assert known in printed(pets())["variables.tf"]


def test_nothing_is_written_where_somebodys_file_is_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "tables.tf").write_text("# mine\n")
    with pytest.raises(NotOurs, match=r"tables\.tf was not printed by tablewright"):
        write(printed(pets()), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["tables.tf"]
    assert (tmp_path / "tables.tf").read_text() == "# mine\n"


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
    assert '"s3.eu-west-1.amazonaws.com"' in found["tables.tf"]
    assert "s3.eu" not in printed(pets(), encryption="customer")["tables.tf"]


def test_cc_57_a_backup_that_fails_is_told_of_where_there_are_backups() -> None:
    budget = Budget(Decimal(10), Decimal(8))
    with_backups = printed(pets(), budget=budget, backups=Backups("cron(0 2 * * ? *)", 30, "pets"))
    assert 'metric_name = "NumberOfBackupJobsFailed"' in squeezed(with_backups["alarms.tf"])
    assert "NumberOfBackupJobsFailed" not in printed(pets(), budget=budget)["alarms.tf"]
