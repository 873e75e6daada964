"""A house whose tables change sides while it is open: it follows by itself, and says when an old table is to go."""

from __future__ import annotations

import shlex
import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.app.browsing import browsers
from tests.app.test_console_frame import text_of
from tests.mapping.migrate.cards import CARDS, Card, by_id, key, old, old_cards
from tests.mapping.migrate.test_phases import followed

from tablewright import testing
from tablewright.app.copies.backups import environment_of
from tablewright.app.copies.store import place_of
from tablewright.app.designs.migrations import migration_statuses
from tablewright.app.migrations import tell_due, tend
from tablewright.app.runtime import open_app
from tablewright.app.serve import TRANSLATIONS, app_of
from tablewright.client import embedded
from tablewright.design import Backups, Design, Environment
from tablewright.edge import serving_app
from tablewright.kit.system import System
from tablewright.mapping.migrate import (
    MigrationContext,
    SideChanged,
    WritesPaused,
    WrongPhase,
    abandon,
    advance,
    begin,
    finish,
    migration_context,
    record_report,
    rollback,
    switch,
    verify,
)
from tablewright.mapping.migrate import change_follower as following
from tablewright.mapping.tables import create_table

QUICK = replace(CARDS, term=timedelta(seconds=0.1))
SHOP = System("shop", "Cards", "Some cards.", (old,), lambda given: given.db, migrations=(QUICK,))


def migrated(at: MigrationContext) -> None:
    """From the beginning to the switch."""
    at.plan()
    begin(at)
    followed(at)
    record_report(at, verify(at, at.state()))
    switch(at)


def test_a_house_follows_a_switch_that_another_process_made_without_a_restart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(following, "LONG_WAIT", 0.1)
    with open_app(memory=True, systems=(SHOP,)) as runtime:
        (shop,) = runtime.running
        shop.db.write(old_cards.create(Card(id="a", text="one")))
        names = [follower.name for _, follower in runtime.schedule.followers]
        assert "migration cards-2" in names
        terminal = migration_context(embedded(runtime.engine), QUICK)
        migrated(terminal)
        item = {**key("b"), "id": {"S": "b"}, "title": {"S": "two"}}
        shop.call("PutItem", {"TableName": "cards", "Item": item})
        there = runtime.call("GetItem", {"TableName": "new_cards", "Key": key("b"), "ConsistentRead": True})
        assert there["Item"] == item
        led = runtime.call_of(shop.db)("DescribeTable", {"TableName": "cards"})["Table"]["TableName"]
        assert (led, runtime.call_of(runtime.db) is runtime.call) == ("new_cards", True)
        # Nobody at the terminal: the house's own follower keeps the old table current.
        give_up = time.monotonic() + 20
        while "Item" not in runtime.call("GetItem", {"TableName": "cards", "Key": key("b")}):
            assert time.monotonic() < give_up
            time.sleep(0.05)


def test_an_old_table_is_not_kept_without_an_end() -> None:
    clock = testing.Clock()
    with open_app(memory=True, systems=(SHOP,), world=clock.world(), jobs=False) as runtime:
        assert "migrations" in [due.job.name for due in runtime.schedule.listed()]
        at = migration_context(
            runtime.call, QUICK, world=clock.world(), sleep=lambda s: clock.move(timedelta(seconds=s))
        )
        assert tell_due([at]) == 0
        migrated(at)
        assert tell_due([at]) == 0
        clock.move(timedelta(days=30))
        assert tell_due([at]) == 1


def test_a_copy_that_was_rolled_back_is_deleted_by_itself() -> None:
    clock = testing.Clock()
    with open_app(memory=True, systems=(SHOP,), world=clock.world(), jobs=False) as runtime:
        at = migration_context(
            runtime.call, QUICK, world=clock.world(), sleep=lambda s: clock.move(timedelta(seconds=s))
        )
        migrated(at)
        assert tend([at]) == 0
        rollback(at)
        assert tend([at]) == 1
        runtime.engine.settle()
        assert "new_cards" not in runtime.call("ListTables", {})["TableNames"]
        assert tend([at]) == 0


