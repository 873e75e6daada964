"""A migration, phase by phase, with nobody in its way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from tests.mapping.migrate.cards import CARDS, At, back, card, forward, key, opened

from tablewright.client import CallFailed, CallRefused
from tablewright.mapping import Consumer
from tablewright.mapping.migrate import (
    BeingDeleted,
    EpochEnded,
    KeptTooLong,
    MigrationContext,
    NotDrained,
    NotExact,
    NotPlanned,
    PhaseMoved,
    State,
    WrongPhase,
    abandon,
    advance,
    backfill,
    begin,
    cutover,
    finish,
    hold,
    is_up_to_date,
    record_report,
    rollback,
    switch,
    sync_keys,
    verify,
)
from tablewright.mapping.migrate.sync_keys import Task
from tablewright.values import Item


@pytest.fixture
def at() -> Iterator[At]:
    with opened() as found:
        yield found


def followed(context: MigrationContext, *, page: int = 3) -> None:
    """Rounds until nothing is left to do."""
    while not advance(context, "me", page=page).is_idle or not is_up_to_date(context, context.state()):
        context.sleep(0.01)


def copied(at: At) -> MigrationContext:
    context = at.context()
    context.plan(segments=3)
    begin(context)
    followed(context)
    return context


def switched(at: At) -> MigrationContext:
    context = copied(at)
    record_report(context, verify(context, context.state()))
    switch(context)
    return context


def test_a_plan_waits_for_a_server_that_does_not_know_a_new_table_at_once(at: At) -> None:
    refusals = 0

    def late(verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
        nonlocal refusals
        if verb in ("GetItem", "PutItem") and refusals < 5:
            refusals += 1
            raise CallRefused("ResourceNotFoundException", "Requested resource not found")
        return at.call(verb, request)

    assert at.context(late).plan().phase == "planned"
    assert refusals == 5


def test_everything_is_copied_and_then_followed(at: At) -> None:
    at.put(*(card(f"c{n}", f"text {n}", "odd" if n % 2 else None) for n in range(20)))
    context = copied(at)
    assert context.state().phase == "following"
    assert at.is_copied
    at.put(card("c1", "changed", "even"), card("new"))
    at.remove("c2")
    followed(context)
    assert at.is_copied


def test_what_time_deletes_goes_on_the_other_side_too(at: At) -> None:
    soon = int(at.clock.now().timestamp()) + 60
    at.put(card("a", group="g", expires={"N": str(soon)}), card("b"))
    context = copied(at)
    assert at.is_copied
    at.clock.move(timedelta(minutes=5))
    at.engine.settle()
    followed(context)
    assert at.is_copied
    assert len(at.items("new_cards")) == 1


def test_a_stale_write_is_refused_and_what_is_new_is_written(at: At) -> None:
    """A copier that read before a change and writes after it gives the change, not what it read."""
    at.put(card("a", "old"))
    context = copied(at)
    stale = card("a", "old")
    for change in ({"text": {"S": "new"}}, {"text": {"S": "new"}, "extra": {"S": "an attribute more"}}):
        at.put({**stale, **change})
        followed(context)
        assert at.is_copied
        sync_keys(context, CARDS.direction("forward"), context.state().epoch, [Task(key("a"), (), stale)])
        assert at.is_copied


def test_only_an_attribute_more_is_noticed_too(at: At) -> None:
    at.put(card("a", "old"))
    context = copied(at)
    at.put(card("a", "old", extra={"S": "more"}))
    followed(context)
    sync_keys(
        context, CARDS.direction("forward"), context.state().epoch, [Task(key("a"), (), card("a", "old"))]
    )
    assert at.items("new_cards")["CARD#a", "CARD"]["extra"] == {"S": "more"}


def test_an_item_that_nobody_could_compare_is_said_by_name(at: At) -> None:
    at.put(card("a", unheard_of={"S": "x"}))
    context = at.context()
    context.plan()
    begin(context)
    with pytest.raises(NotExact, match="unheard_of"):
        followed(context)


def test_whose_turn_is_over_writes_nothing(at: At) -> None:
    at.put(card("a", "old"))
    context = switched(at)
    at.put(card("a", "strayed"))
    with pytest.raises(EpochEnded):
        sync_keys(context, CARDS.direction("forward"), 1, [Task(key("a"))])
    assert at.items("new_cards")["CARD#a", "CARD"]["title"] == {"S": "old"}


def test_verify_tells_what_is_missing_different_and_extra_and_repairs_it(at: At) -> None:
    at.put(*(card(f"c{n}", f"text {n}", "g") for n in range(9)))
    context = copied(at)
    at.remove("c1", "new_cards")
    at.put({**key("c2"), "id": {"S": "c2"}, "title": {"S": "wrong"}}, table="new_cards")
    at.put({**key("zz"), "id": {"S": "zz"}}, table="new_cards")
    report = verify(context, context.state())
    assert (report.missing, report.different, report.extra) == (1, 1, 1)
    assert not report.digests_agree
    assert record_report(context, report).phase == "following"
    with pytest.raises(WrongPhase, match="verify"):
        switch(context)
    assert verify(context, context.state(), repair=True).repaired == 3
    report = verify(context, context.state())
    assert report.is_right
    assert report.digests_agree
    assert (report.origin_items, report.goal_items, report.wanted_items) == (9, 18, 18)
    assert record_report(context, report).phase == "verified"
    assert at.is_copied


def test_what_is_still_on_its_way_is_no_difference(at: At) -> None:
    at.put(*(card(f"c{n}") for n in range(4)))
    context = copied(at)
    written: list[str] = []

    def busy(verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
        """Somebody writes to the old table whenever a page of it was read, and a round of following comes later."""
        answer = at.call(verb, request)
        if verb == "Scan" and request["TableName"] == "cards":
            written.append(f"late{len(written)}")
            at.put(card(written[-1]), card("c1", written[-1]))
            at.remove("c2")
        return answer

    report = verify(at.context(busy), context.state())
    assert written
    assert (report.missing, report.different, report.extra) == (0, 0, 0)
    assert record_report(context, report).phase == "verified"


def test_what_the_new_design_cannot_read_keeps_a_copy_from_being_verified(at: At) -> None:
    def forgetful(item: Item) -> tuple[Item, ...]:
        return ({name: value for name, value in item.items() if name != "id"},)

    at.put(card("a"))
    context = replace(at.context(), migration=replace(CARDS, forward=forgetful, home=None))
    context.plan()
    begin(context)
    followed(context)
    report = verify(context, context.state())
    assert (report.missing, report.different, report.unfit) == (0, 0, 1)
    assert record_report(context, report).phase == "following"


def test_after_the_switch_the_old_table_is_kept_current_in_the_old_form(at: At) -> None:
    at.put(card("a", "one", "g"), card("b", "two"))
    context = switched(at)
    program = at.program()
    item = {**key("a"), "id": {"S": "a"}, "title": {"S": "newer"}}
    program("PutItem", {"TableName": "cards", "Item": item})
    program("DeleteItem", {"TableName": "cards", "Key": key("b")})
    assert at.items("new_cards")["CARD#a", "CARD"]["title"] == {"S": "newer"}
    followed(context)
    assert list(at.items("cards").values()) == list(back(item))


def test_a_rollback_brings_along_what_was_written_since(at: At) -> None:
    at.put(card("a", "one"), card("b", "two"))
    context, program = switched(at), at.program()
    program(
        "PutItem", {"TableName": "cards", "Item": {**key("c"), "id": {"S": "c"}, "title": {"S": "three"}}}
    )
    assert rollback(context).phase == "rolled_back"
    found = program("GetItem", {"TableName": "cards", "Key": key("c"), "ConsistentRead": True})["Item"]
    assert found == card("c", "three")
    program("PutItem", {"TableName": "cards", "Item": card("d", "four")})
    assert ("CARD#d", "CARD") in at.items("cards")
    assert ("CARD#d", "CARD") not in at.items("new_cards")


def test_of_two_who_roll_back_at_once_one_is_told_that_another_did(at: At) -> None:
    at.put(card("a", "one"))
    context = switched(at)
    paused: list[bool] = []

    def slow(verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
        """While the second compares the tables, the first has paused writes."""
        if verb == "Scan" and not paused:
            paused.append(True)
            state = context.state()
            ends = at.clock.now() + timedelta(minutes=1)
            context.move(state, "pausing", paused_from=state.phase, pause_ends=ends)
        return at.call(verb, request)

    with pytest.raises(PhaseMoved):
        rollback(at.context(slow))
    state = context.state()
    assert (state.phase, state.paused_from, state.side) == ("pausing", "switched", "target")
    assert context.end_pause(state).phase == "switched"
    assert rollback(context).phase == "rolled_back"


def test_after_a_rollback_it_can_be_planned_again(at: At) -> None:
    at.put(card("a", "one", "g"))
    rollback(switched(at))
    at.remove("a")
    at.put(card("b", "two"))
    context = copied(at)
    assert at.is_copied
    record_report(context, verify(context, context.state()))
    assert switch(context).phase == "switched"


def test_a_copy_that_was_rolled_back_goes_when_it_is_given_up(at: At) -> None:
    at.put(card("a", "one", "g"))
    context = switched(at)
    rollback(context)
    assert abandon(context).phase == "abandoned"
    at.engine.settle()
    assert "new_cards" not in at.call("ListTables", {})["TableNames"]
    assert at.program()("GetItem", {"TableName": "cards", "Key": key("a")})["Item"] == card("a", "one", "g")
    context = switched(at)
    assert context.state().phase == "switched"
    assert at.items("new_cards").keys() == {("CARD#a", "CARD"), ("GROUP#g", "AT#a")}


def test_a_table_stays_while_somebody_has_not_read_what_was_written_to_it(at: At) -> None:
    reader = Consumer(at.context().db, None, "cards", "reader", lambda change: None)
    reader.create_tables()
    reader.register()
    at.put(card("a", "one"))
    context = switched(at)
    with pytest.raises(NotDrained, match="reader"):
        finish(context, early=True)
    with pytest.raises(NotDrained, match="reader"):
        rollback(context)
    reader.run_once()
    assert rollback(context).phase == "rolled_back"
    with pytest.raises(NotDrained, match="reader"):
        abandon(context)
    reader.run_once()
    assert abandon(context).phase == "abandoned"


def test_one_cannot_go_back_when_the_days_are_over(at: At) -> None:
    context = switched(at)
    with pytest.raises(WrongPhase, match="kept until"):
        finish(context)
    at.clock.move(timedelta(days=30))
    with pytest.raises(KeptTooLong):
        rollback(context)
    assert finish(context).phase == "finished"
    at.engine.settle()
    assert "cards" not in at.call("ListTables", {})["TableNames"]
    left = at.call("Scan", {"TableName": "stream_consumers"})["Items"]
    assert [item for item in left if "migration." in item["PK"]["S"]] == []
    at.program()("PutItem", {"TableName": "cards", "Item": {**key("z"), "id": {"S": "z"}}})
    assert ("CARD#z", "CARD") in at.items("new_cards")
    assert finish(context).phase == "finished"


def test_what_is_abandoned_leaves_no_copy(at: At) -> None:
    at.put(card("a"))
    context = copied(at)
    assert abandon(context).phase == "abandoned"
    at.engine.settle()
    assert "new_cards" not in at.call("ListTables", {})["TableNames"]
    assert copied(at).state().phase == "following"
    assert at.is_copied


def test_nothing_is_done_that_was_not_planned(at: At) -> None:
    with pytest.raises(NotPlanned):
        at.context().state()
    assert advance(at.context(), "me").is_idle
    with pytest.raises(NotPlanned):
        switch(at.context())


def test_the_copy_is_no_faster_than_was_asked(at: At) -> None:
    at.put(*(card(f"c{n}") for n in range(30)))
    context = at.context()
    context.plan(rate=10, segments=1)
    begin(context)
    followed(context, page=10)
    assert sum(at.naps) >= 2.0


def test_a_slow_copy_lets_following_have_its_turn_every_second(at: At) -> None:
    at.put(*(card(f"c{n}") for n in range(30)))
    context = at.context()
    context.plan(rate=5, segments=1)
    begin(context)
    assert advance(context, "me").copied.items == 5
    assert sum(at.naps) <= 1.0


def test_the_last_plan_counts(at: At) -> None:
    context = at.context()
    context.plan(rate=5, segments=2)
    state = context.plan(rate=50)
    assert (state.phase, state.rate, state.segments) == ("planned", 50, 4)


def test_a_report_of_an_older_turn_verifies_nothing(at: At) -> None:
    at.put(card("a"))
    context = copied(at)
    report = verify(context, context.state())
    abandon(context)
    at.engine.settle()
    context = copied(at)
    assert record_report(context, report).phase == "following"
    with pytest.raises(WrongPhase):
        switch(context)


def test_a_table_that_grows_while_it_is_walked_is_not_said_to_be_done(at: At) -> None:
    at.put(*(card(f"c{n}") for n in range(9)))
    context = copied(at)

    def stale(verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
        answer = at.call(verb, request)
        if verb == "DescribeTable":
            answer["Table"]["ItemCount"] = 1
        return answer

    progress: list[tuple[int, int | None]] = []
    verify(
        at.context(stale), context.state(), notify=lambda done, total, what: progress.append((done, total))
    )
    assert progress[-1] == (18, None)
    assert backfill.copy_progress(at.context(stale), context.state()) == (9, None)


def test_an_item_that_nothing_can_be_made_of_waits_until_it_is_put_right_or_gone(at: At) -> None:
    def picky(item: Item) -> tuple[Item, ...]:
        if item["text"] == {"S": "bad"}:
            raise ValueError
        return CARDS.forward(item)

    at.put(card("a", "good"), card("b", "good"))
    context = replace(at.context(), migration=replace(CARDS, forward=picky))
    context.plan()
    begin(context)
    followed(context)
    at.put(card("a", "bad"), card("b", "bad"))
    advance(context, "me")
    assert not is_up_to_date(context, context.state())
    at.put(card("a", "right"))
    at.remove("b")
    for _ in range(3):
        advance(context, "me")
    assert is_up_to_date(context, context.state())
    assert at.is_copied


def test_who_comes_in_a_pause_is_told_when_it_ends(at: At) -> None:
    context = switched(at)
    ends = at.clock.now() + timedelta(minutes=1)
    context.move(context.state(), "pausing", paused_from="switched", pause_ends=ends)
    for verb in (switch, rollback, finish, abandon):
        with pytest.raises(WrongPhase, match=f"ends at {ends:%H:%M:%S}"):
            verb(context)


def test_sides_that_were_changed_are_said_to_be_though_consumers_are_told_later(
    at: At, monkeypatch: pytest.MonkeyPatch
) -> None:
    at.put(card("a", "one"))
    context = copied(at)
    record_report(context, verify(context, context.state()))
    with monkeypatch.context() as patch:
        patch.setattr(cutover, "notify_consumers", _unheard)
        state = switch(context)
    assert (state.phase, state.barred) == ("switched", True)
    followed(context)
    assert not context.state().barred


def _unheard(context: MigrationContext, state: State) -> None:
    raise NotDrained(context.name, "the stream shows nothing")


def test_no_copy_begins_before_consumers_were_told_of_the_last_change_of_sides(
    at: At, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = switched(at)
    with monkeypatch.context() as patch:
        patch.setattr(cutover, "_flip", _cut_after(cutover._flip))
        with pytest.raises(KeyboardInterrupt):
            rollback(context)
    assert (context.state().phase, context.state().barred) == ("rolled_back", True)
    context.plan()
    assert (begin(context).phase, context.state().barred) == ("copying", False)


def _cut_after(flip: Callable[..., State]) -> Callable[..., State]:
    """Sides are changed, and who did it dies before anybody is notified."""

    def cut(context: MigrationContext, *more: Any) -> State:
        def notify(words: str) -> None:
            raise KeyboardInterrupt

        return flip(context, *more[:-1], notify)

    return cut


@pytest.mark.parametrize(
    ("word", "error"), [("migration.cards-2", PhaseMoved), ("dropping_until", BeingDeleted)]
)
def test_who_comes_late_to_delete_a_table_leaves_the_one_that_has_its_name_by_then(
    at: At, word: str, error: type[Exception]
) -> None:
    at.put(card("a"))
    context = copied(at)
    is_late: list[bool] = []

    def slow(verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
        """While one takes long over it, another deletes the table and makes it anew."""
        answer = at.call(verb, request)
        if not is_late and word in str(request) and context.state().dropping:
            is_late.append(True)
            at.clock.move(cutover.DROP)
            abandon(context)
            at.engine.settle()
            copied(at)
        return answer

    with pytest.raises(error):
        abandon(at.context(slow))
    assert is_late
    at.engine.settle()
    assert at.is_copied


def test_a_table_is_deleted_by_one_at_a_time_and_by_another_if_that_one_died(at: At) -> None:
    context = switched(at)

    def dying(verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
        if verb == "DeleteTable":
            raise CallFailed("no answer")
        return at.call(verb, request)

    with pytest.raises(CallFailed):
        finish(at.context(dying), early=True)
    with pytest.raises(BeingDeleted, match="try again"):
        finish(context)
    at.clock.move(cutover.DROP)
    assert not finish(context).dropping
    at.engine.settle()
    assert "cards" not in at.call("ListTables", {})["TableNames"]


def test_a_table_that_is_protected_can_be_deleted_as_soon_as_it_is_not(at: At) -> None:
    context = switched(at)
    at.call("UpdateTable", {"TableName": "cards", "DeletionProtectionEnabled": True})
    with pytest.raises(CallRefused):
        finish(context, early=True)
    at.call("UpdateTable", {"TableName": "cards", "DeletionProtectionEnabled": False})
    assert not finish(context).dropping


def test_a_copy_that_is_given_up_in_the_middle_of_a_round_is_no_fault(at: At) -> None:
    at.put(card("a"))
    context = at.context()
    context.plan()
    begin(context)

    def given_up(verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
        if verb == "BatchGetItem" and context.state().phase == "copying":
            abandon(context)
            at.engine.settle()
        return at.call(verb, request)

    assert advance(at.context(given_up), "me").is_idle
    assert context.state().phase == "abandoned"


def test_on_hold_nothing_is_copied_and_sides_are_not_changed(at: At) -> None:
    at.put(*(card(f"c{n}") for n in range(10)))
    context = at.context()
    context.plan(segments=1)
    begin(context)
    hold(context, True)
    assert advance(context, "me").is_idle
    assert not at.items("new_cards")
    hold(context, False)
    followed(context)
    record_report(context, verify(context, context.state()))
    hold(context, True)
    with pytest.raises(WrongPhase):
        switch(context)
    hold(context, False)
    assert switch(context).phase == "switched"


def test_a_rollback_stops_programs_without_a_router_in_the_pause(at: At) -> None:
    at.put(card("a", "old"))
    context = switched(at)
    phases = []

    def last_write() -> None:
        phases.append(context.state().phase)
        at.call("PutItem", {"TableName": "new_cards", "Item": forward(card("a", "last"))[0]})

    rollback(context, quiesce=last_write)
    assert phases == ["pausing"]
    assert at.items("cards")["CARD#a", "CARD"]["text"] == {"S": "last"}
