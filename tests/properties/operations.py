"""Writes to one item, for both sides: the request the engine gets, and the same done to the model."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st
from tests.properties import requests
from tests.properties.claims import ALWAYS, Claim, claims
from tests.properties.edits import CHANGEABLE, updates
from tests.properties.model import Key, Table
from tests.properties.requests import Request
from tests.properties.strategies import items, keys

CLAIMS = claims(("pk", *CHANGEABLE))
CONDITIONS = st.booleans().flatmap(lambda given: CLAIMS if given else st.just(ALWAYS))


@dataclass(frozen=True)
class Deed:
    """`kind` is what a transaction calls it; `place` is the item it is about."""

    kind: str
    request: Request
    place: tuple[str, Key]
    on_model: Callable[[], Any] = field(repr=False)


@st.composite
def deeds(
    draw: st.DrawFn, table: Table, kinds: tuple[str, ...], conditions: st.SearchStrategy[Claim] = CONDITIONS
) -> Deed:
    kind, claim = draw(st.sampled_from(kinds)), draw(conditions)
    if kind == "Put":
        item = draw(items(table.shape))
        request = requests.put(table, item, claim)
        return Deed(kind, request, (table.name, table.key_of(item)), lambda: table.put(item, claim.holds))
    key = draw(keys(table.shape))
    place = (table.name, table.key_of(key))
    if kind == "Update":
        change = draw(updates(table.shape))
        request = requests.update(table, key, change, claim)
        return Deed(kind, request, place, lambda: table.update(key, change.applied, claim.holds))
    if kind == "Delete":
        return Deed(kind, requests.keyed(table, key, claim), place, lambda: table.delete(key, claim.holds))
    if claim is ALWAYS:  # a ConditionCheck without a condition is none
        claim = draw(CLAIMS)
    return Deed(kind, requests.keyed(table, key, claim), place, lambda: table.check(key, claim.holds))
