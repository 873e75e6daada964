"""An engine of this process as a Call. The only module of this package that imports the engine.

Must hold: an engine's refusal is the same error as over HTTP. Nothing is retried here, because no answer can be lost;
`retrying` (retries.py) retries transient refusals.
"""

from collections.abc import Mapping
from typing import Any

from tablewright.client.call import Call, CallRefused
from tablewright.engine import Engine, ServiceError


def embedded(engine: Engine) -> Call:
    """A Call that `engine` answers, without a socket."""
    engine_call = engine.call

    def call(verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return engine_call(verb, request if isinstance(request, dict) else dict(request))
        except ServiceError as error:
            raise CallRefused(error.name, error.message, error.status, error.fields) from None

    return call
