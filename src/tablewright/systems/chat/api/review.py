"""The review queue, guardrails and figures, for zookeepers and administrators (ZC-X15, ZC-X2, ZC-X13, ZC-62)."""

from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import Field, StringConstraints

from tablewright.edge.routes import Router
from tablewright.kit.http import (
    Body,
    Cursor,
    FromDay,
    Page,
    ToDay,
    VersionRead,
    listed,
    marked,
    page_of,
    view_of,
)
from tablewright.systems.chat.access import Administrator, Zookeeper, contact_of
from tablewright.systems.chat.api.conversations import MessageView, message_view
from tablewright.systems.chat.chat import Chat
from tablewright.systems.chat.family.people import actor_of, masked_id
from tablewright.systems.chat.model import Value
from tablewright.systems.chat.talk.safety_phrases import BUILT_IN
from tablewright.systems.chat.zoo_model import (
    Action,
    Direction,
    FlagKind,
    FlagState,
    Guardrail,
    ReviewFlag,
    SafetyDay,
    Severity,
    UsageDay,
)

PageSize = Annotated[int | None, Query(alias="pageSize", description="1 to 200; default: 50")]
Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1000)]
Phrase = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100)]
# A phrase with choices is longer than a title.
Phrases = Annotated[
    list[Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=400)]],
    Field(min_length=1, max_length=500),
]


class ChatOfAnimal(Value):
    """A chat in a list: of whom is masked."""

    conversation_id: str
    child: str


class QueuedFlag(Value):
    """A flag without the words and the name of the child."""

    flag_id: str
    kind: FlagKind
    severity: Severity
    state: FlagState
    conversation_id: str
    message_id: str
    animal_id: str
    guardrails: list[str]
    created: datetime
    resolved_by: str | None = None
    resolution: str | None = None
    resolved_at: datetime | None = None
    version: int


class FlaggedView(Value):
    """A flag with its message, and what was said before it. The message may have expired."""

    flag: QueuedFlag
    message: MessageView | None = None
    before: list[MessageView]


class Reachable(Value):
    name: str
    email: str | None = None


class ContactView(Value):
    """The child of a flag, and its parents."""

    child: Reachable
    parents: list[Reachable]


class Resolution(Body):
    """What was done about it."""

    resolution: Words


class NewGuardrail(Body):
    guardrail_id: Phrase
    title: Phrase
    action: Action
    direction: Direction = "both"
    phrases: Phrases
    reply: Annotated[str, StringConstraints(max_length=1000)] = ""


class GuardrailChange(Body):
    title: Phrase | None = None
    action: Action | None = None
    direction: Direction | None = None
    phrases: Phrases | None = None
    reply: Annotated[str, StringConstraints(max_length=1000)] | None = None
    is_enabled: bool | None = None


class CheckedText(Body):
    """A text to try guardrails with; nothing is stored."""

    text: Words
    direction: Direction = "input"


class VerdictView(Value):
    outcome: str
    text: str
    guardrails: list[str]
    reply: str
    is_crisis: bool


class PopularView(Value):
    animal_id: str
    name: str
    conversations: int
    messages: int
    thumbs_up: int
    thumbs_down: int


class UsageView(Value):
    """What replies cost; `spent_today` against `daily_budget`."""

    days: list[UsageDay]
    spent_today: Decimal
    daily_budget: Decimal | None = None
    is_spent: bool


class SafetyView(Value):
    """How often the safety protocols were used: for the yearly report."""

    days: list[SafetyDay]
    total: dict[str, int]


def review(chat: Chat) -> APIRouter:
    api = Router(tags=["review"])
    _add_chats(api, chat)
    _add_queue(api, chat)
    _add_guardrails(api, chat)
    _add_figures(api, chat)
    return api


def _flag_view(flag: ReviewFlag) -> QueuedFlag:
    return view_of(QueuedFlag, flag)


def _add_chats(api: APIRouter, chat: Chat) -> None:
    @api.get("/animals/{animal_id}/conversations", response_model_exclude_none=True)
    def list_chats(
        animal_id: str, by: Zookeeper, size: PageSize = None, after: Cursor = None
    ) -> Page[ChatOfAnimal]:
        """The chats with an animal, the newest first, without names; each child's access log has it (ZC-D41)."""
        chat.animals.get(animal_id)
        found = chat.conversations.of_animal(animal_id, size, after, by.user_id)
        for user_id in sorted({one.user_id for one in found.items}):
            chat.access_log.note(user_id, by, "review", f"list of chats with {animal_id}")
        return page_of(found, lambda one: view_of(ChatOfAnimal, one, child=masked_id(one.user_id)))


