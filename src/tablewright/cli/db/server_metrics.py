"""Metrics of a table, fetched from a server's /metrics.

Elsewhere: access to /metrics (wire/metrics.py), the metrics themselves (engine/metrics/table_report.py).
"""

import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from tablewright.cli.files import read_text
from tablewright.cli.usage_error import UsageError

TIMEOUT = 30


def fetch_metrics(endpoint: str, token: Path | None, **query: Any) -> list[dict[str, Any]]:
    """The metrics as a list of dicts; raises UsageError if the server refuses or does not answer."""
    encoded = urlencode({name: value for name, value in query.items() if value is not None})
    request = urllib.request.Request(f"{endpoint.rstrip('/')}/metrics?{encoded}")
    if token is not None:
        request.add_header("Authorization", f"Bearer {read_text(token).strip()}")
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
            found = json.load(answer)
    except urllib.error.HTTPError as refusal:
        with refusal:
            raise UsageError(_refusal_text(endpoint, refusal)) from None
    except (OSError, ValueError) as error:
        raise UsageError(f"{endpoint} could not be asked for metrics: {error}") from None
    if not isinstance(found, list):
        raise UsageError(f"{endpoint} is not a Tablewright server: its /metrics is not a list of metrics")
    return found


def _refusal_text(endpoint: str, refusal: urllib.error.HTTPError) -> str:
    raw = refusal.read(2000).decode(errors="replace")
    try:
        body = json.loads(raw)
        name, message = (
            str(body["__type"]).rpartition("#")[2],
            str(body.get("message") or body.get("Message")),
        )
    except (ValueError, KeyError, TypeError):
        return f"{endpoint} refused to return metrics ({refusal.code}): {raw}"
    if name in ("ResourceNotFoundException", "ValidationException"):
        return f"{name}: {message}"
    return (
        f"{endpoint} refused to return metrics: {name}: {message}; "
        "a server with credentials needs its token: --metrics-token FILE"
    )
