"""A child's chat with an animal: begin, read, write, take back, ask again, finish, rate.

Works without a script; with one replies stream.
"""

from collections.abc import Sequence

from fastapi import APIRouter, Request, Response

from tablewright.edge.errors import CallerError, NotFound
from tablewright.pages.forms import Posted
from tablewright.pages.lists import here
from tablewright.systems.chat.access import Me, OwnConversation
from tablewright.systems.chat.api.conversations import once_of
from tablewright.systems.chat.family.consent import refuse_without_consent
from tablewright.systems.chat.family_model import User
from tablewright.systems.chat.model import Conversation, Message
from tablewright.systems.chat.pages.page import HOME, ChatPages
from tablewright.systems.chat.talk.disclosures import AI_NOTICE, BREAK_NOTICE
from tablewright.systems.chat.talk.message_writes import is_covered
from tablewright.systems.chat.talk.safety_phrases import is_escalated
from tablewright.systems.chat.talk.turns import is_replaceable

_MESSAGES = 40


def talk_path(conversation: Conversation) -> str:
    return f"{HOME}/talk/{conversation.conversation_id}"


def add_talk(router: APIRouter, pages: ChatPages) -> None:
    _add_list(router, pages)
    _add_talk(router, pages)
    _add_states(router, pages)


def _add_list(router: APIRouter, pages: ChatPages) -> None:
    chat = pages.chat

    @router.get("/chats")
    def chats(request: Request, me: Me) -> Response:
        listing = pages.list(request, chat.conversations.query_of_user(me.user_id), 20)
        return pages.page(request, "chats", title="Your chats", me=me, listing=listing)

    @router.post("/talk")
    def begin(request: Request, me: Me, form: Posted) -> Response:
        refuse_without_consent(me, chat.people.today())
        once = once_of(me.user_id, form.get("key") or None, "conversation", form.get("animal"))
        made = chat.conversations.create(me, form.get("animal"), once=once, consent=me.consent_generation)
        return pages.console.go(talk_path(made))


def _add_talk(router: APIRouter, pages: ChatPages) -> None:
    chat = pages.chat

    def shown(
        request: Request, me: User, found: Conversation, error: str = "", typed: str = "", status: int = 200
    ) -> Response:
        page = chat.messages.history(
            found, limit=_MESSAGES, after=request.query_params.get("after"), reader=me.user_id
        )
        messages = list(reversed(page.items))
        newest = messages[-2:] if "after" not in request.query_params else []
        used, limit = chat.limits.used_today(me), me.limits.daily_minutes
        is_child = me.role == "student" and not me.is_adult_on(chat.people.today())
        return pages.page(
            request,
            "talk",
            title=found.animal_name,
            chat=found,
            messages=messages,
            last_message=_removable(found, newest),
            can_ask_again=is_replaceable(found, newest),
            older=here(request, after=page.next) if page.next else None,
            send_to=f"/chat/v1/conversations/{found.conversation_id}/messages",
            is_read_along=is_child and me.family_id is not None,
            minutes_left=max(0, limit - used.seconds // 60) if is_child and limit else None,
            greeting=_greeting(pages, found),
            notices={"notice:ai": AI_NOTICE, "notice:break": BREAK_NOTICE},
            most=chat.settings.most_characters,
            key=chat.repository.new_ulid(),
            error=error,
            typed=typed,
            status=status,
        )

    @router.get("/talk/{conversation_id}")
    def talk(request: Request, found: OwnConversation, me: Me) -> Response:
        return shown(request, me, found)

    @router.post("/talk/{conversation_id}")
    def write(request: Request, found: OwnConversation, me: Me, form: Posted) -> Response:
        try:
            for _ in chat.turns.stream(me, found, form.get("text"), form.get("key")):
                pass  # the page shows what is stored
        except CallerError as mistake:
            again = chat.conversations.get(found.conversation_id, me.user_id)
            return shown(request, me, again, str(mistake), form.get("text"), mistake.status)
        return pages.console.go(talk_path(found))

    @router.post("/talk/{conversation_id}/take-back")
    def take_back(request: Request, found: OwnConversation, me: Me, form: Posted) -> Response:
        # The turn that the child saw, not an earlier one if the button is used twice.
        if _removable(found, chat.messages.newest(found, 2)) != form.get("message"):
            return pages.console.go(talk_path(found), "The chat has changed. Look at it again.")
        try:
            chat.messages.take_back(found)
        except CallerError as mistake:
            return shown(request, me, found, str(mistake), status=mistake.status)
        return pages.console.go(talk_path(found), "Taken back.")

    @router.post("/talk/{conversation_id}/another-answer")
    def another_answer(request: Request, found: OwnConversation, me: Me, form: Posted) -> Response:
        try:
            for _ in chat.turns.regenerate(me, found, form.get("key")):
                pass  # the page shows what is stored
        except CallerError as mistake:
            return shown(request, me, found, str(mistake), status=mistake.status)
        return pages.console.go(talk_path(found))


def _removable(found: Conversation, newest: Sequence[Message]) -> str:
    """The id of the child's message in the last turn, if that can be taken back."""
    of_child = [each for each in newest if each.role == "user"]
    if not of_child or found.status != "active":
        return ""
    last = of_child[-1]
    return "" if is_escalated(last) or is_covered(found, last) else last.message_id


def _greeting(pages: ChatPages, found: Conversation) -> str:
    """What the animal says first; an animal of the first version may have left the zoo."""
    try:
        return pages.chat.animals.profile(found.animal_id).config.greeting
    except NotFound:
        return f"Hello! I am {found.animal_name}."


def _add_states(router: APIRouter, pages: ChatPages) -> None:
    chat = pages.chat

    @router.post("/talk/{conversation_id}/finish")
    def finish(request: Request, found: OwnConversation, me: Me) -> Response:
        chat.conversations.archive(found)
        return pages.console.go(HOME, f"Bye! {found.animal_name} waves to you.")

    @router.post("/talk/{conversation_id}/reopen")
    def reopen(request: Request, found: OwnConversation, me: Me) -> Response:
        chat.conversations.reopen(found)
        return pages.console.go(talk_path(found))

    @router.post("/talk/{conversation_id}/thumb")
    def thumb(request: Request, found: OwnConversation, me: Me, form: Posted) -> Response:
        message_id = form.get("message")
        if form.get("thumb") == "flag":
            chat.review.report(me, found, message_id)
            return pages.console.go(talk_path(found), "Thank you. A zookeeper will look at it.")
        chat.review.rate(found, message_id, "up" if form.get("thumb") == "up" else "down")
        return pages.console.go(talk_path(found), "Thank you!")
