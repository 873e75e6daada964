"""What a client sends, before an agent gets it: texts of the user, and nothing else (ZC-X16, ZC-X27, ZC-S20).

Agent libraries store the input of a run as it comes. A client that may send whole histories could so put words into the
mouth of the animal, or instructions into that of the operator. So pass what a client has sent through here first.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from tablewright.edge.errors import BadRequest
from tablewright.systems.chat.errors import BadRole, TextTooLong

MOST_CHARACTERS = 16_000
_ROLES = frozenset(("user", "human"))
_KNOWN = frozenset(("role", "type", "content"))
_TEXT_PARTS = frozenset(("text", "input_text"))


def user_texts(sent: str | Sequence[Mapping[str, Any]], most: int = MOST_CHARACTERS) -> list[str]:
    """The texts of messages in the form of any library; BAD_ROLE if one is not the user's, ONLY_TEXT, TEXT_TOO_LONG."""
    messages: Sequence[Mapping[str, Any]] = (
        [{"role": "user", "content": sent}] if isinstance(sent, str) else sent
    )
    texts = [_text_of(message) for message in messages]
    if any(len(text) > most for text in texts):
        raise TextTooLong(most)
    return texts


def _text_of(message: Mapping[str, Any]) -> str:
    role = message.get("role", message.get("type"))
    if role not in _ROLES or message.keys() - _KNOWN:
        raise BadRole
    if message.get("type") not in (None, "message", *_ROLES):
        raise BadRole
    content = message.get("content")
    if isinstance(content, str):
        return content
    if not isinstance(content, Sequence) or not all(map(_is_text, content)):
        raise BadRequest("ONLY_TEXT", "Only text can be sent: no voice, picture or file.", "content")
    return "\n".join(part["text"] for part in content)


def _is_text(part: object) -> bool:
    if not isinstance(part, Mapping) or not isinstance(part.get("text"), str):
        return False
    return part.get("type", "text") in _TEXT_PARTS and not part.keys() - {"type", "text"}
