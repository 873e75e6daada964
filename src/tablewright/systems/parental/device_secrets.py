"""What firewalls are reached with: a file for each, which its owner alone can read.

A device refers to its secret by name; `user:password` of a firewall management center is the file of that name. Must
hold: what is in a file is never told; a file that others can read is not used.
"""

import os
import re
import stat
from collections.abc import Callable
from pathlib import Path

from tablewright.systems.parental.firewall.driver import Unavailable

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,79}")


def secrets_in(directory: Path) -> Callable[[str], str]:
    """What a name stands for, by the files of a directory. Unavailable, and what to do, if it cannot be had."""

    def secret(name: str) -> str:
        if _NAME.fullmatch(name) is None:
            raise Unavailable("the device's secret has a name that is none of a file; give it another")
        try:
            with open(directory / name, encoding="utf-8") as file:
                if os.name == "posix" and stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077:
                    raise Unavailable(f"the secret {name} can be read by others; chmod 600 its file")
                return file.read().strip()
        except OSError:
            raise Unavailable(
                f"there is no secret {name}; write user:password into the file of that name"
            ) from None

    return secret
