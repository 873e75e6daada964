"""Conversations: `/conversations`, their messages, summaries and states (C.2).

Elsewhere: a turn with its reply (turns.py), what is known of the caller (context.py).
"""

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response
from pydantic import StringConstraints

from tablewright.edge.routes import Router
from tablewright.kit.http import Body, Cursor, IdempotencyKey, Page, listed, marked, page_of, view_of
from tablewright.kit.tables import OnceRequest, digest
from tablewright.systems.chat.access import (
    FamilyConversation,
    Me,
    OwnConversation,
    ReadableConversation,
)
from tablewright.systems.chat.chat import Chat
from tablewright.systems.chat.family.consent import refuse_without_consent
from tablewright.systems.chat.family.people import actor_of
from tablewright.systems.chat.model import (
    Conversation,
    ConversationMetadata,
    Message,
    MessageMetadata,
    MessageRange,
    MessageState,
    RetentionClass,
    Role,
    Status,
    Summary,
    Thumb,
    ToolCall,
    Value,
)

PageSize = Annotated[int | None, Query(alias="pageSize", description="1 to 100; default: 20")]
Id = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=128)]


class NewConversation(Body):
    """A conversation that is begun."""

    animal_id: Id


class Completion(Body):
    """What has ended: this session, or the program it belongs to (ZC-23)."""

    what: Literal["session", "program"] = "session"


class Fork(Body):
    """The last message that a fork has."""

    message_id: Id


class ThreadChange(Body):
    """The thread that an outside model keeps; null removes it."""

    thread_id: Id | None


class ThumbChange(Body):
    """What the reader thinks of a message; null takes it back."""

    thumb: Thumb | None


class ConversationView(Value):
    """A conversation as its readers see it."""

    conversation_id: str
    user_id: str
    animal_id: str
    animal_name: str
    message_count: int
    summary_count: int
    summarized_count: int
    start_time: datetime
    last_activity: datetime
    end_time: datetime | None = None
    status: Status
    thread_id: str | None = None
    metadata: ConversationMetadata
    retention_class: RetentionClass
    expires_at: datetime
    forked_from: str | None = None
    version: int


class MessageView(Value):
    """A message with its text."""

    message_id: str
    role: Role
    text: str
    timestamp: datetime
    sequence: int
    state: MessageState
    metadata: MessageMetadata
    run_id: str | None = None
    client_message_id: str | None = None
    reply_to: str | None = None
    tool_calls: list[ToolCall]
    tool_call_id: str | None = None
    thumb: Thumb | None = None
    summary_id: str | None = None
    expires_at: datetime


class SummaryView(Value):
    """A summary with its text."""

    batch_id: str
    summary_text: str
    message_range: MessageRange
    timestamp: datetime
    compression_ratio: Decimal
    topics: list[str]
    expires_at: datetime


def conversation_view(conversation: Conversation) -> ConversationView:
    return view_of(ConversationView, conversation)


def message_view(message: Message) -> MessageView:
    return view_of(MessageView, message)


def summary_view(summary: Summary) -> SummaryView:
    figures = summary.metadata
    return view_of(
        SummaryView, summary, compression_ratio=figures.compression_ratio, topics=figures.topics_extracted
    )


def once_of(user_id: str, key: str | None, *asked: str) -> OnceRequest:
    """A request with an idempotency key of its caller."""
    receipt = None if key is None else f"chat/{digest(user_id, key)}"
    words = "This Idempotency-Key was used for another request."
    return OnceRequest(receipt, digest(*asked), words)


