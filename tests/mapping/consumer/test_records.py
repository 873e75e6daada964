"""Stream records as typed changes."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from tests.mapping.shop import customer, customers, order, orders, products, shop

from tablewright.mapping import ItemUnreadable, change_in, change_of
from tablewright.mapping.items import item_of

SHAPES = tuple(shape for shape in shop.shapes if shape.table.name == "shop")
OLD, NEW = order(1), order(1, urgent=True)


def record(name: str, **told: Any) -> dict[str, Any]:
    keys = {name: item_of(orders.shape, OLD)[name] for name in ("PK", "SK")}
    return {
        "eventID": "e1",
        "eventName": name,
        "eventSource": "aws:dynamodb",
        "dynamodb": {"Keys": keys, "SequenceNumber": "1", "StreamViewType": "NEW_AND_OLD_IMAGES", **told},
    }


def image(item: Any) -> dict[str, Any]:
    return item_of(orders.shape, item)


def test_a_modification_has_both_images() -> None:
    change = change_of(
        SHAPES,
        record("MODIFY", OldImage=image(OLD), NewImage=image(NEW), ApproximateCreationDateTime=1893456000),
    )
    assert change is not None
    assert (change.event_id, change.kind, change.shape) == ("e1", "MODIFY", orders.shape)
    assert (change.before, change.after, change.by_ttl) == (OLD, NEW, False)
    assert change.at == datetime(2030, 1, 1, tzinfo=UTC)


def test_an_insert_and_a_removal_have_one() -> None:
    made = change_in(orders, record("INSERT", NewImage=image(NEW)))
    gone = change_in(orders, record("REMOVE", OldImage=image(OLD)))
    assert made is not None
    assert gone is not None
    assert (made.before, made.after, made.at) == (None, NEW, None)
    assert (gone.before, gone.after) == (OLD, None)


def test_a_moment_may_be_a_time_already() -> None:
    moment = datetime(2030, 1, 1, tzinfo=UTC)
    change = change_in(orders, record("INSERT", ApproximateCreationDateTime=moment))
    assert change is not None
    assert change.at == moment


def test_what_the_service_removed_says_so() -> None:
    expired = record("REMOVE", OldImage=image(OLD)) | {
        "userIdentity": {"type": "Service", "principalId": "dynamodb.amazonaws.com"}
    }
    change = change_in(orders, expired)
    assert change is not None
    assert change.by_ttl


def test_a_record_of_keys_only_says_what_happened_to_whom() -> None:
    change = change_of(SHAPES, record("REMOVE"))
    assert change is not None
    assert (change.shape, change.before, change.after) == (orders.shape, None, None)


def test_a_guard_and_anothers_item_are_no_change_of_ours() -> None:
    guard = record("INSERT")
    guard["dynamodb"]["Keys"] = {"PK": {"S": "UNIQUE#customer#email#a"}, "SK": {"S": "UNIQUE"}}
    assert change_of(SHAPES, guard) is None
    assert change_in(customers, record("INSERT", NewImage=image(OLD))) is None
    assert change_in(products, record("INSERT")) is None


def test_an_image_that_does_not_fit_is_unreadable() -> None:
    broken = image(OLD) | {"placed": {"S": "yesterday"}}
    with pytest.raises(ItemUnreadable, match="order"):
        change_in(orders, record("INSERT", NewImage=broken))
    assert customer().email not in str(broken)
