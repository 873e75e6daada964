"""`--buckets`: where a server keeps what it exports, and what it says when there is no such place."""

from __future__ import annotations

import time
from pathlib import Path

import boto3
import pytest
from tests.cli.command import here, served, url_in

PETS = {
    "TableName": "pets",
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": "name", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "name", "KeyType": "HASH"}],
}


@pytest.mark.parametrize(
    ("arguments", "home"),
    [(("--memory", "--buckets", "vaults"), "vaults"), (("--data", "store"), "store/buckets")],
)
def test_exports_go_to_the_directory_that_is_named_or_into_the_store(
    arguments: tuple[str, ...], home: str, tmp_path: Path
) -> None:
    with served(*arguments, cwd=tmp_path) as (line, _):
        client = boto3.client(
            "dynamodb",
            endpoint_url=url_in(line),
            region_name="us-east-1",
            aws_access_key_id="any",
            aws_secret_access_key="any",
        )
        arn = client.create_table(**PETS)["TableDescription"]["TableArn"]
        client.update_continuous_backups(
            TableName="pets", PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
        )
        made = client.export_table_to_point_in_time(TableArn=arn, S3Bucket="mine")["ExportDescription"]
        give_up = time.monotonic() + 20
        while made["ExportStatus"] == "IN_PROGRESS":
            assert time.monotonic() < give_up, "the export does not end"
            time.sleep(0.02)
            made = client.describe_export(ExportArn=made["ExportArn"])["ExportDescription"]
        assert made["ExportStatus"] == "COMPLETED"
        assert (tmp_path / home / "mine" / made["ExportManifest"]).is_file()
        client.close()


@pytest.mark.parametrize("command", [("engine", "serve"), ("serve", "--no-seed", "--no-dynamodb")])
def test_a_place_that_cannot_be_is_refused_before_a_store_is_made(
    command: tuple[str, ...], tmp_path: Path
) -> None:
    ran = here(*command, "--port", "0", "--data", tmp_path / "store", "--buckets", "s3:nonsense")
    assert ran.code == 2
    assert "nonsense" in ran.err
    assert not (tmp_path / "store").exists()
