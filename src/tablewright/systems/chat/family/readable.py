"""An export as a page to read: one HTML document without scripts or links (ZC-X10).

Must hold: whatever a text has in it is shown as text.
Elsewhere: what is exported (privacy.py).
"""

import re
from collections.abc import Mapping
from html import escape
from typing import Any

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 1em}"
    "table{border-collapse:collapse;width:100%}td,th{border:1px solid #999;padding:.3em .6em;text-align:left;"
    "vertical-align:top}th{width:14em;font-weight:600}section{margin:2em 0}dl{margin:1em 0}"
    ".user{background:#eef6ee}.assistant{background:#f4f0e6}.line{padding:.4em .8em;margin:.3em 0;border-radius:.4em}"
)


def readable_export(title: str, found: Mapping[str, Any]) -> str:
    """The export as HTML."""
    sections = "".join(_section(name, value) for name, value in found.items() if value)
    head = f'<meta charset="utf-8"><title>{escape(title)}</title><style>{_STYLE}</style>'
    return f'<!doctype html><html lang="en"><head>{head}</head><body><h1>{escape(title)}</h1>{sections}</body></html>'


def _section(name: str, value: Any) -> str:
    inner = _chat(value) if name in ("messages", "spreadMessages") else _shown(value)
    return f"<section><h2>{escape(words_of(name))}</h2>{inner}</section>"


def _chat(messages: list[Mapping[str, Any]]) -> str:
    """Messages as a conversation reads, in the order in which they were written."""
    lines = []
    for one in sorted(messages, key=lambda it: (it["conversationId"], it["timestamp"])):
        who = "user" if one["role"] == "user" else "assistant"
        said = (
            f"<b>{escape(one['role'])}</b> <small>{escape(one['timestamp'])}</small><br>{escape(one['text'])}"
        )
        lines.append(f'<div class="line {who}">{said}</div>')
    return "".join(lines)


def _shown(value: Any) -> str:
    match value:
        case Mapping():
            rows = (
                f"<tr><th>{escape(words_of(str(k)))}</th><td>{_shown(v)}</td></tr>" for k, v in value.items()
            )
            return f"<table>{''.join(rows)}</table>"
        case list() | tuple():
            return "".join(f"<div>{_shown(one)}</div>" for one in value)
        case _:
            return escape(str(value))


def words_of(name: str) -> str:
    """`timeUsed` as `Time used`."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).lower()
    return spaced[:1].upper() + spaced[1:]
