"""The newest messages of a conversation, most of them from a cache: a window reads only what is new (ZC-E5, ZC-34).

A turn needs up to a hundred messages, of which all but the last were read for the turn before. Kept are those that
do not change any more: complete ones, up to the first that is not, and not the last two, which may be replaced. They
are kept as they are stored, with sealed texts, under a version from the header: so nothing is in the cache that was not
in the table first (ZC-D40), and a removal or another retention class makes what is kept out of date on every node.
Must hold: what is returned is what a consistent read after the header's would return, but for thumbs, marks of
summaries and reports, which no window shows; nothing that has expired; of an erased person nothing that could be
opened, and no entry.
Elsewhere: the cache (kit/cache.py), who opens the texts (messages.py), what a window takes (memory/windows.py).
"""

from contextlib import suppress
from datetime import timedelta
from itertools import takewhile

from pydantic import TypeAdapter

from tablewright.kit.cache import Cache, CacheUnavailable
from tablewright.systems.chat.model import Conversation, Message
from tablewright.systems.chat.repository import Repository
from tablewright.systems.chat.rules import MICROSECOND
from tablewright.systems.chat.talk.message_places import newest_first, oldest_first

# Conversations that a process keeps: about 90 KB each.
MOST_KEPT = 200
LIFETIME = timedelta(minutes=5)
# The last turn may be replaced (turns.py).
_MAY_CHANGE = 2
_MESSAGES = TypeAdapter(list[Message])


class RecentMessages:
    """Reads through a cache. What is returned is sealed."""

    def __init__(self, repository: Repository, cache: Cache) -> None:
        self._repository, self._cache = repository, cache

    def newest(self, header: Conversation, count: int) -> list[Message]:
        """The newest messages, the oldest of them first."""
        try:
            # Asked for before the read: what is read before an erasure is not found after it.
            mark = self._cache.mark(header.conversation_id)
            version = _version(header, count)
            kept = self._kept(header, mark, version)
        except CacheUnavailable:
            return self._read(header, count)
        found = self._after(header, kept, count) if kept else self._read(header, count)
        with suppress(CacheUnavailable):
            self._keep(header, mark, version, found)
        return found

    def forget(self, conversation_id: str) -> None:
        """Remove what is kept of a conversation. If the cache is away, it is gone after its lifetime."""
        with suppress(CacheUnavailable):
            self._cache.delete(conversation_id)

    def close(self) -> None:
        self._cache.close()

    # --- parts ---

    def _read(self, header: Conversation, count: int) -> list[Message]:
        query = newest_first(header.user_id, header.conversation_id)
        return list(reversed(self._repository.page(query, count, None, "").items))

    def _after(self, header: Conversation, kept: list[Message], count: int) -> list[Message]:
        """What is kept and came since, without what has expired."""
        since = kept[-1].timestamp + MICROSECOND
        new = self._repository.db.all(oldest_first(header.user_id, header.conversation_id, since))
        now = self._repository.world.now()
        return [*(message for message in kept if message.expires_at > now), *new][-count:]

    def _kept(self, header: Conversation, mark: str, version: bytes) -> list[Message]:
        found = self._cache.get(header.conversation_id, mark)
        under, _, content = (found or b"").partition(b"\n")
        return _MESSAGES.validate_json(content) if under == version else []

    def _keep(self, header: Conversation, mark: str, version: bytes, found: list[Message]) -> None:
        done = list(takewhile(lambda message: message.state == "complete", found[:-_MAY_CHANGE]))
        if done:
            content = version + b"\n" + _MESSAGES.dump_json(done, by_alias=True)
            self._cache.set(header.conversation_id, mark, content, LIFETIME)


def _version(header: Conversation, count: int) -> bytes:
    """Changes whenever a message that is kept is removed or gets another end; for another count it is another."""
    return f"{count}/{header.removed_count}/{header.retention_class}".encode()
