"""Background work of Campus Cloud: what runs with a period, and what follows changes.

Each job may be run at any time and any number of times, in several processes; it records what it has done.
Must hold: every public function here is in JOBS, or makes them (`work`, `consumers`).
Elsewhere: the scheduler (app/schedule.py).
"""

from collections.abc import Sequence
from datetime import timedelta

from tablewright.kit.jobs import Follower, Job
from tablewright.mapping import Consumer
from tablewright.systems.campus.campus import Campus

# --- files ---


def remove_deleted(campus: Campus) -> int:
    """Remove what has been in the trash for 30 days; how many files."""
    return campus.purge.run()


def remove_ownerless(campus: Campus) -> int:
    """Remove bytes that a crash has left; how many objects."""
    return campus.purge.sweep()


def flush_downloads(campus: Campus) -> int:
    """Add the downloads of the last seconds to their files; how many."""
    return campus.download_counts.flush()


def recount_quotas(campus: Campus) -> int:
    """Compare the quotas of some users with their files; how many users."""
    return campus.recount.run()


def publish_storage_use(campus: Campus) -> dict[str, float]:
    """How much of a quota is used, in per cent, by the user for whom that is most (CC-57, CC-D25)."""
    return campus.users.storage_metrics()


FILES: tuple[Job[Campus], ...] = (
    Job(
        "downloads",
        timedelta(seconds=5),
        flush_downloads,
        "Adds new downloads to the counts of their files.",
        of_process=True,
    ),
    Job("trash", timedelta(days=1), remove_deleted, "Removes files that were deleted 30 days ago."),
    Job(
        "leftover bytes",
        timedelta(days=1),
        remove_ownerless,
        "Removes bytes of uploads that a crash interrupted.",
    ),
    Job(
        "quotas",
        timedelta(minutes=10),
        recount_quotas,
        "Compares each user's used storage with their files, daily.",
    ),
    Job(
        "storage use",
        timedelta(minutes=10),
        publish_storage_use,
        "Measures how much of a quota is used at most, for the alarm StorageQuotaHigh.",
        publishes=True,
    ),
)


# --- sharing ---


def flush_accesses(campus: Campus) -> int:
    """Add the accesses of the last seconds to their shares; how many."""
    return campus.file_access.counts.flush()


def notify_ended_shares(campus: Campus) -> int:
    """Tell owners about shares that have ended; how many."""
    return campus.share_jobs.notify_ended()


def remove_stale_shares(campus: Campus) -> int:
    """Remove shares with people who have been gone for 90 days; how many."""
    return campus.share_jobs.remove_stale()


SHARING: tuple[Job[Campus], ...] = (
    Job(
        "accesses",
        timedelta(seconds=5),
        flush_accesses,
        "Adds new accesses to the counts of their shares.",
        of_process=True,
    ),
    Job(
        "ended shares",
        timedelta(minutes=10),
        notify_ended_shares,
        "Tells owners about shares that have ended.",
    ),
    Job(
        "stale shares",
        timedelta(days=1),
        remove_stale_shares,
        "Removes shares with people who left 90 days ago.",
    ),
)

# --- courses ---


def close_assignments(campus: Campus) -> int:
    """Close assignments that accept no more work; how many."""
    return campus.assignments.close_due()


def plan_reminders(campus: Campus) -> int:
    """Add the reminders of what is due within a day; how many moments."""
    return campus.reminders.plan()


COURSES: tuple[Job[Campus], ...] = (
    Job(
        "deadlines", timedelta(minutes=1), close_assignments, "Closes assignments whose last date has passed."
    ),
    Job("reminders", timedelta(minutes=10), plan_reminders, "Reminds students a day before work is due."),
)

# --- people ---


def erase_again(campus: Campus) -> int:
    """Erase again the users on the list of the erased that a restored table brought back; how many."""
    return campus.privacy.erase_again()


PEOPLE: tuple[Job[Campus], ...] = (
    Job("restored", timedelta(hours=1), erase_again, "Re-applies erasures after a restore."),
)


# --- tasks ---


def run_tasks(campus: Campus) -> int:
    """Run the tasks that are due: scans, expired uploads and other delayed work; how many finished."""
    return campus.worker().run_due()


TASKS: tuple[Job[Campus], ...] = (
    Job(
        "tasks",
        timedelta(seconds=5),
        run_tasks,
        "Scans new files, ends abandoned uploads, and other delayed work.",
    ),
)

JOBS: tuple[Job[Campus], ...] = (*TASKS, *FILES, *SHARING, *COURSES, *PEOPLE)


def consumers(campus: Campus) -> tuple[Consumer, ...]:
    """The consumers of the tables' streams."""
    return (campus.submission_counts.consumer(), campus.share_jobs.consumer())


def work(campus: Campus) -> Sequence[Job[Campus] | Follower[Campus]]:
    """Everything that runs without a request."""
    return (*(_follower(consumer) for consumer in consumers(campus)), *JOBS)


def _follower(consumer: Consumer) -> Follower[Campus]:
    about = "Keeps counts up to date."
    return Follower(f"changes of {consumer.table}", lambda _, stop: consumer.run(stop), about)
