"""Logins that are over before their token is: who signs out is signed out here too, not only in their browser.

Must hold: a token whose login was ended opens nothing again, whoever has it; what is kept of it goes when the token
would have ended by itself. Elsewhere: all logins of an account at once (its epoch, accounts.py), asking (identity.py).
"""

from datetime import UTC, datetime, timedelta

from tablewright.app.design import EndedLogin, ended_logins
from tablewright.edge import Principal
from tablewright.edge.identity.verifier import LEEWAY
from tablewright.mapping import Db

_LONGER = LEEWAY + timedelta(minutes=1)


def end(db: Db, caller: Principal) -> None:
    """From now on the caller's token is worth nothing. Nothing happens to who has none."""
    token_id, ends = caller.claims.get("jti"), caller.claims.get("exp")
    if isinstance(token_id, str) and isinstance(ends, int):
        until = datetime.fromtimestamp(ends, UTC) + _LONGER
        db.write(ended_logins.put(EndedLogin(token_id=token_id, until=until)))


def is_ended(db: Db, caller: Principal) -> bool:
    token_id = caller.claims.get("jti")
    return isinstance(token_id, str) and db.one(ended_logins.get(token_id), consistent=True) is not None
