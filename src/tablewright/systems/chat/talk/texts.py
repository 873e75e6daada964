"""Texts of messages as they are stored: sealed with the key of their user, and outside of the table if they are long.

Must hold: a sealed text opens only in the message it was sealed for; a text over 250 000 bytes is an object,
compressed and sealed, whose name begins with a digest of the user (ZC-X19).
Elsewhere: the keys (kit/subject_keys.py), what a message is (model.py).
"""

import zlib
from collections.abc import Iterator

from tablewright.kit.objects.store import Objects
from tablewright.kit.subject_keys import KeyDestroyed, SubjectKeys
from tablewright.kit.tables import digest
from tablewright.systems.chat.errors import Erased
from tablewright.systems.chat.model import Message, ToolCall
from tablewright.systems.chat.rules import MOST_ITEM_TEXT

FOLDER = "texts"
# Shown in place of a text whose object is gone.
LOST = ""


class Texts:
    """Seals messages and opens them."""

    def __init__(self, keys: SubjectKeys, objects: Objects) -> None:
        self._keys, self._objects = keys, objects

    def sealed(self, message: Message) -> Message:
        """The message as it is stored; a long text is put into the store of objects first. ERASED without a key."""
        try:
            return self._sealed(message)
        except KeyDestroyed:
            raise Erased from None

    def _sealed(self, message: Message) -> Message:
        changes: dict[str, object] = {
            "tool_calls": [self._sealed_call(message, c) for c in message.tool_calls]
        }
        if len(message.text.encode()) > MOST_ITEM_TEXT:
            changes |= {"text": "", "text_object": self._put_away(message)}
        else:
            changes |= {"text": self._seal(message, "text", message.text), "text_object": None}
        return message.model_copy(update=changes)

    def opened(self, stored: Message) -> Message:
        """The message with its text; ERASED if the key of its user was destroyed."""
        try:
            text = self._fetched(stored) if stored.text_object else self._open(stored, "text", stored.text)
            calls = [self._opened_call(stored, call) for call in stored.tool_calls]
        except KeyDestroyed:
            raise Erased from None
        return stored.model_copy(update={"text": text, "tool_calls": calls})

    def is_destroyed(self, user_id: str) -> bool:
        """True if the key of a user was destroyed: nothing of theirs can be sealed any more."""
        return self._keys.is_destroyed(user_id)

    def remove(self, stored: Message) -> None:
        """Remove the object of a message, if it has one."""
        if stored.text_object:
            self._objects.remove(stored.text_object)

    def remove_all(self, user_id: str, conversation_id: str | None = None) -> int:
        """Remove the objects of a user, or of one conversation; how many."""
        names = list(self._names(user_id, conversation_id))
        for name in names:
            self._objects.remove(name)
        return len(names)

    # --- parts ---

    def _names(self, user_id: str, conversation_id: str | None) -> Iterator[str]:
        below = f"{conversation_id}/" if conversation_id else ""
        return self._objects.names(f"{FOLDER}/{digest(user_id)}/{below}")

    def _put_away(self, message: Message) -> str:
        name = f"{FOLDER}/{digest(message.user_id)}/{message.conversation_id}/{message.message_id}"
        about = f"message/{message.message_id}/object"
        packed = zlib.compress(message.text.encode())
        self._objects.put(name, self._keys.seal_bytes(message.user_id, about, packed))
        return name

    def _fetched(self, stored: Message) -> str:
        assert stored.text_object is not None
        content = self._objects.get(stored.text_object)
        if content is None:
            return LOST
        about = f"message/{stored.message_id}/object"
        return zlib.decompress(self._keys.open_bytes(stored.user_id, about, content)).decode()

    def _sealed_call(self, message: Message, call: ToolCall) -> ToolCall:
        about = f"call/{call.call_id}"
        return call.model_copy(update={"arguments": self._seal(message, about, call.arguments)})

    def _opened_call(self, stored: Message, call: ToolCall) -> ToolCall:
        about = f"call/{call.call_id}"
        return call.model_copy(update={"arguments": self._open(stored, about, call.arguments)})

    def _seal(self, message: Message, attribute: str, text: str) -> str:
        return self._keys.seal(message.user_id, f"message/{message.message_id}/{attribute}", text)

    def _open(self, stored: Message, attribute: str, text: str) -> str:
        return self._keys.open(stored.user_id, f"message/{stored.message_id}/{attribute}", text)
