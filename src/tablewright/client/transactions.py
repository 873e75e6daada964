"""Transactions: up to 100 writes and condition checks, or gets, all or nothing.

A transaction that was cancelled only by conflicts or throttling is retried; one that was cancelled for another reason
raises TransactionRefused, with each reason at its action's position.
Must hold: what the service would refuse, as far as it can be known here, is refused before it is sent.
Elsewhere: tokens that make a lost answer harmless (http.py adds one to each call; boto3 does too).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from tablewright.client.call import Call, CallFailed, CallRefused
from tablewright.client.item_identity import identity_of
from tablewright.client.retries import Retries
from tablewright.world import World, real_world

ACTIONS = 100
TRANSIENT = frozenset(("ProvisionedThroughputExceeded", "ThrottlingError", "TransactionConflict"))

# {"Put": {...}}, {"Update": ...}, {"Delete": ...}, {"ConditionCheck": ...}
Action: TypeAlias = Mapping[str, Any]
KeyNames: TypeAlias = Mapping[str, Sequence[str]]  # table: its key attributes


@dataclass(frozen=True, slots=True)
class Reason:
    """Why one action cancelled the transaction; `item` as it was stored, if the action asked for it."""

    position: int
    code: str
    message: str = ""
    item: Mapping[str, Any] | None = None


class TransactionRefused(CallRefused):
    """The service cancelled the transaction: nothing was written. `reasons` names the actions at fault."""

    def __init__(self, refusal: CallRefused) -> None:
        super().__init__(refusal.name, refusal.message, refusal.status, refusal.fields)
        self.follows_lost_answer = refusal.follows_lost_answer
        self.reasons = tuple(
            Reason(position, one["Code"], one.get("Message") or "", one.get("Item"))
            for position, one in enumerate(self.fields.get("CancellationReasons") or ())
            if one.get("Code", "None") != "None"
        )

    @property
    def is_retryable(self) -> bool:
        """Whether all reasons are transient."""
        return bool(self.reasons) and all(reason.code in TRANSIENT for reason in self.reasons)


class TransactionImpossible(CallFailed):
    """A transaction that the service would refuse, refused before it was sent."""


def transact_write(
    call: Call,
    actions: Sequence[Action],
    *,
    key_names: KeyNames | None = None,
    world: World | None = None,
    retries: Retries | None = None,
) -> None:
    """Do all of `actions` or none. With `key_names` two Puts of one item are refused here, else by the service."""
    _refuse_count(len(actions))
    bodies = [_bodies(action) for action in actions]
    known = _known_keys(bodies, key_names)
    _refuse_duplicates([_item_of_write(each, known) for each in bodies])
    request = {"TransactItems": list(actions)}
    _with_retries(lambda: call("TransactWriteItems", request), world or real_world(), retries)


def transact_get(
    call: Call,
    gets: Sequence[Mapping[str, Any]],
    *,
    world: World | None = None,
    retries: Retries | None = None,
) -> list[dict[str, Any] | None]:
    """The items of `gets` (`{"TableName": ..., "Key": ...}`) at one moment, in that order; None for a missing one."""
    _refuse_count(len(gets))
    _refuse_duplicates([identity_of(get["TableName"], get["Key"]) for get in gets])
    request = {"TransactItems": [{"Get": get} for get in gets]}
    answer = _with_retries(lambda: call("TransactGetItems", request), world or real_world(), retries)
    return [one.get("Item") for one in answer["Responses"]]


def _with_retries(
    send: Callable[[], dict[str, Any]], world: World, retries: Retries | None
) -> dict[str, Any]:
    retries = retries or Retries(sleep=world.sleep)
    tried = 0
    while True:
        try:
            return send()
        except CallRefused as refusal:
            if refusal.name != "TransactionCanceledException":
                raise
            cancelled = TransactionRefused(refusal)
            tried += 1
            if tried >= retries.attempts or not cancelled.is_retryable:
                raise cancelled from None
        retries.sleep(retries.pause(tried, world.jitter()))


def _refuse_count(count: int) -> None:
    if not 1 <= count <= ACTIONS:
        raise TransactionImpossible(
            f"a transaction has 1 to {ACTIONS} actions, this one has {count}; actions that need not happen together "
            "may go into several transactions"
        )


def _refuse_duplicates(items: Sequence[tuple[str, ...] | None]) -> None:
    seen: dict[tuple[str, ...], int] = {}
    for position, item in enumerate(items):
        if item is None:
            continue
        first = seen.setdefault(item, position)
        if first != position:
            raise TransactionImpossible(
                f"actions {first} and {position} (from 0) are about the same item of {item[0]}; a transaction may "
                "name an item once: make them one action, with both changes or with the check as its condition"
            )


def _known_keys(
    bodies: Sequence[Sequence[Mapping[str, Any]]], given: KeyNames | None
) -> dict[str, list[str]]:
    """The key attributes of each table, from `given` or from an action with a Key."""
    known: dict[str, list[str]] = {table: sorted(names) for table, names in (given or {}).items()}
    for each in bodies:
        for one in each:
            if one["TableName"] not in known and "Key" in one:
                known[one["TableName"]] = sorted(one["Key"], key=str)
    return known


def _item_of_write(
    bodies: Sequence[Mapping[str, Any]], known: Mapping[str, Sequence[str]]
) -> tuple[str, ...] | None:
    for one in bodies:
        table = one["TableName"]
        if table in known:
            # All keys of a table have the same attributes, and most are only text.
            key, names = one.get("Key", one.get("Item")), known[table]
            try:
                identity = table, *[key[name]["S"] for name in names]
                hash(identity)  # the service refuses what is not text
                return identity
            except (KeyError, TypeError):
                found = one["Key"] if "Key" in one else {name: key[name] for name in names if name in key}
                return identity_of(table, found)
    return None


def _bodies(action: Action) -> list[Mapping[str, Any]]:
    """The bodies of an action that name an item; whether they are valid is left to the service."""
    return [
        one
        for one in action.values()
        if _is_object(one)
        and isinstance(one.get("TableName"), str)
        and _is_object(one.get("Key", one.get("Item")))
    ]


def _is_object(given: object) -> bool:
    # Asking for the type first takes a fifth of the time for a dict, which nearly all are.
    return type(given) is dict or isinstance(given, Mapping)
