"""SearchVectors goes to the host that botocore would send it to."""

from types import SimpleNamespace
from typing import Any

import boto3
import pytest
from botocore.config import Config

from tablewright.client.endpoint import endpoint_of, search_endpoint

KEYS = {"aws_access_key_id": "id", "aws_secret_access_key": "secret"}


def asked_by_botocore(verb: str, region: str, config: Config, **request: Any) -> str:
    """The URL of a request that is not sent."""
    client = boto3.client("dynamodb", region_name=region, config=config, **KEYS)
    asked: list[str] = []

    def stop(params: Any, **_: Any) -> Any:
        asked.append(params["url"])
        return SimpleNamespace(status_code=200), {}

    client.meta.events.register("before-call", stop)
    getattr(client, verb)(**request)
    client.close()
    return asked[0]


@pytest.mark.parametrize("region", ["us-east-1", "eu-west-1", "cn-north-1", "us-gov-west-1"])
@pytest.mark.parametrize("both_stacks", [False, True])
@pytest.mark.parametrize("fips", [False, True])
def test_the_host_on_amazon_is_the_one_botocore_would_use(region: str, both_stacks: bool, fips: bool) -> None:
    config = Config(
        use_fips_endpoint=fips, use_dualstack_endpoint=both_stacks, account_id_endpoint_mode="disabled"
    )
    tables = asked_by_botocore("list_tables", region, config)
    search = {"TableName": "pets", "IndexName": "near", "SearchVector": [{"N": "1"}], "TopK": 1}
    assert search_endpoint(endpoint_of(tables)) == endpoint_of(
        asked_by_botocore("search_vectors", region, config, **search)
    )


def test_any_other_host_stays_itself() -> None:
    for url in ("http://127.0.0.1:8000", "https://dynamodb.example.org/base"):
        assert search_endpoint(endpoint_of(url)) == endpoint_of(url)
