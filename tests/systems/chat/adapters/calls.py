"""Counts the calls that a block sends to the database, by verb."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

from tablewright.mapping import Db


@contextmanager
def counted(db: Db, monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    """The calls of a block, one for each request that is sent."""
    calls: Counter[str] = Counter()
    call = db._call

    def counting(verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
        calls[verb] += 1
        return call(verb, request)

    with monkeypatch.context() as patch:
        patch.setattr(db, "_call", counting)
        yield calls
