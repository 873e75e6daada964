"""The stated load on partitions: which keys are throttled, when, how much, and what cures it."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Literal
from xml.etree import ElementTree

import pytest
from pydantic import BaseModel

from tablewright import testing
from tablewright.client import CallRefused, embedded
from tablewright.design import Design, Keys, Load
from tablewright.design.heat import Heat, Outcome, heat_of, heat_picture, times_of
from tablewright.design.heat.simulation import SPLIT_AFTER, Chunk, Partition, split
from tablewright.design.partitions import PEAK
from tablewright.mapping.tables import create_table
from tablewright.testing import Clock


class Job(BaseModel):
    owner: str
    number: str
    state: Literal["OPEN", "DONE"]
    at: datetime


def _key(owner: str, number: str) -> None: ...
def _number(number: str) -> None: ...
def _timed(owner: str, at: datetime, number: str) -> None: ...
def _moment(at: datetime, number: str) -> None: ...


# By whether the owner and the time are in the key.
KEYS = {(True, False): _key, (False, False): _number, (True, True): _timed, (False, True): _moment}


def jobs(
    pk: str = "OWNER#{owner}",
    sk: str = "JOB#{number}",
    *,
    a_second: float,
    index: Keys | None = None,
    local: bool = False,
    item_bytes: int = 1000,
) -> Design:
    """`a_second`: creations in the simulation, which runs at the busiest second."""
    design = Design("jobs")
    table = design.table("jobs", pk="PK", sk="SK")
    on: dict[Any, Keys] = {}
    if index is not None:
        on[table.gsi("ByState", pk="GPK", sk="GSK")] = index
    if local:
        on[table.lsi("ByTime", sk="LSK")] = Keys(pk, "{at:ms}#{number}")
    create = Load(per_second=a_second / PEAK, item_bytes=item_bytes)
    key: Any = KEYS["owner" in pk, "at:" in sk]
    table.entity(Job, key, tag="job", pk=pk, sk=sk, on=on, load={"create": create})
    return design.build()


def write_heat(design: Design, **options: Any) -> Outcome:
    """The outcome of the table's writes."""
    found = heat_of(design, **options)
    return next(each for each in found.outcomes if not each.load.index and each.load.kind == "write")


# --- what is throttled ---


def test_a_load_under_the_limits_is_not_throttled() -> None:
    heat = heat_of(jobs(a_second=800, index=Keys("STATE#{state}", "{at:ms}#{number}")))
    assert heat.throttled == ()
    assert heat.requests == pytest.approx(2 * 800 * 900, rel=0.01)


def test_a_state_in_an_index_is_throttled_to_the_limit_of_one_partition() -> None:
    heat = heat_of(
        jobs(a_second=2600, index=Keys("STATE#{state}", "{at:ms}#{number}")), keys=100_000, exponent=0.3
    )
    (found,) = heat.throttled
    assert (found.load.index, found.load.key, found.load.keys) == ("ByState", "STATE#{state}", 2)
    assert (found.load.busy, found.hottest_share) == (1, 1)
    assert found.load.whole == "new items are the last in the sort key"
    assert found.share == pytest.approx(0.615, abs=0.01)
    assert found.tally.first is not None
    assert found.tally.first < 5
    assert found.tally.last == 899
    # 2 600 a second in shards of less than 1 000, with room for what a busy second has more.
    assert (found.shards, found.cure) == (3, "3 shards")


def test_the_keys_of_a_sharded_state_are_the_states_times_the_shards() -> None:
    index = Keys("STATE#{state}#{number:shard.4}", "{at:ms}#{number}")
    (found,) = (each for each in heat_of(jobs(a_second=100, index=index)).outcomes if each.load.index)
    assert (found.load.keys, found.load.busy, found.hottest_share) == (8, 4, 0.25)


def test_as_many_shards_as_it_says_cure_it() -> None:
    index = Keys("STATE#{state}#{number:shard.3}", "{at:ms}#{number}")
    heat = heat_of(jobs(a_second=2600, index=index), keys=100_000, exponent=0.3)
    assert all(each.has_ended for each in heat.outcomes)
    two = Keys("STATE#{state}#{number:shard.2}", "{at:ms}#{number}")
    heat = heat_of(jobs(a_second=2600, index=two), keys=100_000, exponent=0.3)
    assert not all(each.has_ended for each in heat.outcomes)


def test_one_owner_who_is_far_busier_than_the_others_is_throttled() -> None:
    design = jobs(sk="{at:ms}#{number}", a_second=8000)
    even, skewed = (write_heat(design, keys=10_000, exponent=exponent) for exponent in (0.0, 1.4))
    assert even.share < 0.2
    assert even.has_ended
    assert skewed.hottest_share == pytest.approx(0.32, abs=0.02)
    assert not skewed.has_ended
    assert skewed.shards == 3


def test_items_that_are_created_once_under_a_key_of_their_own_have_no_hot_key() -> None:
    found = write_heat(jobs("JOB#{number}", "JOB", a_second=3000), keys=10_000, exponent=1.4)
    assert found.hottest_share == pytest.approx(1 / 10_000)
    assert found.share < 0.01


# --- splits ---


