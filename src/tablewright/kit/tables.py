"""The base of every system's repository: times as they are stored, ids, writes with retries, requests done once.

    class Repository(Tables):
        def __init__(self, db, world):
            super().__init__(db, world, DESIGN, Refusals(changed=VersionConflict, ...))

Must hold: a write is tried again only if it was refused as a whole; a caller that insists on the version it has read
gets the error of a concurrent change instead of a retry; the errors of the mapping are translated here alone.
Elsewhere: a system's own reads (its repository.py), its own errors (its errors.py).
"""

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from time import sleep
from typing import Any, TypeAlias, TypeVar

from pydantic import BaseModel

from tablewright.design import Design, Query, Write
from tablewright.edge.errors import BadRequest, Conflict, NotFound, Refused
from tablewright.mapping import (
    AlreadyExists,
    BadCursor,
    ConditionNotMet,
    Db,
    Missing,
    NotUnique,
    Outdated,
    Page,
    PageTooLarge,
    Stale,
)
from tablewright.world import World

E = TypeVar("E", bound=BaseModel)
T = TypeVar("T")
ATTEMPTS = 20
_PAUSE, _LONGEST_PAUSE = 0.002, 0.2
TICK = timedelta(milliseconds=1)
# A user's id is the subject of a login, which an identity provider makes: anything without our delimiter.
_USER_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:|@-]{0,127}")
ErrorTypes: TypeAlias = type[Exception] | tuple[type[Exception], ...]
# How a write is refused if something was changed since it was read.
RACES: tuple[type[Exception], ...] = (AlreadyExists, Stale, Missing, ConditionNotMet)


@dataclass(frozen=True, slots=True)
class Actor:
    """The author of a change: a name for the audit entry, a role for the rules, a subject and address to find them."""

    name: str
    role: str
    subject: str = ""
    email: str | None = None

    @property
    def is_staff(self) -> bool:
        return self.role in ("support", "admin")


def _nothing(race: object) -> None:
    return None


def _exists(noun: str, refused: AlreadyExists | NotUnique) -> Exception:
    return Conflict("EXISTS", f"This {noun.lower()} already exists.")


@dataclass(frozen=True, slots=True)
class Refusals:
    """What a system raises where its tables refuse a write.

    `changed` is of a version that is out of date, `lost` of another condition: both get the item as it is. `race` is
    the error after which `retried` tries again, `busy` the one it raises in the end. `nouns` are the words of people
    for what the code of an error names.
    """

    changed: Callable[[BaseModel | None], Exception]
    lost: Callable[[BaseModel | None], Exception]
    race: type[Exception]
    busy: Callable[[], Exception]
    taken: Callable[[str, AlreadyExists | NotUnique], Exception] = _exists
    nouns: Mapping[str, str] = field(default_factory=dict)
    page_fields: tuple[str, str] = ("pageSize", "startAt")
    page_words: str = "A page can have 1 to {at_most} entries."


@dataclass(frozen=True, slots=True)
class OnceRequest:
    """A request with an idempotency key. `receipt` is None without one; `asked` tells another request with the key.

    Both are digests: a receipt outlives an erasure, so it must not identify anyone.
    """

    receipt: str | None
    asked: str
    reused: str

    def same(self, kept: Mapping[str, str]) -> Mapping[str, str]:
        """What the request left when it was done before; IDEMPOTENCY_KEY_REUSED if that was another one."""
        if kept["asked"] != self.asked:
            raise Refused("IDEMPOTENCY_KEY_REUSED", self.reused, "Idempotency-Key")
        return kept


NOT_ONCE = OnceRequest(None, "", "")


def is_user_id(text: str) -> bool:
    return _USER_ID.fullmatch(text) is not None


