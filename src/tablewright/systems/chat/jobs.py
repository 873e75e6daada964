"""Background work of Zoo chat: what runs with a period, and what follows changes.

Each job may be run at any time and any number of times, in several processes; it records what it has done.
Must hold: every public function here is in JOBS, or makes them (`work`, `consumers`).
Elsewhere: the scheduler (app/schedule.py).
"""

from collections.abc import Sequence
from datetime import timedelta

from tablewright.kit.jobs import Follower, Job
from tablewright.mapping import Consumer
from tablewright.systems.chat.chat import Chat

# --- tasks ---


def run_tasks(chat: Chat) -> int:
    """Run the tasks that are due: summaries, removals, new retention periods; how many finished."""
    return sum(worker.run_due() for worker in chat.workers())


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
    return chat.deletions.sweep_metrics()


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
