"""A server's figures, read from its /metrics: Prometheus' text as values.

Elsewhere: who writes that text (engine/metric_text.py), who may read it (wire/metrics.py).
"""

import re
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tablewright.cli.where import Misused

_LINE = re.compile(r"(?P<name>\w+)(?:\{(?P<labels>.*)\})? (?P<value>\S+)")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
_ESCAPES = {r"\\": "\\", r"\"": '"', r"\n": "\n"}
TIMEOUT = 10


def fetched(endpoint: str, token: Path | None) -> str:
    """The text of a server's /metrics; raises Misused with what to do."""
    request = urllib.request.Request(f"{endpoint.rstrip('/')}/metrics")
    if token is not None:
        request.add_header("Authorization", f"Bearer {token.read_text().strip()}")
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
            text: str = answer.read().decode()
    except urllib.error.HTTPError as refusal:
        with refusal:
            why = refusal.read(500).decode(errors="replace")
        raise Misused(
            f"{endpoint} does not tell its figures ({refusal.code}): {why}; "
            "a server with credentials wants its token: --metrics-token FILE"
        ) from None
    except (OSError, ValueError) as trouble:
        raise Misused(f"{endpoint} cannot be asked for its figures: {trouble}") from None
    return text


def told(text: str) -> Iterator[dict[str, Any]]:
    """Each figure with its labels; of a histogram its count and its sum."""
    for line in text.splitlines():
        found = _LINE.fullmatch(line)
        if found is None or found["name"].endswith("_bucket"):
            continue
        labels = {name: _unescaped(value) for name, value in _LABEL.findall(found["labels"] or "")}
        name = found["name"].removeprefix("tablewright_")
        yield {"metric": name, "labels": labels, "value": float(found["value"])}


def _unescaped(text: str) -> str:
    return re.sub(r"\\.", lambda found: _ESCAPES.get(found[0], found[0]), text)
