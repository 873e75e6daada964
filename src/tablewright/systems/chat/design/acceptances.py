"""What the design checker finds and this design accepts, with the reasons."""

from tablewright.systems.chat.design.base import CHAT

CHAT.accept(
    "CAP-SIZE",
    "it grows with what people enter for one item, not with use; a write over 400 KB is refused",
    "agent_checkpoint.outside",
    "context.data",
    "guardrail.phrases",
    "knowledge.words",
    "memory.messageIds",
    "memory.words",
    "message.flags",
    "message.toolCalls",
    "review_flag.guardrails",
    "spread_message.flags",
    "spread_message.toolCalls",
    "v1_conversation.messages",
    "v1_conversation.metadata",
)
CHAT.accept(
    "CAP-SIZE",
    "it holds the fields of one item or of one request, which have their own limits",
    "audit_entry.after",
    "audit_entry.before",
    "task.payload",
)
CHAT.accept("CAP-SIZE", "the values of one template, which names them", "mail.values")
CHAT.accept(
    "CAP-SIZE",
    "one entry for each of a fixed set: hours, types, guardrails, scopes, places in the world",
    "consent.scopes",
    "consent_code.scopes",
    "safety_day.byGuardrail",
    "safety_day.counts",
    "user.scopes",
)
CHAT.accept("EXPR-SCAN", "some hundred items", "every item of animal", "every item of guardrails")
CHAT.accept(
    "EXPR-SCAN",
    "read by a job: the daily check of expiry, and the copy to the second version",
    "every item of conversation",
    "every item of conversation-v2",
)
CHAT.accept(
    "IDX-POPULAR",
    "a queue: an item is in it only while it waits, some in a minute",
    "mail.outboxKey",
    "review_flag.queueKey",
    "task.taskKey",
)
CHAT.accept(
    "KEY-PII",
    "opaque ids of people and families, made by this system",
    "access.accessedBy",
    "access.userId",
    "alias.legacyConversationId",
    "consent_code.childId",
    "consent_code.parentId",
    "conversation.familyId",
    "home.childId",
    "member.userId",
    "review_flag.userId",
    "v1_session.userId",
)
CHAT.accept(
    "KEY-PII",
    "a day only: the jobs that end consent and archive need it",
    "user.birthDate",
    "conversation.last_activity_day",
)
CHAT.accept(
    "KEY-PII",
    "the interface of agents names threads, entries and files by the caller's text; partitions are by user",
    "agent_checkpoint.threadId",
    "agent_entry.key",
    "agent_entry.path",
    "agent_file.name",
    "agent_item.sessionId",
    "agent_session.sessionId",
    "agent_write.threadId",
)
CHAT.accept(
    "CC-NOVERSION",
    "a change is refused unless the values that it replaces are as they were read",
    "mail",
)
CHAT.accept(
    "CC-NOVERSION",
    "an update of the state is refused unless the present state has the move; a reply has one writer",
    "message",
    "spread_message",
)
