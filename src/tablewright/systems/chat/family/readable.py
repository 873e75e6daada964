"""An export as a page to read: chats as they were written, and a table for everything else (ZC-X10).

Ids and fields that say something only to programs are left out here; the JSON has all of them. Must hold: whatever a
text has in it is shown as text.
Elsewhere: what is exported (privacy.py).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import groupby
from typing import Any, TypeAlias

Row: TypeAlias = Mapping[str, Any]
ELSEWHERE = "Identifiers and technical fields are in the export as JSON."
_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 1em}"
    "table{border-collapse:collapse;width:100%}td,th{border:1px solid #999;padding:.3em .6em;text-align:left;"
    "vertical-align:top}section{margin:2em 0}dt{font-weight:600}"
    ".user{background:#eef6ee}.assistant{background:#f4f0e6}.line{padding:.4em .8em;margin:.3em 0;border-radius:.4em}"
)
_TITLES = {
    "summaries": "Summaries",
    "contexts": "What the animals remember",
    "memories": "What was said and is kept for later chats",
    "flags": "Messages that a zookeeper looks at",
    "consents": "Consent",
    "timeUsed": "Time used",
    "mails": "Mail",
    "accessLog": "Who looked",
    "history": "What was decided, changed and deleted",
    "user": "Profile",
}
# Shown with the messages, or of no meaning without them.
_WITH_MESSAGES = ("messages", "spreadMessages", "conversations", "exportedAt")
_TECHNICAL = frozenset(
    [
        "version",
        "sequence",
        "number",
        "state",
        "retentionClass",
        "generation",
        "consentGeneration",
        "messagePartitions",
        "noticeVersion",
        "expiresAt",
        "created",
        "modified",
        "embeddingKind",
        "messageRange",
        "standing",
        "subject",
        "toldAge",
        "leftFamilies",
        "messageAt",
    ]
)
_TIME = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(?::[\d.]+)?(?:Z|\+00:00)")
# A wider table does not fit a page.
_MOST_COLUMNS = 7


def readable_export(title: str, found: Mapping[str, Any]) -> str:
    """The export as one HTML document without scripts or links."""
    head = f'<meta charset="utf-8"><title>{escape(title)}</title><style>{_STYLE}</style>'
    body = f"<h1>{escape(title)}</h1>{readable_body(found)}"
    return f'<!doctype html><html lang="en"><head>{head}</head><body>{body}</body></html>'


def readable_body(found: Mapping[str, Any]) -> str:
    """The sections of an export as HTML; what is empty is left out."""
    as_of = f"<p>As of {_text(found['exportedAt'])}. {ELSEWHERE}</p>" if "exportedAt" in found else ""
    sections = [_section("Chats", _chats(found))]
    titled = (
        (_TITLES.get(name) or words_of(name), found[name]) for name in found if name not in _WITH_MESSAGES
    )
    sections += [_section(title, _shown(value, title)) for title, value in titled]
    return as_of + "".join(sections)


def _section(title: str, inner: str) -> str:
    return f"<section><h2>{escape(title)}</h2>{inner}</section>" if inner else ""


# --- chats ---


def _chats(found: Mapping[str, Any]) -> str:
    """Messages as a conversation reads, in the order in which they were written."""
    names = {one["conversationId"]: str(one["animalName"]) for one in found.get("conversations", ())}
    child = found.get("user") or {}
    child = child[0] if isinstance(child, list) else child
    messages = [*found.get("messages", ()), *found.get("spreadMessages", ())]
    ordered = sorted(messages, key=lambda it: (it["conversationId"], it["timestamp"]))
    by_chat = groupby(ordered, key=lambda it: str(it["conversationId"]))
    said_by = str(child.get("name") or "user")
    return "".join(_chat(names.get(chat, "assistant"), said_by, list(lines)) for chat, lines in by_chat)


def _chat(animal: str, child: str, messages: Sequence[Row]) -> str:
    lines = []
    for one in messages:
        is_child = one["role"] == "user"
        name = child if is_child else animal if one["role"] == "assistant" else str(one["role"])
        said = f"<b>{escape(name)}</b> <small>{_text(one['timestamp'])}</small><br>{escape(one['text'])}"
        lines.append(f'<div class="line {"user" if is_child else "assistant"}">{said}</div>')
    return f"<h3>{escape(animal)}, {_text(messages[0]['timestamp'])}</h3>{''.join(lines)}"


# --- everything else ---


def _shown(value: Any, title: str) -> str:
    match value:
        case Mapping():
            return _facts(value)
        case list() | tuple():
            return _table([one for one in value if isinstance(one, Mapping)], title)
        case _:
            return f"<p>{_text(value)}</p>" if value else ""


def _table(rows: Sequence[Row], title: str) -> str:
    columns = list(dict.fromkeys(name for row in rows for name in _readable(row)))
    if len(columns) > _MOST_COLUMNS:
        return "".join(map(_facts, rows))
    head = "".join(f"<th>{escape(words_of(name))}</th>" for name in columns)
    lines = ("".join(f"<td>{_text(row.get(name, ''))}</td>" for name in columns) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    if not columns:
        return ""
    # A table that is wider than the screen is moved with the keyboard, too.
    label = f'tabindex="0" role="region" aria-label="Table: {escape(title)}"'
    return f'<div class="wide" {label}><table><tr>{head}</tr>{body}</table></div>'


def _facts(row: Row) -> str:
    rows = (f"<dt>{escape(words_of(name))}</dt><dd>{_text(row[name])}</dd>" for name in _readable(row))
    return f"<dl>{''.join(rows)}</dl>"


def _readable(row: Row) -> Iterable[str]:
    """The fields that say something to people."""
    for name, value in row.items():
        if name not in _TECHNICAL and not name.endswith(("Id", "Ids")) and value not in (None, "", [], {}):
            yield str(name)


def _text(value: Any) -> str:
    match value:
        case Mapping():
            return "; ".join(f"{escape(words_of(str(name)))}: {_text(one)}" for name, one in value.items())
        case list() | tuple():
            return ", ".join(map(_text, value))
        case bool():
            return "yes" if value else "no"
        case _:
            return escape(_TIME.sub(r"\1 \2 UTC", str(value)))


def words_of(name: str) -> str:
    """`timeUsed` as `Time used`."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).lower()
    return spaced[:1].upper() + spaced[1:]
