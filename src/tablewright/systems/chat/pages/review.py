"""The review queue and the guardrails, for zookeepers. Names are masked; who opens a message is logged."""

from fastapi import APIRouter, Request, Response

from tablewright.edge.errors import CallerError
from tablewright.pages.forms import Form, FormWrong, Posted, form_of, read
from tablewright.pages.layout import Crumb
from tablewright.systems.chat.access import Contact, Zookeeper, contact_of
from tablewright.systems.chat.family.people import actor_of
from tablewright.systems.chat.model import Value
from tablewright.systems.chat.pages.page import HOME, ChatPages, typed_fields
from tablewright.systems.chat.talk.review import SEVERITIES, Flagged
from tablewright.systems.chat.zoo_model import Action, Direction, FlagState, Guardrail, Severity

QUEUE, RULES = f"{HOME}/review", f"{HOME}/guardrails"
QUEUED, RULED = Crumb("Review", QUEUE), Crumb("Guardrails", RULES)
KINDS = {
    "crisis": "May be in danger",
    "guardrail": "Stopped by a guardrail",
    "output": "Reply of the animal was changed",
    "reported": "Reported by the reader",
}
ACTIONS = (
    ("block", "Block: the message is not answered"),
    ("redact", "Redact: the phrase is hidden"),
    ("escalate", "Escalate: a fixed answer, and the review queue"),
)
DIRECTIONS = (("both", "Both"), ("input", "What the child writes"), ("output", "What the animal says"))


class Rule(Value):
    """A guardrail as it is typed: one phrase a line."""

    title: str
    action: Action
    direction: Direction = "both"
    phrases: str
    reply: str = ""


def add_review(router: APIRouter, pages: ChatPages) -> None:
    _add_queue(router, pages)
    _add_guardrails(router, pages)
    _add_guardrail(router, pages)


# --- the queue ---


def _add_queue(router: APIRouter, pages: ChatPages) -> None:
    review = pages.chat.review

    @router.get("/review")
    def queue(request: Request, me: Zookeeper, state: FlagState = "open") -> Response:
        wanted: tuple[Severity, ...] = SEVERITIES
        flags = [flag for each in wanted for flag in review.queue(each, state, 50, None, me.user_id).items]
        tabs = [
            ("Open", QUEUE, state == "open"),
            ("Resolved", f"{QUEUE}?state=resolved", state == "resolved"),
        ]
        return pages.page(request, "review", title="Review", flags=flags, tabs=tabs, kinds=KINDS)

    def shown(
        request: Request,
        found: Flagged,
        form: Form,
        status: int = 200,
        contact: Contact | None = None,
    ) -> Response:
        return pages.page(
            request, "flag", title="Reported message", crumbs=(QUEUED,), found=found, kinds=KINDS, form=form,
            contact=contact, status=status,
        )  # fmt: skip

    @router.get("/review/{flag_id}")
    def flagged(request: Request, flag_id: str, me: Zookeeper) -> Response:
        return shown(request, review.read(me, flag_id), Form())

    @router.post("/review/{flag_id}/contact")
    def contact(request: Request, flag_id: str, me: Zookeeper) -> Response:
        found = contact_of(pages.chat, me, flag_id)
        response = shown(request, review.read(me, flag_id), Form(), contact=found)
        response.headers["Cache-Control"] = "no-store"
        return response

    @router.post("/review/{flag_id}")
    def resolve(request: Request, flag_id: str, me: Zookeeper, form: Posted) -> Response:
        note = form.get("resolution").strip()
        if not note:
            wrong = form.wrong("resolution", "Say what you did, so that others know.")
            return shown(request, review.read(me, flag_id), wrong, 422)
        review.resolve(actor_of(me), flag_id, note)
        return pages.console.go(QUEUE, "Resolved.")


# --- guardrails ---


def _shown(
    pages: ChatPages, request: Request, rule: Guardrail | None, form: Form, status: int = 200
) -> Response:
    return pages.page(
        request,
        "guardrail",
        title=rule.title if rule else "New guardrail",
        crumbs=(RULED,),
        rule=rule,
        form=form,
        actions=ACTIONS,
        directions=DIRECTIONS,
        status=status,
    )


def _fields(form: Form) -> dict[str, object]:
    given = read(typed_fields(form, Rule), Rule)
    phrases = [line.strip() for line in given.phrases.splitlines() if line.strip()]
    return {**given.model_dump(), "phrases": phrases}


def _add_guardrails(router: APIRouter, pages: ChatPages) -> None:
    guardrails = pages.chat.guardrails

    @router.get("/guardrails")
    def rules(request: Request, me: Zookeeper) -> Response:
        return pages.page(request, "guardrails", title="Guardrails", rules=guardrails.all())

    # Not below /guardrails/{guardrail_id}: a guardrail may be called anything.
    @router.get("/new-guardrail")
    def new(request: Request, me: Zookeeper) -> Response:
        return _shown(pages, request, None, Form({"action": "block", "direction": "both"}))

    @router.post("/new-guardrail")
    def create(request: Request, me: Zookeeper, form: Posted) -> Response:
        try:
            guardrails.create(actor_of(me), form.get("guardrailId").strip(), _fields(form))
        except (FormWrong, CallerError) as mistake:
            return _shown(pages, request, None, form.refused(mistake), mistake.status)
        return pages.console.go(RULES, "Guardrail created. It applies within a minute.")


def _add_guardrail(router: APIRouter, pages: ChatPages) -> None:
    guardrails = pages.chat.guardrails

    @router.get("/guardrails/{guardrail_id}")
    def rule(request: Request, guardrail_id: str, me: Zookeeper) -> Response:
        found = guardrails.get(guardrail_id)
        return _shown(pages, request, found, form_of(found))

    @router.post("/guardrails/{guardrail_id}")
    def change(request: Request, guardrail_id: str, me: Zookeeper, form: Posted) -> Response:
        found = guardrails.get(guardrail_id)
        try:
            expected = int(form.get("version") or found.version)
            guardrails.change(actor_of(me), guardrail_id, _fields(form), expected)
        except (FormWrong, CallerError) as mistake:
            return _shown(pages, request, found, form.refused(mistake), mistake.status)
        return pages.console.go(RULES, "Saved. It applies within a minute.")

    @router.post("/guardrails/{guardrail_id}/switch")
    def switch(request: Request, guardrail_id: str, me: Zookeeper, form: Posted) -> Response:
        guardrails.change(actor_of(me), guardrail_id, {"is_enabled": bool(form.get("on"))})
        return pages.console.go(RULES, "Saved.")
