"""The rules of a copy, from one engine to another in this process."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import timedelta
from threading import Event, Thread
from typing import Any

import pytest
from tests.mapping.copy.readings import PAIR, READINGS, Sides, begun, items_of, key, reading, sides

from tablewright.client import embedded, pages
from tablewright.mapping import Consumer, Db, TableDiffers, stream_consumers
from tablewright.mapping.copy import (
    ChangesMissed,
    CopyInUse,
    CopyLost,
    NoSuchTable,
    OtherSource,
    TablePair,
    TargetHasItems,
    catch_up,
    consumers_behind,
    copy_pages,
    copy_tables,
    drain,
    follow,
    leased,
    prepare,
    register,
    release_target,
    verify_pair,
)
from tablewright.mapping.copy.tables import view_of


def described(at: Sides, table: str = "readings") -> dict[str, Any]:
    found: dict[str, Any] = at.target.call("DescribeTable", {"TableName": table})["Table"]
    return found


def copy_all(at: Sides, **settings: Any) -> None:
    with begun(at.context(), **settings) as lease:
        copy_tables([lease])


def test_a_table_is_made_as_the_source_describes_it_and_gets_its_stream_when_the_copy_is_finished() -> None:
    with sides() as at:
        context = at.context()
        with begun(context) as lease:
            copy_tables([lease])
            made = described(at)
            assert view_of(made) is None
            release_target(lease)
        made = described(at)
        for member in ("KeySchema", "AttributeDefinitions"):
            assert made[member] == READINGS[member]
        (index,) = made["GlobalSecondaryIndexes"]
        assert index["Projection"] == READINGS["GlobalSecondaryIndexes"][0]["Projection"]
        assert view_of(made) == "NEW_AND_OLD_IMAGES"
        ttl = at.target.call("DescribeTimeToLive", {"TableName": "readings"})["TimeToLiveDescription"]
        assert ttl == {"TimeToLiveStatus": "ENABLED", "AttributeName": "expires"}
        tags = at.target.call("ListTagsOfResource", {"ResourceArn": made["TableArn"]})["Tags"]
        assert tags == READINGS["Tags"]


def test_nothing_that_the_copy_wrote_is_in_the_stream_of_the_target() -> None:
    with sides() as at:
        at.put(*(reading(number) for number in range(5)))
        with begun(at.context()) as lease:
            copy_tables([lease])
            release_target(lease)
        heard: list[Any] = []
        consumer = Consumer(
            Db(embedded(at.target), stream_consumers), None, "readings", "mailer", heard.append
        )
        consumer.run_once()
        assert heard == []
        at.target.call("PutItem", {"TableName": "readings", "Item": reading(9)})
        consumer.run_once()
        assert len(heard) == 1


def test_an_existing_tables_stream_is_off_while_it_is_copied_into_and_on_afterwards() -> None:
    with sides() as at:
        at.target.call("CreateTable", READINGS)
        at.target.settle()
        at.put(reading(1))
        with begun(at.context()) as lease:
            assert view_of(described(at)) is None
            copy_tables([lease])
            release_target(lease)
        assert view_of(described(at)) == "NEW_AND_OLD_IMAGES"


def test_a_source_without_a_stream_has_one_while_it_is_copied() -> None:
    request = {name: value for name, value in READINGS.items() if name != "StreamSpecification"}
    with sides(request) as at:

        def source_view() -> str | None:
            return view_of(at.source.call("DescribeTable", {"TableName": "readings"})["Table"])

        with begun(at.context()) as lease:
            assert source_view() == "NEW_IMAGE"
            copy_tables([lease])
            at.put(reading(1))
            drain([lease])
            release_target(lease)
        assert source_view() is None
        assert view_of(described(at)) is None
        assert items_of(at.target) == items_of(at.source)


def test_a_copy_that_does_not_follow_leaves_the_source_as_it_is() -> None:
    request = {name: value for name, value in READINGS.items() if name != "StreamSpecification"}
    with sides(request) as at:
        at.put(reading(1))
        before = at.source.call("DescribeTable", {"TableName": "readings"})
        copy_all(at, follow=False)
        assert at.source.call("DescribeTable", {"TableName": "readings"}) == before
        assert items_of(at.target) == items_of(at.source)


def test_a_deletion_after_the_page_was_read_and_before_it_was_written_is_not_undone() -> None:
    with sides() as at:
        at.put(reading(1), reading(2))
        source = embedded(at.source)

        def racing(verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
            answer = source(verb, request)
            if verb == "Scan":
                at.delete(1)
                at.put(reading(2, 5))
            return answer

        with begun(at.context(source=racing), segments=1) as lease:
            copy_tables([lease])
        assert list(items_of(at.target).values()) == [dict(reading(2, 5)) | items_of(at.source).popitem()[1]]
        assert items_of(at.target) == items_of(at.source)


def test_a_table_with_another_key_is_refused_by_name_and_left_alone() -> None:
    with sides() as at:
        at.target.call("CreateTable", {
            "TableName": "readings", "BillingMode": "PAY_PER_REQUEST",
            "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
            "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
        })  # fmt: skip
        at.target.settle()
        with pytest.raises(TableDiffers, match="readings exists with another key"):
            prepare(at.context(), [PAIR], into_existing=True)


def test_a_table_with_items_is_refused_unless_they_may_be_overwritten() -> None:
    with sides() as at:
        at.target.call("CreateTable", READINGS)
        at.target.settle()
        at.target.call("PutItem", {"TableName": "readings", "Item": reading(1, 99)})
        at.put(reading(1, 1))
        with pytest.raises(TargetHasItems, match="--into-existing"):
            prepare(at.context(), [PAIR])
        assert items_of(at.target).popitem()[1]["value"] == {"N": "99"}
        copy_all(at, into_existing=True)
        assert items_of(at.target) == items_of(at.source)


def test_of_several_tables_none_is_made_if_one_is_refused() -> None:
    with sides() as at:
        with pytest.raises(NoSuchTable, match="no table visits"):
            prepare(at.context(), [PAIR, TablePair("visits", "visits")])
        assert "readings" not in at.target.call("ListTables", {})["TableNames"]


def test_a_copy_is_not_continued_from_another_table_of_the_same_name() -> None:
    with sides() as at, sides() as elsewhere:
        with begun(at.context()):
            pass
        other = Sides(at.clock, elsewhere.source, at.target)
        with pytest.raises(OtherSource, match="name the source it was begun with"):
            prepare(other.context(), [PAIR])


def test_a_second_process_is_refused_until_the_first_has_ended_or_its_lease_has_run_out() -> None:
    with sides() as at, begun(at.context()) as lease:
        with pytest.raises(CopyInUse, match="--take-over"), begun(at.context()):
            pass
        at.clock.move(timedelta(seconds=91))
        with begun(at.context()):
            with pytest.raises(CopyLost):
                lease.write([{"PutRequest": {"Item": reading(1)}}])
            assert items_of(at.target) == {}


def test_a_process_that_was_stopped_for_long_and_not_replaced_goes_on() -> None:
    with sides() as at, begun(at.context()) as lease:
        at.clock.move(timedelta(hours=1))
        lease.write([{"PutRequest": {"Item": reading(1)}}])
        assert len(items_of(at.target)) == 1


def test_a_copy_that_was_not_followed_for_a_day_says_so_and_begins_again_in_a_new_table() -> None:
    with sides() as at:
        at.put(reading(1))
        copy_all(at)
        at.put(reading(2))
        at.delete(1)
        at.clock.move(timedelta(hours=25))
        at.source.settle()
        with pytest.raises(ChangesMissed, match="delete the table readings in the target"):
            copy_all(at)
        at.target.call("DeleteTable", {"TableName": "readings"})
        at.target.settle()
        copy_all(at)
        assert items_of(at.target) == items_of(at.source)


def test_following_between_the_rounds_of_a_long_scan_ends_equal() -> None:
    with sides() as at:
        at.put(*(reading(number) for number in range(30)))
        with begun(at.context(), segments=2) as lease:
            register(lease)
            for value in range(100):
                at.put(reading(value % 30, value))
                at.delete((value * 7) % 30)
                at.clock.move(timedelta(seconds=1))
                if copy_pages(lease, page=1, seconds=0.5):
                    break
                catch_up(lease)
            lease.change(phase="following")
            drain([lease])
        assert items_of(at.target) == items_of(at.source)


def test_changes_are_applied_as_they_come_until_it_is_stopped() -> None:
    with sides() as at, begun(at.context()) as lease:
        copy_tables([lease])
        stop = Event()
        thread = Thread(target=follow, args=([lease], stop), kwargs={"poll": 0.01})
        thread.start()
        try:
            at.put(reading(1), reading(2))
            at.delete(2)
            give_up = time.monotonic() + 30
            while items_of(at.target) != items_of(at.source):
                assert time.monotonic() < give_up
                time.sleep(0.01)
        finally:
            stop.set()
            thread.join(30)
        assert len(items_of(at.target)) == 1


def test_following_ends_when_another_process_has_taken_the_copy() -> None:
    with sides() as at, begun(at.context()) as lease:
        copy_tables([lease])
        with begun(at.context(), take_over=True):
            at.clock.move(timedelta(minutes=1))
            with pytest.raises(CopyLost):
                follow([lease], Event(), poll=0.01)


def test_segments_are_copied_by_threads_at_once() -> None:
    with sides() as at:
        at.put(*(reading(number) for number in range(120)))
        with begun(at.context(), segments=4) as lease:
            copy_tables([lease], parallel=4, page=5)
        assert items_of(at.target) == items_of(at.source)


def test_the_write_units_consumed_keep_to_the_limit() -> None:
    with sides() as at:
        at.put(*(reading(number) for number in range(60)))
        at.clock.move(timedelta(hours=2))  # so that only the scan writes
        began = at.clock.now()
        with begun(at.context(write_units=10), segments=1) as lease:
            copy_tables([lease])
        # Each put takes two units, one of them for the index; a second's worth is there to begin with.
        assert (at.clock.now() - began).total_seconds() >= (2 * 60 - 10 - 2 * 25) / 10
        assert items_of(at.target) == items_of(at.source)


def test_items_that_expire_soon_do_not_make_a_difference() -> None:
    with sides() as at:
        soon = str(int(at.clock.now().timestamp()) + 60)
        at.put(reading(1), reading(2, expires={"N": soon}))
        copy_all(at)
        at.target.call("DeleteItem", {"TableName": "readings", "Key": key(2)})
        assert verify_pair(at.context(), PAIR).is_equal
        at.target.call("DeleteItem", {"TableName": "readings", "Key": key(1)})
        found = verify_pair(at.context(), PAIR, segments=2)
        assert not found.is_equal
        assert [(each.kind, each.key) for each in found.different] == [
            ("removed", key(1)),
            ("removed", key(2)),
        ]


def test_consumers_of_the_source_that_have_not_processed_all_changes_are_named() -> None:
    with sides() as at:
        call, seen = embedded(at.source), list[Any]()
        consumer = Consumer(Db(call, stream_consumers), None, "readings", "mailer", seen.append)
        consumer.create_tables()
        consumer.register()
        at.put(reading(1))
        context = at.context()
        (copy,) = prepare(context, [PAIR])
        assert consumers_behind(call, [copy], context.world) == [("readings", "mailer")]
        consumer.run_once()
        assert len(seen) == 1
        assert consumers_behind(call, [copy], context.world) == []


def test_a_finished_copy_leaves_no_positions_of_its_follower() -> None:
    with sides() as at:
        at.put(reading(1))
        context = at.context()
        with begun(context) as lease:
            copy_tables([lease])
            release_target(lease)
        found = pages(embedded(at.target), "Scan", {"TableName": "stream_consumers"})
        left = [item["PK"]["S"] for page in found for item in page["Items"]]
        assert [one for one in left if "copy:" in one] == []


def test_the_lease_is_given_back_when_a_run_ends() -> None:
    with sides() as at:
        copy_all(at)
        context = at.context()
        copy = context.find_copy("readings")
        assert copy is not None
        assert copy.owner is None
        with leased(context, copy):
            pass
