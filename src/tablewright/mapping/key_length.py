"""Keys that are too long, in our words: the service says so in a sentence of its own, alone or in a transaction."""

import re
from collections.abc import Mapping
from typing import Any

from tablewright.client import Call, CallRefused
from tablewright.mapping.errors import KeyTooLong

_TOO_LONG = re.compile(r"[Ss]ize of (hashkey|all range keys) has exceeded")


def with_key_length_errors(call: Call) -> Call:
    """The same calls; those that are refused for the length of a key raise KeyTooLong."""

    def named(verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return call(verb, request)
        except CallRefused as refusal:
            if any(map(_TOO_LONG.search, _sentences(refusal))):
                raise KeyTooLong from None
            raise

    return named


def _sentences(refusal: CallRefused) -> list[str]:
    reasons = refusal.fields.get("CancellationReasons") or ()
    return [refusal.message, *(str(reason.get("Message", "")) for reason in reasons)]
