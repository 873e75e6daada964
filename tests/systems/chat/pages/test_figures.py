"""The figures that administrators see, and the page of the migration."""

from __future__ import annotations

from datetime import UTC, datetime

from tests.app.browsing import browsers, ticking
from tests.app.portal_forms import words_of

from tablewright import testing
from tablewright.app.runtime import open_app
from tablewright.app.serve import app_of
from tablewright.app.systems import CHAT
from tablewright.edge import serving_app
from tablewright.systems.chat.pages.admin import compression_of, messages_per_chat
from tablewright.systems.chat.popularity import Popular
from tablewright.systems.chat.seed import TAYO


def test_messages_per_chat_are_those_of_all_animals_together() -> None:
    assert messages_per_chat([Popular("panda", 3, 12), Popular("lion", 1, 2), Popular("mole")]) == 3.5
    assert messages_per_chat([Popular("mole")]) is None


def test_the_compression_is_that_of_all_summaries_together() -> None:
    assert compression_of([Popular("panda", summaries=3, compression=3000), Popular("lion", 1, 2)]) == 0.1
    assert compression_of([Popular("mole")]) is None


def test_the_pages_of_figures_and_of_the_migration_are_shown() -> None:
    clock = testing.Clock(datetime(2026, 11, 16, 18, tzinfo=UTC))
    with (
        open_app(memory=True, systems=(CHAT,), world=ticking(clock), jobs=False) as runtime,
        serving_app(app_of(runtime)) as url,
        browsers(url) as enter,
    ):
        tayo = enter(TAYO)
        figures = tayo.get("/console/chat/admin")
        assert figures.status_code == 200
        assert "Most talked to" in words_of(figures)
        migration = tayo.get("/console/chat/admin/migration")
        assert migration.status_code == 200
        assert "No migration was started" in words_of(migration)
