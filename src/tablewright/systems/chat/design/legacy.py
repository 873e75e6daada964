"""The tables `conversation` and `session` of the first version (A.1), for programs that still use them.

The keys and attributes are those of the document (ZC-2, ZC-3). The conversation table has no ttl until every
conversation is in the second version (ZC-D22); a stream shows what is written to it while it is copied.
"""

from tablewright.design import Data, Load, Retention
from tablewright.systems.chat.design.base import CHAT
from tablewright.systems.chat.legacy.model import V1Conversation, V1Session

__all__ = ["v1_conversations", "v1_sessions", "v1_sessions_of_user", "v1_table"]

_WHY = "until it is in the second version; deleted with the table"
v1_table = CHAT.table(
    "conversation",
    pk="conversationId",
    stream="NEW_AND_OLD_IMAGES",
    followed=True,
    whole=True,
    about="The first version: a conversation with its messages in one item.",
)
_session_table = CHAT.table(
    "session", pk="userId", sk="conversationId", about="The first version: the conversations of a user."
)


def v1_conversation_key(conversation_id: str) -> None: ...
def v1_session_key(user_id: str, conversation_id: str) -> None: ...


v1_conversations = v1_table.entity(
    V1Conversation,
    v1_conversation_key,
    tag="v1_conversation",
    pk="{conversation_id}",
    data={"messages": Data.CHILD, "thread_id": Data.CHILD, "family_id": Data.CHILD, "user_id": Data.CHILD},
    retention=Retention(None, _WHY),
    load={
        "create": Load(per_month=10, item_bytes=500, transaction=True),
        # An append writes the whole item (ZC-D25).
        "update": Load(per_month=500, item_bytes=13_000),
    },
)
v1_sessions = _session_table.entity(
    V1Session,
    v1_session_key,
    tag="v1_session",
    pk="{user_id}",
    sk="{conversation_id}",
    data={"user_id": Data.CHILD},
    retention=Retention(None, _WHY),
    load={"put": Load(per_month=10, item_bytes=200, transaction=True)},
)


@CHAT.query(v1_sessions, pk="{user_id}", page=100, load=Load(per_month=500, items=10, item_bytes=200))
def v1_sessions_of_user(*, user_id: str) -> None:
    """The conversations of a user in the first version (ZC-4)."""
