"""SIGTERM and Ctrl-C: the first stops a server gracefully, the second ends the process at once.

Must hold: neither prints a traceback. A process that ends at once exits with 128 + the signal's number (130, 143), as
shells do; the store is then as safe as after any crash.
"""

import asyncio
import os
import signal
from collections.abc import Callable
from types import FrameType

_SIGNALS = (signal.SIGTERM, signal.SIGINT)


def stop_on_signal(stop: Callable[[], None]) -> None:
    """Call `stop` at the first signal, in the running event loop; exit at the second."""
    received: list[int] = []

    def on_signal(number: int) -> None:
        if received:
            _exit(number)
        received.append(number)
        stop()

    for number in _SIGNALS:
        asyncio.get_running_loop().add_signal_handler(number, on_signal, number)


def exit_on_signal() -> None:
    """From now on the next signal ends the process: for the clean-up after the event loop has ended."""
    for number in _SIGNALS:
        signal.signal(number, _exit)


def _exit(number: int, frame: FrameType | None = None) -> None:
    os._exit(128 + number)
