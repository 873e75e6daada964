"""A server's figures of a table, asked of its /metrics.

Elsewhere: who may read them (wire/metrics.py), what they are (engine/metric_figures.py).
"""

import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from tablewright.cli.where import Misused

TIMEOUT = 30


def fetched(endpoint: str, token: Path | None, **asked: Any) -> list[dict[str, Any]]:
    """What a server tells of a table; raises Misused with what to do."""
    query = urlencode({name: value for name, value in asked.items() if value is not None})
    request = urllib.request.Request(f"{endpoint.rstrip('/')}/metrics?{query}")
    if token is not None:
        request.add_header("Authorization", f"Bearer {token.read_text().strip()}")
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
            found = json.load(answer)
    except urllib.error.HTTPError as refusal:
        with refusal:
            raise Misused(_why(endpoint, refusal)) from None
    except (OSError, ValueError) as trouble:
        raise Misused(f"{endpoint} cannot be asked for its figures: {trouble}") from None
    if not isinstance(found, list):
        raise Misused(f"what answers at {endpoint} has no figures of ours")
    return found


def _why(endpoint: str, refusal: urllib.error.HTTPError) -> str:
    raw = refusal.read(2000).decode(errors="replace")
    try:
        told = json.loads(raw)
        name, why = str(told["__type"]).rpartition("#")[2], str(told.get("message") or told.get("Message"))
    except (ValueError, KeyError, TypeError):
        return f"{endpoint} does not tell its figures ({refusal.code}): {raw}"
    if name in ("ResourceNotFoundException", "ValidationException"):
        return f"{name}: {why}"
    return (
        f"{endpoint} does not tell its figures: {name}: {why}; "
        "a server with credentials wants its token: --metrics-token FILE"
    )
