"""Phase 1: conversations of the first version get the attributes that the second needs, and lose what has expired.

Added are attributes that programs of the first version ignore (ZC-46): entityType, ttl from the last message, familyId
of the user's family now (ZC-D3, ZC-D54), summaryCount, metadata; and the session by which a user's conversations are
found. Messages whose time is over are removed, with an entry in the compliance log in the same transaction: they are
not migrated (ZC-D22).
Must hold: every write depends on the number of messages that was read, so a concurrent append is never lost (ZC-D21);
run again, it changes nothing.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from tablewright.kit.tables import Actor, is_user_id
from tablewright.mapping import ActionsRefused, Item, every_page
from tablewright.mapping.items import item_of, model_of
from tablewright.systems.chat import design as d
from tablewright.systems.chat.family_model import User
from tablewright.systems.chat.legacy.conversion import dated, start_of
from tablewright.systems.chat.legacy.model import V1Conversation
from tablewright.systems.chat.legacy.v1 import session_of
from tablewright.systems.chat.repository import SYSTEM, Repository
from tablewright.systems.chat.rules import RetentionPeriods

PAGE = 50
_ATTEMPTS = 20
_EMPTY_METADATA = {
    "totalTokens": {"N": "0"},
    "averageResponseTime": {"N": "0"},
}


@dataclass(frozen=True, slots=True)
class Prepared:
    """What a run did. `unusable` are conversations that cannot be migrated: their user id is none (ZC-D15).

    Those `without_account` are migrated, and take no messages after the cut-over until their user has an account.
    """

    conversations: int = 0
    changed: int = 0
    expired_conversations: int = 0
    expired_messages: int = 0
    without_family: int = 0
    without_account: int = 0
    unusable: tuple[str, ...] = field(default_factory=tuple)

    def with_one(self, **more: int) -> "Prepared":
        return replace(self, **{name: getattr(self, name) + count for name, count in more.items()})


@dataclass(frozen=True, slots=True)
class Preparation:
    """Phase 1 over the whole table."""

    repository: Repository
    periods: RetentionPeriods

    def run(self, actor: Actor = SYSTEM) -> Prepared:
        """Prepare every conversation."""
        done = Prepared()
        for item in self._items():
            done = self._prepare(item, done, actor)
        return done

    def _items(self) -> Iterator[Item]:
        request = {"TableName": self._table, "ConsistentRead": True, "Limit": PAGE}
        for page in every_page(self.repository.db.call, "Scan", request):
            yield from (item for item in page["Items"] if "userId" in item)

    @property
    def _table(self) -> str:
        return self.repository.db.physical(d.v1_table.table.name)

    def _prepare(self, item: Item | None, done: Prepared, actor: Actor) -> Prepared:
        done = done.with_one(conversations=1)
        for _ in range(_ATTEMPTS):
            if item is None:
                return done
            found: V1Conversation = model_of(d.v1_conversations.shape, item)
            if not is_user_id(found.user_id):
                return replace(done, unusable=(*done.unusable, found.conversation_id))
            over = self._expired(found)
            is_over = over == len(found.messages) and self._until(found) <= self.repository.now()
            user = self.repository.db.one(d.user_by_id(found.user_id))
            changes = {} if is_over else self._changes(item, found, over, user)
            family = changes.get("familyId", item.get("familyId"))
            more = _counts(is_over, over, bool(changes), family, user)
            if not is_over and not changes and self._has_session(found):
                return done.with_one(**more)
            try:
                self._write(item, found, changes, over, is_over, actor)
                return done.with_one(**more)
            except ActionsRefused:
                item = self.repository.db.items(
                    [d.v1_conversations.get(found.conversation_id)], consistent=True
                )[0]
        return done

    # --- what is to be done ---

    def _expired(self, found: V1Conversation) -> int:
        """How many of the oldest messages are past their time."""
        now = self.repository.now()
        ends = [self.periods.until("active_conversation", at) for _, at, _, _ in dated(found)]
        return next((number for number, end in enumerate(ends) if end > now), len(ends))

    def _until(self, found: V1Conversation) -> datetime:
        """When the whole conversation is over."""
        times = [at for _, at, _, _ in dated(found)]
        return self.periods.until("active_conversation", times[-1] if times else start_of(found))

    def _changes(self, item: Item, found: V1Conversation, over: int, user: User | None) -> dict[str, Any]:
        """The attributes that are missing or not right, as they should be."""
        wanted: dict[str, Any] = {
            "entityType": {"S": "conversation"},
            "ttl": {"N": str(int(self._until(found).timestamp()))},
            "summaryCount": item.get("summaryCount", {"N": "0"}),
            "metadata": item.get("metadata", {"M": _EMPTY_METADATA}),
            "messageCount": {"N": str(max(found.message_count, len(found.messages)))},
        }
        if user is not None and user.family_id is not None:
            wanted["familyId"] = {"S": user.family_id}
        if over:
            wanted["messages"] = {"L": item["messages"]["L"][over:]}
        return {name: value for name, value in wanted.items() if item.get(name) != value}

    def _has_session(self, found: V1Conversation) -> bool:
        key = found.user_id, found.conversation_id
        return self.repository.db.one(d.v1_sessions.get(*key), consistent=True) is not None

    # --- doing it ---

    def _write(
        self,
        item: Item,
        found: V1Conversation,
        changes: Mapping[str, Any],
        over: int,
        is_over: bool,
        actor: Actor,
    ) -> None:
        db, session = self.repository.db, session_of(found)
        sessions = db.physical(d.v1_sessions.shape.table.name)
        stored = item_of(d.v1_sessions.shape, session)
        key = {"userId": stored["userId"], "conversationId": stored["conversationId"]}
        actions: list[Mapping[str, Any]] = [self._action(item, changes, is_over)]
        if is_over:
            actions.append({"Delete": {"TableName": sessions, "Key": key}})
        else:
            actions.append({"Put": {"TableName": sessions, "Item": stored}})
        if over or is_over:
            gone = {"conversation": found.conversation_id, "messages": over, "whole": is_over}
            entry = self.repository.audit(
                f"child:{found.user_id}",
                "expired data deleted",
                actor,
                before=gone,
                reason="its retention time was over before the migration",
            )
            actions += db.wire(entry)
        db.transact("v1_conversation.prepare", actions)

    def _action(self, item: Item, changes: Mapping[str, Any], is_over: bool) -> Mapping[str, Any]:
        """The change of the conversation, as long as it has as many messages as were read."""
        names = {"#n": "messageCount", "#m": "messages"}
        values: dict[str, Any] = {":n": item.get("messageCount", {"N": "0"})}
        values[":m"] = {"N": str(len(item.get("messages", {"L": []})["L"]))}
        has_messages = "size(#m) = :m" if "messages" in item else "attribute_not_exists(#m)"
        has_count = "#n = :n" if "messageCount" in item else "attribute_not_exists(#n)"
        body: dict[str, Any] = {
            "TableName": self._table,
            "Key": {"conversationId": item["conversationId"]},
            "ConditionExpression": f"{has_count} AND {has_messages}",
            "ExpressionAttributeNames": names,
        }
        used = {name: value for name, value in values.items() if name in body["ConditionExpression"]}
        if not is_over and changes:
            names |= {f"#c{number}": name for number, name in enumerate(changes)}
            used |= {f":c{number}": value for number, value in enumerate(changes.values())}
            sets = ", ".join(f"#c{number} = :c{number}" for number in range(len(changes)))
            body["UpdateExpression"] = f"SET {sets}"
        if used:
            body["ExpressionAttributeValues"] = used
        verb = "Delete" if is_over else "Update" if changes else "ConditionCheck"
        return {verb: body}


def _counts(is_over: bool, over: int, is_changed: bool, family: object, user: User | None) -> dict[str, int]:
    return {
        "changed": int(is_changed and not is_over),
        "expired_conversations": int(is_over),
        "expired_messages": over,
        "without_family": int(family is None and not is_over),
        "without_account": int(user is None and not is_over),
    }
