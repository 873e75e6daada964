"""Two processes of Campus Cloud without a disk: tables on a server, objects in S3, secrets in files or in a variable.

One is given --endpoint, the other --amazon with the address of the same server in AWS_ENDPOINT_URL_DYNAMODB, which
botocore knows: what is not tested here is Amazon itself.
"""

import hashlib
import os
import re
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import boto3
import httpx
import pytest
from tests import fork_server
from tests.app.test_mail import Server, free_port
from tests.app.test_mail import server as mail_server
from tests.app.test_processes import KEYS, PATIENCE, ready, until
from tests.cli.command import COMMAND, here, served, url_in
from tests.s3_server import s3_server

from tablewright.app.secret_variable import packed
from tablewright.client import Credentials, HttpCall, pages

DOOR = "/console/campus/sign-in"
VARIABLE, BUCKET = "CAMPUS_SECRETS", "campus-objects"
LIN, MALLORY = "lin@example.com", "mallory@example.com"


@dataclass
class Campus:
    """Two processes, and what they share."""

    tables: str
    urls: tuple[str, str]
    processes: list[subprocess.Popen[str]]
    said: list[list[str]]
    mail: Server
    bucket: Any
    # Owners of the leases that the first process had when it was alone.
    first_owners: set[str]

    def code_to(self, address: str) -> str:
        """The newest code that was mailed to an address."""
        until(lambda: any(message["To"] == address for message in self.mail.messages))
        found = re.search(
            r"\d{6}", [each for each in self.mail.messages if each["To"] == address][-1]["Subject"]
        )
        assert found is not None
        return found[0]

    def live_owners(self) -> set[str]:
        return live_owners(self.tables)


def live_owners(tables: str) -> set[str]:
    """Who has a lease now, of what one process does at a time or of a shard."""
    now, found = datetime.now(UTC).isoformat(), set()
    with HttpCall(tables, "us-east-1", Credentials("any", "any")) as call:
        for table in ("house-prod", "stream_consumers"):
            for page in pages(call, "Scan", {"TableName": table, "ConsistentRead": True}):
                for item in page["Items"]:
                    if "owner" in item and "until" in item and item["until"]["S"] > now:
                        found.add(item["owner"]["S"])
    return found


def started(options: list[str], environment: Mapping[str, str]) -> subprocess.Popen[str]:
    own = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    return fork_server.start(
        [*COMMAND, "serve", *options], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        env={**own, **KEYS, **environment},
    )  # fmt: skip


@pytest.fixture(scope="module")
def campus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Campus]:
    home = tmp_path_factory.mktemp("campus")
    with ExitStack() as stack:
        line, _ = stack.enter_context(served("--memory"))
        tables, s3 = url_in(line), stack.enter_context(s3_server())
        mail = stack.enter_context(mail_server())
        bucket = boto3.resource(
            "s3", endpoint_url=s3, region_name="us-east-1", aws_access_key_id="a", aws_secret_access_key="b"
        ).Bucket(BUCKET)
        bucket.create()
        assert here("secrets", home / "secrets").code == 0
        ports = free_port(), free_port()
        options = [
            "--objects", f"s3://{BUCKET}/prod", "--url", f"http://127.0.0.1:{ports[0]}", "--only", "campus",
            "--environment", "prod", "--no-seed", "--no-demo-sign-in", "--mail-from", "Campus <post@example.com>",
            "--smtp", f"smtp+plain://127.0.0.1:{mail.port}", "--backups",
        ]  # fmt: skip
        first = started(
            [*options, "--port", str(ports[0]), "--endpoint", tables, "--secrets", str(home / "secrets")],
            {"AWS_ENDPOINT_URL_S3": s3},
        )
        processes, said = [first], []
        try:
            said.append(ready(first))
            until(lambda: live_owners(tables) != set())
            owners = live_owners(tables)
            second = started(
                [*options, "--port", str(ports[1]), "--amazon", "us-east-1", "--secrets-variable", VARIABLE],
                {
                    "AWS_ENDPOINT_URL_S3": s3,
                    "AWS_ENDPOINT_URL_DYNAMODB": tables,
                    VARIABLE: packed(home / "secrets"),
                },
            )
            processes.append(second)
            said.append(ready(second))
            for address in (LIN, MALLORY):
                assert here("people", "add", address, "--endpoint", tables, "--environment", "prod").code == 0
            urls = (f"http://127.0.0.1:{ports[0]}", f"http://127.0.0.1:{ports[1]}")
            yield Campus(tables, urls, processes, said, mail, bucket, owners)
        finally:
            for process in processes:
                process.kill()
                process.wait(30)
                assert process.stdout is not None
                process.stdout.close()