def digest(*parts: str) -> str:
    """A name made of parts that may be personal."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


class Store:
    """Tables and a clock: moments and ids as they are stored, and attempts after a race."""

    def __init__(self, db: Db, world: World) -> None:
        self.db, self.world = db, world

    def now(self) -> datetime:
        """This moment, as fine as it is stored."""
        now = self.world.now()
        return now.replace(microsecond=now.microsecond // 1000 * 1000)

    def later_than(self, before: datetime) -> datetime:
        """This moment, or just after the change before if clocks disagree."""
        return max(self.now(), before + TICK)

    def new_id(self, prefix: str) -> str:
        return f"{prefix}_{self.world.new_id()}"

    def new_timed_id(self, at: datetime) -> str:
        """An id that begins with the time, so that what happened in one moment has an order too."""
        return f"{int(at.timestamp() * 1000):012x}-{self.world.new_id()}"

    def retried(
        self,
        expected: int | None,
        attempt: Callable[[], T],
        *,
        on: ErrorTypes,
        busy: Exception,
        attempts: int = ATTEMPTS,
        on_race: Callable[[Any], object] = _nothing,
    ) -> T:
        """Do it on the newest version: again after a race, unless the caller insists on the version it has seen.

        A race is what `on` names. `on_race` gets it before the next attempt; an error that it raises ends the
        attempts. After the last one `busy` is raised.
        """
        for tried in range(attempts):
            try:
                return attempt()
            except on as race:
                if expected is not None:
                    raise
                on_race(race)
            # With jitter: else the same few callers would win every time.
            sleep(min(_PAUSE * 2 ** min(tried, 10), _LONGEST_PAUSE) * self.world.jitter())
        raise busy


class Tables(Store):
    """A system's tables, with the system's own errors."""

    def __init__(self, db: Db, world: World, design: Design, refusals: Refusals) -> None:
        super().__init__(db, world)
        self._design, self._refusals = design, refusals

    # --- reads ---

    def found(self, item: E | None, noun: str) -> E:
        """The item, or CHILD_NOT_FOUND and the like."""
        if item is None:
            raise self.not_found(noun)
        return item

    def not_found(self, noun: str) -> NotFound:
        word = self._refusals.nouns.get(noun, noun.lower())
        return NotFound(noun, f"There is no such {word}.")

    def refuse_impossible(self, possible: bool, noun: str) -> None:
        """Raise if this cannot be an id, so that no key is built from arbitrary text."""
        if not possible:
            raise self.not_found(noun)

    def page(
        self, query: Query[E], size: int | None, after: str | None, reader: str, *, deleted: bool = True
    ) -> Page[E]:
        """A page of a pattern. What is deleted softly is in it: who may see that is the pattern's to say."""
        with self.translated("page"):
            return self.db.page(query, size=size, after=after, reader=reader, deleted=deleted)

    # --- writes ---

    @contextmanager
    def translated(self, noun: str) -> Iterator[None]:
        """Translate the errors of the mapping, in a block about a noun."""
        refusals = self._refusals
        try:
            yield
        except Missing:
            raise self.not_found(noun) from None
        except (Stale, Outdated) as refused:
            raise refusals.changed(refused.current) from None
        except (AlreadyExists, NotUnique) as refused:
            raise refusals.taken(noun, refused) from None
        except ConditionNotMet as refused:
            raise refusals.lost(refused.current) from None
        except PageTooLarge as mistake:
            words = refusals.page_words.format(at_most=mistake.at_most)
            raise BadRequest("INVALID_PAGE_SIZE", words, refusals.page_fields[0]) from None
        except BadCursor as mistake:
            words = f"{str(mistake).capitalize()}."
            raise BadRequest("BAD_TOKEN", words, refusals.page_fields[1]) from None

    def write(self, noun: str, *writes: Write[Any], once: str | None = None, result: Any = None) -> Any:
        """All of it or nothing; the result kept by the first time if this is a repetition, else None."""
        with self.translated(noun):
            done = self.db.write(*writes, once=once, result=result)
        return done.result if done.repeated else None

    def try_write(self, *writes: Write[Any]) -> bool:
        """Write all of it unless something was changed since; whether it was written."""
        try:
            self.db.write(*writes)
            return True
        except RACES:
            return False

    # --- requests done once ---

    def earlier(self, request: OnceRequest) -> Mapping[str, str] | None:
        """What the same request left when it was done before, None if it was not."""
        done = self.db.done(request.receipt, self._design) if request.receipt else None
        return request.same(done.result) if done is not None else None

    def write_once(
        self, request: OnceRequest, *writes: Write[Any], **result: str
    ) -> Mapping[str, str] | None:
        """Write, and keep the result under the request's key; the earlier result if it was done before, else None.

        Refusals are the mapping's: `translated` goes around the retries.
        """
        done = self.db.write(*writes, once=request.receipt, result={**result, "asked": request.asked})
        return request.same(done.result) if done.repeated else None

    # --- retries ---

    def retried(
        self,
        expected: int | None,
        attempt: Callable[[], T],
        *,
        on: ErrorTypes | None = None,
        attempts: int = ATTEMPTS,
        busy: Exception | None = None,
        on_race: Callable[[Any], object] = _nothing,
    ) -> T:
        """As in `Store`, with the system's own errors: the race of its refusals, and `busy`."""
        refusals = self._refusals
        return super().retried(
            expected,
            attempt,
            on=on or refusals.race,
            attempts=attempts,
            busy=busy or refusals.busy(),
            on_race=on_race,
        )
