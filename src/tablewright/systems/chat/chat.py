"""Zoo chat as one value: everything it can do, over one database and one object store.

The API, the pages and the jobs use this value; nothing above it knows the tables.
"""

from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from pathlib import Path

from tablewright.kit.cache import Cache
from tablewright.kit.delivery import OutboxDispatch
from tablewright.kit.erased import FOLDER as ERASED
from tablewright.kit.erased import ErasedList
from tablewright.kit.keyring import keyring_of
from tablewright.kit.objects.settings import objects_of
from tablewright.kit.objects.store import ObjectStore
from tablewright.kit.subject_keys import FOLDER as KEYS
from tablewright.kit.subject_keys import SubjectKeys
from tablewright.kit.tasks import BATCH_SIZE, Handler, Worker
from tablewright.mapping import Db
from tablewright.systems.chat import design as d
from tablewright.systems.chat.adapters.agent_state import AgentState
from tablewright.systems.chat.adapters.values import FOLDER as AGENTS
from tablewright.systems.chat.animals import Animals
from tablewright.systems.chat.family.access_log import AccessLog
from tablewright.systems.chat.family.child_logins import ChildLogins, IssueLogin, no_logins
from tablewright.systems.chat.family.children import Children
from tablewright.systems.chat.family.consent import CONFIRMATION, FORGET_PROFILE, Consents
from tablewright.systems.chat.family.deletions import Deletions
from tablewright.systems.chat.family.erasure import ERASE, Erasure
from tablewright.systems.chat.family.families import Families
from tablewright.systems.chat.family.family_chats import FamilyChats
from tablewright.systems.chat.family.limits import ChatLimits
from tablewright.systems.chat.family.notices import Notices
from tablewright.systems.chat.family.people import People
from tablewright.systems.chat.family.privacy import REMOVE_THREAD, Opened, Privacy
from tablewright.systems.chat.legacy.archive import FOLDER as ARCHIVE
from tablewright.systems.chat.legacy.archive import TableArchive
from tablewright.systems.chat.legacy.clear_copies import ClearCopies
from tablewright.systems.chat.legacy.flagged import older_messages
from tablewright.systems.chat.legacy.legacy import Legacy, open_legacy
from tablewright.systems.chat.memory.contexts import Contexts
from tablewright.systems.chat.memory.embedding import Embedder, open_embedder
from tablewright.systems.chat.memory.extraction import Extraction
from tablewright.systems.chat.memory.recall import Recall
from tablewright.systems.chat.memory.summaries import Summaries
from tablewright.systems.chat.memory.tokens import token_counter
from tablewright.systems.chat.memory.windows import Windows
from tablewright.systems.chat.model import Mail, Task
from tablewright.systems.chat.popularity import Popularity
from tablewright.systems.chat.quality import Quality
from tablewright.systems.chat.repository import Repository
from tablewright.systems.chat.rules import RetentionPeriods
from tablewright.systems.chat.settings import Settings
from tablewright.systems.chat.talk.conversations import Conversations, RemoveThread, no_threads
from tablewright.systems.chat.talk.disclosures import Disclosures
from tablewright.systems.chat.talk.guardrails import Guardrails
from tablewright.systems.chat.talk.messages import Messages
from tablewright.systems.chat.talk.providers import Providers, providers_of
from tablewright.systems.chat.talk.replies import Replies
from tablewright.systems.chat.talk.review import Review
from tablewright.systems.chat.talk.safety_counts import SafetyCounts
from tablewright.systems.chat.talk.turns import Turns
from tablewright.systems.chat.talk.usage import Usage
from tablewright.world import World

TEXTS = "texts"
# Longer than a model takes for a summary.
TASK_LEASE = timedelta(minutes=5)


class _WorkerOfKinds(Worker[Task]):
    """Runs the tasks that it has a handler for; others are left to another worker."""

    def due(self, at_most: int = BATCH_SIZE) -> list[Task]:
        return [task for task in Worker.due(self, at_most) if task.kind in self.handlers]


@dataclass(frozen=True, slots=True)
class Chat:
    """The parts of Zoo chat."""

    repository: Repository
    settings: Settings
    periods: RetentionPeriods
    objects: ObjectStore
    conversations: Conversations
    messages: Messages
    animals: Animals
    review: Review
    guardrails: Guardrails
    popularity: Popularity
    usage: Usage
    safety_counts: SafetyCounts
    providers: Providers
    replies: Replies
    turns: Turns
    embedder: Embedder
    contexts: Contexts
    extraction: Extraction
    summaries: Summaries
    recall: Recall
    people: People
    families: Families
    family_chats: FamilyChats
    children: Children
    child_logins: ChildLogins
    consents: Consents
    limits: ChatLimits
    access_log: AccessLog
    notices: Notices
    privacy: Privacy
    erasure: Erasure
    deletions: Deletions
    agent_state: AgentState
    legacy: Legacy
    quality: Quality
    dispatch: OutboxDispatch[Mail]

    def workers(self) -> tuple[Worker[Task], Worker[Task]]:
        """Run the tasks of all parts, by their kind. An erasure that fails is tried each minute and never given up."""
        handlers: dict[str, Handler[Task]] = {
            "summarise": self.summaries.run,
            "idle": self.summaries.run,
            "rest": self.summaries.run,
            "extract": self.extraction.run,
            "remove": self.conversations.run_removal,
            "retention": self.conversations.rederive,
            "rekey": self.conversations.run_rekey,
            CONFIRMATION: self.consents.send_confirmation,
            FORGET_PROFILE: self.consents.forget_profile,
        }
        erasures: dict[str, Handler[Task]] = {
            ERASE: self.erasure.run,
            REMOVE_THREAD: self.erasure.run_thread_removal,
        }
        minute, db = timedelta(minutes=1), self.repository.db
        return (
            _WorkerOfKinds(d.tasks, db, erasures, lease=TASK_LEASE, longest_pause=minute, park_after=None),
            _WorkerOfKinds(d.tasks, db, handlers, lease=TASK_LEASE),
        )

    def close(self) -> None:
        """Close the cache."""
        self.messages.recent.close()