def test_a_copy_elsewhere_is_of_the_table_that_is_open_by_the_name_it_is_known_by(tmp_path: Path) -> None:
    clock, away = testing.Clock(), tmp_path / "away"
    away.mkdir()
    with open_app(
        tmp_path / "data", systems=(SHOP,), world=clock.world(), jobs=False, copies=str(away)
    ) as runtime:
        (shop,) = runtime.running
        shop.db.write(old_cards.create(Card(id="a", text="one", group="g")))
        here, nap = environment_of(SHOP.designs), lambda s: clock.move(timedelta(seconds=s))
        at = migration_context(runtime.call, QUICK, world=clock.world(), environment=here, sleep=nap)
        migrated(at)
        finish(at, early=True)
        runtime.engine.settle()
        for _ in range(2):
            (copying,) = [due.job for due in runtime.schedule.listed() if due.job.name == "copies"]
            copying.run(None)
            runtime.engine.settle()
    (copy,) = place_of(str(away)).copies()
    assert [(table.name, table.items) for table in copy.tables] == [("cards", 2)]


def test_pages_of_a_design_name_and_read_the_table_that_is_open() -> None:
    clock = testing.Clock()
    nap = lambda seconds: clock.move(timedelta(seconds=seconds))  # noqa: E731
    with open_app(memory=True, systems=(SHOP,), world=clock.world(), jobs=False) as runtime:
        (shop,) = runtime.running
        shop.db.write(old_cards.create(Card(id="a", text="one")))
        with serving_app(app_of(runtime)) as url, browsers(url) as enter:
            rosa = enter("engineer_rosa")
            assert "Name in this store cards" in text_of(rosa.get("/console/designs/cards/tables/cards"))
            migrated(migration_context(runtime.call, QUICK, world=clock.world(), sleep=nap))
            clock.move(timedelta(seconds=10))
            table = rosa.get("/console/designs/cards/tables/cards")
            assert "Name in this store new_cards" in text_of(table)
            for link in ("items?table=new_cards", "metrics?table=new_cards"):
                assert f'href="/console/designs/{link}"' in table.text
            assert (
                "items?table=new_cards&amp;entity=card"
                in rosa.get("/console/designs/cards/entities/card").text
            )
            assert '<option value="new_cards" selected>' in rosa.get("/console/designs/items").text
            words = text_of(rosa.get("/console/designs/store"))
            assert "new_cards cards active" in words
            assert "cards cards not in use: cards is new_cards active" in words
            item = rosa.get(
                "/console/designs/item", params={"table": "new_cards", "k.PK": "CARD#a", "k.SK": "CARD"}
            )
            assert "&#34;TableName&#34;: &#34;new_cards&#34;" in text_of(item)


def test_the_next_command_of_a_migration_reaches_this_server(tmp_path: Path) -> None:
    with open_app(tmp_path / "my data", systems=(SHOP,), jobs=False, dynamodb_port=0) as runtime:
        migration_context(runtime.call, QUICK).plan()
        (planned,) = migration_statuses(runtime)
        assert planned.commands == (f"tablewright migrate run cards-2 --endpoint {runtime.dynamodb_url}",)
    with open_app(tmp_path / "my data", systems=(SHOP,), jobs=False) as runtime:
        (planned,) = migration_statuses(runtime)
        (command,) = planned.commands
        assert shlex.split(command)[-2:] == ["--data", str(tmp_path / "my data")]


def test_where_a_migration_stands_is_told_in_words() -> None:
    clock = testing.Clock()
    with open_app(memory=True, systems=(SHOP,), world=clock.world(), jobs=False) as runtime:
        (shop,) = runtime.running
        shop.db.write(old_cards.create(Card(id="a", text="one")))
        assert migration_statuses(runtime) == []
        at = migration_context(
            runtime.call, QUICK, world=clock.world(), sleep=lambda s: clock.move(timedelta(seconds=s))
        )
        at.plan()
        begin(at)
        (copying,) = migration_statuses(runtime)
        assert (copying.word, copying.open, copying.kept_until) == ("being copied, 0 %", "cards", None)
        followed(at)
        record_report(at, verify(at, at.state()))
        switch(at)
        (switched,) = migration_statuses(runtime)
        assert (switched.word, switched.open) == ("switched", "new_cards")
        assert switched.kept_until == switched.since + timedelta(days=30)
        rollback(at)
        assert [(one.word, one.open) for one in migration_statuses(runtime)] == [("rolled back", "cards")]


