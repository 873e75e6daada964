"""Consent of parents: by scope, with the method of verification and the version of the notice (ZC-X1, ZC-X23).

A parent asks for a code by mail or text message and enters it (e-mail plus, text plus: a confirmation follows a day
later); or consents after an identity check that an administrator has recorded (questions, ID and face). Disclosure to a
third party needs the second. Must hold: what is granted is what the code was sent for, after the notice of this
moment; every change raises the generation on the child's row, on which each message depends in its transaction
(talk/messages.py, `user_check`); without `collect_and_use` no other scope holds; profiling is off
until a parent switches it on (ZC-X26).
Elsewhere: the notice (notices.py), what a code is (kit/codes.py), which model may be asked (talk/providers.py).
"""

import hashlib
import hmac
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from typing import Any

from tablewright.design import Write
from tablewright.edge.errors import Conflict, Refused, TooManyRequests
from tablewright.kit.codes import DAY, LIFETIME, WINDOW, WRONG_A_DAY, CodeChecks, new_code, seconds_left, span
from tablewright.kit.tables import digest
from tablewright.kit.tasks import Finished
from tablewright.systems.chat import design as d
from tablewright.systems.chat.errors import Erased, NoConsent
from tablewright.systems.chat.family.notices import SCOPE_WORDS, Notices
from tablewright.systems.chat.family.people import People, actor_of, subject_of
from tablewright.systems.chat.family_model import (
    Consent,
    ConsentAction,
    ConsentChallenge,
    Method,
    Scope,
    User,
    Verification,
)
from tablewright.systems.chat.model import Task
from tablewright.systems.chat.repository import Repository

CONFIRMATION, FORGET_PROFILE = "consent confirmation", "forget profile"
CODES_PER_HOUR = 5
VERIFIED_FOR = timedelta(days=365)
WEAK: frozenset[Method] = frozenset(("email_plus", "text_plus"))
STRONG: frozenset[Method] = frozenset(("questions", "id_and_face"))
_ORDER: tuple[Scope, ...] = ("collect_and_use", "disclosure", "profiling")


# --- decisions ---


def may_chat(user: User, today: date) -> bool:
    """True if the messages of a user may be stored and replied to."""
    return user.standing == "active" and (
        not user.needs_consent_on(today) or "collect_and_use" in user.scopes
    )


def may_disclose(user: User) -> bool:
    """True if a third party, such as a model provider, may get the words of a user."""
    return user.standing == "active" and "disclosure" in user.scopes and not user.stays_local


def may_profile(user: User) -> bool:
    """True if preferences and memories may be extracted from the words of a user."""
    return user.standing == "active" and "profiling" in user.scopes


def refuse_without_consent(user: User, today: date) -> None:
    """ERASED or NO_CONSENT unless the user may chat now."""
    if user.standing != "active":
        raise Erased()
    if not may_chat(user, today):
        raise NoConsent()


# --- changes ---


