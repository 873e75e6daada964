"""A LangChain message history over a conversation itself (ZC-56): thin, for code from before LangGraph.

    history = ConversationHistory(chat, "child-1", conversation.conversation_id)
    RunnableWithMessageHistory(chain, lambda session_id: history)

The messages are those of the conversation, so summaries, retention, the parent's transcript and erasure apply to them.
Must hold: one `add_messages` is one transaction; it is one turn: messages of the user, then those of the animal and its
tools, and a tool only answers a call of the same turn. So a client's history with invented replies is refused (ZC-X16),
and so are system messages: instructions are not history.
"""

from collections.abc import Sequence
from typing import Any

import orjson
from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from tablewright.systems.chat.adapters.client_input import user_texts
from tablewright.systems.chat.adapters.rows import UserRows
from tablewright.systems.chat.chat import Chat
from tablewright.systems.chat.errors import BadRole, NoConsent
from tablewright.systems.chat.model import Conversation, Draft, Message, ToolCall


class ConversationHistory(BaseChatMessageHistory):
    """The messages of one conversation of one user."""

    def __init__(self, chat: Chat, user_id: str, conversation_id: str) -> None:
        self._chat, self._conversation_id = chat, conversation_id
        self._user = UserRows(chat, user_id, "active_conversation")

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]  # the interface allows a property
        """All messages that are complete, the oldest first."""
        found = self._chat.messages.all(self._conversation)
        return [as_langchain(message) for message in found if message.state == "complete"]

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Append one turn; BAD_ROLE if it is not one, NO_CONSENT, ERASED, ARCHIVED."""
        drafts = drafts_of(messages)
        if not drafts:
            return
        try:
            self._append(drafts, again=False)
        except NoConsent:
            # What a parent allows was changed since it was read.
            self._append(drafts, again=True)

    def clear(self) -> None:
        """Remove all messages of the conversation, and its summaries and memories."""
        self._chat.conversations.clear(self._conversation)

    @property
    def _conversation(self) -> Conversation:
        return self._chat.conversations.get(self._conversation_id, self._user.user_id)

    def _append(self, drafts: Sequence[Draft], *, again: bool) -> None:
        self._chat.messages.append(self._conversation, drafts, consent=self._user.consented(again=again))


def client_messages(sent: str | Sequence[dict[str, Any]]) -> list[BaseMessage]:
    """What a client has sent, as messages of the user; BAD_ROLE if there is anything else."""
    return [HumanMessage(content=text) for text in user_texts(sent)]


def drafts_of(messages: Sequence[BaseMessage]) -> list[Draft]:
    """A turn as messages of the conversation; BAD_ROLE if it is not one."""
    calls: set[str] = set()
    drafts: list[Draft] = []
    for message in messages:
        match message:
            case HumanMessage() if not any(draft.role != "user" for draft in drafts):
                drafts.append(Draft(role="user", text=_text_of(message)))
            case AIMessage():
                made = [_call_of(call) for call in message.tool_calls]
                calls |= {call.call_id for call in made}
                drafts.append(Draft(role="assistant", text=_text_of(message), tool_calls=made))
            case ToolMessage() if message.tool_call_id in calls:
                drafts.append(Draft(role="tool", text=_text_of(message), tool_call_id=message.tool_call_id))
            case _:
                raise BadRole
    return drafts


def as_langchain(message: Message) -> BaseMessage:
    """A message of a conversation as LangChain has it."""
    match message.role:
        case "user":
            return HumanMessage(content=message.text, id=message.message_id)
        case "assistant":
            calls = [
                {"name": call.name, "args": orjson.loads(call.arguments), "id": call.call_id}
                for call in message.tool_calls
            ]
            return AIMessage(content=message.text, id=message.message_id, tool_calls=calls)
        case "tool":
            called = message.tool_call_id or ""
            return ToolMessage(content=message.text, id=message.message_id, tool_call_id=called)
        case "system":
            return SystemMessage(content=message.text, id=message.message_id)


def _text_of(message: BaseMessage) -> str:
    return str(message.text)


def _call_of(call: Any) -> ToolCall:
    arguments = orjson.dumps(call["args"]).decode()
    return ToolCall(call_id=call["id"] or "", name=call["name"], arguments=arguments)