def test_that_changes_were_missed_is_told_until_it_is_put_right() -> None:
    clock = testing.Clock()
    with open_app(memory=True, systems=(SHOP,), world=clock.world(), jobs=False) as runtime:
        (shop,) = runtime.running
        shop.db.write(old_cards.create(Card(id="a", text="one")))
        at = migration_context(
            runtime.call, QUICK, world=clock.world(), sleep=lambda s: clock.move(timedelta(seconds=s))
        )
        at.plan()
        begin(at)
        followed(at)
        shop.db.write(old_cards.create(Card(id="b", text="two")))
        clock.move(timedelta(days=2))
        runtime.engine.settle()
        advance(at, "me")
        (told,) = migration_statuses(runtime)
        assert told.word.startswith("being copied again, ")
        assert "were missed because no server was running" in told.next
        followed(at)
        verify_it = (
            "tablewright migrate verify cards-2"  # in memory, without a port: there is no target to name
        )
        assert [(one.word, one.commands) for one in migration_statuses(runtime)] == [
            ("following changes", (verify_it,))
        ]


@pytest.mark.parametrize("end", ["finished", "abandoned"])
def test_a_table_that_was_to_be_deleted_when_the_process_died_goes_later_and_once(end: str) -> None:
    clock = testing.Clock()
    with open_app(memory=True, systems=(SHOP,), world=clock.world(), jobs=False) as runtime:
        left = "cards" if end == "finished" else "new_cards"

        def cut(verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
            if verb == "DeleteTable":
                raise KeyboardInterrupt
            return runtime.call(verb, request)

        nap = lambda s: clock.move(timedelta(seconds=s))  # noqa: E731
        at, dying = (
            migration_context(call, QUICK, world=clock.world(), sleep=nap) for call in (runtime.call, cut)
        )
        at.plan()
        begin(at)
        followed(at)
        record_report(at, verify(at, at.state()))
        if end == "finished":
            switch(at)
        with pytest.raises(KeyboardInterrupt):
            finish(dying, early=True) if end == "finished" else abandon(dying)
        assert at.state().phase == end
        with pytest.raises(WrongPhase):
            at.plan()
        assert tend([at]) == 0, "what it sent may still arrive"
        clock.move(timedelta(minutes=5))
        assert (tend([at]), tend([at])) == (1, 0)
        runtime.engine.settle()
        assert left not in runtime.call("ListTables", {})["TableNames"]
        # The name is free for another migration: asked again, nothing goes.
        runtime.call("CreateTable", create_table(old, old_cards.shape.table) | {"TableName": left})
        finish(at) if end == "finished" else abandon(at)
        assert left in runtime.call("ListTables", {})["TableNames"]


def test_daily_copies_of_the_side_that_was_left_go_in_their_time() -> None:
    """SK-D25: whoever was erased meanwhile is in them."""
    clock = testing.Clock()
    said = replace(SHOP, designs=(_backed_up(),))
    with open_app(memory=True, systems=(said,), world=clock.world(), jobs=False) as runtime:
        daily = next(due.job for due in runtime.schedule.listed() if due.job.name == "backups")
        at = migration_context(
            runtime.call, QUICK, world=clock.world(), sleep=lambda s: clock.move(timedelta(seconds=s))
        )

        def copies(table: str) -> int:
            runtime.engine.settle()
            return len(runtime.call("ListBackups", {"TableName": table})["BackupSummaries"])

        daily.run(None)
        at.plan()
        begin(at)
        followed(at)
        record_report(at, verify(at, at.state()))
        switch(at)
        clock.move(timedelta(days=1))
        daily.run(None)
        assert (copies("cards"), copies("new_cards")) == (1, 1)
        finish(at, early=True)
        clock.move(timedelta(days=7))
        daily.run(None)
        assert (copies("cards"), copies("new_cards")) == (0, 2)


def _backed_up() -> Design:
    """The same cards, in a design that wants backups for a week."""
    made = Design("cards")
    table = made.table("cards", pk="PK", sk="SK", ttl="expires", stream="NEW_AND_OLD_IMAGES")
    table.entity(Card, by_id, tag="card", pk="CARD#{id}", sk="CARD")
    made.environment(Environment("a", region="r", backups=Backups("cron(0 1 * * ? *)", 7, "v")))
    made.build()
    return made


def test_a_pause_is_told_as_such() -> None:
    problem = TRANSLATIONS[WritesPaused](WritesPaused("cards", 5))
    assert (problem.status, problem.code, problem.headers) == (503, "WRITES_PAUSED", {"Retry-After": "5"})
    assert TRANSLATIONS[SideChanged](SideChanged("cards")).code == "OUTCOME_UNKNOWN"
