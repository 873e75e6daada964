"""Consent against a model: whatever parents decide, the row, the history and what is allowed agree."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st
from tests.properties.effort import effort
from tests.systems.chat.family.home import BORN
from tests.systems.chat.place import SECRET, START, refuses, uuid_world

from tablewright import testing
from tablewright.client import embedded
from tablewright.edge import Principal
from tablewright.edge.errors import CallerError
from tablewright.mapping import Db
from tablewright.systems.chat.chat import Chat, open_chat
from tablewright.systems.chat.design import CHAT
from tablewright.systems.chat.family.consent import may_chat, may_disclose, may_profile
from tablewright.systems.chat.family_model import Method, Scope, User
from tablewright.systems.chat.model import Draft
from tablewright.testing import Clock

SCOPES: tuple[Scope, ...] = ("collect_and_use", "disclosure", "profiling")
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["grant", "withdraw", "local"]),
        st.lists(st.sampled_from(SCOPES), unique=True, max_size=3),
        st.sampled_from(["questions", "id_and_face"]),
    ),
    max_size=6,
)
Step = tuple[str, list[Scope], Method]


@effort(20)
@given(STEPS)
def test_what_holds_is_what_was_decided_last_and_each_decision_is_on_record(steps: list[Step]) -> None:
    clock = Clock(START)
    world = uuid_world(clock.world())
    with TemporaryDirectory() as home, testing.engine(world=world) as engine:
        db = Db(embedded(engine), CHAT, world=world, secret=SECRET)
        db.create_tables()
        chat = open_chat(db, world, SECRET, home=Path(home))
        parent = chat.people.entered(Principal("ann", frozenset(), "ann@example.org"))
        family = chat.families.create(parent, "Us")
        child = chat.children.add(family, "Kim", BORN, parent, user_id="kim")
        for method in ("questions", "id_and_face"):
            chat.consents.record_verification(parent, method, "case", parent)
        model: set[Scope] = set()
        is_local, decisions = False, 0
        for step in steps:
            clock.move(timedelta(seconds=1))
            before, (verb, scopes, _) = chat.people.by_id("kim"), step
            if verb == "local":
                is_local = bool(scopes)
                chat.people.change(before, {"stays_local": is_local}, parent)
            elif decided(chat, parent, before, step):
                decisions += 1
                model = after(model, verb, scopes)
            check(chat, model, is_local, decisions)
        assert child.user_id == "kim"


def decided(chat: Chat, parent: User, child: User, step: Step) -> bool:
    verb, scopes, method = step
    if verb == "withdraw":
        chat.consents.withdraw(parent, child, scopes)
        return True
    try:
        chat.consents.consent_verified(parent, child, scopes, method, chat.notices.version)
    except CallerError as refused:
        if refused.code != "SCOPE_NEEDED" or "collect_and_use" in scopes:
            raise
        return False
    return True


def after(model: set[Scope], verb: str, scopes: list[Scope]) -> set[Scope]:
    if verb == "grant":
        return set(scopes)
    gone = set(scopes) or set(SCOPES)
    return set() if "collect_and_use" in gone else model - gone


def check(chat: Chat, model: set[Scope], is_local: bool, decisions: int) -> None:
    child, today = chat.people.by_id("kim"), chat.people.today()
    assert set(child.scopes) == model
    assert may_chat(child, today) == ("collect_and_use" in model)
    assert may_disclose(child) == ("disclosure" in model and not is_local)
    assert may_profile(child) == ("profiling" in model)
    history = chat.consents.history(child)
    assert (len(history), child.consent_generation) == (decisions, decisions)
    assert [one.generation for one in history] == sorted((one.generation for one in history), reverse=True)
    assert not history or set(history[0].scopes) == model
    # A message that was checked against an older decision is refused.
    if may_chat(child, today):
        talk = chat.conversations.create(child, "panda_01")
        with refuses("NO_CONSENT"):
            chat.messages.append(talk, [Draft(role="user", text="hi")], consent=child.consent_generation - 1)