def _add_queue(api: APIRouter, chat: Chat) -> None:
    @api.get("/review", response_model_exclude_none=True)
    def list_flags(
        user: Zookeeper,
        severity: Severity | None = None,
        state: FlagState = "open",
        size: PageSize = None,
        after: Cursor = None,
    ) -> Page[QueuedFlag]:
        """Flags of a severity, or of all, the urgent ones first; of each those that wait longest first."""
        return page_of(chat.review.queue(severity, state, size, after, user.user_id), _flag_view)

    @api.get("/review/{flag_id}", response_model_exclude_none=True)
    def read_flag(user: Zookeeper, flag_id: str, response: Response) -> FlaggedView:
        """A flag with its message; the reader is in the access log of the child."""
        found = chat.review.read(user, flag_id)
        marked(response, found.flag)
        return FlaggedView(
            flag=_flag_view(found.flag),
            message=message_view(found.message) if found.message else None,
            before=[message_view(each) for each in found.before],
        )

    @api.post("/review/{flag_id}:contact", response_model_exclude_none=True)
    def show_contact(user: Zookeeper, flag_id: str, response: Response) -> ContactView:
        """Whom to speak to if a child may be in danger; the reader is in the access log of the child."""
        found = contact_of(chat, user, flag_id)
        response.headers["Cache-Control"] = "no-store"
        return ContactView(
            child=view_of(Reachable, found.child),
            parents=[view_of(Reachable, each) for each in found.parents],
        )

    @api.post("/review/{flag_id}:resolve", response_model_exclude_none=True)
    def resolve_flag(
        user: Zookeeper, flag_id: str, body: Resolution, version: VersionRead = None
    ) -> QueuedFlag:
        return _flag_view(chat.review.resolve(actor_of(user), flag_id, body.resolution, version))


def _add_guardrails(api: APIRouter, chat: Chat) -> None:
    service = chat.guardrails

    @api.get("/guardrails")
    def list_guardrails(user: Zookeeper) -> Page[Guardrail]:
        """All guardrails; those that are built in come first and cannot be changed."""
        return listed([*BUILT_IN, *service.all()])

    @api.post("/guardrails", status_code=201)
    def create_guardrail(user: Administrator, body: NewGuardrail) -> Guardrail:
        fields = {name: getattr(body, name) for name in NewGuardrail.model_fields if name != "guardrail_id"}
        return service.create(actor_of(user), body.guardrail_id, fields)

    @api.patch("/guardrails/{guardrail_id}")
    def change_guardrail(
        user: Administrator,
        guardrail_id: str,
        body: GuardrailChange,
        response: Response,
        version: VersionRead = None,
    ) -> Guardrail:
        sent = {name: value for name, value in body.changes().items() if value is not None}
        return marked(response, service.change(actor_of(user), guardrail_id, sent, version))

    @api.delete("/guardrails/{guardrail_id}", status_code=204)
    def remove_guardrail(user: Administrator, guardrail_id: str) -> None:
        service.remove(actor_of(user), guardrail_id)

    @api.post("/guardrails:check")
    def check_text(user: Zookeeper, body: CheckedText) -> VerdictView:
        """What would happen to a text."""
        found = service.moderator().check(body.text, body.direction)
        return VerdictView(
            outcome=found.outcome,
            text=found.text,
            guardrails=list(found.guardrails),
            reply=found.reply,
            is_crisis=found.is_crisis,
        )


def _add_figures(api: APIRouter, chat: Chat) -> None:
    def span(since: date | None, until: date | None) -> tuple[date, date]:
        last = until or chat.people.today()
        return since or last - timedelta(days=29), last

    @api.get("/popularity")
    def popularity(user: Zookeeper, since: FromDay = None, until: ToDay = None) -> Page[PopularView]:
        """The animals with the most messages first: of 30 days unless others are named."""
        names = {each.animal_id: each.name for each in chat.animals.all(disabled=True)}
        ranking = chat.popularity.ranking(list(names), *span(since, until))
        return listed(view_of(PopularView, each, name=names[each.animal_id]) for each in ranking)

    @api.get("/admin/usage", response_model_exclude_none=True)
    def usage(user: Administrator, since: FromDay = None, until: ToDay = None) -> UsageView:
        """Tokens and cost by animal, model and day."""
        return UsageView(
            days=chat.usage.report(*span(since, until)),
            spent_today=chat.usage.spent(),
            daily_budget=chat.settings.daily_budget,
            is_spent=chat.usage.is_spent(),
        )

    @api.get("/admin/safety")
    def safety(user: Administrator, since: FromDay = None, until: ToDay = None) -> SafetyView:
        """Referrals to crisis lines, refusals and disclosures by day."""
        begin, end = span(since, until)
        total = {str(name): number for name, number in chat.safety_counts.total(begin, end).items()}
        return SafetyView(days=chat.safety_counts.days(begin, end), total=total)
