"""The table `agent-state`: what agent frameworks keep of a user through the adapters (F.1, ZC-X17, ZC-X19).

Everything of a user is in the partition USER#{userId}, so that no adapter can reach another user's rows; the rows of
large values are in OBJECTS#{folder}, where the folder is that of the objects themselves.
"""

from datetime import timedelta

from tablewright.design import Data, Expires, Load, Retention, begins, between
from tablewright.systems.chat.agent_model import (
    AgentCheckpoint,
    AgentEntry,
    AgentFile,
    AgentItem,
    AgentObject,
    AgentSession,
    AgentWrite,
)
from tablewright.systems.chat.design.base import CHAT, MESSAGES

__all__ = [
    "agent_checkpoints",
    "agent_checkpoints_before",
    "agent_checkpoints_in",
    "agent_checkpoints_of_thread",
    "agent_checkpoints_of_user",
    "agent_entries",
    "agent_entries_between",
    "agent_entries_of_user",
    "agent_files",
    "agent_files_between",
    "agent_files_of_user",
    "agent_items",
    "agent_items_of_session",
    "agent_items_of_user",
    "agent_objects",
    "agent_objects_in",
    "agent_sessions",
    "agent_sessions_of_user",
    "agent_table",
    "agent_writes",
    "agent_writes_between",
    "agent_writes_of_checkpoint",
    "agent_writes_of_thread",
    "agent_writes_of_user",
]

_MONTH, _HALF_YEAR = timedelta(days=30), timedelta(days=180)
# Assumed: one conversation in ten is held through an agent framework, three steps for each reply.
_STEPS = MESSAGES // 20 * 3
agent_table = CHAT.table(
    "agent-state", pk="PK", sk="SK", ttl="ttl", about="State of agent frameworks, by user."
)


def checkpoint_key(user_id: str, thread_id: str, namespace: str, checkpoint_id: str) -> None: ...
def write_key(
    user_id: str, thread_id: str, namespace: str, checkpoint_id: str, task_id: str, slot: str
) -> None: ...
def entry_key(user_id: str, path: str, key: str) -> None: ...
def file_key(user_id: str, name: str) -> None: ...
def session_key(user_id: str, session_id: str) -> None: ...
def item_key(user_id: str, session_id: str, number: int) -> None: ...
def object_key(folder: str, object_id: str) -> None: ...


agent_checkpoints = agent_table.entity(
    AgentCheckpoint,
    checkpoint_key,
    tag="agent_checkpoint",
    pk="USER#{user_id}",
    sk="CHECKPOINT#{thread_id}#{namespace}#{checkpoint_id}",
    expires=Expires("expires_at"),
    data={"value": Data.CHILD, "thread_id": Data.CHILD},
    retention=Retention(_MONTH, "to continue a chat that an agent framework holds"),
    load={"put": Load(per_month=_STEPS, item_bytes=3000, transaction=True)},
)
agent_writes = agent_table.entity(
    AgentWrite,
    write_key,
    tag="agent_write",
    pk="USER#{user_id}",
    sk="WRITE#{thread_id}#{namespace}#{checkpoint_id}#{task_id}#{slot}",
    expires=Expires("expires_at"),
    data={"value": Data.CHILD, "thread_id": Data.CHILD},
    retention=Retention(_MONTH, "to continue a step that was interrupted"),
    load={"put": Load(per_month=_STEPS, item_bytes=800, transaction=True)},
)
agent_entries = agent_table.entity(
    AgentEntry,
    entry_key,
    tag="agent_entry",
    pk="USER#{user_id}",
    sk="ENTRY#{path}#{key}",
    expires=Expires("expires_at"),
    data={"value": Data.CHILD, "path": Data.CHILD, "key": Data.CHILD},
    retention=Retention(_HALF_YEAR, "what an agent remembers between chats"),
    load={"put": Load(per_month=MESSAGES / 50, item_bytes=3000, transaction=True)},
)
agent_files = agent_table.entity(
    AgentFile,
    file_key,
    tag="agent_file",
    pk="USER#{user_id}",
    sk="FILE#{name}",
    expires=Expires("expires_at"),
    data={"value": Data.CHILD, "name": Data.CHILD},
    retention=Retention(_MONTH, "to continue a chat that an agent framework holds"),
    load={"put": Load(per_month=MESSAGES / 50, item_bytes=8000, transaction=True)},
)
agent_sessions = agent_table.entity(
    AgentSession,
    session_key,
    tag="agent_session",
    pk="USER#{user_id}",
    sk="SESSION#{session_id}",
    expires=Expires("expires_at"),
    data={"session_id": Data.CHILD},
    retention=Retention(_MONTH, "with the items of the session"),
    load={"upsert": Load(per_month=MESSAGES / 20, item_bytes=200, transaction=True)},
)
agent_items = agent_table.entity(
    AgentItem,
    item_key,
    tag="agent_item",
    pk="USER#{user_id}",
    sk="ITEM#{session_id}#{number:12}",
    expires=Expires("expires_at"),
    data={"value": Data.CHILD, "session_id": Data.CHILD},
    retention=Retention(_MONTH, "to continue a chat that an agent framework holds"),
    load={"create": Load(per_month=MESSAGES / 10, item_bytes=900, transaction=True)},
)
agent_objects = agent_table.entity(
    AgentObject,
    object_key,
    tag="agent_object",
    pk="OBJECTS#{folder}",
    sk="OBJECT#{object_id}",
    expires=Expires("expires_at"),
    data={"user_id": Data.CHILD},
    retention=Retention(_HALF_YEAR, "as long as the row whose large value it holds"),
    load={"put": Load(per_month=100, item_bytes=250, transaction=True)},
)


# --- access patterns: threads ---


