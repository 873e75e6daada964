"""Tasks, mail, rounds and the compliance log: rows of the kit's blocks."""

from tablewright.design import Data, Load, Retention
from tablewright.kit.audit import audit as audit_in
from tablewright.kit.outbox import ByOwner
from tablewright.kit.outbox import outbox as outbox_in
from tablewright.kit.rounds import add_rounds
from tablewright.kit.tasks import add_tasks
from tablewright.systems.chat.design.base import CHAT, MESSAGES, YEAR
from tablewright.systems.chat.model import AuditEntry, Mail, Position, Task

__all__ = [
    "audit",
    "audit_table",
    "outbox",
    "outbox_index",
    "recipient_index",
    "rounds",
    "task_index",
    "tasks",
    "work_table",
]

work_table = CHAT.table("work", pk="PK", sk="SK", ttl="ttl", about="Tasks, mail and rounds.")
outbox_index = work_table.gsi("outbox-index", pk="outboxKey", sk="outboxAt")
recipient_index = work_table.gsi("mail-of-user-index", pk="mailOf", sk="mailAt")
task_index = work_table.gsi("task-index", pk="taskKey", sk="taskAt")
audit_table = CHAT.table(
    "compliance-audit", pk="PK", sk="SK", ttl="ttl", about="Consent, deletions and other acts, for a year."
)
outbox = outbox_in(
    CHAT,
    work_table,
    Mail,
    key=("message_id",),
    pk="MAIL#{message_id}",
    sk="MAIL",
    on=outbox_index,
    state="{state}",
    tag="mail",
    name="mail_by_state",
    writes=Load(per_month=5_000, item_bytes=800, transaction=True),
    reads=Load(per_month=45_000, items=2, item_bytes=800),
    roles=("administrator",),
    by_owner=ByOwner(
        "mail_of_user",
        "user_id",
        "{user_id}",
        Load(per_month=50, items=10, item_bytes=800),
        on=recipient_index,
    ),
)
tasks = add_tasks(
    CHAT,
    work_table,
    Task,
    index=task_index,
    per_month=int(MESSAGES / 20),
    data={"user_id": Data.CHILD, "conversation_id": Data.INTERNAL},
)
rounds = add_rounds(work_table, Position)
audit = audit_in(
    CHAT,
    audit_table,
    AuditEntry,
    owner="subject",
    pk="{subject}",
    tag="audit_entry",
    name="compliance_log_of",
    retention=Retention(YEAR, "proof of consent, deletion and other acts (audit_log)"),
    writes=Load(per_month=1.2 * MESSAGES, item_bytes=350),
    reads=Load(per_month=1_000, items=20, item_bytes=400),
    month_name="compliance_log_of_month",
    month_reads=Load(per_month=100, items=50, item_bytes=400),
    roles=("administrator",),
    noise=("version", "modified"),
)
