"""The errors that only Skratch has, with the codes of the API.

Elsewhere: the errors that all systems have (edge/errors.py); a refused operation of a push is a result, not an error
(sync/operations.py).
"""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from tablewright.edge.errors import CallerError, Conflict


class VersionConflict(Conflict):
    """Another device or page changed it first; `current` is the newer version."""

    def __init__(self, current: BaseModel | None = None, facts: Mapping[str, Any] | None = None) -> None:
        self.current = current
        words = "This was changed by another device or page. Check the current version, then make your change again."
        super().__init__("VERSION_CONFLICT", words, "version", facts)


class ResyncRequired(CallerError):
    """The device is too far behind for a pull: it needs a full resync."""

    code = "FULL_RESYNC_REQUIRED"
    status = 410


class ClientTooOld(CallerError):
    """The app on the device uses a protocol version that is no longer supported (SK-X14)."""

    code = "CLIENT_TOO_OLD"
    status = 426

    def __init__(self, schema: int, at_least: int) -> None:
        words = "This version of the app can no longer sync. Please update it. Your offline changes stay on the device."
        super().__init__(words, field="schema", facts={"schema": schema, "minimumSchema": at_least})