def test_a_split_ends_throttling_where_the_items_of_a_key_can_be_divided() -> None:
    found = write_heat(jobs("ALL", a_second=1500))
    assert (found.load.whole, found.shards) == ("", 1)
    assert found.tally.last is not None
    assert SPLIT_AFTER - 5 <= found.tally.last < 2 * SPLIT_AFTER
    assert found.cure == f"a split, until second {found.tally.last}"
    assert found.partitions[1] > found.partitions[0]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"pk": "ALL", "local": True}, "the table has a local index"),
        ({}, "one item"),
        ({"pk": "ALL", "sk": "{at:ms}#{number}"}, "new items are the last in the sort key"),
    ],
)
def test_no_split_divides_what_the_service_keeps_whole(options: dict[str, Any], why: str) -> None:
    found = write_heat(jobs(**options, a_second=1500) if options else one_item(1500))
    assert found.load.whole == why
    assert found.tally.last == 899
    assert found.shards == 2


def one_item(a_second: float) -> Design:
    class Counter(BaseModel):
        kind: Literal["A", "B"]
        count: int = 0

    def key(kind: Literal["A", "B"]) -> None: ...

    design = Design("counters")
    table = design.table("counters", pk="PK", sk="SK")
    update = Load(per_second=a_second / PEAK, item_bytes=500)
    table.entity(Counter, key, tag="counter", pk="COUNT#{kind}", sk="COUNT", load={"update": update})
    return design.build()


def test_a_partition_of_one_item_stays_as_it_is() -> None:
    hot = Chunk(0, 1, "ALL:1", "write", 2000, 1, items=1)
    (kept,) = split(Partition([hot]))
    assert (kept.chunks, kept.is_final) == ([hot], True)


def test_a_hot_key_is_parted_from_its_neighbours_before_its_items_are() -> None:
    hot, warm = Chunk(0, 1, "A", "write", 2000, 1, items=8), Chunk(0, 2, "B", "write", 400, 1, items=8)
    first, second = split(Partition([hot, warm]))
    assert (first.chunks, second.chunks) == ([hot], [warm])
    halves = split(first)
    assert [[chunk.requests for chunk in each.chunks] for each in halves] == [[1000], [1000]]


# --- checked against the engine ---


def test_the_engine_throttles_as_many_requests_as_the_simulation_says() -> None:
    seconds, a_second, item_bytes = 60, 30, 50_000  # 1 500 units a second on one key
    design = jobs("ALL", a_second=a_second, item_bytes=item_bytes, sk="{at:ms}#{number}")
    expected = write_heat(design, seconds=seconds)
    clock = Clock()
    throttled = 0
    with testing.engine(world=clock.world(), throttling=True) as engine:
        call = embedded(engine)
        call("CreateTable", create_table(design, design.tables["jobs"], None))
        text = {"S": "x" * (item_bytes - 200)}
        for number in range(seconds * a_second):
            item = {"PK": {"S": "ALL"}, "SK": {"S": f"{number:09d}"}, "text": text}
            try:
                call("PutItem", {"TableName": "jobs", "Item": item})
            except CallRefused as refusal:
                throttled += refusal.name == "ThrottlingException"
            clock.move(timedelta(seconds=1 / a_second))
    assert throttled / (seconds * a_second) == pytest.approx(expected.share, abs=0.03)
    assert expected.share > 0.25


# --- a billion requests, and the picture ---


def test_a_billion_requests_are_the_load_that_makes_so_many() -> None:
    design = jobs(a_second=1000, index=Keys("STATE#{state}", "{at:ms}#{number}"))
    times = times_of([design], 10**9, 900)
    heat = heat_of(design, times)
    assert heat.requests == pytest.approx(10**9, rel=0.01)
    assert {each.load.index for each in heat.throttled} == {"", "ByState"}


def test_the_same_load_has_the_same_outcome() -> None:
    design = jobs(a_second=3000)
    one, same = (heat_of(design, Decimal(3), seconds=120) for _ in range(2))
    assert one == same


def test_a_sample_throttles_about_as_many_requests_and_names_the_same_cure() -> None:
    design = jobs(a_second=2000, index=Keys("STATE#{state}", "{at:ms}#{number}"))
    whole, sample = heat_of(design), heat_of(design, is_sample=True)
    assert sample.requests == pytest.approx(whole.requests, rel=0.05)
    for one, other in zip(whole.throttled, sample.throttled, strict=True):
        assert other.share == pytest.approx(one.share, abs=0.02)
        assert other.shards == one.shards


def picture(heat: Heat) -> ElementTree.Element:
    return ElementTree.fromstring(heat_picture(heat))


def test_the_picture_has_a_row_for_each_key_and_says_the_share_in_figures() -> None:
    heat = heat_of(
        jobs(a_second=2000, index=Keys("A&B<#{state}", "{at:ms}#{number}")), keys=100_000, exponent=0.3
    )
    drawn = picture(heat)
    svg = "{http://www.w3.org/2000/svg}"
    texts = [each.text or "" for each in drawn.iter(f"{svg}text")]
    assert "jobs.ByState A&B<#{state} (writes)" in texts
    assert any(text.startswith(("50.", "49.")) for text in texts)
    assert len(list(drawn.iter(f"{svg}rect"))) == 1 + 60 * len(heat.outcomes)
