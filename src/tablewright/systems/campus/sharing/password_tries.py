"""Wrong passwords of public links: ten a minute for each link and caller, in all processes together.

Must hold: a try is counted in the table before the password is compared, so no number of guesses at once, at any number
of processes, gets more answers than ten; a right one is taken off again, so it is never too often; others than the
caller are not held up. More than ten that are compared in one moment count as wrong until they were.
Elsewhere: passwords themselves (link_secrets.py), who the caller is (api/links.py).
"""

import hashlib
import hmac
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from tablewright.design import Write, absent
from tablewright.edge.errors import TooManyRequests
from tablewright.mapping import ConditionNotMet
from tablewright.systems.campus import design as d
from tablewright.systems.campus.model import LinkTries
from tablewright.systems.campus.repository import Repository

MOST = 10
MINUTE = timedelta(minutes=1)


class PasswordTries:
    """Counts tries. What is stored names neither a link nor a caller."""

    def __init__(self, repository: Repository, secret: bytes) -> None:
        self._repository = repository
        self._secret = hashlib.sha256(b"campus password tries" + secret).digest()

    @contextmanager
    def counted(self, link_id: str, caller: str) -> Iterator[None]:
        """Compare a password in the block; RATE_LIMIT if there were too many wrong ones, without comparing."""
        name = hmac.new(self._secret, f"{link_id}\0{caller}".encode(), hashlib.sha256).hexdigest()[:32]
        now = self._repository.now()
        try:
            self._repository.db.write(_add(name, now, 1).when(lambda it: absent(it.used) | (it.used < MOST)))
        except ConditionNotMet:
            wait = 60 - now.second
            words = f"Too many wrong passwords. Try again in {wait} s."
            raise TooManyRequests("RATE_LIMIT", words, wait) from None
        yield  # what is raised there was a wrong one
        self._repository.db.write(_add(name, now, -1))


def _add(name: str, now: datetime, more: int) -> Write[LinkTries]:
    start = LinkTries(name=name, window=f"{now:%Y-%m-%dT%H:%M}", expires_at=now + 2 * MINUTE)
    return d.link_tries.upsert(start).at(lambda it: it.used).add(more)
