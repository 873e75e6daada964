"""The planner: carried out on an engine, a plan leaves nothing to be done; what loses or cannot be is told apart."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from threading import Barrier
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tablewright import testing
from tablewright.client import Call, CallRefused, embedded
from tablewright.client.retries import Retries
from tablewright.design.prices import PRICES
from tablewright.mapping.deploy import apply, await_settled, live_tables, plan
from tablewright.mapping.deploy.apply import Left
from tablewright.mapping.deploy.requests import create_request
from tablewright.mapping.deploy.states import Bounds, IndexState, TableState, Units, VectorState, table_state
from tablewright.mapping.deploy.steps import Step, differences

KEY = (("pk", "HASH"), ("sk", "RANGE"))
TYPES = {"pk": "S", "sk": "S"}
PRICED = PRICES.of("us-east-1")
SOON = Retries(sleep=lambda seconds: None)


def index(name: str, attribute: str, letter: str = "S", carried: str = "ALL", **more: Any) -> IndexState:
    key = (("pk", "HASH"), (attribute, "RANGE")) if more.get("local") else ((attribute, "HASH"),)
    types = {"pk": "S", attribute: letter} if more.get("local") else {attribute: letter}
    names = frozenset({"extra"}) if carried == "INCLUDE" else frozenset()
    return IndexState(name, key, types, (carried, names), **more)


def table(*indexes: IndexState, **more: Any) -> TableState:
    return TableState("pets", KEY, TYPES, {one.name: one for one in indexes}, **more)


@st.composite
def states(draw: st.DrawFn) -> TableState:
    """A table that a design could want, with one of two types for each attribute of an index."""
    units = draw(st.none() | st.builds(Units, st.integers(1, 3), st.integers(1, 3)))
    letters = {name: draw(st.sampled_from("SN")) for name in "ab"}
    found = []
    for name in draw(st.sets(st.sampled_from(("one", "two", "six")), max_size=3)):
        attribute = draw(st.sampled_from("ab"))
        carried = draw(st.sampled_from(("ALL", "KEYS_ONLY", "INCLUDE")))
        found.append(index(name, attribute, letters[attribute], carried, units=units))
    vectors = {}
    if units is None and draw(st.booleans()):
        searched = (("kind", "HASH"),) if draw(st.booleans()) else ()
        types = {"kind": "S"} if searched else {}
        size = draw(st.integers(2, 3))
        vectors = {"near": VectorState("near", "v", size, "COSINE", searched, types, ("ALL", frozenset()))}
    return table(
        *found,
        vectors=vectors,
        units=units,
        stream=draw(st.sampled_from((None, "NEW_IMAGE", "KEYS_ONLY"))),
        ttl=draw(st.sampled_from((None, "ttl", "until"))),
        recovery_days=draw(st.sampled_from((0, 7, 35))),
        is_protected=draw(st.booleans()),
        encryption=draw(st.sampled_from(("owned", "managed"))),
        tags=draw(st.dictionaries(st.sampled_from(("team", "stage")), st.sampled_from(("x", "y")))),
        scaling={},
    )


def steps_to(wanted: TableState, call: Call) -> tuple[Step, ...]:
    return plan([wanted], live_tables(call, ["pets"]), PRICED)


@settings(max_examples=40, deadline=None)
@given(states(), states())
def test_carrying_a_plan_out_leaves_nothing_to_be_done(first: TableState, second: TableState) -> None:
    with testing.engine() as engine:
        call = embedded(engine)
        for wanted in (first, second, first):
            left = apply(call, steps_to(wanted, call), allow_loss=True, retries=SOON)
            assert left == ()
            assert steps_to(wanted, call) == ()


@settings(max_examples=30, deadline=None)
@given(states(), states())
def test_without_leave_nothing_is_lost_and_what_is_left_is_told(
    first: TableState, second: TableState
) -> None:
    with testing.engine() as engine:
        call = embedded(engine)
        apply(call, steps_to(first, call), allow_loss=False, retries=SOON)
        steps = steps_to(second, call)
        with suppress(CallRefused):  # what is kept can stand in the way: a vector index of reserved units
            left = apply(call, steps, allow_loss=False, retries=SOON)
            remaining = {(step.table, step.subject) for step in differences(steps_to(second, call))}
            assert remaining == {(one.step.table, one.step.subject) for one in left}
        live = live_tables(call, ["pets"])["pets"]
        assert live is not None
        assert first.indexes.keys() <= live.indexes.keys()
        assert first.vectors.keys() <= live.vectors.keys()
        assert first.tags.keys() <= live.tags.keys()
        assert (live.recovery_days or 0) >= (first.recovery_days or 0)


@settings(max_examples=50)
@given(states())
def test_a_request_says_all_of_a_state_that_a_table_is_created_with(state: TableState) -> None:
    _, request = create_request(state)
    assert table_state(request) == replace(state, ttl=None, recovery_days=0)


@settings(max_examples=50)
@given(states())
def test_the_plan_of_equal_states_is_empty(state: TableState) -> None:
    assert plan([state], {"pets": state}) == ()


def only(steps: tuple[Step, ...]) -> Step:
    (step,) = steps
    return step


def test_another_key_or_local_index_needs_a_new_table_and_is_not_done_here() -> None:
    live = table(index("by-age", "age", "N", local=True))
    step = only(plan([replace(live, key=KEY[:1], types={"pk": "S"})], {"pets": live}))
    assert (step.subject, step.needs, step.calls) == ("key", "new table", ())
    assert "tablewright migrate plan" in step.advice
    step = only(plan([table()], {"pets": live}))
    assert (step.subject, step.design, step.needs) == ("local index by-age", "absent", "new table")
    wanted = table(index("by-age", "age", "N", local=True), index("all-ages", "age", "S"))
    step = only(plan([wanted], {"pets": live}))
    assert (step.subject, step.needs) == ("index all-ages", "new table")


def test_an_index_that_is_to_be_global_and_is_local_needs_a_new_table() -> None:
    live = table(index("by-age", "age", "N", local=True))
    step = only(plan([table(index("by-age", "age", "N"))], {"pets": live}))
    assert (step.subject, step.needs) == ("local index by-age", "new table")


def test_a_backfill_is_priced_by_what_the_service_counted() -> None:
    live = table(items=1_000_000, size=1_500_000_000)
    step = only(plan([table(index("by-age", "age", "N"))], {"pets": live}, PRICED))
    assert (step.needs, step.action) == ("backfill", "create")
    price = PRICED["write"].amount
    assert step.cost.once == 2 * price  # two units for 1 500 bytes
    assert step.cost.monthly == Decimal("1.5") * PRICED["storage"].amount
    assert "1 000 000 items x 2 write units" in step.cost.how
    reserved = table(units=Units(5, 50), items=1_000_000, size=1_500_000_000)
    wanted = table(index("by-age", "age", "N", units=Units(5, 50)), units=Units(5, 50))
    how = only(plan([wanted], {"pets": reserved}, PRICED)).cost.how
    assert "40 000 s at least" in how


def test_units_that_are_scaled_are_not_changed_back() -> None:
    bounds = {("", "Read"): Bounds(5, 50, 70), ("by-age", "Write"): Bounds(5, 50, 70)}
    wanted = table(index("by-age", "age", "N", units=Units(5, 5)), units=Units(5, 5), scaling=bounds)
    live = table(index("by-age", "age", "N", units=Units(5, 40)), units=Units(30, 5), scaling=bounds)
    assert plan([wanted], {"pets": live}) == ()
    step = only(plan([replace(wanted, units=Units(5, 9))], {"pets": live}))
    units = dict(step.calls[0][1])["ProvisionedThroughput"]
    assert units == {"ReadCapacityUnits": 30, "WriteCapacityUnits": 9}


def test_what_the_endpoint_does_not_have_is_told_and_is_not_a_difference() -> None:
    wanted = table(ttl="ttl", recovery_days=7, units=Units(1, 1), scaling={("", "Read"): Bounds(1, 9, 70)})
    live = table(units=Units(1, 1), scaling=None, unavailable=frozenset({"ttl", "recovery"}))
    steps = plan([wanted], {"pets": live})
    assert [(step.subject, step.needs) for step in steps] == [
        ("time to live", "endpoint"),
        ("recovery", "endpoint"),
        ("autoscaling", "endpoint"),
    ]
    assert differences(steps) == ()


def test_replicas_keys_of_ones_own_and_what_no_design_can_say_are_differences_that_are_made_elsewhere() -> (
    None
):
    live = table(replicas=frozenset({"us-west-2"}), extras=("table class STANDARD_INFREQUENT_ACCESS",))
    wanted = table(replicas=frozenset({"eu-west-1"}), encryption="customer")
    steps = plan([wanted], {"pets": live})
    assert {step.needs for step in steps} == {"elsewhere"}
    assert [step.subject for step in differences(steps)] == [
        "encryption",
        "replica eu-west-1",
        "replica us-west-2",
        "table class STANDARD_INFREQUENT_ACCESS",
    ]


def test_a_run_that_was_cut_off_is_continued_by_the_next(fresh: Call) -> None:
    wanted = table(index("by-age", "age", "N"), ttl="ttl", recovery_days=7, tags={"team": "pets"})
    steps = steps_to(wanted, fresh)
    for cut in range(1, len(steps)):
        apply(fresh, steps[:cut], allow_loss=False, retries=SOON)
        assert [step.subject for step in steps_to(wanted, fresh)] == [step.subject for step in steps[cut:]]
    apply(fresh, steps_to(wanted, fresh), allow_loss=False, retries=SOON)
    assert steps_to(wanted, fresh) == ()


def test_a_step_that_another_process_has_done_is_not_an_error_and_any_other_refusal_is(fresh: Call) -> None:
    wanted = table(index("by-age", "age", "N"), ttl="ttl", recovery_days=7)
    steps = steps_to(wanted, fresh)
    apply(fresh, steps, allow_loss=False, retries=SOON)
    again = steps_to(
        table(index("by-age", "age", "N"), index("by-name", "name"), ttl="ttl", recovery_days=7), fresh
    )
    apply(fresh, again, allow_loss=False, retries=SOON)

    def is_pending(step: Step) -> bool:
        return step.is_among(steps_to(wanted, fresh))

    assert apply(fresh, (*steps, *again), allow_loss=False, retries=SOON, is_pending=is_pending) == ()
    bad = Step("pets", "enable", "time to live", "off", "", (("UpdateTimeToLive", {"TableName": "pets"}),))
    with pytest.raises(CallRefused):
        apply(fresh, [bad], allow_loss=False, retries=SOON)


def test_two_runs_at_a_time_make_the_same_table(fresh: Call) -> None:
    units = Units(2, 2)
    first = table(index("by-age", "age", "N", units=units), units=units)
    wanted = table(
        index("by-name", "name"),
        index("by-age", "age", "N", "KEYS_ONLY"),
        ttl="ttl",
        recovery_days=7,
        stream="NEW_IMAGE",
    )
    apply(fresh, steps_to(first, fresh), allow_loss=False)
    both = Barrier(2)

    def run(_: int) -> tuple[Left, ...]:
        steps = steps_to(wanted, fresh)
        both.wait(10)
        return apply(
            fresh, steps, allow_loss=True, is_pending=lambda step: step.is_among(steps_to(wanted, fresh))
        )

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(run, range(2))) == [(), ()]
    assert steps_to(wanted, fresh) == ()


def test_it_waits_for_an_index_that_is_still_created_before_the_next(fresh: Call) -> None:
    apply(fresh, steps_to(table(), fresh), allow_loss=False, retries=SOON)
    told: list[str] = []
    pending = 3

    def slow(verb: str, request: Any) -> dict[str, Any]:
        """The table as another endpoint shows it: its new index takes three looks to become ACTIVE."""
        nonlocal pending
        answer = fresh(verb, request)
        if verb == "DescribeTable" and answer["Table"].get("GlobalSecondaryIndexes") and pending:
            pending -= 1
            answer["Table"]["GlobalSecondaryIndexes"][-1]["IndexStatus"] = "CREATING"
        return answer

    wanted = table(index("by-age", "age", "N"), index("by-name", "name"))
    apply(slow, steps_to(wanted, slow), allow_loss=False, retries=SOON, notify=told.append)
    assert pending == 0
    first, waits, *rest = told
    assert first == "1 of 2: pets: create index by-age"
    assert waits.endswith("index by-age CREATING, waiting")
    assert "2 of 2: pets: create index by-name" in rest


def test_a_table_that_is_gone_or_active_is_not_waited_for(fresh: Call) -> None:
    await_settled(fresh, "pets", SOON)
    apply(fresh, steps_to(table(), fresh), allow_loss=False, retries=SOON)
    await_settled(fresh, "pets", SOON)


@pytest.fixture(name="fresh")
def fresh_engine() -> Any:
    with testing.engine() as engine:
        yield embedded(engine)
