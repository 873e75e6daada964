"""Profile pictures: kept as objects of our own, never as addresses from elsewhere (SK-D33).

Must hold: a stored picture is an image by its header, of the type it was sent as and of a size that a browser can
decode; a profile names an existing object of its owner. So each upload has a unique name that is never reused, and
setting another picture removes the previous one, and unused ones older than an hour.
"""

import hashlib
from collections.abc import Mapping
from datetime import timedelta

from tablewright.edge.errors import BadRequest, NotFound
from tablewright.kit.objects.store import Objects
from tablewright.systems.travel import design as d
from tablewright.systems.travel.account.picture_headers import Kind, read_header
from tablewright.systems.travel.model import Profile
from tablewright.systems.travel.repository import Repository
from tablewright.systems.travel.rules import milliseconds

PICTURES = "pictures"
PICTURE_BYTES = 512 * 1024
SIDE_AT_MOST = 12_000
MEGAPIXELS_AT_MOST = 50
# An older object that no profile names was left by a crash between storing and naming it.
NAMED_WITHIN = timedelta(hours=1)
_KINDS: Mapping[str, str] = {"png": "image/png", "jpg": "image/jpeg", "webp": "image/webp"}


class Pictures:
    """Pictures of travellers."""

    def __init__(self, repository: Repository, objects: Objects) -> None:
        self._repository, self._objects = repository, objects

    def put(self, user_id: str, content: bytes, sent_as: str = "") -> Profile:
        """Another picture; the one before goes. `sent_as` is the media type it came with, if it came with one."""
        if len(content) > PICTURE_BYTES:
            words = f"A picture can have at most {PICTURE_BYTES // 1024} KB. Please make it smaller."
            raise BadRequest("PICTURE_TOO_LARGE", words, "body")
        digest, moment = hashlib.sha256(content).hexdigest()[:16], milliseconds(self._repository.now())
        kind, own = _kind(content, sent_as), self._repository.world.new_id()[:8]
        name = f"{_folder(user_id)}/{moment:013}-{digest}-{own}.{kind}"
        self._objects.put(name, content)
        return self._name(user_id, name)

    def remove(self, user_id: str) -> Profile:
        return self._name(user_id, None)

    def get(self, profile: Profile, name: str) -> tuple[bytes, str]:
        """A traveller's picture, and what kind of image it is."""
        kept = profile.profile_picture_url
        content = self._objects.get(kept) if kept is not None and kept.endswith(f"/{name}") else None
        if content is None:
            raise NotFound("PICTURE")
        return content, _KINDS[name.rpartition(".")[2]]

    def address(self, profile: Profile, root: str) -> str | None:
        """Where the API gives the picture out."""
        kept = profile.profile_picture_url
        return kept and f"{root}/travellers/{profile.user_id}/picture/{kept.rpartition('/')[2]}"

    def _name(self, user_id: str, name: str | None) -> Profile:
        def attempt() -> tuple[str | None, Profile]:
            before = self._repository.profile(user_id)
            after = before.model_copy(update={"profile_picture_url": name})
            if after != before:
                self._repository.write("USER", d.profiles.change(before, after))
            return before.profile_picture_url, after

        former, after = self._repository.retried(None, attempt)
        long_ago = f"{_folder(user_id)}/{milliseconds(self._repository.now() - NAMED_WITHIN):013}"
        for kept in list(self._objects.names(f"{_folder(user_id)}/")):
            # Of what is newer, another upload may be about to name one.
            if kept != name and (kept == former or kept < long_ago):
                self._objects.remove(kept)
        return after


def _folder(user_id: str) -> str:
    return f"{PICTURES}/{user_id}"


def _kind(content: bytes, sent_as: str) -> Kind:
    header = read_header(content)
    if header is None:
        words = "This isn't a PNG, JPEG or WebP picture, or the file is damaged. Please send another one."
        raise BadRequest("NOT_A_PICTURE", words, "body")
    said = sent_as.partition(";")[0].strip().lower()
    if said in _KINDS.values() and said != _KINDS[header.kind]:
        words = f"This was sent as {said}, but it is {_KINDS[header.kind]}. Send it with the correct type."
        raise BadRequest("NOT_A_PICTURE", words, "body")
    width, height = header.width, header.height
    if max(width, height) > SIDE_AT_MOST or width * height > MEGAPIXELS_AT_MOST * 1_000_000:
        words = (
            f"A picture can have at most {SIDE_AT_MOST} pixels on each side and {MEGAPIXELS_AT_MOST} megapixels; "
            f"this one has {width} x {height}. Please make it smaller."
        )
        raise BadRequest("PICTURE_TOO_LARGE", words, "body")
    return header.kind
