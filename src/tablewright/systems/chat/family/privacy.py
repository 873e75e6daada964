"""Where the data of a person is, its export and its erasure, from one declaration (ZC-27, ZC-X10, ZC-X17).

An erasure destroys the key first, so that nothing which is written late can be read; then the rows go, table by table,
each counted for the certificate; the person's own row comes last and stays as a mark without a name. Must hold: every
entity with personal data is a part here (tests/systems/test_subjects.py); the access log and the compliance log stay.
Elsewhere: begin, repetition and end of an erasure (erasure.py), parts and certificates (kit/subjects.py).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tablewright.kit.erased import ErasedList
from tablewright.kit.objects.store import ObjectStore
from tablewright.kit.subject_keys import KeyDestroyed
from tablewright.kit.subjects import Left, Part, Step, Subject
from tablewright.kit.tasks import TaskState
from tablewright.mapping import CallRefused, forget_parked_saying
from tablewright.systems.chat import design as d
from tablewright.systems.chat.adapters.agent_state import AgentState, agent_parts
from tablewright.systems.chat.errors import Erased
from tablewright.systems.chat.family.families import Families
from tablewright.systems.chat.family.people import subject_of
from tablewright.systems.chat.family_model import Limits, User
from tablewright.systems.chat.legacy.clear_copies import ClearCopies
from tablewright.systems.chat.legacy.model import V1Conversation
from tablewright.systems.chat.memory.contexts import Contexts
from tablewright.systems.chat.memory.recall import Recall
from tablewright.systems.chat.memory.summaries import Summaries
from tablewright.systems.chat.model import Context, Message, Task
from tablewright.systems.chat.repository import SYSTEM, Repository
from tablewright.systems.chat.talk.conversations import RemoveThread
from tablewright.systems.chat.talk.messages import Messages

NAME = "Erased person"
REMOVE_THREAD = "remove thread"
# The consumers of streams with data of people: table and name.
CONSUMERS = (("conversation-v2", "chat deletions"), ("conversation-v2", "chat popularity"))
_WHO_LOOKED = "who looked, and why: for 90 days, or 365 for acts"
_PROOF = "proof of consents and deletions, for a year; it names no one"
Open = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Opened:
    """What opens the sealed texts of a person."""

    messages: Messages
    summaries: Summaries
    contexts: Contexts
    recall: Recall


class Privacy:
    """Whose data is kept: children and adults. Who may export or erase it is decided before."""

    def __init__(
        self,
        repository: Repository,
        families: Families,
        objects: ObjectStore,
        erased: ErasedList,
        opened: Opened,
        remove_thread: RemoveThread,
        copies: ClearCopies,
        forget_migrating: Callable[[str], int] = lambda user_id: 0,
    ) -> None:
        """`forget_migrating` deletes changes about a person that the migration could not deal with."""
        self._repository, self._families, self._objects = repository, families, objects
        self._opened, self._remove_thread, self._copies = opened, remove_thread, copies
        self._forget_migrating = forget_migrating
        self.child = self._subject("child", erased)
        self.adult = self._subject("adult", erased)

    def _subject(self, name: str, erased: ErasedList) -> Subject[User]:
        return Subject(name, self._repository, _id_of, self._parts(), erased, copies=self._kept_in_copies)

    def subject_for(self, user: User) -> Subject[User]:
        return self.child if user.role == "student" else self.adult

    def export(self, user: User) -> dict[str, Any]:
        """Everything that is kept about a person, with the texts open; ERASED if the key is gone."""
        try:
            return {
                "exportedAt": self._repository.now().isoformat(),
                **self.subject_for(user).export(user),
                "firstVersion": [_shown(one) for one in self._first_version_of(user)],
            }
        except KeyDestroyed:
            raise Erased from None

    # --- parts ---

    def _parts(self) -> tuple[Part[User, Any] | Step[User] | Left, ...]:
        return (
            Step("key", self._destroy_key),
            Step("parked", self._forget_parked),
            Step("thread", self._remove_threads),
            Step("cache", self._forget_recent),
            *self._chats(),
            *agent_parts(AgentState(self._repository, self._objects), _id_of),
            *self._first_version(),
            *self._around(),
            Part(d.user_by_id, "user", redact=self._nameless),
        )

    def _chats(self) -> tuple[Part[User, Any] | Step[User] | Left, ...]:
        opened = self._opened
        return (
            Step("alias", self._remove_aliases, (d.aliases,), "the old ids are with the conversations"),
            Step("text", lambda user: opened.messages.texts.remove_all(user.user_id)),
            Part(
                d.messages_of_user, "messages", show=lambda row: _message(opened.messages.texts.opened(row))
            ),
            Part(
                d.spread_messages_of_user,
                "spreadMessages",
                show=lambda row: _message(opened.messages.texts.opened(row)),
            ),
            Part(d.summaries_of_user, "summaries", show=opened.summaries.opened),
            Part(d.contexts_of_user, "contexts", show=self._context),
            Part(d.memories_of_user, "memories", show=self._memory),
            Part(d.turns_of_user, hidden="which requests were made, made of the messages"),
            Part(d.disclosures_of_user, hidden="when it was said that the animals are programs"),
            Part(d.conversations_of_user, "conversations"),
            # What has expired, and what no pattern above reads.
            Step("rest", lambda user: self._clear(d.everything_of_user(user_id=user.user_id))),
            Part(d.flags_of_user, "flags"),
        )

    def _first_version(self) -> tuple[Part[User, Any] | Step[User] | Left, ...]:
        return (
            Step(
                "v1_conversation",
                self._remove_first_version,
                (d.v1_conversations,),
                "exported beside the parts, as it is found by a Scan",
            ),
            Part(d.v1_sessions_of_user, hidden="the ids are with the conversations"),
            # After the rows: the new backup must not have them.
            Step("v1_backup", lambda user: self._copies.replace_backups(SYSTEM)),
        )

    def _around(self) -> tuple[Part[User, Any] | Step[User] | Left, ...]:
        outbox = self._repository.outbox
        return (
            Part(d.consents_of_user, "consents"),
            Part(d.days_of_user, "timeUsed"),
            Step(
                "detail",
                lambda user: self._clear(d.details_of_user(user_id=user.user_id)),
                (d.verifications, d.codes.challenges, d.minute_uses),
                "codes, and counts of the last hour; proof of identity, which staff have",
            ),
            Part(d.outbox.owned, "mails", show=outbox.exported),
            Step("mail", self._remove_mails_to),
            Step("task", self._cancel_tasks, (d.tasks.entity,), "delayed work, made of the data above"),
            Step(
                "member",
                self._leave,
                (d.members, d.homes, d.invitations, d.families),
                "the family's own page shows it",
            ),
            Part(d.access_of_user, "accessLog", keep=_WHO_LOOKED),
            Left(
                (d.child_login_codes,),
                "codes that work for a quarter of an hour, and not for an erased child",
            ),
            Part(d.audit.by_owner, "history", key=subject_of, keep=_PROOF),
        )

    # --- steps ---

    def _destroy_key(self, user: User) -> int:
        if self._repository.keys.is_destroyed(user.user_id):
            return 0
        self._repository.keys.destroy(user.user_id)
        return 1

    def _forget_parked(self, user: User) -> int:
        """Changes that a consumer could not deal with hold whole items."""
        db = self._repository.db
        found = sum(
            forget_parked_saying(db, table, name, lambda text: user.user_id in text)
            for table, name in CONSUMERS
        )
        return found + self._forget_migrating(user.user_id)

    def _remove_threads(self, user: User) -> int:
        """Remove what an outside model keeps; one that does not answer is tried again by a task of its own."""
        found = [one.thread_id for one in self._conversations(user) if one.thread_id]
        self._remove_each(found)
        return len(found)

    def _remove_each(self, thread_ids: Sequence[str]) -> None:
        for thread_id in thread_ids:
            try:
                self._remove_thread(thread_id)
            except Exception:
                self._repository.db.write(d.tasks.add(self._thread_task(thread_id)))

    def _thread_task(self, thread_id: str) -> Task:
        now = self._repository.now()
        return Task(
            task_id=self._repository.new_ulid(),
            kind=REMOVE_THREAD,
            created_at=now,
            due_at=now,
            subject=thread_id,
        )

    def _forget_recent(self, user: User) -> int:
        """What is cached of the conversations; it is not counted, as each process has other entries."""
        for one in self._conversations(user):
            self._opened.messages.recent.forget(one.conversation_id)
        return 0

    def _remove_aliases(self, user: User) -> int:
        found = [
            one.legacy_conversation_id for one in self._conversations(user) if one.legacy_conversation_id
        ]
        self._repository.db.batch([d.aliases.discard(old) for old in found])
        return len(found)

    def _remove_first_version(self, user: User) -> int:
        """The rows of the first version, found by a Scan: that table has no index by user."""
        found = self._first_version_of(user)
        self._remove_each([one.thread_id for one in found if one.thread_id])
        self._repository.db.batch([d.v1_conversations.discard(one.conversation_id) for one in found])
        return len(found)

    def _kept_in_copies(self) -> dict[str, str]:
        """For the certificate: where chats of the first version can still be read, which no key seals."""
        found = "; ".join(map(str, self._copies.now()))
        return (
            {"first_version_in_copies": f"chats of the first version, if there were any: {found}"}
            if found
            else {}
        )

    def _first_version_of(self, user: User) -> list[V1Conversation]:
        try:
            every = list(self._repository.db.every(d.v1_conversations))
        except CallRefused as refusal:
            if refusal.name != "ResourceNotFoundException":
                raise
            return []  # the table was archived and deleted
        return [one for one in every if one.user_id == user.user_id]

    def _remove_mails_to(self, user: User) -> int:
        """Mails about children belong to them; those to this person go with the person."""
        left = [self._families.membership.family(family_id) for family_id in user.left_families or ()]
        families = (*self._families.of(user), *(one for one in left if one is not None))
        children = [one.user_id for family in families for one in self._families.children_in(family)]
        found = [one for child in children for one in self._repository.db.all(d.outbox.of(child))]
        theirs = [d.outbox.discard(one) for one in found if one.recipient == user.email]
        self._repository.db.batch(theirs)
        return len(theirs)

    def _cancel_tasks(self, user: User) -> int:
        """Remove the tasks about a person that are not done, but for the erasure itself."""
        states: tuple[TaskState, ...] = ("OPEN", "PARKED")
        found = [
            one
            for state in states
            for one in self._repository.db.all(d.tasks.by_state(state=state))
            if one.user_id == user.user_id and one.kind != "erase"
        ]
        for one in found:
            self._repository.db.write(d.tasks.cancel(one.task_id))
        return len(found)

    def _leave(self, user: User) -> int:
        """Leave every family; offers of a transfer and codes of the parents for this child go too."""
        membership, places = self._families.membership, self._families.membership.places_of(user.user_id)
        for place in places:
            family = membership.family(place.family_id)
            if family is None:
                continue
            offers = [one for one in self._families.invited(family) if one.child_id == user.user_id]
            parents = [one for one in membership.members_of(family.family_id) if one.place == "parent"]
            self._repository.db.write(
                *membership.left(family, place),
                *(d.invitations.discard(one.invitation_id) for one in offers),
                *(d.codes.challenges.discard(one.user_id, user.user_id) for one in parents),
            )
        return len(places)

    def _nameless(self, user: User, row: User) -> User:
        """The row that stays, so that the login is known to be erased."""
        return User(
            user_id=row.user_id,
            role=row.role,
            name=NAME,
            standing="erased",
            consent_generation=row.consent_generation,
            limits=Limits(),
            created_at=row.created_at,
            erased_at=row.erased_at or self._repository.now(),
            version=row.version,
        )

    # --- texts ---

    def _context(self, row: Context) -> dict[str, Any]:
        found = self._opened.contexts.opened(row)
        return {
            "category": found.category,
            "data": dict(found.data),
            "lastUpdated": found.last_updated.isoformat(),
        }

    def _memory(self, row: Any) -> dict[str, Any]:
        found = self._opened.recall.opened_memory(row)
        shown: dict[str, Any] = found.model_dump(mode="json", by_alias=True, exclude={"embedding", "words"})
        return shown

    def _conversations(self, user: User) -> list[Any]:
        return list(self._repository.db.all(d.conversations_of_user(user_id=user.user_id)))

    def _clear(self, query: Any) -> int:
        return self._repository.db.clear(query)


def _id_of(user: User) -> str:
    return user.user_id


def _shown(one: V1Conversation) -> dict[str, Any]:
    shown: dict[str, Any] = one.model_dump(mode="json", by_alias=True, exclude_none=True)
    return shown


def _message(message: Message) -> Mapping[str, Any]:
    """A message in an export: what its user wrote or read."""
    shown: dict[str, Any] = message.model_dump(
        mode="json",
        by_alias=True,
        exclude_none=True,
        exclude={"user_id", "text_object", "created", "modified"},
    )
    return shown
