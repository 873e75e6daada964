"""A turn: `POST /conversations/{id}/messages`, as server-sent events or as JSON; and what a model reads.

Only the words of the caller are taken: a role, a history or any other field is refused (ZC-S20, ZC-X16, ZC-X27).
Events: `accepted`, `notice`, `delta`, `replace`, `done`, `failed`; their data is JSON. The stream ends with `done` or
`failed`.
"""

import json
from collections.abc import Generator, Iterator
from contextlib import closing
from datetime import datetime
from typing import Annotated, Any

from anyio import CancelScope
from fastapi import APIRouter, Header, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import Field
from starlette.types import Receive, Scope, Send

from tablewright.edge.errors import BadRequest
from tablewright.edge.problems import Problem
from tablewright.edge.routes import Router
from tablewright.kit.http import Body
from tablewright.systems.chat.access import Me, OwnConversation, ReadableConversation
from tablewright.systems.chat.api.conversations import Id, MessageView, message_view
from tablewright.systems.chat.chat import Chat
from tablewright.systems.chat.errors import BadRole
from tablewright.systems.chat.memory.window import Window
from tablewright.systems.chat.model import Value
from tablewright.systems.chat.talk.events import Accepted, Done, Event, Failed, Noticed, Part, Replaced
from tablewright.systems.chat.zoo_model import FlagKind, FlagState

EVENT_STREAM = "text/event-stream"
Accept = Annotated[str, Header()]
# A proxy must not keep parts of a reply back.
_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


class NewMessage(Body):
    """A message of the caller. `role` and `messages` are here to be refused with a clear error."""

    text: str | None = None
    client_message_id: str | None = None
    role: Any = None
    messages: Any = None


class Again(Body):
    client_message_id: str | None = None


class NoticeView(Value):
    kind: str
    text: str


class TurnView(Value):
    """A turn that is answered."""

    message: MessageView
    reply: MessageView
    notices: list[NoticeView]
    is_repeated: bool


class FlagView(Value):
    """A flag as the person who made it sees it."""

    flag_id: str
    kind: FlagKind
    state: FlagState
    created: datetime


class ShareView(Value):
    tokens: int
    at_most: int
    left_out: int


class PieceView(Value):
    """A text in the window: where it is from, and what ranks it."""

    part: str
    text: str
    tokens: int
    note: str = ""


class WindowView(Value):
    """What a model reads of a conversation now (ZC-18, ZC-43)."""

    total_tokens: int
    token_limit: int
    budget_utilization: float
    summary_count: int
    message_count: int
    strategy: str
    shares: dict[str, ShareView] = Field(default_factory=dict)
    pieces: list[PieceView]


def turns(chat: Chat) -> APIRouter:
    api = Router(tags=["turns"])

    @api.post("/conversations/{conversation_id}/messages", response_model=TurnView)
    def send_message(
        body: NewMessage, found: OwnConversation, user: Me, accept: Accept = "application/json"
    ) -> Response:
        """Say something to the animal, and get its reply. The same `clientMessageId` again gets the same reply."""
        events = chat.turns.stream(user, found, _text_of(body), body.client_message_id)
        return _answer(events, accept)

    @api.post("/conversations/{conversation_id}/messages:regenerate", response_model=TurnView)
    def regenerate(
        found: OwnConversation, user: Me, body: Again | None = None, accept: Accept = "application/json"
    ) -> Response:
        """Another reply in place of the last one."""
        return _answer(chat.turns.regenerate(user, found, body.client_message_id if body else None), accept)

    @api.post("/conversations/{conversation_id}/messages/{message_id}:flag", status_code=201)
    def flag_message(found: ReadableConversation, message_id: Id) -> FlagView:
        """Ask a zookeeper to look at a message (ZC-X22)."""
        flag = chat.review.report(found.reader, found.conversation, message_id)
        return FlagView(flag_id=flag.flag_id, kind=flag.kind, state=flag.state, created=flag.created)

    @api.get("/conversations/{conversation_id}/context", response_model_exclude_none=True)
    def get_window(found: ReadableConversation) -> WindowView:
        """What a model would read now, with the tokens of each part."""
        conversation = found.conversation
        profile = chat.animals.profile(conversation.animal_id)
        window = chat.replies.window(chat.people.by_id(conversation.user_id), conversation, profile)
        return window_view(window, profile.config.strategy, chat.providers.count)

    return api


