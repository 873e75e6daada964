"""The migration of the first version to the second, as a value of mapping/migrate (ZC-47, ZC-D20 to ZC-D23).

One item with a list of messages becomes a header with the status `copying`, an item for each message, sealed with the
key of the child, and an alias. The header is the anchor of its group: every message is written with it. The table of
the second version also holds conversations that were never in the first: those are left alone.
Must hold: nothing is made of a conversation whose user's key was destroyed, or whose user id cannot be one (ZC-D15).
Elsewhere: what becomes what (conversion.py), its steps (operator.py), when a header opens (router.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from tablewright.kit.tables import is_user_id
from tablewright.mapping import Item, Value
from tablewright.mapping.items import item_of, model_of
from tablewright.mapping.migrate import Group, Migration, TableVersion
from tablewright.systems.chat import design as d
from tablewright.systems.chat.errors import Erased
from tablewright.systems.chat.legacy.conversion import alias_of, dated, header_of, messages_of, new_id, v1_of
from tablewright.systems.chat.legacy.model import V1Conversation
from tablewright.systems.chat.model import Conversation, Message
from tablewright.systems.chat.rules import RetentionPeriods
from tablewright.systems.chat.talk.texts import Texts

NAME = "conversation-v2"
# How long a rollback is possible.
KEEP = timedelta(days=30)
# How long a process may rely on the version that it read last: about as long as writes pause at the cut-over.
TERM = timedelta(seconds=2)
# How long a turn of the first version waits at most while the copy is behind.
LONGEST_DELAY = timedelta(seconds=1)
_V1, _HEADER, _MESSAGE, _ALIAS = (
    entity.shape for entity in (d.v1_conversations, d.conversations, d.messages, d.aliases)
)


@dataclass(frozen=True, slots=True)
class Conversions:
    """The functions of the migration: over items as they are stored."""

    periods: RetentionPeriods
    texts: Texts

    def forward(self, item: Item) -> tuple[Item, ...]:
        """A conversation of the first version as the items of the second, with open texts."""
        found: V1Conversation = model_of(_V1, item)
        if not is_user_id(found.user_id) or self.texts.is_destroyed(found.user_id):
            return ()
        header = header_of(found, self.periods)
        return (
            *(item_of(_MESSAGE, message) for message in messages_of(found, self.periods)),
            item_of(_ALIAS, alias_of(header, self.periods)),
            item_of(_HEADER, header),
        )

    def keys(self, item: Item) -> list[dict[str, Any]]:
        """The keys of what `forward` makes."""
        found: V1Conversation = model_of(_V1, item)
        if not is_user_id(found.user_id):
            return []
        named = {"user_id": found.user_id, "conversation_id": new_id(found)}
        messages = [{**named, "timestamp": at, "message_id": id} for _, at, id, _ in dated(found)]
        alias = _ALIAS.key_of({"legacy_conversation_id": found.conversation_id})
        return [*map(_MESSAGE.key_of, messages), alias, _HEADER.key_of(named)]

    def stored(self, item: Item) -> Item:
        """An item of the second version as it is written: the text of a message is sealed."""
        if not _MESSAGE.recognises(item):
            return item
        return item_of(_MESSAGE, self.texts.sealed(model_of(_MESSAGE, item)))

    def back(self, header: Item, *parts: Item) -> tuple[Item, ...]:
        """A conversation of the second version as one item of the first; nothing if it was never there."""
        found: Conversation = model_of(_HEADER, header)
        stored: list[Message] = [model_of(_MESSAGE, part) for part in parts if _MESSAGE.recognises(part)]
        try:
            made = v1_of(found, [self.texts.opened(message) for message in stored])
        except Erased:
            return ()
        return () if made is None else (item_of(_V1, made),)

    def plain(self, item: Item) -> Item:
        """An item of the second version with its text open: the same text is sealed differently each time."""
        if not _MESSAGE.recognises(item):
            return item
        try:
            return item_of(_MESSAGE, self.texts.opened(model_of(_MESSAGE, item)))
        except Erased:
            return item


def chat_migration(conversions: Conversions, term: timedelta = TERM) -> Migration:
    """The migration. Its functions seal and open texts, so it belongs to an opened chat."""
    return Migration(
        NAME,
        TableVersion(d.CHAT, d.v1_table.table),
        TableVersion(d.CHAT, d.conversation_table.table, shared=True),
        conversions.forward,
        conversions.back,
        keep=KEEP,
        term=term,
        longest_delay=LONGEST_DELAY,
        about="Conversations of the first version become a header and an item for each message.",
        group=Group(anchor, parts, home),
        plain=conversions.plain,
        stored=conversions.stored,
        keys=conversions.keys,
    )


def anchor(item: Mapping[str, Value]) -> dict[str, Value] | None:
    """The key of the header that a header, a message or an alias belongs to."""
    if not any(shape.recognises(item) for shape in (_HEADER, _MESSAGE, _ALIAS)):
        return None
    named = {"user_id": item["userId"]["S"], "conversation_id": item["conversationId"]["S"]}
    key: dict[str, Value] = _HEADER.key_of(named)
    return key


def parts(header: Item) -> Sequence[tuple[str, str]]:
    """Where everything else of a migrated conversation is; nothing of another one."""
    old = header.get("legacyConversationId")
    if old is None:
        return ()
    user, id = header["PK"]["S"], header["conversationId"]["S"]
    kinds = ("MSG", "SUMMARY", "MEMORY", "TURN")
    return [*((user, f"{kind}#{id}#") for kind in kinds), (f"LEGACY#{old['S']}", "ALIAS")]


def home(header: Item) -> dict[str, Any] | None:
    """The key in the first version."""
    old = header.get("legacyConversationId")
    return None if old is None else {"conversationId": old}
