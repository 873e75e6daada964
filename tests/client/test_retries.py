"""Patience for any Call."""

from __future__ import annotations

import pytest
from tests.client.ways import Naps, scripted, world

from tablewright.client import CallRefused, NoAnswer, Retries, retrying

BUSY = CallRefused("ThrottlingException", "slow down")


def test_what_passes_by_itself_is_asked_again(naps: Naps) -> None:
    call, asked = scripted(BUSY, BUSY, {"Item": {}})
    patient = retrying(call, world=world(0.5), retries=naps.retries())
    assert patient("GetItem", {"a": 1}) == {"Item": {}}
    assert asked == [{"a": 1}] * 3
    assert naps.taken == [0.0125, 0.025]


def test_patience_ends(naps: Naps) -> None:
    call, asked = scripted(BUSY, BUSY, BUSY)
    with pytest.raises(CallRefused, match="slow down"):
        retrying(call, world=world(), retries=naps.retries(2))("GetItem", {})
    assert len(asked) == 2


@pytest.mark.parametrize(
    "failure",
    [CallRefused("ValidationException"), NoAnswer("GetItem", "gone", may_have_been_carried_out=True)],
)
def test_mistakes_and_silence_are_passed_on(naps: Naps, failure: Exception) -> None:
    call, asked = scripted(failure)
    with pytest.raises(type(failure)):
        retrying(call, retries=naps.retries())("GetItem", {})
    assert (len(asked), naps.taken) == (1, [])


def test_retries_that_try_nothing_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        Retries(attempts=0)