def conversations(chat: Chat) -> APIRouter:
    api = Router(tags=["conversations"])
    service, messages = chat.conversations, chat.messages

    @api.post("/conversations", status_code=201, response_model_exclude_none=True)
    def create_conversation(
        body: NewConversation, user: Me, response: Response, key: IdempotencyKey = None
    ) -> ConversationView:
        """Begin a conversation with an animal. A child needs the consent of a parent."""
        refuse_without_consent(user, chat.people.today())
        chat.animals.enabled(body.animal_id)
        once = once_of(user.user_id, key, "conversation", body.animal_id)
        made = service.create(user, body.animal_id, once=once, consent=user.consent_generation)
        return marked(response, conversation_view(made))

    @api.get("/conversations", response_model_exclude_none=True)
    def list_conversations(user: Me, size: PageSize = None, after: Cursor = None) -> Page[ConversationView]:
        """The caller's own conversations, the newest first."""
        return page_of(service.of_user(user.user_id, size, after, user.user_id), conversation_view)

    @api.get("/conversations/{conversation_id}", response_model_exclude_none=True)
    def get_conversation(found: ReadableConversation, response: Response) -> ConversationView:
        shown = conversation_view(found.conversation).model_copy(update={"user_id": found.shown_user_id})
        return marked(response, shown)

    @api.post("/conversations/{conversation_id}:archive", response_model_exclude_none=True)
    def archive_conversation(found: OwnConversation, response: Response) -> ConversationView:
        """Take no more messages until it is reopened."""
        return marked(response, conversation_view(service.archive(found)))

    @api.post("/conversations/{conversation_id}:complete", response_model_exclude_none=True)
    def complete_conversation(
        found: OwnConversation, response: Response, body: Completion | None = None
    ) -> ConversationView:
        """End the session or the program: it is kept for longer, as the retention policy says."""
        what = (body or Completion()).what
        return marked(response, conversation_view(service.complete(found, what)))

    @api.post("/conversations/{conversation_id}:reopen", response_model_exclude_none=True)
    def reopen_conversation(found: OwnConversation, response: Response) -> ConversationView:
        return marked(response, conversation_view(service.reopen(found)))

    @api.post("/conversations/{conversation_id}:fork", status_code=201, response_model_exclude_none=True)
    def fork_conversation(found: OwnConversation, body: Fork, user: Me) -> ConversationView:
        """A new conversation with copies of the messages up to one of them."""
        refuse_without_consent(user, chat.people.today())
        return conversation_view(service.fork(found, body.message_id, user.consent_generation))

    @api.put("/conversations/{conversation_id}/thread", response_model_exclude_none=True)
    def change_thread(found: OwnConversation, body: ThreadChange) -> ConversationView:
        return conversation_view(service.set_thread(found, body.thread_id))

    @api.delete("/conversations/{conversation_id}", status_code=204)
    def delete_conversation(found: FamilyConversation) -> None:
        """Delete a conversation with everything in it: for its child and the parents of that child."""
        service.delete(found.conversation, actor_of(found.reader), f"deleted by {found.reader.role}")

    @api.get("/conversations/{conversation_id}/messages", response_model_exclude_none=True)
    def list_messages(
        found: ReadableConversation, size: PageSize = None, after: Cursor = None
    ) -> Page[MessageView]:
        """The messages, the newest first."""
        if found.old is not None:
            return page_of(found.old.page(size, after), message_view)
        reader = found.reader.user_id
        page = messages.history(found.conversation, limit=size, after=after, reader=reader)
        return page_of(page, message_view)

    @api.post("/conversations/{conversation_id}/messages:take-back", response_model_exclude_none=True)
    def take_back(found: OwnConversation) -> Page[MessageView]:
        """Remove the last turn; what was removed."""
        return listed(map(message_view, messages.take_back(found)))

    @api.put("/conversations/{conversation_id}/messages/{message_id}/thumb", response_model_exclude_none=True)
    def rate_message(found: OwnConversation, message_id: Id, body: ThumbChange) -> MessageView:
        """A thumb on what the animal said (ZC-X22); NOT_A_REPLY for a message of one's own."""
        return message_view(chat.review.rate(found, message_id, body.thumb))

    @api.delete("/conversations/{conversation_id}/runs/{run_id}")
    def delete_run(found: OwnConversation, run_id: Id) -> dict[str, int]:
        """Remove the messages of a run; how many."""
        return {"removed": messages.delete_run(found, run_id)}

    @api.get("/conversations/{conversation_id}/summaries", response_model_exclude_none=True)
    def list_summaries(found: ReadableConversation) -> Page[SummaryView]:
        """The summaries, from the oldest to the newest."""
        return listed(map(summary_view, chat.summaries.of(found.conversation)))

    return api