class Consents:
    """What parents decide for their children. That they are parents is checked before (access.py)."""

    def __init__(
        self,
        repository: Repository,
        people: People,
        notices: Notices,
        secret: bytes,
        forget_agents: Callable[[str], object] = lambda user_id: None,
    ) -> None:
        """`forget_agents` removes what agents remember of a user (adapters/agent_state.py)."""
        self._repository, self._people, self._notices = repository, people, notices
        self._forget_agents = forget_agents
        self._secret = hashlib.sha256(b"chat consent\n" + secret).digest()
        self._checks = CodeChecks(
            d.codes, repository, "That code is wrong or has expired. Ask for a new one."
        )

    def history(self, child: User) -> list[Consent]:
        """What was decided for a child, the newest first."""
        return list(self._repository.db.all(d.consents_of_user(user_id=child.user_id)))

    def request(
        self,
        parent: User,
        child: User,
        scopes: Sequence[Scope],
        method: Method,
        notice_version: str,
        phone: str = "",
    ) -> None:
        """Send a code with the notice to a parent; entering it grants these scopes."""
        wanted = checked_scopes(scopes)
        self._refuse_old_notice(notice_version)
        if method not in WEAK:
            raise Refused("METHOD_UNKNOWN", "Codes are sent with email_plus or text_plus.", "method")
        _refuse_too_weak(wanted, method)
        recipient = parent.email if method == "email_plus" else phone.strip()
        if not recipient:
            raise Refused("ADDRESS_NEEDED", "There is no address or phone number for the code.", "phone")
        is_long = self._allow_code(parent)
        code, until = new_code(self._repository.world, is_long), self._repository.now() + LIFETIME
        challenge = ConsentChallenge(
            parent_id=parent.user_id, child_id=child.user_id, method=method, scopes=wanted,
            notice_version=notice_version, code_hash=self._hash(parent, child, code), expires_at=until,
        )  # fmt: skip
        values = {"child": child.name, "scopes": words_of(wanted), "notice": self._notices.link}
        template = "consent code" if method == "email_plus" else "consent text"
        mail = self._repository.outbox.mail(
            recipient, template, values, child.user_id, secrets={"code": code}, until=until, kept=LIFETIME
        )
        self._repository.write("CONSENT", d.codes.challenges.put(challenge), mail)

    def confirm(self, parent: User, child: User, code: str) -> User:
        """Grant what the code was sent for."""
        challenge = self._checks.tried(parent.user_id, child.user_id)
        self._count(self._wrong(parent), DAY)
        if not hmac.compare_digest(self._hash(parent, child, code.strip()), challenge.code_hash):
            raise self._checks.refusal(challenge)
        self._refuse_old_notice(challenge.notice_version)
        now = self._repository.now()
        along = (
            d.codes.end(challenge),
            d.codes.add(self._wrong(parent), span(now, DAY), now + DAY, -1),
            d.tasks.add(self._confirmation(parent, child)),
        )
        return self._grant(parent, child, challenge.scopes, challenge.method, along)

    def consent_verified(
        self, parent: User, child: User, scopes: Sequence[Scope], method: Method, notice_version: str
    ) -> User:
        """Grant scopes as a parent whose identity was checked by a strong method."""
        wanted = checked_scopes(scopes)
        self._refuse_old_notice(notice_version)
        if method not in STRONG:
            raise Refused(
                "METHOD_UNKNOWN", "Without a code the method is questions or id_and_face.", "method"
            )
        verified = self._repository.db.one(d.verifications.get(parent.user_id, method), consistent=True)
        if verified is None:
            words = "Your identity was not verified by this method. Ask the zoo to verify it."
            raise Conflict("NOT_VERIFIED", words, "method")
        return self._grant(parent, child, wanted, method, (), verified.reference)

    def decide_alone(self, user: User, scopes: Sequence[Scope]) -> User:
        """Someone of 13 or older decides about the scopes; in a family a parent decides until 18."""
        today = self._people.today()
        if user.needs_consent_on(today) or (user.family_id is not None and not user.is_adult_on(today)):
            raise NoConsent("A parent decides this for you.")
        wanted = checked_scopes(scopes) if scopes else []
        action: ConsentAction = "granted" if wanted else "withdrawn"
        return self._decide(user, user, lambda now: wanted, action, "self", ())

    def withdraw(self, by: User, child: User, scopes: Sequence[Scope] = ()) -> User:
        """End scopes, or all: without `collect_and_use` none is left. With profiling, what was extracted goes."""
        gone = set(scopes) or set(_ORDER)

        def left(now: User) -> list[Scope]:
            return [] if "collect_and_use" in gone else [one for one in now.scopes if one not in gone]

        newest = next(iter(self.history(child)), None)
        method: Method = "self" if newest is None else newest.method
        along = [*self._notices.withdrawn(by, child)]
        return self._decide(by, child, left, "withdrawn", method, along)

    def record_verification(self, parent: User, method: Method, reference: str, by: User) -> Verification:
        """An administrator records that the identity of a parent was verified."""
        if method not in STRONG:
            raise Refused("METHOD_UNKNOWN", "Only questions and id_and_face are recorded.", "method")
        now = self._repository.now()
        found = Verification(
            user_id=parent.user_id, method=method, reference=reference, verified_at=now, recorded_by=by.user_id,
            expires_at=now + VERIFIED_FOR,
        )  # fmt: skip
        entry = self._repository.audit(
            subject_of(parent), "identity verified", actor_of(by), None, {"method": method}
        )
        self._repository.write("VERIFICATION", d.verifications.put(found), entry)
        return found

    # --- tasks ---

    def send_confirmation(self, task: Task) -> Finished:
        """The second step of e-mail plus and text plus: a day later the parent is told what was granted."""
        parent, child = self._people.find(task.subject), self._people.find(task.user_id)
        if parent is None or child is None or parent.email is None or not child.scopes:
            return Finished()
        return Finished((self._notices.consent_given(parent, child),))

    def forget_profile(self, task: Task) -> Finished:
        """Remove what was extracted about a user whose profile is no longer allowed."""
        user = self._people.find(task.user_id)
        if user is not None and not may_profile(user):
            self._repository.db.clear(d.contexts_of_user(user_id=user.user_id))
            self._repository.db.clear(d.memories_of_user(user_id=user.user_id))
            self._forget_agents(user.user_id)
        return Finished()

    # --- parts ---

    def _grant(
        self, parent: User, child: User, scopes: list[Scope], method: Method, along: Sequence[Write[Any]],
        reference: str | None = None,
    ) -> User:  # fmt: skip
        _refuse_too_weak(scopes, method)
        return self._decide(parent, child, lambda now: scopes, "granted", method, along, reference)

    def _decide(
        self, by: User, child: User, decided: Callable[[User], list[Scope]], action: ConsentAction, method: Method,
        along: Sequence[Write[Any]], reference: str | None = None,
    ) -> User:  # fmt: skip
        """Write what is `decided` for the row of this moment: another decision may have been made since it was read."""

        def attempt() -> User:
            before = self._people.by_id(child.user_id)
            if before.standing != "active":
                raise Erased()
            scopes = decided(before)
            update = {"scopes": scopes, "consent_generation": before.consent_generation + 1}
            write = d.users.change(before, before.model_copy(update=update))
            record = self._record(before, by, scopes, action, method, reference)
            entry = self._repository.audit(
                subject_of(before),
                f"consent {action}",
                actor_of(by),
                None,
                {"scopes": list(scopes), "method": method},
            )
            forget = self._forgetting(before, scopes)
            self._repository.write("CONSENT", write, d.consents.create(record), entry, *forget, *along)
            assert write.item is not None
            return write.item

        return self._repository.retried(None, attempt)

    def _record(
        self,
        child: User,
        by: User,
        scopes: list[Scope],
        action: ConsentAction,
        method: Method,
        reference: str | None,
    ) -> Consent:
        now = self._repository.now()
        return Consent(
            user_id=child.user_id, consent_id=self._repository.new_timed_id(now), at=now, action=action, scopes=scopes,
            method=method, given_by=by.user_id, notice_version=self._notices.version,
            generation=child.consent_generation + 1, reference=reference,
        )  # fmt: skip

    def _forgetting(self, before: User, scopes: Sequence[Scope]) -> Sequence[Write[Any]]:
        if "profiling" not in before.scopes or "profiling" in scopes:
            return ()
        return (d.tasks.add(self._repository.task(FORGET_PROFILE, before.user_id)),)

    def _confirmation(self, parent: User, child: User) -> Task:
        task = self._repository.task(CONFIRMATION, child.user_id)
        return task.model_copy(update={"subject": parent.user_id, "due_at": task.due_at + DAY})

    def _refuse_old_notice(self, version: str) -> None:
        if version != self._notices.version:
            words = "The notice to parents has changed. Read it again, then decide."
            raise Conflict("NOTICE_CHANGED", words, "noticeVersion")

    # --- codes ---

    def _allow_code(self, parent: User) -> bool:
        """Count one more code; True if it has to be a long one because many were wrong today."""
        if self._count(f"consent-{digest(parent.user_id)}", WINDOW) > CODES_PER_HOUR:
            words = "Too many codes were requested. Try again later."
            raise TooManyRequests("CODE_LIMIT", words, seconds_left(self._repository.now(), WINDOW))
        return self._count(self._wrong(parent), DAY, 0) >= WRONG_A_DAY

    def _wrong(self, parent: User) -> str:
        return f"consent-wrong-{digest(parent.user_id)}"

    def _count(self, name: str, window: timedelta, more: int = 1) -> int:
        now = self._repository.now()
        return self._checks.count(name, span(now, window), now + window, more)

    def _hash(self, parent: User, child: User, code: str) -> str:
        text = "\0".join((parent.user_id, child.user_id, code))
        return hmac.new(self._secret, text.encode(), hashlib.sha256).hexdigest()


def checked_scopes(scopes: Sequence[Scope]) -> list[Scope]:
    """Scopes in their order, each once; nothing can be granted without `collect_and_use`."""
    if "collect_and_use" not in scopes:
        raise Refused("SCOPE_NEEDED", "Disclosure and profiling need collect_and_use as well.", "scopes")
    return [scope for scope in _ORDER if scope in scopes]


def _refuse_too_weak(scopes: Sequence[Scope], method: Method) -> None:
    if "disclosure" in scopes and method in WEAK:
        words = "Disclosure to a third party needs an identity check: questions, or ID and face."
        raise Refused("METHOD_TOO_WEAK", words, "method")


def words_of(scopes: Sequence[Scope]) -> str:
    return "; ".join(SCOPE_WORDS[scope] for scope in scopes)
