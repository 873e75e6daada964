"""What agent frameworks keep of a user: checkpoints, writes, entries of stores, files and session items (ZC-X17).

Plain values without storage. `value` is always sealed with the key of the user; a value that is too large for an item
is in the object store instead, and `value_object` names its row. Names in items are camelCase.
Elsewhere: where each is stored (design/agents.py), what fills them (adapters/).
"""

from datetime import datetime

from pydantic import Field

from tablewright.systems.chat.model import RetentionClass, Value


class AgentRow(Value):
    """What every row has: whose it is, and until when it is kept."""

    user_id: str
    value: bytes | None = None
    value_object: str | None = None
    retention_class: RetentionClass
    created: datetime
    modified: datetime
    expires_at: datetime


class AgentCheckpoint(AgentRow):
    """The state of a LangGraph thread after a step: the checkpoint, its metadata and the values of its channels.

    `outside` names the objects of channel values that are too large, by channel. `namespace` is LangGraph's, behind a
    slash: the one of the graph itself is empty, and a part of a key cannot be.
    """

    thread_id: str
    namespace: str
    checkpoint_id: str
    parent_id: str | None = None
    run_id: str | None = None
    outside: dict[str, str] = Field(default_factory=dict)


class AgentWrite(AgentRow):
    """What a task of a step has written before the step ended: its usual writes, or one of a special channel.

    `slot` is `writes`, or the special channel, such as `__interrupt__`.
    """

    thread_id: str
    namespace: str
    checkpoint_id: str
    task_id: str
    slot: str
    task_path: str = ""


class AgentEntry(AgentRow):
    """An entry of a store: a JSON object under a path and a key. The vectors of its texts are in `value` with it.

    `ttl_seconds` is what the caller asked for; reading the entry begins the time again, within its retention.
    """

    path: str
    key: str
    ttl_seconds: int | None = None


class AgentFile(AgentRow):
    """Bytes under a name, such as the snapshot of a session."""

    name: str


class AgentSession(Value):
    """How many items a session has been given: the next item gets this number."""

    user_id: str
    session_id: str
    next_number: int = 0
    retention_class: RetentionClass
    created: datetime
    modified: datetime
    expires_at: datetime


class AgentItem(AgentRow):
    """An item of a session, such as a message or the call of a tool, by its number."""

    session_id: str
    number: int


class AgentObject(Value):
    """An object of the store that holds a large value. Its bytes are removed when no such row is left."""

    folder: str
    object_id: str
    user_id: str
    size: int
    created: datetime
    expires_at: datetime
