"""Receipts of submissions: a code that says what was received, and when, and that only the campus can make.

Must hold: a code is right for its submission alone, with its number, the parts it counts and the moment in it. A team's
attempt can get more parts later: they come behind the others, so an earlier code is still right for the first parts.
"""

import hmac
import re
from dataclasses import dataclass
from datetime import UTC, datetime

from tablewright.systems.campus.course_model import Submission

_CODE = re.compile(r"(?a:(\d{8}T\d{12})Z-(\d{1,3})-([0-9A-F]{32}))")
_MOMENT = "%Y%m%dT%H%M%S%f"


@dataclass(frozen=True, slots=True)
class CheckedReceipt:
    """Whether a code is a receipt of a submission, and what it confirms: so many parts, received at a moment."""

    valid: bool
    submitted_at: datetime | None = None
    parts: int = 0
    newest: bool = False


@dataclass(frozen=True, slots=True)
class Receipts:
    """Makes and checks the codes."""

    key: bytes

    def code(self, submission: Submission) -> str:
        moment = submission.submitted_at.astimezone(UTC).strftime(_MOMENT)
        return self._code(submission, moment, len(submission.parts))

    def check(self, submission: Submission, code: str) -> CheckedReceipt:
        found = _CODE.fullmatch(code.strip().upper())
        if found is None:
            return CheckedReceipt(valid=False)
        moment, count = found[1], int(found[2])
        right = self._code(submission, moment, count)
        if count > len(submission.parts) or not hmac.compare_digest(right, found[0]):
            return CheckedReceipt(valid=False)
        at = datetime.strptime(moment, _MOMENT).replace(tzinfo=UTC)
        return CheckedReceipt(True, at, count, found[0] == self.code(submission))

    def _code(self, submission: Submission, moment: str, count: int) -> str:
        lines = [submission.submission_id, str(submission.submission_number), moment, str(count)]
        lines += [f"{part.kind} {part.checksum}" for part in submission.parts[:count]]
        mac = hmac.digest(self.key, "\n".join(lines).encode(), "sha256").hex()[:32].upper()
        return f"{moment}Z-{count}-{mac}"