@CHAT.query(
    agent_checkpoints, pk="USER#{user_id}", sk=begins("CHECKPOINT#{thread_id}#{namespace}#"), descending=True,
    page=20, consistent=True, load=Load(per_month=MESSAGES / 20, items=1, item_bytes=3000),
)  # fmt: skip
def agent_checkpoints_in(*, user_id: str, thread_id: str, namespace: str) -> None:
    """The checkpoints of a thread in a namespace, the newest first."""


@CHAT.query(
    agent_checkpoints, pk="USER#{user_id}",
    sk=between("CHECKPOINT#{thread_id}#{namespace}#{since}", "CHECKPOINT#{thread_id}#{namespace}#{until}"),
    descending=True, page=20, consistent=True, load=Load(per_month=1_000, items=10, item_bytes=3000),
)  # fmt: skip
def agent_checkpoints_before(*, user_id: str, thread_id: str, namespace: str, since: str, until: str) -> None:
    """The checkpoints of a thread in a namespace up to one of them, the newest first."""


@CHAT.query(
    agent_checkpoints, pk="USER#{user_id}", sk=begins("CHECKPOINT#{thread_id}#"), descending=True, page=100,
    consistent=True, load=Load(per_month=1_000, items=50, item_bytes=3000),
)  # fmt: skip
def agent_checkpoints_of_thread(*, user_id: str, thread_id: str) -> None:
    """All checkpoints of a thread: to prune, copy or delete it."""


@CHAT.query(
    agent_writes, pk="USER#{user_id}", sk=begins("WRITE#{thread_id}#{namespace}#{checkpoint_id}#"), page=100,
    consistent=True, load=Load(per_month=MESSAGES / 20, items=1, item_bytes=800),
)  # fmt: skip
def agent_writes_of_checkpoint(*, user_id: str, thread_id: str, namespace: str, checkpoint_id: str) -> None:
    """What tasks have written after a checkpoint."""


@CHAT.query(
    agent_writes, pk="USER#{user_id}",
    sk=between("WRITE#{thread_id}#{namespace}#{since}", "WRITE#{thread_id}#{namespace}#{until}"),
    page=100, consistent=True, load=Load(per_month=1_000, items=10, item_bytes=800),
)  # fmt: skip
def agent_writes_between(*, user_id: str, thread_id: str, namespace: str, since: str, until: str) -> None:
    """What tasks have written after the checkpoints from one to another."""


@CHAT.query(
    agent_writes, pk="USER#{user_id}", sk=begins("WRITE#{thread_id}#"), page=100, consistent=True,
    load=Load(per_month=1_000, items=50, item_bytes=800),
)  # fmt: skip
def agent_writes_of_thread(*, user_id: str, thread_id: str) -> None:
    """All writes of a thread: to prune, copy or delete it."""


# --- access patterns: entries, files, sessions, objects ---


@CHAT.query(
    agent_entries, pk="USER#{user_id}", sk=between("ENTRY#{low}", "ENTRY#{high}"), page=100, consistent=True,
    load=Load(per_month=MESSAGES / 50, items=20, item_bytes=3000),
)  # fmt: skip
def agent_entries_between(*, user_id: str, low: str, high: str) -> None:
    """The entries of a path and of those below it; or the first one behind a path, to list the paths."""


@CHAT.query(
    agent_files, pk="USER#{user_id}", sk=between("FILE#{low}", "FILE#{high}"), page=100, consistent=True,
    load=Load(per_month=MESSAGES / 100, items=5, item_bytes=8000),
)  # fmt: skip
def agent_files_between(*, user_id: str, low: str, high: str) -> None:
    """The files whose names begin with a prefix."""


@CHAT.query(
    agent_items, pk="USER#{user_id}", sk=begins("ITEM#{session_id}#"), descending=True, page=50, at_most=1000,
    consistent=True, load=Load(per_month=MESSAGES / 20, items=20, item_bytes=900),
)  # fmt: skip
def agent_items_of_session(*, user_id: str, session_id: str) -> None:
    """The items of a session, the newest first."""


@CHAT.query(
    agent_objects, pk="OBJECTS#{folder}", page=100, consistent=True, load=Load(per_month=50, item_bytes=250)
)
def agent_objects_in(*, folder: str) -> None:
    """The large values of a user."""


# --- access patterns: everything of a user, for export and erasure ---

_ALL = Load(per_month=50, items=50, item_bytes=3000)


@CHAT.query(
    agent_checkpoints, pk="USER#{user_id}", sk=begins("CHECKPOINT#"), page=100, consistent=True, load=_ALL
)
def agent_checkpoints_of_user(*, user_id: str) -> None:
    """All checkpoints of a user; also to find those of a run, which no index could do without missing the newest."""


@CHAT.query(agent_writes, pk="USER#{user_id}", sk=begins("WRITE#"), page=100, load=_ALL)
def agent_writes_of_user(*, user_id: str) -> None:
    """All writes of a user."""


@CHAT.query(agent_entries, pk="USER#{user_id}", sk=begins("ENTRY#"), page=100, load=_ALL)
def agent_entries_of_user(*, user_id: str) -> None:
    """All entries of a user."""


@CHAT.query(agent_files, pk="USER#{user_id}", sk=begins("FILE#"), page=100, load=_ALL)
def agent_files_of_user(*, user_id: str) -> None:
    """All files of a user."""


@CHAT.query(agent_sessions, pk="USER#{user_id}", sk=begins("SESSION#"), page=100, load=_ALL)
def agent_sessions_of_user(*, user_id: str) -> None:
    """All sessions of a user."""


@CHAT.query(agent_items, pk="USER#{user_id}", sk=begins("ITEM#"), page=100, load=_ALL)
def agent_items_of_user(*, user_id: str) -> None:
    """All items of the sessions of a user."""
