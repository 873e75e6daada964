"""Statements of PartiQL from what the property tests draw: the same claims and edits, said in the other language.

A value stands in the text as a literal, or as a `?` with a parameter; a binary has no literal.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from hypothesis import strategies as st
from tests.properties import requests
from tests.properties.claims import ALWAYS, Claim, claims
from tests.properties.edits import CHANGEABLE, Edit, updates
from tests.properties.model import Table
from tests.properties.plain import Item, Value
from tests.properties.reads import Draw
from tests.properties.requests import Request
from tests.properties.strategies import items, keys

THERE = "attribute_exists(pk)"


@dataclass
class Text:
    """A statement in the making."""

    draw: Draw
    text: str = ""
    parameters: list[Value] = field(default_factory=list)

    def say(self, text: str, values: tuple[Value, ...] = ()) -> "Text":
        """Add a text whose question marks stand for these values."""
        first, *rest = text.split("?")
        self.text += first
        for value, following in zip(values, rest, strict=True):
            self.text += self.value(value) + following
        return self

    def value(self, value: Value) -> str:
        written = literal(value) if self.draw(st.booleans()) else None
        if written is None:
            self.parameters.append(value)
            return "?"
        return written

    def request(self) -> Request:
        said: Request = {"Statement": self.text}
        return said | {"Parameters": self.parameters} if self.parameters else said


def literal(value: Value) -> str | None:
    """The value as it stands in a statement; None if there is no way to write it."""
    ((kind, content),) = value.items()
    match kind:
        case "S":
            return quoted(content)
        case "N":
            return str(content)
        case "BOOL":
            return str(content).upper()
        case "NULL":
            return "NULL"
        case "SS":
            return f"<<{', '.join(map(quoted, content))}>>"
        case "NS":
            return f"<<{', '.join(content)}>>"
        case "L":
            members = [literal(member) for member in content]
            return None if None in members else f"[{', '.join(map(str, members))}]"
        case "M":
            named = {name: literal(member) for name, member in content.items()}
            inside = ", ".join(f"{quoted(name)}: {member}" for name, member in named.items())
            return None if None in named.values() else f"{{{inside}}}"
        case _:
            return None


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


# --- writes twice: as a statement, and as the request of the classic verb with its verb ---


@dataclass(frozen=True)
class Deed:
    statement: Request
    verb: str
    classic: Request
    key: str

    @property
    def action(self) -> Request:
        """The classic request inside a transaction."""
        member = self.verb.removesuffix("Item")
        return {member: {name: content for name, content in self.classic.items() if name != "ReturnValues"}}


def writes(draw: Draw, table: Table, returning: bool = True) -> Deed:
    kind: Callable[[Draw, Table, bool], Deed] = draw(
        st.sampled_from([_insert, _insert, _update, _update, _delete])
    )
    return kind(draw, table, returning)


def _insert(draw: Draw, table: Table, returning: bool) -> Deed:
    item: Item = draw(items(table.shape))
    text = Text(draw).say(f'INSERT INTO "{table.name}" VALUE {{')
    for place, (name, value) in enumerate(item.items()):
        text.say(f"{', ' if place else ''}'{name}': ?", (value,))
    classic = {"TableName": table.name, "Item": item, "ConditionExpression": "attribute_not_exists(pk)"}
    return Deed(text.say("}").request(), "PutItem", classic, str(table.key_of(item)))


def _update(draw: Draw, table: Table, returning: bool) -> Deed:
    key: Item = draw(keys(table.shape))
    change = draw(updates(table.shape).filter(lambda update: all(map(_has_words, update.edits))))
    claim = draw(_conditions())
    text = Text(draw).say(f'UPDATE "{table.name}"')
    for edit in change.edits:
        text.say(" " + _clause(edit), edit.values)
    both = Claim(f"{THERE} AND ({claim.text})" if claim.text else THERE, claim.values, claim.holds)
    classic = requests.update(table, key, change, both)
    text, classic = _returned(
        draw, _where(text, key, claim), classic, returning, ("ALL", "MODIFIED"), ("OLD", "NEW")
    )
    return Deed(text.request(), "UpdateItem", classic, str(table.key_of(key)))


def _delete(draw: Draw, table: Table, returning: bool) -> Deed:
    key: Item = draw(keys(table.shape))
    claim = draw(_conditions())
    text = _where(Text(draw).say(f'DELETE FROM "{table.name}"'), key, claim)
    classic = requests.keyed(table, key, claim)
    text, classic = _returned(draw, text, classic, returning, ("ALL",), ("OLD",))
    return Deed(text.request(), "DeleteItem", classic, str(table.key_of(key)))


def _conditions() -> st.SearchStrategy[Claim]:
    return st.one_of(st.just(ALWAYS), claims(CHANGEABLE))


def _has_words(edit: Edit) -> bool:
    """PartiQL has no if_not_exists, and adds numbers by `+` only."""
    return "if_not_exists" not in edit.text and not (edit.section == "ADD" and "N" in edit.values[0])


def _clause(edit: Edit) -> str:
    match edit.section:
        case "ADD":
            return f"SET {edit.name} = set_add({edit.name}, ?)"
        case "DELETE":
            return f"SET {edit.name} = set_delete({edit.name}, ?)"
        case section:
            return f"{section} {edit.text}"


def _where(text: Text, key: Item, claim: Claim) -> Text:
    text.say(" WHERE " + " AND ".join(f"{name} = ?" for name in key), tuple(key.values()))
    return text if claim is ALWAYS else text.say(f" AND ({claim.text})", claim.values)


def _returned(
    draw: Draw, text: Text, classic: Request, wanted: bool, how: tuple[str, ...], when: tuple[str, ...]
) -> tuple[Text, Request]:
    if not wanted or draw(st.booleans()):
        return text, classic
    part, time = draw(st.sampled_from(how)), draw(st.sampled_from(when))
    values = f"{'ALL' if part == 'ALL' else 'UPDATED'}_{time}"
    return text.say(f" RETURNING {part} {time} *"), classic | {"ReturnValues": values}
