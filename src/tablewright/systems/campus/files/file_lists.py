"""Lists of a user's files: newest first from an index; by name or size, or what matches a search, by reading them.

Newest first costs what its page costs, however many files there are (CC-D1). Another order, or a search, reads the
user's files in that place; pages are full and memory is that of one page.
Must hold: a page begins behind the last file of the one before, so a file that is uploaded in between is on no page
twice and hides none.
"""

import heapq
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

import orjson

from tablewright.design import Query
from tablewright.edge.errors import BadRequest
from tablewright.systems.campus import design as d
from tablewright.systems.campus.files.library import trash_of
from tablewright.systems.campus.model import File, User
from tablewright.systems.campus.repository import Repository

Sort = Literal["date", "name", "size"]
ANYWHERE = "all"
TRASH = "trash"
PAGE_SIZE, MAX_PAGE_SIZE = 20, 100


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a list has: `place` is ANYWHERE, TRASH, a folder's id, or None for the top."""

    place: str | None = ANYWHERE
    text: str = ""
    tag: str = ""
    sort: Sort = "date"
    descending: bool = True

    @property
    def is_search(self) -> bool:
        return bool(self.text.strip() or self.tag.strip())

    def fits(self, file: File) -> bool:
        if file.purged_at is not None or (self.place != TRASH and file.status == "deleted"):
            return False
        words, tags = self.text.casefold().split(), [tag.casefold() for tag in file.tags]
        name = file.filename.casefold()
        if self.tag.strip() and self.tag.strip().casefold() not in tags:
            return False
        return all(word in name or any(word in tag for tag in tags) for word in words)


@dataclass(frozen=True, slots=True)
class Listed:
    """A page of files, and the token of the next."""

    items: tuple[File, ...]
    next: str | None


class Listing:
    """Lists of files."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository

    def page(self, user: User, wanted: Wanted, size: int | None = None, after: str | None = None) -> Listed:
        """A page; INVALID_PAGE_SIZE, BAD_TOKEN."""
        size = PAGE_SIZE if size is None else size
        if not 1 <= size <= MAX_PAGE_SIZE:
            raise BadRequest("INVALID_PAGE_SIZE", f"pageSize must be 1 to {MAX_PAGE_SIZE}.", "pageSize")
        query = self._query(user, wanted)
        if wanted.sort == "date" and wanted.descending and not wanted.is_search:
            found = self._repository.page(query, size, after, user.user_id)
            return Listed(found.items, found.next)
        return _sorted_page(self._repository.db.all(query), wanted, size, after)

    def _query(self, user: User, wanted: Wanted) -> Query[File]:
        if wanted.place == ANYWHERE:
            query = d.files_of_user(user_id=user.user_id)
            return query.where(lambda file: file.status != "deleted")  # pages stay full
        place = trash_of(user.user_id) if wanted.place == TRASH else wanted.place or user.user_id
        return d.files_in_place(place=place)


def _sorted_page(files: Iterable[File], wanted: Wanted, size: int, after: str | None) -> Listed:
    """The next files in an order that no index has: all are read, one page is kept."""
    behind = _read_token(after) if after is not None else None
    key = _KEYS[wanted.sort]

    def candidates() -> Iterator[File]:
        for file in files:
            place = (key(file), file.file_id)
            is_behind = behind is None or (place < behind if wanted.descending else place > behind)
            if is_behind and wanted.fits(file):
                yield file

    pick = heapq.nlargest if wanted.descending else heapq.nsmallest
    found = pick(size + 1, candidates(), key=lambda file: (key(file), file.file_id))
    token = _token((key(found[size - 1]), found[size - 1].file_id)) if len(found) > size else None
    return Listed(tuple(found[:size]), token)


_KEYS: dict[Sort, Callable[[File], str]] = {
    "name": lambda file: file.filename.casefold(),
    "size": lambda file: f"{file.file_size:020d}",
    "date": lambda file: file.uploaded_at.isoformat(timespec="milliseconds") if file.uploaded_at else "",
}


def _token(place: tuple[str, str]) -> str:
    return urlsafe_b64encode(orjson.dumps(place)).decode()


def _read_token(text: str) -> tuple[str, str]:
    try:
        key, file_id = orjson.loads(urlsafe_b64decode(text.encode("ascii")))
        if not isinstance(key, str) or not isinstance(file_id, str):
            raise ValueError
    except ValueError:
        raise BadRequest("BAD_TOKEN", "This is not a token of a page of this list.", "startAt") from None
    return key, file_id
