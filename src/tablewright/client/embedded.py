"""An engine of this process as a Call. The only file of this room that knows the engine.

Must hold: an engine's refusal reads as the same refusal does over HTTP. Nothing is repeated here: no answer is
ever lost on the way. `retrying` (retries.py) repeats what passes by itself.
"""

from collections.abc import Mapping
from typing import Any

from tablewright.client.call import Call, CallRefused
from tablewright.engine import Engine, ServiceError


def embedded(engine: Engine) -> Call:
    """Calls that are answered by `engine`, without a socket."""
    ask = engine.call

    def call(verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return ask(verb, request if isinstance(request, dict) else dict(request))
        except ServiceError as error:
            raise CallRefused(error.name, error.message, error.status, error.fields) from None

    return call
