"""The first version as one value: its tables, its programs' functions, and the migration to the second."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from tablewright.kit.objects.store import Objects
from tablewright.mapping import forget_parked_saying
from tablewright.mapping.migrate import Migration, MigrationContext, migration_context
from tablewright.systems.chat.legacy.archive import TableArchive
from tablewright.systems.chat.legacy.compat import Compat
from tablewright.systems.chat.legacy.migration import TERM, Conversions, chat_migration
from tablewright.systems.chat.legacy.old_chats import OldChats
from tablewright.systems.chat.legacy.operator import MigrationOperator
from tablewright.systems.chat.legacy.preparation import Preparation
from tablewright.systems.chat.legacy.router import ConversationRouter
from tablewright.systems.chat.legacy.v1 import V1
from tablewright.systems.chat.repository import Repository
from tablewright.systems.chat.rules import RetentionPeriods
from tablewright.systems.chat.talk.conversations import Conversations
from tablewright.systems.chat.talk.guardrails import Guardrails
from tablewright.systems.chat.talk.messages import Messages
from tablewright.systems.chat.talk.review import Review


@dataclass(frozen=True, slots=True)
class Legacy:
    """The parts of the first version."""

    v1: V1
    old_chats: OldChats
    router: ConversationRouter
    compat: Compat
    operator: MigrationOperator
    migration: Migration
    context: MigrationContext

    def forget_parked(self, user_id: str) -> int:
        """Delete the changes about a user that no round of the migration could deal with; how many.

        They hold whole items, those of the first version as they are.
        """
        state, migration = self.context.find_state(), self.migration
        return sum(
            forget_parked_saying(
                self.context.db,
                version.called,
                self.context.consumer_name(epoch),
                lambda text: user_id in text,
            )
            for epoch in range(1, 1 + (state.epoch if state is not None else 0))
            for version in (migration.source, migration.target)
        )


def open_legacy(
    repository: Repository,
    periods: RetentionPeriods,
    conversations: Conversations,
    messages: Messages,
    objects: Objects,
    most_characters: int,
    guardrails: Guardrails,
    review: Review,
    *,
    term: timedelta = TERM,
    steady: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Legacy:
    """The first version over a database; `steady` and `sleep` are injected, so that tests do not wait."""
    db = repository.db
    migration = chat_migration(Conversions(periods, messages.texts), term)
    context = migration_context(
        db.call, migration, world=repository.world, environment=db.environment, steady=steady, sleep=sleep
    )
    v1 = V1(repository, periods)
    router = ConversationRouter(repository, context, v1, periods)
    return Legacy(
        v1=v1,
        old_chats=OldChats(repository, router, v1, periods),
        router=router,
        compat=Compat(
            repository,
            router,
            v1,
            conversations,
            messages,
            most_characters,
            guardrails,
            review,
        ),
        operator=MigrationOperator(
            repository,
            context,
            router,
            Preparation(repository, periods),
            TableArchive(repository, objects),
        ),
        migration=migration,
        context=context,
    )
