"""Names, tags and checksums as their owners write them: what is allowed. Pure.

Must hold: no name leads to another directory, hides its ending or breaks a header (CC-2).
Elsewhere: media types (sniff.py), the header of a download (edge/downloads.py).
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence

import orjson

from tablewright.edge.errors import BadRequest, Refused
from tablewright.kit.tables import Actor
from tablewright.systems.campus.model import User

MAX_NAME, MAX_DESCRIPTION, MAX_TAGS, MAX_TAG, MAX_METADATA = 255, 2000, 20, 50, 4096
# Control and format characters, such as a right-to-left override, and halves of pairs.
_INVISIBLE = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))
_JOINERS = "\u200c\u200d"  # letters of Persian, Hindi and emoji are joined or kept apart with these
_CHECKSUM = re.compile(r"(?:sha256:)?([0-9a-f]{64})")


def checked_name(name: str, field: str = "filename") -> str:
    """The name, composed and trimmed; INVALID_NAME if it is not a name of a file or folder."""
    text = unicodedata.normalize("NFC", name).strip()
    if text in (".", ".."):
        raise BadRequest("INVALID_NAME", "A name cannot be . or ..", field)
    if not 1 <= len(text) <= MAX_NAME:
        raise BadRequest("INVALID_NAME", f"A name has 1 to {MAX_NAME} characters.", field)
    if "/" in text or "\\" in text:
        raise BadRequest("INVALID_NAME", "A name cannot contain / or \\.", field)
    if any(unicodedata.category(one) in _INVISIBLE and one not in _JOINERS for one in text):
        raise BadRequest("INVALID_NAME", "A name cannot contain invisible characters.", field)
    return text


def checked_tags(tags: Sequence[str]) -> list[str]:
    """Tags, trimmed, each once in the order they were given."""
    found = list(dict.fromkeys(text for tag in tags if (text := unicodedata.normalize("NFC", tag).strip())))
    if len(found) > MAX_TAGS or any(len(tag) > MAX_TAG for tag in found):
        raise Refused("INVALID_TAGS", f"A file has at most {MAX_TAGS} tags of {MAX_TAG} characters.", "tags")
    return found


def checked_description(text: str | None) -> str | None:
    if text is not None and len(text) > MAX_DESCRIPTION:
        words = f"A description has at most {MAX_DESCRIPTION} characters."
        raise Refused("INVALID_DESCRIPTION", words, "description")
    return text or None


def checked_metadata(values: Mapping[str, str] | None) -> dict[str, str]:
    """What programs note about a file: texts by name, at most 4 KB as JSON (CC-2)."""
    found = dict(values or {})
    if len(orjson.dumps(found)) > MAX_METADATA:
        words = f"The metadata of a file have at most {MAX_METADATA} bytes as JSON."
        raise Refused("INVALID_METADATA", words, "metadata")
    return found


def checked_checksum(text: str) -> str:
    """The hexadecimal digits of `sha256:...`, with or without its prefix; INVALID_CHECKSUM for anything else."""
    found = _CHECKSUM.fullmatch(text.strip().lower())
    if found is None:
        words = "checksum must be sha256: and 64 hexadecimal digits."
        raise BadRequest("INVALID_CHECKSUM", words, "checksum")
    return found[1]


def actor_of(user: User) -> Actor:
    """The author of a change to a file."""
    return Actor(user.name, "admin" if user.role == "admin" else "user", user.user_id, user.email)