def _text_of(body: NewMessage) -> str:
    """The words of the caller; BAD_ROLE for words of someone else."""
    if body.role not in (None, "user"):
        raise BadRole
    if body.messages is not None:
        raise _refused_history(body.messages)
    if body.text is None:
        raise BadRequest("EMPTY_TEXT", "Write something first.", "text")
    return body.text


def _refused_history(messages: Any) -> Exception:
    entries = messages if isinstance(messages, list) else []
    if any(not isinstance(each, dict) or each.get("role") != "user" for each in entries):
        return BadRole()
    words = "The history is kept here: send only the new message, as text."
    return BadRequest("HISTORY_NOT_TAKEN", words, "messages")


# --- answers ---


class EventStream(StreamingResponse):
    """Events as they happen. They are closed when the client goes away, so that the turn is free at once."""

    def __init__(self, events: Generator[Event, None, None]) -> None:
        super().__init__(map(_line, events), media_type=EVENT_STREAM, headers=_HEADERS)
        self._events = events

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            with CancelScope(shield=True):
                await run_in_threadpool(self._events.close)


def _answer(events: Generator[Event, None, None], accept: str) -> Response:
    if EVENT_STREAM in accept:
        return EventStream(events)
    with closing(events):
        whole = _whole(events)
    return JSONResponse(whole.model_dump(mode="json", by_alias=True, exclude_none=True))


def _line(event: Event) -> bytes:
    name, data = _told(event)
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n".encode()


def _told(event: Event) -> tuple[str, dict[str, Any]]:
    match event:
        case Accepted(message, is_repeated):
            return "accepted", {"message": _json(message_view(message)), "isRepeated": is_repeated}
        case Noticed(notice):
            return "notice", {"kind": notice.kind, "text": notice.text}
        case Part(text):
            return "delta", {"text": text}
        case Replaced(text):
            return "replace", {"text": text}
        case Done(message):
            return "done", {"reply": _json(message_view(message))}
        case Failed(code, text, retry_after):
            return "failed", {"code": code, "text": text, "retryAfter": retry_after}


def _json(view: Value) -> dict[str, Any]:
    return view.model_dump(mode="json", by_alias=True, exclude_none=True)


def _whole(events: Iterator[Event]) -> TurnView:
    """The turn when it has ended; a Problem if no reply came."""
    accepted: Accepted | None = None
    notices: list[NoticeView] = []
    for event in events:
        match event:
            case Accepted():
                accepted = event
            case Noticed(notice):
                notices.append(NoticeView(kind=notice.kind, text=notice.text))
            case Failed():
                raise _problem(event)
            case Done(message) if accepted is not None:
                return TurnView(
                    message=message_view(accepted.message),
                    reply=message_view(message),
                    notices=notices,
                    is_repeated=accepted.is_repeated,
                )
    raise Problem(503, "MODEL_UNAVAILABLE", "The animal cannot answer right now. Your message is kept.")


_STATUS = {
    "MODEL_UNAVAILABLE": 503,
    "NO_CONSENT": 403,
    "ERASED": 410,
    "TURN_IN_PROGRESS": 409,
    "ARCHIVED": 409,
}


def _problem(failed: Failed) -> Problem:
    headers = {} if failed.retry_after is None else {"Retry-After": str(failed.retry_after)}
    return Problem(_STATUS.get(failed.code, 409), failed.code, failed.text, headers=headers)


def window_view(window: Window, strategy: str, count: Any) -> WindowView:
    rows = [
        *(("contexts", each.text, f"{each.category}, {each.confidence:.2f}") for each in window.contexts),
        *(("recalled", each.text, f"score {each.score:.2f}") for each in window.recalled),
        *(("summaries", each.text, each.batch_id) for each in window.summaries),
        *(("messages", each.text, each.role) for each in window.messages),
    ]
    return WindowView(
        total_tokens=window.total_tokens,
        token_limit=window.budget.total,
        budget_utilization=round(window.budget_utilization, 4),
        summary_count=len(window.summaries),
        message_count=len(window.messages),
        strategy=strategy,
        shares={
            name: ShareView(tokens=share.tokens, at_most=share.at_most, left_out=share.left_out)
            for name, share in window.shares.items()
        },
        pieces=[PieceView(part=part, text=text, tokens=count(text), note=note) for part, text, note in rows],
    )
