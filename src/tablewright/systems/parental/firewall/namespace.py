"""A way into a network namespace: a command run there, or a socket made there.

A gateway may keep the children's network apart from its own (and tests must). Elsewhere: what is done there.
"""

import ctypes
import os
import re
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from tablewright.systems.parental.firewall.driver import Rejected, Unavailable

T = TypeVar("T")
NAMESPACES = Path("/run/netns")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}")
_NETWORK = 0x40000000  # CLONE_NEWNET


def command(namespace: str | None, words: Sequence[str]) -> list[str]:
    """The words of a command as it is run in a namespace; None is where we are."""
    return [*words] if namespace is None else ["ip", "netns", "exec", _checked(namespace), *words]


def made_inside(namespace: str | None, make: Callable[[], T]) -> T:
    """What `make` returns when it is called in a namespace: a socket made there stays there.

    A namespace belongs to a thread, so a thread of its own goes in and ends.
    """
    if namespace is None:
        return make()
    made: list[T] = []
    failed: list[Exception] = []

    def enter() -> None:
        try:
            _enter(namespace)
            made.append(make())
        except Exception as error:  # handed to the caller below
            failed.append(error)

    thread = threading.Thread(target=enter, name=f"into {namespace}")
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return made[0]


def _checked(namespace: str) -> str:
    """A namespace comes from an operator's form: it may not be an option of `ip`, nor lead to another directory."""
    if not _NAME.fullmatch(namespace):
        raise Rejected("the name of a network namespace has letters, digits and any of - _ . only")
    return namespace


def _enter(namespace: str) -> None:
    try:
        door = os.open(NAMESPACES / _checked(namespace), os.O_RDONLY)
    except OSError as error:
        raise Unavailable(f"there is no network namespace {namespace} ({error.strerror})") from error
    try:
        library = ctypes.CDLL(None, use_errno=True)
        if library.setns(door, _NETWORK) != 0:
            raise Unavailable(
                f"may not enter the network namespace {namespace}: {os.strerror(ctypes.get_errno())}"
            )
    finally:
        os.close(door)
