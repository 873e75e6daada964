"""`/v1-compat/sessions`: the functions of the first version over HTTP, in whichever version a session is (ZC-54).

A session is read and made by its own user. A turn brings the reply of the animal along, so only an administrator's
login, that of the program which asked the model, may store one: no child can put words into an animal's mouth (ZC-X16).
"""

from typing import Annotated

from fastapi import APIRouter
from pydantic import Field, JsonValue, StringConstraints

from tablewright.edge.routes import Router
from tablewright.kit.http import Body, Page, listed, view_of
from tablewright.systems.chat.access import Administrator, Me
from tablewright.systems.chat.chat import Chat
from tablewright.systems.chat.family_model import User
from tablewright.systems.chat.model import Value

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


class NewSession(Body):
    """A new session with an animal."""

    animal_id: Name
    animal_name: Name | None = None


class NewTurn(Body):
    """What the user said and what the animal replied; the metadata are those of the reply."""

    user_message: str
    assistant_reply: str
    metadata: dict[str, JsonValue] = Field(default_factory=dict)


class Thread(Body):
    """The thread that an outside model keeps of a session."""

    thread_id: Name


class SessionView(Value):
    session_id: str
    user_id: str
    animal_id: str
    animal_name: str
    status: str
    message_count: int
    start_time: str
    thread_id: str | None = None


class V1MessageView(Value):
    message_id: str | None = None
    role: str
    text: str
    timestamp: str | None = None
    metadata: dict[str, JsonValue] = Field(default_factory=dict)


class MadeSession(Value):
    session_id: str


class StoredTurn(Value):
    """The id of the user's message."""

    message_id: str


def compat(chat: Chat) -> APIRouter:
    api = Router(prefix="/v1-compat/sessions", tags=["first version"])
    legacy = chat.legacy.compat

    def noted(session_id: str, me: User, what: str) -> None:
        """The program of the zoo writes about another person: that is in the access log before."""
        user_id = legacy.session(session_id).user_id
        chat.access_log.note(
            user_id, me, "program of the first version", f"conversation:{session_id}, {what}"
        )

    @api.post("", status_code=201)
    def create(body: NewSession, me: Me) -> MadeSession:
        """`create_conversation_session`: a new session of the caller."""
        made = legacy.create_conversation_session(me.user_id, body.animal_id, body.animal_name)
        return MadeSession(session_id=made)

    @api.get("")
    def mine(me: Me) -> Page[SessionView]:
        """The sessions of the caller, the newest first."""
        return listed([view_of(SessionView, one) for one in legacy.sessions(me.user_id)])

    @api.get("/{session_id}")
    def session(session_id: str, me: Me) -> SessionView:
        """One session of the caller."""
        return view_of(SessionView, legacy.session(session_id, me.user_id))

    @api.get("/{session_id}/messages")
    def history(session_id: str, me: Me) -> Page[V1MessageView]:
        """All messages of a session of the caller, the oldest first."""
        return listed([view_of(V1MessageView, one) for one in legacy.history(session_id, me.user_id)])

    @api.post("/{session_id}/turns", status_code=201)
    def store(session_id: str, body: NewTurn, me: Administrator) -> StoredTurn:
        """`store_conversation_turn`: a turn that the program of the zoo had with the model."""
        noted(session_id, me, "a turn is stored")
        message_id = legacy.store_conversation_turn(
            session_id, body.user_message, body.assistant_reply, body.metadata
        )
        return StoredTurn(message_id=message_id)

    @api.put("/{session_id}/thread", status_code=204)
    def set_thread(session_id: str, body: Thread, me: Administrator) -> None:
        """Note the thread that an outside model keeps of a session (ZC-21)."""
        noted(session_id, me, "a thread is noted")
        legacy.set_thread(session_id, body.thread_id)

    return api
