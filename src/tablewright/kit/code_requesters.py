"""Who requests a code, as far as it is known: a browser that signed in with this address before, or else a network.

    requester = requesters.requester(address, RequestOrigin(network_of(request), devices, ticket))
    requesters.device(address)             # for a browser that has just verified the address, to be sent next time
    requesters.ticket(address, requester)  # for the form of the code: from another network it is the same requester

Must hold: device and ticket are bound to one address and cannot be made without the secret; neither signs anyone in. A
device has an allowance of codes and tries of its own, which others cannot use up (codes.py).
"""

import hashlib
import hmac
from collections.abc import Iterable
from dataclasses import dataclass, field

from tablewright.world import World

_LENGTH = 32
# For the description of an API.
KNOWN_DEVICE = "what verifying the address returned on this device before; its codes are counted separately"
TICKET = "what the request for the code returned: with it the code may be entered from another network"


@dataclass(frozen=True, slots=True)
class RequestOrigin:
    """What a request says about its sender: its network, the devices it claims to be, the ticket of the form."""

    network: str = ""
    devices: tuple[str, ...] = field(default=(), repr=False)
    ticket: str = field(default="", repr=False)


UNKNOWN_ORIGIN = RequestOrigin()


@dataclass(frozen=True, slots=True)
class CodeRequester:
    """Whose codes and tries are counted together."""

    key: str

    @property
    def is_known(self) -> bool:
        """Whether it is a device that verified the address before."""
        return self.key.startswith("device-")


class CodeRequesters:
    """Finds the requester of a request. Threads may share one."""

    def __init__(self, secret: bytes, world: World) -> None:
        # The label is part of every key: another one would end the devices that are known.
        self._secret, self._world = hmac.new(secret, b"askers", hashlib.sha256).digest(), world

    def requester(self, address: str, origin: RequestOrigin) -> CodeRequester:
        """By the ticket, else by a known device of the address, else by the network."""
        key = self._verified("ticket", address, [origin.ticket]) or self._verified(
            "device", address, origin.devices
        )
        return CodeRequester(key or f"network-{self._mac('network', origin.network)}")

    def login(self, subject: str) -> CodeRequester:
        """A login that requests a code for an address which is not its own."""
        return CodeRequester(f"login-{self._mac('login', subject)}")

    def device(self, address: str) -> str:
        """A token that makes a browser a known device of an address."""
        return self._signed("device", address, f"device-{self._mac('new', self._world.new_id())}")

    def is_device(self, address: str, token: str) -> bool:
        return self._verified("device", address, [token]) is not None

    def ticket(self, address: str, requester: CodeRequester) -> str:
        """A token that makes a later request one of the same requester."""
        return self._signed("ticket", address, requester.key)

    def _signed(self, kind: str, address: str, key: str) -> str:
        return f"{key}.{self._mac(kind, address, key)}"

    def _verified(self, kind: str, address: str, tokens: Iterable[str]) -> str | None:
        for token in tokens:
            key, _, _ = token.partition(".")
            if key and hmac.compare_digest(self._signed(kind, address, key).encode(), token.encode()):
                return key
        return None

    def _mac(self, *parts: str) -> str:
        return hmac.new(self._secret, "\0".join(parts).encode(), hashlib.sha256).hexdigest()[:_LENGTH]
