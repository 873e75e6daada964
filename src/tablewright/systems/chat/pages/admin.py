"""Pages for administrators: figures, data quality, the migration, compliance.

Elsewhere: what is published (policy.py), the workbench's own page of migrations (app/designs).
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta

from fastapi import APIRouter, Request, Response

from tablewright.edge.errors import CallerError, problem_for
from tablewright.kit.tables import Actor
from tablewright.pages.charts import Bar, bars
from tablewright.pages.forms import Form, Posted
from tablewright.systems.chat.access import Administrator
from tablewright.systems.chat.family.people import actor_of
from tablewright.systems.chat.legacy.preparation import Prepared
from tablewright.systems.chat.pages.page import HOME, ChatPages
from tablewright.systems.chat.popularity import Popular
from tablewright.systems.chat.zoo_model import SafetyCount, UsageDay

SPAN = timedelta(days=30)
SAFETY_WORDS: Mapping[SafetyCount, str] = {
    "referrals": "Referrals to a crisis line",
    "escalated": "Messages sent to the review queue",
    "blocked": "Messages stopped",
    "redacted": "Messages with something hidden",
    "replies_replaced": "Replies replaced",
    "disclosures": "Times a child was told that the animal is a program",
    "breaks": "Reminders to take a break",
    "parent_reads": "Times a parent read along",
}


def add_admin(router: APIRouter, pages: ChatPages) -> None:
    _add_figures(router, pages)
    _add_quality(router, pages)
    _add_migration(router, pages)
    _add_compliance(router, pages)


# --- figures ---


def _add_figures(router: APIRouter, pages: ChatPages) -> None:
    chat = pages.chat

    @router.get("/admin")
    def figures(request: Request, me: Administrator) -> Response:
        until = chat.people.today()
        since = until - SPAN
        names = {each.animal_id: each.name for each in chat.animals.all(disabled=True)}
        ranking = chat.popularity.ranking(list(names), since, until)
        days = chat.usage.report(since, until)
        chart = bars(
            [Bar(names[each.animal_id], each.messages) for each in ranking],
            about="Messages by animal in the last 30 days",
        )
        return pages.page(
            request,
            "figures",
            title="Figures",
            names=names,
            ranking=ranking,
            chart=chart if ranking else None,
            per_chat=messages_per_chat(ranking),
            compression=compression_of(ranking),
            usage=_by_animal(days),
            spent=chat.usage.spent(),
            budget=chat.settings.daily_budget,
            safety=chat.safety_counts.total(since, until),
            safety_words=SAFETY_WORDS,
        )


def messages_per_chat(ranking: Sequence[Popular]) -> float | None:
    """How many messages a chat has on average (ZC-57); None without chats."""
    chats = sum(each.conversations for each in ranking)
    return sum(each.messages for each in ranking) / chats if chats else None


def compression_of(ranking: Sequence[Popular]) -> float | None:
    """How much of their messages summaries have left on average, 0 to 1 (ZC-57); None without summaries."""
    summaries = sum(each.summaries for each in ranking)
    return sum(each.compression for each in ranking) / summaries / 10_000 if summaries else None


def _by_animal(days: list[UsageDay]) -> list[UsageDay]:
    """One row for each animal and model, with the sums of its days."""
    found: dict[tuple[str, str], UsageDay] = {}
    for day in days:
        key = day.animal_id, day.model
        if key not in found:
            found[key] = day
            continue
        before = found[key]
        sums = {
            name: getattr(before, name) + getattr(day, name)
            for name in ("replies", "failures", "tokens_in", "tokens_out", "cost", "milliseconds")
        }
        found[key] = before.model_copy(update=sums)
    return sorted(found.values(), key=lambda each: (-each.cost, -each.replies, each.animal_id))


# --- quality ---


def _add_quality(router: APIRouter, pages: ChatPages) -> None:
    checks = pages.chat.quality

    @router.get("/admin/quality")
    def quality(request: Request, me: Administrator) -> Response:
        return pages.page(
            request, "quality", title="Data quality", report=checks.check(), retention=checks.retention()
        )

    @router.post("/admin/quality")
    def repair(request: Request, me: Administrator) -> Response:
        mended = sum(each.repaired for each in checks.check(repair=True).findings)
        return pages.console.go(
            f"{HOME}/admin/quality", f"{mended} repaired. Each has an entry in the compliance log."
        )


# --- migration ---


def _add_migration(router: APIRouter, pages: ChatPages) -> None:
    operator = pages.chat.legacy.operator
    steps: Mapping[str, tuple[Callable[[Actor], object], str]] = {
        "prepare": (operator.prepare, "The first version is prepared."),
        "start": (operator.start, "Copying has begun."),
        "pause": (operator.pause, "On hold."),
        "resume": (operator.resume, "Copying goes on."),
        "verify": (operator.verify, "Both versions were compared."),
        "cut-over": (operator.cut_over, "The second version serves now."),
        "roll-back": (operator.roll_back, "The first version serves again."),
        "finish": (operator.finish, "The first version is archived and its table deleted."),
    }

    def shown(request: Request, error: str = "", status: int = 200) -> Response:
        return pages.page(
            request, "migration", title="Migration", status_now=operator.status(), history=operator.history()[:20],
            error=error, status=status,
        )  # fmt: skip

    @router.get("/admin/migration")
    def migration(request: Request, me: Administrator) -> Response:
        return shown(request)

    @router.post("/admin/migration")
    def step(request: Request, me: Administrator, form: Posted) -> Response:
        found = steps.get(form.get("do"))
        if found is None:
            return shown(request, "There is no such step.", 422)
        try:
            done = found[0](actor_of(me))
        except CallerError as mistake:
            return shown(request, problem_for(mistake).message, mistake.status)
        alone = done.without_account if isinstance(done, Prepared) else 0
        more = f" {alone} chats are of people without an account: they take no messages after the cut-over."
        return pages.console.go(f"{HOME}/admin/migration", found[1] + (more if alone else ""))


# --- compliance ---


def _add_compliance(router: APIRouter, pages: ChatPages) -> None:
    notices = pages.chat.notices

    def shown(request: Request, form: Form, status: int = 200) -> Response:
        return pages.page(
            request,
            "compliance",
            title="Compliance",
            policy=notices.retention(),
            vendors=notices.third_parties(),
            assessments=notices.assessments(),
            settings=pages.chat.settings,
            form=form,
            status=status,
        )

    @router.get("/compliance")
    def compliance(request: Request, me: Administrator) -> Response:
        return shown(request, Form())

    @router.post("/compliance")
    def assessed(request: Request, me: Administrator, form: Posted) -> Response:
        document = form.get("document").strip()
        if not document:
            return shown(request, form.wrong("document", "Say where the document is."), 422)
        notices.record_assessment(me, document)
        return pages.console.go(f"{HOME}/compliance", "Assessment recorded. The next is due in a year.")
