"""What Campus Cloud's tests say to it: a place with everything around it, an API client that signs in, a few people."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import pytest
from tests.systems.talk import Caller

from tablewright import Engine
from tablewright.client import Call
from tablewright.edge import Issuer, Principal
from tablewright.edge.errors import CallerError
from tablewright.mapping import Db
from tablewright.systems.campus.campus import Campus
from tablewright.systems.campus.model import User
from tablewright.testing import Clock
from tablewright.world import World

Json = dict[str, Any]

START = datetime(2030, 2, 4, 10, tzinfo=UTC)
AUDIENCE = "campus"
SECRET = b"one secret for mail, links and signed downloads"


def uuid_world(world: World) -> World:
    """The same world with UUIDs as ids: the same ones in each run."""
    numbers = count(1)
    return replace(world, new_id=lambda: str(uuid.UUID(int=next(numbers) + (4 << 76) + (2 << 62))))


@dataclass(frozen=True)
class Place:
    """Campus Cloud and what lies around it."""

    campus: Campus
    db: Db
    call: Call
    clock: Clock
    issuer: Issuer
    engine: Engine | None
    world: World
    people: dict[str, Principal] = field(default_factory=dict)

    def user(self, name: str, *roles: str, email: str = "") -> User:
        """A user who has signed in: `lin` is the student lin@campus.example."""
        login = Principal(
            f"user-{name}", frozenset(roles or ("student",)), email=email or f"{name}@campus.example"
        )
        self.people[login.subject] = login
        return self.campus.users.entered(login)

    def again(self, user: User) -> User:
        return self.campus.users.by_id(user.user_id)

    def later(self, **passed: float) -> None:
        self.clock.move(timedelta(**passed))


class Api(Caller[User]):
    """The API of Campus Cloud, as a user."""

    prefix = f"/{AUDIENCE}/v1"

    def token(self, by: User) -> str:
        roles = () if by.role == "student" else (by.role,)
        return self._issuer.issue(
            by.user_id,
            audience=AUDIENCE,
            lifetime=timedelta(hours=1),
            roles=roles,
            email=by.email,
        )


@contextmanager
def refuses(code: str) -> Iterator[None]:
    """The block must be refused by Campus Cloud with this code."""
    with pytest.raises(CallerError) as mistake:
        yield
    assert mistake.value.code == code, mistake.value.message
