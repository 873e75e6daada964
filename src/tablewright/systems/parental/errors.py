"""The errors that only parental controls have, with the codes of the API.

Elsewhere: the errors that all systems have (edge/errors.py).
"""

from collections.abc import Sequence

from pydantic import BaseModel

from tablewright.edge.errors import Conflict, Refused


class LimitExceeded(Refused):
    """A limit is reached."""

    def __init__(self, message: str, limit: int, field: str | None = None) -> None:
        super().__init__("LIMIT_EXCEEDED", message, field, {"limit": limit})


class VersionConflict(Conflict):
    """Another caller changed it first; `current` is the stored version."""

    def __init__(self, current: BaseModel | None = None) -> None:
        self.current = current
        version = getattr(current, "version", None)
        words = "It was changed by someone else. Reload it, then repeat your change."
        super().__init__("VERSION_CONFLICT", words, "version", {"currentVersion": version})


class RaceLost(Conflict):
    """A condition of the write failed: another caller wrote first."""

    def __init__(self) -> None:
        super().__init__(
            "STATE_CONFLICT", "It was changed by someone else, and this is no longer possible. Reload it."
        )


class FirewallOfOneProcess(Refused):
    """A firewall that one process drives, where processes share the tables and none was declared to be it."""

    def __init__(self, names: Sequence[str]) -> None:
        words = (
            f"{', '.join(names)}: a simulated firewall or nftables gateway is driven by one process. Start one process "
            "with --firewalls here and the others with --firewalls elsewhere"
        )
        super().__init__("FIREWALL_OF_ONE_PROCESS", words, "kind")


class DeviceUnavailable(Refused):
    """A firewall does not respond. Only operators see this; for parents the change is pending."""

    status = 503

    def __init__(self, message: str) -> None:
        super().__init__("DEVICE_UNAVAILABLE", message)