@pytest.fixture(scope="module")
def lin(campus: Campus) -> Iterator[httpx.Client]:
    """Who asked the first process for a code, and gave it to the second."""
    with httpx.Client(timeout=PATIENCE) as client:
        before = len(campus.mail.messages)
        assert client.post(f"{campus.urls[0]}{DOOR}", data={"email": LIN}).status_code < 400
        until(lambda: len(campus.mail.messages) > before)
        typed = {"email": LIN, "code": campus.code_to(LIN)}
        assert client.post(f"{campus.urls[1]}{DOOR}/code", data=typed).status_code == 303
        yield client


def test_each_says_at_its_start_what_it_uses(campus: Campus) -> None:
    first, second = ("\n".join(lines) for lines in campus.said)
    for said in (first, second):
        assert f"tables    {campus.tables} (environment prod)" in said
        assert f"objects   s3://{BUCKET}/prod" in said
        assert "mail      " in said
        assert "backups   Campus Cloud: " in said
    assert "/secrets\n" in first
    assert f"secrets   the variable {VARIABLE}" in second


def test_a_code_of_one_process_is_used_up_at_the_other_and_wrong_ones_are_counted_together(
    campus: Campus, lin: httpx.Client
) -> None:
    used = {"email": LIN, "code": campus.code_to(LIN)}
    with httpx.Client(timeout=PATIENCE) as stranger:
        assert stranger.post(f"{campus.urls[0]}{DOOR}/code", data=used).status_code == 422
        stranger.post(f"{campus.urls[0]}{DOOR}", data={"email": MALLORY})
        right = campus.code_to(MALLORY)
        wrong = f"{(int(right) + 1) % 1_000_000:06}"
        for turn in range(6):
            url = campus.urls[turn % 2]
            assert (
                stranger.post(f"{url}{DOOR}/code", data={"email": MALLORY, "code": wrong}).status_code >= 400
            )
        for url in campus.urls:
            late = stranger.post(f"{url}{DOOR}/code", data={"email": MALLORY, "code": right})
            assert late.status_code >= 400, "tries at either process use up the code"


def test_a_file_that_is_uploaded_to_both_is_downloaded_from_either_and_is_in_the_bucket(
    campus: Campus, lin: httpx.Client
) -> None:
    first, second = (f"{url}/campus/v1" for url in campus.urls)
    content = b"the same bytes\n" * 1000
    digest = hashlib.sha256(content).hexdigest()
    body = {
        "filename": "notes.txt",
        "fileSize": len(content),
        "contentType": "text/plain",
        "checksum": digest,
    }
    begun = lin.post(f"{first}/files", json=body)
    assert begun.status_code == 201, begun.text
    upload = begun.json()
    part = lin.put(f"{second}/uploads/{upload['uploadId']}/parts/1", content=content)
    assert part.status_code == 204, part.text
    complete = {"uploadId": upload["uploadId"], "checksum": digest}
    done = lin.post(f"{first}/files/{upload['fileId']}:complete", json=complete)
    assert done.status_code == 200, done.text
    for api in (first, second):
        got = lin.get(f"{api}/files/{upload['fileId']}/content", follow_redirects=True)
        assert (got.status_code, got.content) == (200, content)
    assert any(
        each.key.startswith("prod/campus/") and each.size == len(content)
        for each in campus.bucket.objects.all()
    )


def test_the_tables_are_backed_up_once_by_the_schedule_of_the_environment(campus: Campus) -> None:
    def backups() -> list[tuple[str, str]]:
        with HttpCall(campus.tables, "us-east-1", Credentials("any", "any")) as call:
            found = [one for page in pages(call, "ListBackups", {}) for one in page["BackupSummaries"]]
        return sorted((one["TableName"], one["BackupName"]) for one in found)

    until(lambda: len(backups()) >= 2)
    assert len(set(backups())) == len(backups())
    assert all(name.startswith("tablewright-daily-") for _, name in backups())


def test_a_process_that_is_told_to_stop_has_no_lease_when_it_is_gone(campus: Campus) -> None:
    assert campus.first_owners <= campus.live_owners(), "it has them as long as it runs"
    campus.processes[0].send_signal(signal.SIGTERM)
    assert campus.processes[0].wait(PATIENCE) == 0
    assert not campus.first_owners & campus.live_owners()
    until(lambda: campus.live_owners() != set())
    assert httpx.get(f"{campus.urls[1]}/ready", timeout=PATIENCE).status_code == 200
