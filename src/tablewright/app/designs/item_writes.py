"""Writes of single items: add, change, delete, each as the exact request that is sent. Pure.

Must hold: a change and a delete are refused by the store if the item is not the one that was read, and an add if there
is one. A change sends only the attributes that differ, so an attribute that another writer adds is never lost. Secret
attributes stay as they are stored. Elsewhere: the pages (item_pages.py), writes of PartiQL (statements.py).
"""

import hmac
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from tablewright.app.designs.secrets import COVER
from tablewright.expressions import PlaceholderAllocator, render
from tablewright.expressions.build import all_of, attribute_not_exists, equal
from tablewright.expressions.nodes import Condition, Remove, Set, Update
from tablewright.values import BadValue, Item, WrongJson, admit_item


class ItemUnusable(ValueError):
    """What was typed cannot be written; the text says why."""


def parsed(text: str) -> Item:
    """An item in DynamoDB's JSON, in its canonical form."""
    try:
        given = orjson.loads(text)
    except orjson.JSONDecodeError as wrong:
        raise ItemUnusable(f"This is not JSON: {wrong}.") from None
    if not isinstance(given, dict) or not given:
        raise ItemUnusable('Write an object with attributes, such as {"id": {"S": "7"}}.')
    for name, value in given.items():
        try:
            admit_item({name: value})
        except (BadValue, WrongJson) as wrong:
            raise ItemUnusable(f"{name}: {wrong}.") from None
    return admit_item(given)[0]


def refuse_key(item: Item, letters: Mapping[str, str]) -> None:
    """Refuse an item without its key attributes, or with others than the table's types. `letters` are of the key."""
    for name, letter in letters.items():
        if name not in item:
            raise ItemUnusable(f"{name} is missing: it is part of the key.")
        kind, content = next(iter(item[name].items()))
        if kind != letter:
            raise ItemUnusable(f"{name} is part of the key and of the type {letter}, not {kind}.")
        if content == "":
            raise ItemUnusable(f"{name} is part of the key and cannot be empty.")


def refuse_cover(item: Item, secret: frozenset[str]) -> None:
    """Refuse a new item that has the cover of a secret for its value: it was copied from a page."""
    for name in secret & item.keys():
        if item[name] == {"S": COVER}:
            raise ItemUnusable(
                f"{name} is marked as secret, and this is its cover: type its value or leave it out."
            )


def uncovered(typed: Item, stored: Item, secret: frozenset[str]) -> Item:
    """The typed item with the stored values of what is secret, which the page has shown covered."""
    for name in secret:
        expected = {"S": COVER} if name in stored else None
        if typed.get(name) != expected:
            raise ItemUnusable(f"{name} is marked as secret: it cannot be changed here.")
    return {name: stored[name] if name in secret else value for name, value in typed.items()}


def digest(secret: bytes, item: Item) -> str:
    """What tells whether an item is still the one that was read. Keyed: nothing can be guessed from it."""
    text = orjson.dumps(admit_item(item)[0], option=orjson.OPT_SORT_KEYS)
    return hmac.digest(secret, b"item as read" + text, "sha256").hex()


# --- requests ---


def put_request(table: str, names: Sequence[str], item: Item) -> dict[str, Any]:
    """A PutItem; refused by the store if the item exists already."""
    return {"TableName": table, "Item": item, **_condition(attribute_not_exists(names[0]))}


def replace_request(table: str, item: Item, secret: frozenset[str]) -> dict[str, Any]:
    """A PutItem that replaces an item; refused by the store if that has a secret, which would be lost."""
    absent = all_of(*(attribute_not_exists(name) for name in sorted(secret)))
    return {"TableName": table, "Item": item, **(_condition(absent) if absent is not None else {})}


def update_request(
    table: str, names: Sequence[str], before: Item, after: Item, known: Sequence[str]
) -> dict[str, Any]:
    """An UpdateItem of the attributes that differ. `known` are those the item may have and must still be without."""
    changed = [name for name in after if after[name] != before.get(name)]
    removed = [name for name in before if name not in after]
    if any(name in names for name in (*changed, *removed)):
        raise ItemUnusable(
            "The key of an item cannot be changed. Add a new item instead, then delete this one."
        )
    if not changed and not removed:
        raise ItemUnusable("Nothing is changed yet.")
    placeholders = PlaceholderAllocator()
    sets = tuple(Set((name,), after[name]) for name in changed)
    removes = tuple(Remove((name,)) for name in removed)
    text = render(Update((*sets, *removes)), placeholders)
    condition = render(_as_read(before, [*known, *changed]), placeholders)
    return {
        "TableName": table,
        "Key": {name: before[name] for name in names},
        "UpdateExpression": text,
        "ConditionExpression": condition,
        **placeholders.members(),
    }


def delete_request(table: str, names: Sequence[str], before: Item, known: Sequence[str]) -> dict[str, Any]:
    """A DeleteItem of the item that was read."""
    key = {name: before[name] for name in names}
    return {"TableName": table, "Key": key, **_condition(_as_read(before, known))}


def _as_read(before: Item, known: Sequence[str]) -> Condition:
    """Every attribute is as it was read, and those that it might have had and had not are still absent."""
    absent = [name for name in dict.fromkeys(known) if name not in before]
    found = all_of(
        *(equal(name, value) for name, value in before.items()), *(equal(name, None) for name in absent)
    )
    assert found is not None  # an item has a key
    return found


def _condition(condition: Condition) -> dict[str, Any]:
    placeholders = PlaceholderAllocator()
    return {"ConditionExpression": render(condition, placeholders), **placeholders.members()}
