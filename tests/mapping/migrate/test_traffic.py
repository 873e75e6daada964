"""Real traffic through boto3 while sides are changed and changed back: no increment that was answered is lost."""

from __future__ import annotations

import threading
import time
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from typing import Any

import boto3
from botocore.config import Config
from tests.mapping.migrate.cards import CARDS, card, key, old

from tablewright import testing
from tablewright.client import Call, CallFailed, embedded, through_boto3
from tablewright.mapping import Db
from tablewright.mapping.migrate import (
    advance,
    begin,
    migration_context,
    record_report,
    rollback,
    routed,
    switch,
    verify,
    watch,
)
from tablewright.wire import serving

QUICK = replace(CARDS, term=timedelta(seconds=0.2))
CARDS_COUNTED = 8


def counting(led: Call, stop: threading.Event, done: Counter[str], refused: list[str], first: int) -> None:
    """One after the other, as a program does: what was answered is noted."""
    number = first
    while not stop.is_set():
        id = f"c{number % CARDS_COUNTED}"
        number += 1
        request = {
            "TableName": "cards",
            "Key": key(id),
            "UpdateExpression": "ADD #count :one",
            "ExpressionAttributeNames": {"#count": "count"},
            "ExpressionAttributeValues": {":one": {"N": "1"}},
        }
        try:
            led("UpdateItem", request)
        except CallFailed as failure:
            refused.append(type(failure).__name__)
        else:
            done[f"{first}/{id}"] += 1


def more_answered(done: Counter[str], wanted: int = 20) -> None:
    """Wait until the programs have done something on the side that is open now, however busy the machine is."""
    before, give_up = done.total(), time.monotonic() + 20
    while done.total() < before + wanted:
        assert time.monotonic() < give_up
        time.sleep(0.01)


def test_no_answered_increment_is_lost_over_a_switch_and_a_rollback() -> None:
    with testing.engine() as engine, serving(engine) as url:
        plain = embedded(engine)
        Db(plain, old).create_tables()
        for number in range(CARDS_COUNTED):
            plain("PutItem", {"TableName": "cards", "Item": card(f"c{number}", count={"N": "0"})})
        config = Config(retries={"max_attempts": 1})
        client: Any = boto3.client(
            "dynamodb", endpoint_url=url, region_name="us-east-1", aws_access_key_id="a",
            aws_secret_access_key="b", config=config,
        )  # fmt: skip
        at = migration_context(plain, QUICK)
        at.plan()
        begin(at)
        stop, done, refused = threading.Event(), Counter[str](), list[str]()
        threads = [
            threading.Thread(
                target=counting, args=(routed(through_boto3(client), QUICK), stop, done, refused, first)
            )
            for first in range(3)
        ]
        threads.append(threading.Thread(target=watch, args=(at, stop)))
        for thread in threads:
            thread.start()
        try:
            while not at.state().copied:
                advance(at, "me")
            record_report(at, verify(at, at.state(), repair=True))
            more_answered(done)
            assert switch(at).phase == "switched"
            more_answered(done)
            assert rollback(at).phase == "rolled_back"
            more_answered(done)
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        client.close()
        answered = Counter[str]()
        for name, count in done.items():
            answered[name.partition("/")[2]] += count
        for id, count in answered.items():
            item = plain("GetItem", {"TableName": "cards", "Key": key(id), "ConsistentRead": True})["Item"]
            # A write whose outcome nobody was told may have been done as well.
            assert count <= int(item["count"]["N"]) <= count + len(refused)
        assert sum(answered.values()) > 50