def open_chat(
    db: Db,
    world: World,
    secret: bytes,
    *,
    home: Path,
    url: str = "",
    settings: Settings | None = None,
    objects: ObjectStore | None = None,
    remove_thread: RemoveThread = no_threads,
    keys: SubjectKeys | None = None,
    providers: Providers | None = None,
    cache: Cache | None = None,
    issue_login: IssueLogin = no_logins,
) -> Chat:
    """Zoo chat over a database.

    `secret` keys the ring that seals people's keys, and the secrets in mails. `home` is the directory for objects, keys
    and the list of the erased, unless `objects` are given; `keys` are those of people, if they are open already. `url`
    is the public address, for links in mails. `providers` are the models, unless the settings name them;
    `cache` is where the newest messages are kept, by default
    this process; `issue_login` makes a login as a child.
    """
    settings = settings or Settings()
    objects = objects or objects_of(home, "objects", (KEYS, TEXTS, AGENTS, ARCHIVE, ERASED), world)
    ring = keyring_of("chat", sha256(b"chat keys\n" + secret).digest(), world=world)
    repository = Repository(db, world, secret, keys or SubjectKeys(objects, ring, world))
    periods = RetentionPeriods(settings.retention_days)
    messages, agent_state = Messages(repository, periods, objects, cache), AgentState(repository, objects)
    embedder, contexts = open_embedder(), Contexts(repository, periods)
    copies = ClearCopies(repository, TableArchive(repository, objects))
    people, notices = People(repository), Notices(repository, periods, settings, url, copies.known)
    families = Families(repository, people, url)
    extraction = Extraction(repository, periods, messages, contexts, embedder, families.names_around)
    animals = Animals(repository)
    conversations = Conversations(repository, periods, messages, animals.display_name, remove_thread)
    access_log, erased = AccessLog(repository, periods), ErasedList(objects)
    providers = providers or providers_of(settings, token_counter())
    recall, limits, usage = Recall(repository, embedder), ChatLimits(repository), Usage(repository, settings)
    summaries = Summaries(
        repository,
        periods,
        messages,
        providers.summary_of(people.find, families.names_around, budget_left=lambda: not usage.is_spent()),
        follow=extraction.task,
        count_use=usage.summary,
    )
    older = older_messages(repository, messages, periods)
    review = Review(repository, messages, access_log, settings.operator_email, older)
    guardrails = Guardrails(repository)
    counts = SafetyCounts(repository)
    windows = Windows(messages, summaries, contexts, recall, providers.count, families.names_around)
    replies = Replies(
        repository, messages, windows, providers, guardrails, review, usage, counts, settings.token_limit
    )
    opened = Opened(messages, summaries, contexts, recall)
    legacy = open_legacy(
        repository,
        periods,
        conversations,
        messages,
        objects,
        settings.most_characters,
        guardrails,
        review,
    )
    privacy = Privacy(
        repository, families, objects, erased, opened, remove_thread, copies, legacy.forget_parked
    )
    return Chat(
        repository=repository,
        settings=settings,
        periods=periods,
        objects=objects,
        conversations=conversations,
        messages=messages,
        animals=animals,
        review=review,
        guardrails=guardrails,
        popularity=Popularity(repository),
        usage=usage,
        safety_counts=counts,
        providers=providers,
        replies=replies,
        turns=Turns(
            repository,
            settings,
            animals,
            messages,
            limits,
            guardrails,
            Disclosures(repository, periods),
            review,
            counts,
            replies,
            providers.count,
        ),
        embedder=embedder,
        contexts=contexts,
        extraction=extraction,
        summaries=summaries,
        recall=recall,
        people=people,
        families=families,
        family_chats=FamilyChats(repository, families, access_log, legacy.old_chats),
        children=Children(repository, people, families, notices),
        child_logins=ChildLogins(repository, people, issue_login, secret),
        consents=Consents(repository, people, notices, secret, agent_state.forget),
        limits=limits,
        access_log=access_log,
        notices=notices,
        privacy=privacy,
        erasure=Erasure(repository, people, families, privacy, access_log, erased, remove_thread),
        deletions=Deletions(repository, messages.texts),
        agent_state=agent_state,
        quality=Quality(repository, periods, messages.texts.remove_all),
        legacy=legacy,
        dispatch=repository.outbox.dispatch(),
    )
