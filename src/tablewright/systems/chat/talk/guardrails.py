"""Guardrails as staff write them, and the moderator that is made of them (ZC-X2).

Must hold: the phrases about self-harm and abuse are in every moderator, whatever the table says; a phrase that cannot
be used is refused when it is written. A change is in force in this process at once, in others within REREAD.
Elsewhere: how phrases are compared (moderation.py), the built-in ones (safety_phrases.py).
"""

import json
import re
import threading
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from tablewright.edge.errors import BadRequest, Conflict
from tablewright.kit.tables import Actor
from tablewright.systems.chat import design as d
from tablewright.systems.chat.errors import Changed
from tablewright.systems.chat.repository import SYSTEM, Repository
from tablewright.systems.chat.talk.moderation import BadPhrase, Moderator, refuse_bad_phrases
from tablewright.systems.chat.talk.safety_phrases import BUILT_IN
from tablewright.systems.chat.zoo_model import Guardrail

DATA = Path(__file__).parents[1] / "data" / "guardrails.json"
REREAD = timedelta(seconds=10)
MOST_PHRASES = 500
_ID = re.compile(r"[a-z][a-z0-9-]{1,39}")


class Guardrails:
    """The guardrails of the zoo."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._lock = threading.Lock()
        self._read_at: datetime | None = None
        self._moderator = Moderator(BUILT_IN)

    def all(self) -> list[Guardrail]:
        """Those that staff can change, by id."""
        return sorted(self._repository.db.every(d.guardrails), key=lambda each: each.guardrail_id)

    def get(self, guardrail_id: str) -> Guardrail:
        self._repository.refuse_impossible(_ID.fullmatch(guardrail_id) is not None, "GUARDRAIL")
        found = self._repository.db.one(d.guardrails.get(guardrail_id), consistent=True)
        return self._repository.found(found, "GUARDRAIL")

    def moderator(self) -> Moderator:
        """The moderator of all guardrails, read again now and then."""
        now = self._repository.now()
        with self._lock:
            is_old = self._read_at is None or not timedelta() <= now - self._read_at < REREAD
            if is_old:
                self._moderator, self._read_at = Moderator([*BUILT_IN, *self.all()]), now
            return self._moderator

    def create(self, actor: Actor, guardrail_id: str, fields: Mapping[str, Any]) -> Guardrail:
        if not _ID.fullmatch(guardrail_id):
            words = "An id has 2 to 40 small letters, digits and -, and begins with a letter."
            raise BadRequest("BAD_GUARDRAIL_ID", words, "guardrailId")
        if guardrail_id in {each.guardrail_id for each in BUILT_IN}:
            raise Conflict("EXISTS", "This guardrail is built in and cannot be changed.", "guardrailId")
        made = Guardrail(
            guardrail_id=guardrail_id, **fields, modified_by=actor.name, modified=self._repository.now()
        )
        _refuse_unusable(made)
        entry = self._repository.audit(f"guardrail:{guardrail_id}", "guardrail created", actor, None, made)
        self._repository.write("GUARDRAIL", d.guardrails.create(made), entry)
        self._forget()
        return made

    def change(
        self, actor: Actor, guardrail_id: str, changes: Mapping[str, Any], version: int | None = None
    ) -> Guardrail:
        def attempt() -> Guardrail:
            before = self.get(guardrail_id)
            if version is not None and version != before.version:
                raise Changed
            update = {**changes, "modified_by": actor.name, "modified": self._repository.now()}
            after = before.model_copy(update=update)
            _refuse_unusable(after)
            entry = self._repository.audit(
                f"guardrail:{guardrail_id}", "guardrail changed", actor, before, after
            )
            self._repository.write("GUARDRAIL", d.guardrails.change(before, after), entry)
            return after.model_copy(update={"version": before.version + 1})

        changed = self._repository.retried(version, attempt)
        self._forget()
        return changed

    def remove(self, actor: Actor, guardrail_id: str) -> None:
        before = self.get(guardrail_id)
        entry = self._repository.audit(f"guardrail:{guardrail_id}", "guardrail removed", actor, before, None)
        self._repository.write("GUARDRAIL", d.guardrails.delete(before), entry)
        self._forget()

    def install(self) -> int:
        """Create those of data/guardrails.json if there are none yet; how many. What staff removed stays removed."""
        if self.all():
            return 0
        now = self._repository.now()
        given = [Guardrail.model_validate({**each, "modified": now}) for each in json.loads(DATA.read_text())]
        entry = self._repository.audit("guardrail:all", "guardrails installed", SYSTEM)
        is_ours = self._repository.try_write(*(d.guardrails.create(each) for each in given), entry)
        self._forget()
        return len(given) if is_ours else 0

    def _forget(self) -> None:
        with self._lock:
            self._read_at = None


def _refuse_unusable(guardrail: Guardrail) -> None:
    """BAD_PHRASE, or NO_REPLY where a message is refused without a word."""
    try:
        refuse_bad_phrases(guardrail.phrases)
    except BadPhrase as mistake:
        raise BadRequest("BAD_PHRASE", str(mistake), "phrases") from None
    if not guardrail.phrases or len(guardrail.phrases) > MOST_PHRASES:
        raise BadRequest("BAD_PHRASE", f"A guardrail has 1 to {MOST_PHRASES} phrases.", "phrases")
    if guardrail.action != "redact" and not guardrail.reply.strip():
        raise BadRequest("NO_REPLY", "Say what the child reads instead of the message.", "reply")
