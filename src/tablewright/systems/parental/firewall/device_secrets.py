"""What firewalls are reached with: a file for each secret, which its owner alone can read, and the host it is for.

A device refers to its secret by name. The first line of the file of that name is `user:password`, the second the host
or host:port that it is for.
Must hold: what is in a file is never shown; a file that others can read is not used; a secret is sent to no other host
than the one in its file, whatever an operator writes into a device. Operators cannot write these files.
"""

import os
import re
import stat
from dataclasses import dataclass, field
from pathlib import Path

from tablewright.edge.errors import Refused
from tablewright.systems.parental.firewall.driver import FirewallMistake, Unavailable
from tablewright.systems.parental.firewall.endpoints import Endpoint, endpoint
from tablewright.systems.parental.model import Device

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,79}")
WITH_SECRET = frozenset(("cisco_fmc",))


@dataclass(frozen=True, slots=True)
class Secret:
    """A user and a password, and the address they are for."""

    user: str
    password: str = field(repr=False)
    endpoint: Endpoint


def _secret(file: Path) -> Secret:
    """The secret in a file; Unavailable, and what to do, if it cannot be read."""
    name = file.name
    try:
        with open(file, encoding="utf-8") as opened:
            if os.name == "posix" and stat.S_IMODE(os.fstat(opened.fileno()).st_mode) & 0o077:
                raise Unavailable(f"other users can read the secret {name}; chmod 600 its file")
            return _read(name, opened.read())
    except OSError:
        raise Unavailable(
            f"there is no secret {name}; write user:password and the firewall's host into the file of that name"
        ) from None


def _read(name: str, text: str) -> Secret:
    first, _, second = text.strip().partition("\n")
    user, _, password = first.strip().partition(":")
    if not second.strip():
        raise Unavailable(
            f"the secret {name} does not say which firewall it is for; write its host or host:port into the second "
            "line of the file"
        )
    try:
        return Secret(user, password, endpoint(second.strip()))
    except FirewallMistake:
        raise Unavailable(
            f"the second line of the secret {name} is not host or host:port; correct it"
        ) from None


class DeviceSecrets:
    """Secrets by the devices that use them, each for one address: the files of a directory."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def of(self, device: Device) -> Secret:
        """The secret of a device, to be sent to its address; Unavailable if it is for another one."""
        name, where = _name(device), endpoint(device.address)
        secret = _secret(self._directory / name)
        if secret.endpoint != where:
            raise Unavailable(f"the secret {name} is for {secret.endpoint}; it is not sent to {where}")
        return secret

    def refuse_elsewhere(self, device: Device) -> None:
        """422 for a device whose secret is for another address; decided for good when it is used (`of`)."""
        where = endpoint(device.address)
        try:
            name = _name(device)
        except Unavailable as mistake:
            raise Refused("INVALID_SECRET", f"{str(mistake).capitalize()}.", "secretName") from None
        try:
            its_own = _secret(self._directory / name).endpoint
        except Unavailable:
            return  # the file may be written later; until then nothing is sent, and the device's health says why
        if its_own != where:
            words = (
                f"The secret {name} is for {its_own}. Use another secret for {where}, or write that address "
                "into the second line of its file."
            )
            raise Refused("SECRET_OF_ANOTHER_HOST", words, "secretName")


def _name(device: Device) -> str:
    name = device.secret_name or device.device_id
    if _NAME.fullmatch(name) is None:
        raise Unavailable("the name of the device's secret isn't a valid file name; choose another")
    return name
