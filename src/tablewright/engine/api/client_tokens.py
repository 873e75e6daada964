"""ClientRequestToken of TransactWriteItems: the same call again within ten minutes is answered and changes nothing.

Must hold: a token is saved in the transaction of the writes it stands for.
"""

from hashlib import sha256
from typing import Any

import orjson

from tablewright.engine.api.shapes import Request
from tablewright.engine.consumed_capacity import Consumed, capacity_members, read_units
from tablewright.engine.errors import ServiceError
from tablewright.engine.limits import TOKEN_SECONDS
from tablewright.engine.metrics.names import CONSUMED_READ
from tablewright.engine.mutations import Evaluated, refuse_unless_writer
from tablewright.engine.transaction import WriteTransaction
from tablewright.values import WrongJson
from tablewright.values.codec import NOT_UTF8


def fingerprint(request: Request) -> bytes:
    """A hash of the request's actions: the same token with other actions is refused."""
    try:
        return sha256(orjson.dumps(request["TransactItems"], option=orjson.OPT_SORT_KEYS)).digest()
    except orjson.JSONEncodeError:
        raise WrongJson(NOT_UTF8) from None


def replayed_answer(
    txn: WriteTransaction, request: Request, token: str, body: bytes
) -> dict[str, Any] | None:
    """The answer to a call that was made with this token in the last ten minutes; None if there was none."""
    remembered = txn.rows.token(token)
    if remembered is None or remembered[0] <= txn.position.at - TOKEN_SECONDS * 1_000_000:
        return None
    _, known, sizes = remembered
    if known != body:
        raise ServiceError(
            "IdempotentParameterMismatchException",
            "The ClientRequestToken was used in the last ten minutes for a request with other parameters",
        )
    units = [(t, used) for name, used in orjson.loads(sizes) if (t := txn.tables.get(name)) is not None]
    for table, _ in units:
        # The first request may have been lost in a fail-over since: then it must not be confirmed again.
        refuse_unless_writer(table)
    spent = [Consumed(table, used) for table, used in units]
    txn.samples += [((CONSUMED_READ, table.name, "", ""), used) for table, used in units]
    return capacity_members(spent, request.get("ReturnConsumedCapacity"), "Read")


def remember(txn: WriteTransaction, token: str, body: bytes, decisions: list[Evaluated]) -> None:
    """Save the token with what a repetition of the call is answered: the units of reading what it wrote."""
    units: dict[str, float] = {}
    for evaluated in decisions:
        name = evaluated.write.table.name
        size = max(evaluated.old_size, evaluated.new_size)
        units[name] = units.get(name, 0.0) + 2 * read_units(size, consistent=True)
    now = txn.position.at
    txn.rows.forget_tokens(before=now - TOKEN_SECONDS * 1_000_000)
    txn.rows.save_token(token, now, body, orjson.dumps(list(units.items())))
