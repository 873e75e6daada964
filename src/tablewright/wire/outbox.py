"""Answers of one turn of the loop, sent together at its end.

Sending each at once wakes its client's processor each time, and the client's next request interrupts our
work on the others: with sixteen clients that was about a quarter of the server's time.
Must hold: answers of one connection leave in order; one connection has at most one letter here, so that a
client that does not read is noticed before the next is written (connection.py).
"""

import asyncio
import logging
from collections.abc import Callable
from typing import TypeAlias

from tablewright.engine.errors import fault

log = logging.getLogger("tablewright.wire")

Send: TypeAlias = Callable[[bytes], None]


class Outbox:
    """Where answers wait for the end of the turn."""

    __slots__ = ("_letters", "_loop")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._letters: list[tuple[Send, bytes]] = []

    def post(self, send: Send, letter: bytes) -> None:
        if not self._letters:
            self._loop.call_soon(self.flush)
        self._letters.append((send, letter))

    def flush(self) -> None:
        letters, self._letters = self._letters, []
        for send, letter in letters:
            try:
                send(letter)
            except Exception as error:  # one broken connection keeps no letter from the others
                log.error("answer not sent", extra=fault(error))
