"""Notifications, mail, tasks and the audit log: what expires (CC-X10, CC-X11)."""

from tablewright.design import Data, Expires, Load, Retention, begins
from tablewright.kit.audit import audit as audit_in
from tablewright.kit.outbox import ByOwner
from tablewright.kit.outbox import outbox as outbox_in
from tablewright.kit.rounds import add_rounds
from tablewright.kit.tasks import add_tasks
from tablewright.systems.campus.design.base import A_YEAR, CAMPUS
from tablewright.systems.campus.model import AuditEntry, Message, Notification, Position, Task

__all__ = [
    "audit",
    "audit_table",
    "notices_table",
    "notifications",
    "notifications_of_user",
    "outbox",
    "outbox_index",
    "recipient_index",
    "rounds",
    "task_index",
    "tasks",
]

notices_table = CAMPUS.table(
    "campus-cloud-notifications",
    pk="PK",
    sk="SK",
    ttl="ttl",
    whole=True,
    about="Notifications, the outbox and tasks; read whole for an erasure.",
)
outbox_index = notices_table.gsi("OutboxIndex", pk="outboxKey", sk="outboxAt")
recipient_index = notices_table.gsi("MailOfUserIndex", pk="mailOf", sk="mailAt")
task_index = notices_table.gsi("TaskIndex", pk="taskKey", sk="taskAt")
audit_table = CAMPUS.table(
    "campus-cloud-audit", pk="PK", sk="SK", ttl="ttl", about="Who did what, for a year."
)


def notification_key(user_id: str, notification_id: str) -> None: ...


notifications = notices_table.entity(
    Notification,
    notification_key,
    tag="notification",
    pk="USER#{user_id}",
    # The id begins with the time.
    sk="NOTIFICATION#{notification_id}",
    expires=Expires("expires_at"),
    data={"text": Data.PERSONAL},
    retention=Retention(A_YEAR / 4, "to be read"),
    load={
        "create": Load(per_month=150_000, item_bytes=350),
        "update": Load(per_month=50_000, item_bytes=350),
    },
)
outbox = outbox_in(
    CAMPUS,
    notices_table,
    Message,
    key=("message_id",),
    pk="MESSAGE#{message_id}",
    sk="MESSAGE",
    on=outbox_index,
    state="{state}",
    writes=Load(per_month=100_000, item_bytes=800, transaction=True),
    reads=Load(per_month=45_000, items=5, item_bytes=800),
    roles=("admin",),
    by_owner=ByOwner(
        "messages_of_user",
        "user_id",
        "{user_id}",
        Load(per_month=100, items=10, item_bytes=800),
        on=recipient_index,
    ),
)
tasks = add_tasks(CAMPUS, notices_table, Task, index=task_index, per_month=300_000)
rounds = add_rounds(notices_table, Position)
audit = audit_in(
    CAMPUS,
    audit_table,
    AuditEntry,
    owner="subject",
    pk="{subject}",
    tag="audit_entry",
    name="history_of",
    retention=Retention(A_YEAR, "who accessed files and grades"),
    writes=Load(per_month=2_000_000, item_bytes=500),
    reads=Load(per_month=2_000, items=20, item_bytes=500),
    month_name="audit_of_month",
    month_reads=Load(per_month=100, items=50, item_bytes=500),
    roles=("admin",),
    noise=("version", "updated_at"),
)


@CAMPUS.query(
    notifications, pk="USER#{user_id}", sk=begins("NOTIFICATION#"), descending=True, page=20, at_most=100,
    load=Load(per_month=800_000, items=5, item_bytes=350),
)  # fmt: skip
def notifications_of_user(*, user_id: str) -> None:
    """A user's notifications, newest first."""
