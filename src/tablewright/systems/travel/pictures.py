"""Profile pictures: kept as objects of our own, never as addresses from elsewhere (SK-D33).

Must hold: what is kept is an image by its first bytes, whatever it was called; a profile names an object of its owner,
and one that is there. So each upload has a name of its own, which is never given again, and whoever names another
picture removes the one that was named before, and what was left behind long ago.
"""

import hashlib
from datetime import timedelta

from tablewright.systems.travel import design as d
from tablewright.systems.travel.errors import BadRequest, NotThere
from tablewright.systems.travel.model import Profile
from tablewright.systems.travel.objects import Objects
from tablewright.systems.travel.repository import Repository
from tablewright.systems.travel.rules import milliseconds

PICTURES = "pictures"
PICTURE_BYTES = 512 * 1024
# An object that is older and not named was left behind by who died between keeping and naming it.
NAMED_WITHIN = timedelta(hours=1)
_KINDS = {"png": "image/png", "jpg": "image/jpeg", "webp": "image/webp"}


class Pictures:
    """Pictures of travellers."""

    def __init__(self, repository: Repository, objects: Objects) -> None:
        self._repository, self._objects = repository, objects

    def put(self, user_id: str, content: bytes) -> Profile:
        """Another picture; the one before goes."""
        if len(content) > PICTURE_BYTES:
            words = f"A picture has at most {PICTURE_BYTES // 1024} KB. Make it smaller."
            raise BadRequest("PICTURE_TOO_LARGE", words, "body")
        digest, moment = hashlib.sha256(content).hexdigest()[:16], milliseconds(self._repository.now())
        kind, own = _kind(content), self._repository.world.new_id()[:8]
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
            raise NotThere("PICTURE")
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


def _kind(content: bytes) -> str:
    if content.startswith(b"\x89PNG\r\n\x1a\n"):
        return "png"
    if content.startswith(b"\xff\xd8\xff"):
        return "jpg"
    if content.startswith(b"RIFF") and content[8:12] == b"WEBP":
        return "webp"
    raise BadRequest("NOT_A_PICTURE", "Send a PNG, a JPEG or a WebP.", "body")
