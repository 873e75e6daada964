"""`tablewright engine serve` that is killed loses nothing it has answered over HTTP.

The clients are boto3 without retries, each on its own connections, as many SDKs would talk to it at once; the
server's group commit is therefore under way nearly always when the end comes.
Elsewhere: the same for a process that holds the engine itself (test_kill.py).
"""

import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from tests import fork_server
from tests.crash import child
from tests.crash.ledger import Promises, broken, prepare

from tablewright import Engine, ServiceError
from tablewright.engine import verify_store

KILLS = 4
CLIENTS = 4
VERBS = {
    "PutItem": "put_item",
    "UpdateItem": "update_item",
    "DeleteItem": "delete_item",
    "TransactWriteItems": "transact_write_items",
    "BatchWriteItem": "batch_write_item",
}


@contextmanager
def served(store: Path, durability: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The server's address and its process."""
    command = [sys.executable, "-m", "tablewright", "engine", "serve", "--port", "0"]
    process = fork_server.start(
        [*command, "--data", store, "--durability", durability], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        yield next(word for word in process.stdout.readline().split() if word.startswith("http://")), process
    finally:
        process.kill()
        process.wait(30)
        process.stdout.close()


class Client:
    """One of the clients: writes until the server is gone, and keeps what it was answered."""

    def __init__(self, url: str, who: str) -> None:
        settings = Config(retries={"max_attempts": 0}, connect_timeout=30, read_timeout=30)
        self.boto = boto3.client(
            "dynamodb",
            endpoint_url=url,
            region_name="us-east-1",
            aws_access_key_id="any",
            aws_secret_access_key="thing",
            config=settings,
        )
        self.who, self.lines = who, ""

    def call(self, verb: str, request: dict[str, Any]) -> Any:
        try:
            return getattr(self.boto, VERBS[verb])(**request)
        except ClientError as refused:
            raise ServiceError(refused.response["Error"]["Code"]) from refused

    def tell(self, *words: object) -> None:
        self.lines += " ".join(map(str, words)) + "\n"

    def write_until_the_end(self) -> None:
        try:
            for number, _ in enumerate(child.work(self.call, self.who, self.tell)):
                child.move(self.call, number)
        except BotoCoreError:
            self.boto.close()


@pytest.mark.parametrize("durability", ["durable", "relaxed"])
def test_every_write_answered_over_http_survives_a_kill_of_the_server(
    tmp_path: Path, durability: str
) -> None:
    store = tmp_path / "store"
    prepare(store)
    promises = Promises()
    for turn in range(KILLS):
        with served(store, durability) as (url, process):
            clients = [Client(url, f"{turn}-{number}") for number in range(CLIENTS)]
            threads = [threading.Thread(target=client.write_until_the_end) for client in clients]
            for thread in threads:
                thread.start()
            time.sleep(random.uniform(0.3, 0.9))
            process.kill()
            for thread in threads:
                thread.join()
        for client in clients:
            assert client.lines
            promises.hear(client.lines)
        assert verify_store(store) == []
        with Engine.open(store) as engine:
            assert broken(engine, promises) == []
