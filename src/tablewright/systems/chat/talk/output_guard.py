"""Guardrails over a reply while it is made: a sentence is shown when it has been checked (ZC-X2).

Must hold: no sentence is released before the whole text up to its end was checked; what was shown is what is stored.
If a later sentence is blocked, the reply as a whole is replaced, also what was shown. A phrase may begin in one
sentence and end in the next one: then what was shown is replaced too.
"""

import re

from tablewright.systems.chat.talk.events import Part, Replaced
from tablewright.systems.chat.talk.moderation import Moderator, Verdict
from tablewright.systems.chat.talk.personal_data import Kind
from tablewright.systems.chat.talk.scrub import scrub

_END = re.compile(r"[.!?…\n]+[\"'”’)]*\s")
INSTEAD = "Let us talk about something else. What would you like to know about me?"
# A text without an end of a sentence is shown in pieces of this size.
LONGEST = 400
_NOT_SHOWN: tuple[Kind, ...] = ("link", "e-mail", "phone", "account")


class OutputGuard:
    """One reply."""

    def __init__(self, moderator: Moderator) -> None:
        self._moderator = moderator
        self._raw, self._checked, self._shown = "", "", ""
        self.verdict = Verdict("allow", "")

    @property
    def is_blocked(self) -> bool:
        return self.verdict.outcome in ("block", "escalate")

    @property
    def text(self) -> str:
        """The reply as it is stored: checked, and replaced if it was blocked."""
        return (self.verdict.reply or INSTEAD) if self.is_blocked else self._shown

    def feed(self, part: str) -> Part | Replaced | None:
        """What can be shown after this part; None while a sentence is not complete, or if the reply is blocked."""
        self._raw += part
        end = _last_end(self._raw)
        return self._release(end) if end > len(self._checked) else None

    def finish(self) -> Part | Replaced | None:
        """What is left."""
        return self._release(len(self._raw))

    # --- parts ---

    def _release(self, end: int) -> Part | Replaced | None:
        if self.is_blocked:
            return None
        self._checked = self._raw[:end]
        self.verdict = self._moderator.check(_visible(self._checked), "output")
        if self.is_blocked:
            return None
        before, self._shown = self._shown, self.verdict.text
        if not self._shown.startswith(before):
            return Replaced(self._shown)
        more = self._shown[len(before) :]
        return Part(more) if more else None


def _visible(text: str) -> str:
    """Without links, addresses and numbers that a model made up; control characters taken out."""
    plain = "".join(each for each in text if each in "\n\t" or each.isprintable())
    return scrub(plain, kinds=_NOT_SHOWN).text


def _last_end(text: str) -> int:
    ends = [match.end() for match in _END.finditer(text)]
    last = ends[-1] if ends else 0
    return len(text) if len(text) - last > LONGEST else last
