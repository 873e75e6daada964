"""Downloads: a file name of its system, its subject and the day; the media type of its ending.

Must hold: the header is ASCII for every name (RFC 6266); a name never leads to another directory.
"""

import re
import unicodedata
from datetime import datetime
from urllib.parse import quote

from fastapi import Response

_MAX_LENGTH = 60
# Control and format characters (a right-to-left override hides the ending of a name), and halves of pairs.
_INVISIBLE = frozenset(("Cc", "Cf", "Cs"))
_MEDIA_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "geojson": "application/geo+json",
    "json": "application/json",
}


def download(content: str | bytes, system: str, subject: str, at: datetime, ending: str) -> Response:
    """A file as a response."""
    return Response(content, media_type=_MEDIA_TYPES[ending], headers=attachment(system, subject, at, ending))


def attachment(system: str, subject: str, at: datetime, ending: str) -> dict[str, str]:
    """The header of a download: `parental-mia-2026-11-17.json`, with the letters of the name in `filename*`."""
    exact = _slug(subject)
    plain = _slug(unicodedata.normalize("NFKD", subject).encode("ascii", "ignore").decode())
    names = [
        "-".join(part for part in (system, one, f"{at:%Y-%m-%d}") if part) + f".{ending}"
        for one in (plain, exact)
    ]
    starred = f"; filename*=UTF-8''{quote(names[1], safe='')}" if names[0] != names[1] else ""
    return {"Content-Disposition": f'attachment; filename="{names[0]}"{starred}'}


def disposition(filename: str, *, inline: bool = False) -> str:
    """The header's value for a file with a name of its owner's, in any script; control characters are left out."""
    name = "".join(one for one in filename if unicodedata.category(one) not in _INVISIBLE) or "file"
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    safe = re.sub(r"[^A-Za-z0-9 ._()-]", "_", plain).strip() or "file"
    kind = "inline" if inline else "attachment"
    return f"{kind}; filename=\"{safe}\"; filename*=UTF-8''{quote(name, safe='')}"


def _slug(text: str) -> str:
    """The letters and digits of a name in lower case, with one dash for everything between them."""
    return re.sub(r"[^\w.]+|_+", "-", text.casefold()).strip("-.")[:_MAX_LENGTH]
