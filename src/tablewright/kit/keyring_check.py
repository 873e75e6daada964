"""Checks that the secrets are those the data was written with: a keyed hash of an empty text for each, kept as objects.

The checks are part of copies of the table; the secrets are not. A copy restored without its secrets would get new ones,
with which no account is found by its address and no erased account is recognised.
Must hold: a check reveals nothing about its secret; an existing one is never overwritten; no secret is created where
one was used before.
Elsewhere: the secrets (keyring.py), the list of the erased (erased.py).
"""

import re
from pathlib import Path

from tablewright.kit.keyring import KeyRing, has_secrets, kept_keyring
from tablewright.kit.objects.store import Objects
from tablewright.world import World

CHECKS = "secret-checks"
_NUMBER = re.compile(r"[0-9]{6}")
_PURPOSE, _NOTHING = "check", ""


class SecretsAreOthers(ValueError):
    """The secrets are new, or from another place; those used before are not among them."""

    def __init__(self, directory: Path, number: int) -> None:
        super().__init__(
            f"the secret {number:06d}.secret is not the one that the data was written with; put the files of "
            f"{directory} back as they were, replacing the current files of the same names"
        )


class SecretIsMissing(SecretsAreOthers):
    """A secret that was used before is not there: a copy was restored, and holds none."""

    def __init__(self, directory: Path, number: int) -> None:
        ValueError.__init__(
            self,
            f"the secret {number:06d}.secret is missing: data was written with it, and no copy holds it. "
            f"Put the files of {directory} back from where they are kept, and start again; nothing was changed",
        )


def checked_keyring(name: str, directory: Path, objects: Objects, world: World) -> KeyRing:
    """The ring of a directory. A first secret is made only where none was ever used."""
    known = _known(objects)
    if known and not has_secrets(directory):
        raise SecretIsMissing(directory, max(known))
    keyring = kept_keyring(name, directory, world)
    check_secrets(keyring, directory, objects)
    return keyring


def check_secrets(keyring: KeyRing, directory: Path, objects: Objects) -> None:
    """Raise SecretsAreOthers unless the ring has the newest secret it ever had, and no other under a known number."""
    checks = {int(text.partition("-")[0]): text for text in keyring.hmacs(_PURPOSE, _NOTHING)}
    known = _known(objects)
    for number in sorted(known, reverse=True):
        # An older one may have been dropped since.
        if checks.get(number) != known[number] and (number in checks or number == max(known)):
            mistake = SecretsAreOthers if number in checks else SecretIsMissing
            raise mistake(directory, number)
    for number, text in checks.items():
        if number not in known:
            objects.put(f"{CHECKS}/{number:06d}", text.encode())


def _known(objects: Objects) -> dict[int, str]:
    known: dict[int, str] = {}
    for name in list(objects.names(f"{CHECKS}/")):
        file = name.rpartition("/")[2]
        body = (
            objects.get(name) if _NUMBER.fullmatch(file) else None
        )  # a file left by an editor is not a check
        if body is not None:
            known[int(file)] = body.decode(errors="replace")
    return known
