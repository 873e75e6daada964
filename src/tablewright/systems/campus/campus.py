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
from tablewright.systems.campus.sharing.access_check import FileAccess
from tablewright.systems.campus.sharing.addressees import Addressees
from tablewright.systems.campus.sharing.links import Links
from tablewright.systems.campus.sharing.pending import claim_pending
from tablewright.systems.campus.sharing.share_jobs import ShareJobs
from tablewright.systems.campus.sharing.shares import Shares
from tablewright.systems.campus.sharing.targets import Targets
from tablewright.world import World


@dataclass(frozen=True, slots=True)
class Campus:
    """The parts of Campus Cloud."""

    repository: Repository
    settings: Settings
    users: Users
    notifier: Notifier
    file_access: FileAccess
    targets: Targets
    addressees: Addressees
    shares: Shares
    share_jobs: ShareJobs
    links: Links
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
    file_access = FileAccess(repository, settings)
    users.on_first_login.append(lambda user: claim_pending(repository, user))
    return Campus(
        repository=repository,
        settings=settings,
        users=users,
        notifier=notifier,
        file_access=file_access,
        targets=Targets(repository, file_access),
        addressees=Addressees(repository, users),
        shares=Shares(repository, notifier, url),
        share_jobs=ShareJobs(repository, notifier),
        links=Links(repository, file_access, settings, secret),
        dispatch=repository.outbox.dispatch(),
    )
