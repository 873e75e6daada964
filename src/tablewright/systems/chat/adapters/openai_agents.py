"""A session of OpenAI's Agents SDK over the store of Zoo chat (F.1).

    session = UserSession(chat, "child-1", "lion")
    items = [{"role": "user", "content": text} for text in user_texts(sent_by_the_client)]
    result = await Runner.run(agent, items, session=session)

An item is a row with a number. The row of the session has the next number, and each `add_items` takes its numbers from
there in the transaction that stores the items.
Must hold: items come back in the order in which they were added, those of one call together, whatever other processes
add; two `pop_item` calls never return the same item; instructions are not history, so no item has the role
system or developer (ZC-X16).
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from agents.items import TResponseInputItem
from agents.memory.session import SessionABC
from agents.memory.session_settings import SessionSettings

from tablewright.design import Query, Write
from tablewright.systems.chat import design as d
from tablewright.systems.chat.adapters.rows import UserRows
from tablewright.systems.chat.adapters.values import about
from tablewright.systems.chat.agent_model import AgentItem, AgentSession
from tablewright.systems.chat.chat import Chat
from tablewright.systems.chat.errors import BadRole
from tablewright.systems.chat.model import RetentionClass

_INSTRUCTIONS = frozenset(("system", "developer"))


class UserSession(SessionABC):
    """A session of one user. `session_settings.limit` is how many of the newest items a run gets."""

    def __init__(
        self,
        chat: Chat,
        user_id: str,
        session_id: str,
        *,
        session_settings: SessionSettings | None = None,
        kept_as: RetentionClass = "active_conversation",
    ) -> None:
        self.session_id = session_id
        self.session_settings = session_settings or SessionSettings()
        self._user = UserRows(chat, user_id, kept_as)

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The items, the oldest first; with a limit the newest ones of them."""
        wanted = self.session_settings.limit if limit is None and self.session_settings else limit
        return await asyncio.to_thread(self._items, wanted)

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Append items, up to 98 of them all or none."""
        if any(_role_of(item) in _INSTRUCTIONS for item in items):
            raise BadRole
        if items:
            contents = [json.dumps(item).encode() for item in items]
            await asyncio.to_thread(self._user.retried, lambda: self._add(contents))

    async def pop_item(self) -> TResponseInputItem | None:
        """Remove the newest item and return it; None if there is none."""
        return await asyncio.to_thread(self._user.retried, self._pop)

    async def clear_session(self) -> None:
        """Remove all items. The numbers go on, so that an item that another process adds keeps its place."""
        await asyncio.to_thread(self._clear)

    # --- parts ---

    def _query(self) -> Query[AgentItem]:
        return d.agent_items_of_session(user_id=self._user.user_id, session_id=self.session_id)

    def _items(self, limit: int | None) -> list[TResponseInputItem]:
        most = None if limit is None or limit < 0 else limit
        rows = list(islice(self._user.db.all(self._query()), most)) if most != 0 else []
        return [self._opened(row) for row in reversed(rows)]

    def _opened(self, row: AgentItem) -> TResponseInputItem:
        item: TResponseInputItem = json.loads(self._user.read(row))
        return item

    def _add(self, contents: Sequence[bytes]) -> None:
        key = (self._user.user_id, self.session_id)
        header = self._user.db.one(d.agent_sessions.get(*key), consistent=True)
        first = 0 if header is None else header.next_number
        objects: list[Write[Any]] = []
        rows: list[Write[Any]] = []
        for number, content in enumerate(contents, first):
            placed = self._user.place(about("item", self.session_id, number), content, self._user.until())
            objects += placed.writes
            rows.append(d.agent_items.create(self._row(number, placed.value, placed.value_object)))
        self._user.write(self._header(header, first + len(contents)), *objects, *rows)

    def _header(self, before: AgentSession | None, following: int) -> Write[AgentSession]:
        now, until = self._user.now(), self._user.until()
        if before is not None:
            return (
                d.agent_sessions.update(before.user_id, before.session_id)
                .at(lambda s: s.next_number).set(following)
                .at(lambda s: s.modified).set(now)
                .at(lambda s: s.expires_at).set(max(until, before.expires_at))
                .when(lambda s: s.next_number == before.next_number)
            )  # fmt: skip
        made = AgentSession(
            user_id=self._user.user_id,
            session_id=self.session_id,
            next_number=following,
            retention_class=self._user.kept_as,
            created=now,
            modified=now,
            expires_at=until,
        )
        return d.agent_sessions.create(made)

    def _row(self, number: int, value: bytes | None, value_object: str | None) -> AgentItem:
        now = self._user.now()
        return AgentItem(
            user_id=self._user.user_id,
            session_id=self.session_id,
            number=number,
            value=value,
            value_object=value_object,
            retention_class=self._user.kept_as,
            created=now,
            modified=now,
            expires_at=self._user.until(),
        )

    def _pop(self) -> TResponseInputItem | None:
        row = self._user.db.first(self._query())
        if row is None:
            return None
        item = self._opened(row)
        key = (row.user_id, row.session_id, row.number)
        self._user.db.write(d.agent_items.discard(*key).when(lambda i: i.number == row.number))
        self._user.delete((), [row.value_object] if row.value_object else [])
        return item

    def _clear(self) -> None:
        rows = list(self._user.db.all(self._query()))
        gone = [d.agent_items.discard(row.user_id, row.session_id, row.number) for row in rows]
        self._user.delete(gone, [row.value_object for row in rows if row.value_object])


def _role_of(item: TResponseInputItem) -> object:
    return item.get("role") if isinstance(item, Mapping) else None
