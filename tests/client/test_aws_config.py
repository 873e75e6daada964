"""Region, endpoint and credentials from the places the AWS tools use."""

from __future__ import annotations

import json
import os
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.client.ways import KEY, KEYS, REGION

from tablewright import Engine
from tablewright.client import HttpCall, NotResolved
from tablewright.wire import serving


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine where nothing is set, and whose settings live in a directory of the test."""
    for name in [name for name in os.environ if name.startswith(("AWS_", "REQUESTS_CA"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    return tmp_path


@pytest.fixture
def keyed_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY.key_id)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", KEY.secret)


@pytest.mark.usefixtures("keyed_environment")
@pytest.mark.parametrize("name", ["AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_DYNAMODB"])
def test_the_environment_is_enough(name: str, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    with serving(engine, credentials=KEYS) as url:
        monkeypatch.setenv(name, url)
        with HttpCall.resolve() as call:
            assert (call.endpoint, call.region) == (url, REGION)
            assert call("ListTables", {}) == {"TableNames": ["pets"]}


@pytest.mark.usefixtures("keyed_environment")
def test_a_region_leads_to_amazon() -> None:
    with HttpCall.resolve(region="eu-west-1") as call:
        assert call.endpoint == "https://dynamodb.eu-west-1.amazonaws.com"


def test_a_profile_holds_everything(home: Path, engine: Engine) -> None:
    with serving(engine, credentials=KEYS) as url:
        (home / "config").write_text(
            f"[profile mine]\nregion = {REGION}\nservices = here\n[services here]\ndynamodb =\n"
            f"  endpoint_url = {url}\n"
        )
        (home / "credentials").write_text(
            f"[mine]\naws_access_key_id = {KEY.key_id}\naws_secret_access_key = {KEY.secret}\n"
        )
        with HttpCall.resolve(profile="mine") as call:
            assert call("ListTables", {}) == {"TableNames": ["pets"]}


def test_credentials_that_expire_are_renewed(home: Path, engine: Engine) -> None:
    """A credential process that gives out a key about to expire, and notes how often it was asked."""
    soon = (datetime.now(UTC) + timedelta(seconds=30)).isoformat()
    answer = {
        "Version": 1,
        "AccessKeyId": KEY.key_id,
        "SecretAccessKey": KEY.secret,
        "Expiration": soon,
    }
    program = home / "process.py"
    program.write_text(
        f"import sys\nopen({str(home / 'asked')!r}, 'a').write('x')\nsys.stdout.write({json.dumps(answer)!r})\n"
    )
    (home / "config").write_text(f"[default]\ncredential_process = {sys.executable} {program}\n")
    with serving(engine, credentials=KEYS) as url, HttpCall.resolve(region=REGION, endpoint=url) as call:
        for _ in range(3):
            call("ListTables", {})
    assert len((home / "asked").read_text()) >= 3


@pytest.mark.usefixtures("keyed_environment")
def test_a_missing_region_is_said() -> None:
    with pytest.raises(NotResolved, match="region"):
        HttpCall.resolve()


def test_missing_credentials_are_said() -> None:
    with pytest.raises(NotResolved, match="AWS_ACCESS_KEY_ID"):
        HttpCall.resolve(region=REGION)


def test_a_profile_that_is_not_there_is_said() -> None:
    with pytest.raises(NotResolved, match="nobody"):
        HttpCall.resolve(region=REGION, profile="nobody")


@pytest.mark.usefixtures("keyed_environment")
def test_certificates_that_are_not_there_are_said(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_CA_BUNDLE", str(home / "nothing.pem"))
    with pytest.raises(NotResolved, match="AWS_CA_BUNDLE"):
        HttpCall.resolve(region=REGION)


def test_without_botocore_the_way_out_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "botocore.session", None)
    with pytest.raises(NotResolved, match=r"pip install 'tablewright\[aws\]'"):
        HttpCall.resolve(region=REGION)
