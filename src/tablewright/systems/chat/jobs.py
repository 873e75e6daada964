"""Background work of Zoo chat: what runs with a period, and what follows changes.

Each job may be run at any time and any number of times, in several processes; it records what it has done.
Must hold: every public function here is in JOBS, or makes them (`work`, `consumers`).
Elsewhere: the scheduler (app/schedule.py).
"""

from collections.abc import Sequence
from datetime import timedelta

from tablewright.kit.jobs import Follower, Job
from tablewright.kit.tasks import BATCH_SIZE, Handler, Worker
from tablewright.mapping import Consumer
from tablewright.systems.chat import design as d
from tablewright.systems.chat.chat import Chat
from tablewright.systems.chat.family.consent import CONFIRMATION, FORGET_PROFILE
from tablewright.systems.chat.family.erasure import ERASE
from tablewright.systems.chat.family.privacy import REMOVE_THREAD
from tablewright.systems.chat.model import Task

# --- tasks ---

# Longer than a model takes for a summary.
LEASE = timedelta(minutes=5)


class _WorkerOfKinds(Worker[Task]):
    """Runs the tasks that it has a handler for; others are left to another worker."""

    def due(self, at_most: int = BATCH_SIZE) -> list[Task]:
        return [task for task in Worker.due(self, at_most) if task.kind in self.handlers]


def _workers_of(chat: Chat) -> tuple[Worker[Task], Worker[Task]]:
    """Run the tasks of all parts, by their kind. An erasure that fails is tried each minute and never given up."""
    handlers: dict[str, Handler[Task]] = {
        "summarise": chat.summaries.run,
        "idle": chat.summaries.run,
        "rest": chat.summaries.run,
        "extract": chat.extraction.run,
        "remove": chat.conversations.run_removal,
        "retention": chat.conversations.rederive,
        "rekey": chat.conversations.run_rekey,
        CONFIRMATION: chat.consents.send_confirmation,
        FORGET_PROFILE: chat.consents.forget_profile,
    }
    erasures: dict[str, Handler[Task]] = {
        ERASE: chat.erasure.run,
        REMOVE_THREAD: chat.erasure.run_thread_removal,
    }
    minute, db = timedelta(minutes=1), chat.repository.db
    return (
        _WorkerOfKinds(d.tasks, db, erasures, lease=LEASE, longest_pause=minute, park_after=None),
        _WorkerOfKinds(d.tasks, db, handlers, lease=LEASE),
    )


def run_tasks(chat: Chat) -> int:
    """Run the tasks that are due: summaries, removals, new retention periods; how many finished."""
    return sum(worker.run_due() for worker in _workers_of(chat))


TASKS: tuple[Job[Chat], ...] = (
    Job(
        "tasks",
        timedelta(seconds=5),
        run_tasks,
        "Writes summaries, removes deleted chats, and other delayed work.",
    ),
)

# --- families ---


def age_out(chat: Chat) -> int:
    """Tell families about children who became 13 or 18, and end the membership of adults; how many."""
    return chat.children.age_out()


def remind_of_assessment(chat: Chat) -> int:
    """Write to the operator if there was no risk assessment for a year; how many mails."""
    return chat.notices.remind_of_assessment()


def erase_again(chat: Chat) -> int:
    """Erase again the people on the list of the erased that a restored table brought back; how many."""
    return chat.erasure.erase_again()


FAMILIES: tuple[Job[Chat], ...] = (
    Job("restored", timedelta(hours=1), erase_again, "Re-applies erasures after a restore."),
    Job("birthdays", timedelta(hours=6), age_out, "Ends what parents see of a child that became 18."),
    Job("assessment", timedelta(days=1), remind_of_assessment, "Reminds of the yearly risk assessment."),
)

# --- retention ---


def archive_stale(chat: Chat) -> int:
    """Archive chats without a message for two weeks; how many."""
    return chat.conversations.archive_stale()


def sweep_expired(chat: Chat) -> dict[str, float]:
    """Delete what expired more than 72 hours ago and is still stored; how many items, as a metric (ZC-D29)."""
    return {d.OVERDUE_ITEMS: chat.deletions.sweep()}


def sweep_agent_objects(chat: Chat) -> int:
    """Delete large values of agents whose row is gone; how many."""
    return chat.agent_state.sweep()


RETENTION: tuple[Job[Chat], ...] = (
    Job(
        "agent objects",
        timedelta(days=1),
        sweep_agent_objects,
        "Deletes large values of agents that have expired.",
    ),
    Job(
        "stale chats",
        timedelta(hours=1),
        archive_stale,
        "Archives chats without a message for two weeks.",
    ),
    Job(
        "expired data",
        timedelta(days=1),
        sweep_expired,
        "Deletes what has expired and was not deleted within 72 hours.",
        publishes=True,
    ),
)

# --- the first version ---


def open_migrated(chat: Chat) -> int:
    """Open conversations that no one has used since they were migrated; how many."""
    return chat.legacy.router.open_all()


def end_archives(chat: Chat) -> int:
    """Destroy archives of the first version whose time is over; how many."""
    return chat.legacy.operator.archive.end_due()


def check_quality(chat: Chat) -> int:
    """Look for orphans and wrong counts and mend them; how many kinds of findings."""
    return len(chat.quality.check(repair=True).findings)


LEGACY: tuple[Job[Chat], ...] = (
    Job("migrated chats", timedelta(minutes=1), open_migrated, "Opens chats that were migrated."),
    Job("archives", timedelta(days=1), end_archives, "Destroys archives of the first version in time."),
    Job("quality", timedelta(days=1), check_quality, "Finds and mends orphans and wrong counts."),
)

JOBS: tuple[Job[Chat], ...] = (*TASKS, *RETENTION, *FAMILIES, *LEGACY)


# What follows the stream of conversations, in the order of `consumers`.
_FOLLOWED = (
    ("deletions", "Proves what was deleted because its time was up."),
    ("popularity", "Counts how popular each animal is."),
)


def consumers(chat: Chat) -> tuple[Consumer, ...]:
    """The consumers of the tables' streams."""
    return (chat.deletions.consumer(), chat.popularity.consumer())


def work(chat: Chat) -> Sequence[Job[Chat] | Follower[Chat]]:
    """Everything that runs without a request."""
    named = zip(_FOLLOWED, consumers(chat), strict=True)
    return (*(_follower(name, about, consumer) for (name, about), consumer in named), *JOBS)


def _follower(name: str, about: str, consumer: Consumer) -> Follower[Chat]:
    return Follower(f"changes of {consumer.table}: {name}", lambda _, stop: consumer.run(stop), about)
