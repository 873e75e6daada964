"""The context inspector: what a model is sent of a conversation, as one bar of tokens and as text.

For administrators, with the reason logged: they see what the child wrote.
"""

from dataclasses import dataclass

from fastapi import APIRouter, Request, Response
from markupsafe import Markup

from tablewright.pages.charts import element, svg
from tablewright.systems.chat.access import Administrator, reading_of
from tablewright.systems.chat.memory.window import Window
from tablewright.systems.chat.pages.page import ChatPages

PARTS = {
    "contexts": "What is known",
    "recalled": "Memories",
    "summaries": "Summaries",
    "messages": "Messages",
}
_WIDE, _HIGH = 1000, 36


@dataclass(frozen=True, slots=True)
class Row:
    """A text of the window, with the part it belongs to."""

    part: str
    text: str
    note: str = ""


def add_inspector(router: APIRouter, pages: ChatPages) -> None:
    chat = pages.chat

    @router.get("/inspector")
    def choose(request: Request, me: Administrator, conversation: str = "") -> Response:
        if conversation:
            return pages.console.go(f"/console/chat/inspector/{conversation.strip()}")
        return pages.page(request, "inspector", title="Context inspector", window=None)

    @router.get("/inspector/{conversation_id}")
    def inspect(request: Request, conversation_id: str, me: Administrator) -> Response:
        found = reading_of(chat, me, conversation_id, "context inspector").conversation
        user = chat.people.by_id(found.user_id)
        window = chat.replies.window(user, found, chat.animals.profile(found.animal_id))
        return pages.page(
            request,
            "inspector",
            title="Context inspector",
            conversation=found,
            window=window,
            tokens=token_bar(window),
            parts_of=PARTS,
            rows=rows_of(window),
        )


def token_bar(window: Window) -> Markup:
    """The tokens of each part, side by side, against the budget."""
    total, at, drawn = window.budget.total, 0.0, []
    for name in PARTS:
        width = window.shares[name].tokens / total * _WIDE
        drawn.append(element("rect", kind=f"part-{name}", x=at, y=0, width=width, height=_HIGH))
        at += width
    about = f"{window.total_tokens} of {total} tokens: " + ", ".join(
        f"{title} {window.shares[name].tokens}" for name, title in PARTS.items()
    )
    return svg(_WIDE, _HIGH, about, drawn, "budget", preserveAspectRatio="none")


def rows_of(window: Window) -> list[Row]:
    """The texts in the order in which a model reads them."""
    return [
        *(Row("contexts", each.text, f"{each.category}, {each.confidence:.0%}") for each in window.contexts),
        *(Row("recalled", each.text, f"{each.score:.2f}") for each in window.recalled),
        *(Row("summaries", each.text, each.batch_id) for each in window.summaries),
        *(Row("messages", each.text, each.role) for each in window.messages),
    ]
