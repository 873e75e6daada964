"""Batches when the service takes less than it was given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from tests.client.ways import Naps, put, scripted, table, world

from tablewright import Engine
from tablewright.client import (
    BatchStopped,
    CallFailed,
    CallRefused,
    NoAnswer,
    RequestUnsendable,
    batch_get,
    batch_write,
    embedded,
)

Json = dict[str, Any]
BUSY = CallRefused("ProvisionedThroughputExceededException", "slow down")
WRONG = CallRefused("ValidationException", "no")
DONE: Json = {"UnprocessedItems": {}}


def writes(*names: str) -> list[Json]:
    return [{"PutRequest": {"Item": put(name)["Item"]}} for name in names]


def named(requests: list[Mapping[str, Any]]) -> list[str]:
    return [request["PutRequest"]["Item"]["pk"]["S"] for request in requests]


def sizes(asked: list[Json]) -> list[int]:
    return [sum(len(some) for some in request["RequestItems"].values()) for request in asked]


def test_chunks_are_counted_over_all_tables() -> None:
    call, asked = scripted(DONE, DONE, DONE)
    many = writes(*map(str, range(20)))
    assert batch_write(call, {"one": many, "two": many, "three": many}) == {}
    assert sizes(asked) == [25, 25, 10]
    assert list(asked[0]["RequestItems"]) == ["one", "two"]


def test_no_writes_are_no_call() -> None:
    call, asked = scripted()
    assert batch_write(call, {"pets": []}) == {}
    assert batch_get(call, {}).items == ()
    assert asked == []


def test_a_chunk_stays_below_16_megabytes() -> None:
    call, asked = scripted(DONE, DONE, DONE)
    large = [{"PutRequest": {"Item": put(str(n), text={"B": "A" * 1_000_000})["Item"]}} for n in range(20)]
    assert batch_write(call, {"pets": large}) == {}
    assert sizes(asked) == [16, 4]


def test_only_what_was_left_is_sent_again_after_a_pause(naps: Naps) -> None:
    call, asked = scripted({"UnprocessedItems": {"pets": writes("b", "c")}}, DONE)
    assert batch_write(call, {"pets": writes("a", "b", "c")}, world=world(), retries=naps.retries()) == {}
    assert named(asked[1]["RequestItems"]["pets"]) == ["b", "c"]
    assert naps.taken == [0.025]


def test_what_was_left_goes_before_what_was_not_sent_yet(naps: Naps) -> None:
    """Otherwise an older write to the same item would be done after a newer one."""
    names = [f"{number:02}" for number in range(30)]
    call, asked = scripted({"UnprocessedItems": {"pets": writes("03")}}, DONE)
    batch_write(call, {"pets": writes(*names)}, world=world(), retries=naps.retries())
    assert named(asked[1]["RequestItems"]["pets"]) == ["03", *names[25:]]


def test_what_is_left_when_patience_ends_is_returned(naps: Naps) -> None:
    left = {"UnprocessedItems": {"pets": writes("b")}}
    call, asked = scripted(*[left] * 4)
    rest = batch_write(call, {"pets": writes("a", "b")}, world=world(), retries=naps.retries(3))
    assert rest == {"pets": writes("b")}
    assert len(asked) == 4
    assert naps.taken == [0.025, 0.025, 0.05]


def test_a_batch_that_gets_on_is_not_given_up(naps: Naps) -> None:
    names = [str(number) for number in range(20)]
    steps = [{"UnprocessedItems": {"pets": writes(*names[n:])}} for n in range(1, 20)]
    call, _ = scripted(*steps, DONE)
    assert batch_write(call, {"pets": writes(*names)}, world=world(), retries=naps.retries(2)) == {}


def test_a_batch_throttled_as_a_whole_is_returned_whole(naps: Naps) -> None:
    call, asked = scripted(DONE, BUSY)
    names = [str(number) for number in range(30)]
    rest = batch_write(call, {"pets": writes(*names)}, retries=naps.retries())
    assert named(rest["pets"]) == names[25:]
    assert (len(asked), naps.taken) == (2, [])


@pytest.mark.parametrize("failure", [WRONG, NoAnswer("BatchWriteItem", "x", may_have_been_carried_out=True)])
def test_a_batch_that_is_refused_says_what_is_not_done(naps: Naps, failure: CallFailed) -> None:
    call, _ = scripted(DONE, failure)
    names = [str(number) for number in range(60)]
    with pytest.raises(BatchStopped, match=r"^35 writes were not done") as caught:
        batch_write(call, {"pets": writes(*names)}, retries=naps.retries())
    assert named(caught.value.unwritten["pets"]) == names[25:]
    assert caught.value.__cause__ is failure


def test_a_write_that_has_no_json_loses_none_of_the_others() -> None:
    call, asked = scripted()
    bad: Json = {"PutRequest": {"Item": {"pk": {"B": b"raw"}}}}
    with pytest.raises(BatchStopped) as caught:
        batch_write(call, {"pets": [*writes("a"), bad]})
    assert caught.value.unwritten == {"pets": [*writes("a"), bad]}
    assert isinstance(caught.value.why, RequestUnsendable)
    assert asked == []


def test_one_write_refused_as_a_duplicate_does_not_go_round_in_circles() -> None:
    twice = CallRefused("ValidationException", "Provided list of item keys contains duplicates")
    call, asked = scripted(twice, twice)
    with pytest.raises(BatchStopped):
        batch_write(call, {"pets": writes("a", "b")})
    assert sizes(asked) == [2, 1]


def test_keys_left_unread_are_read_again_and_in_the_end_returned(naps: Naps) -> None:
    keys = [{"pk": {"S": name}} for name in "abc"]
    left = {"UnprocessedKeys": {"pets": {"Keys": keys[1:], "ConsistentRead": True}}}
    first = {"Responses": {"pets": [keys[0]]}, **left}
    call, asked = scripted(first, {"Responses": {}, **left}, {"Responses": {}, **left})
    read = batch_get(call, {"pets": keys}, consistent=True, world=world(), retries=naps.retries(2))
    assert read.items == (("pets", keys[0]),)
    assert read.unread == {"pets": keys[1:]}
    assert asked[1]["RequestItems"] == {"pets": {"Keys": keys[1:], "ConsistentRead": True}}


def test_a_refused_read_is_simply_raised() -> None:
    call, _ = scripted(WRONG)
    with pytest.raises(CallRefused):
        batch_get(call, {"pets": [{"pk": {"S": "a"}}]})


def test_numbers_spelled_differently_are_one_key(engine: Engine) -> None:
    engine.call("CreateTable", table("ages", kind="N"))
    engine.call("PutItem", {"TableName": "ages", "Item": {"pk": {"N": "1"}}})
    keys = [{"pk": {"N": text}} for text in ("1", "1.0", "1E0")]
    assert batch_get(embedded(engine), {"ages": keys}).items == (("ages", {"pk": {"N": "1"}}),)


def test_answers_that_do_not_fit_into_one_are_fetched_to_the_end(engine: Engine, naps: Naps) -> None:
    call = embedded(engine)
    text = {"S": "x" * 390_000}
    for number in range(60):
        call("PutItem", put(str(number), text=text))
    read = batch_get(call, {"pets": [{"pk": {"S": str(n)}} for n in range(60)]}, retries=naps.retries(1))
    assert (len(read.items), read.unread) == (60, {})
    assert len(naps.taken) == 1
