"""Campus Cloud as one value: everything it can do, over one database and one object store.

The API, the pages and the jobs use this value; nothing above it knows the tables.
"""

from dataclasses import dataclass
from pathlib import Path

from tablewright.kit.delivery import OutboxDispatch
from tablewright.mapping import Db
from tablewright.systems.campus.model import Message
from tablewright.systems.campus.people.notifications import Notifier
from tablewright.systems.campus.people.users import Users
from tablewright.systems.campus.repository import Repository
from tablewright.systems.campus.settings import Settings
from tablewright.world import World


@dataclass(frozen=True, slots=True)
class Campus:
    """The parts of Campus Cloud."""

    repository: Repository
    settings: Settings
    users: Users
    notifier: Notifier
    dispatch: OutboxDispatch[Message]


def open_campus(
    db: Db,
    world: World,
    secret: bytes,
    *,
    home: Path,
    url: str = "",
    settings: Settings | None = None,
) -> Campus:
    """Campus Cloud over a database.

    `secret` keys the seal of messages, the digests of links and signed downloads. `home` is the directory for objects
    and the list of the erased. `url` is the public address, for links in mails.
    """
    settings = settings or Settings()
    repository = Repository(db, world, secret)
    users = Users(repository, settings)
    notifier = Notifier(repository, url)
    return Campus(
        repository=repository,
        settings=settings,
        users=users,
        notifier=notifier,
        dispatch=repository.outbox.dispatch(),
    )
