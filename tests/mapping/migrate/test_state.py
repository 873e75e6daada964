"""The state of a migration as it is stored: names that earlier versions wrote."""

from datetime import UTC, datetime

from tablewright.mapping.items import item_of
from tablewright.mapping.migrate.state import Gate, Segment, State, gates, segments, states

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_the_epoch_and_the_revision_are_stored_under_their_old_names() -> None:
    state = State(name="m", revision=7, epoch=3, source="a", target="b", planned_at=NOW, since=NOW)
    item = item_of(states.shape, state)
    assert (item["epoch"], item["turn"]) == ({"N": "7"}, {"N": "3"})
    gate = item_of(gates.shape, Gate(name="m", number=1, epoch=3, course="forward"))
    assert gate["turn"] == {"N": "3"}
    segment = item_of(segments.shape, Segment(name="m", epoch=3, number=0, of=4))
    assert (segment["turn"], segment["SK"]) == ({"N": "3"}, {"S": "SEGMENT#000003#0000"})
    assert "epoch" not in gate
    assert "epoch" not in segment
