"""Skratch as one value: everything it can do, over one database.

api/router.py, the console and the jobs speak to this; nothing above it knows of tables.
"""

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from tablewright.kit.objects import InMemory, Objects
from tablewright.kit.outbox import OutboxDispatch
from tablewright.mapping import Change, Consumer, Db
from tablewright.systems.travel import design as d
from tablewright.systems.travel.account.accounts import Accounts, Issue, no_tokens
from tablewright.systems.travel.account.apple import AppleVerifier, Nonces
from tablewright.systems.travel.account.data_export import Exporting
from tablewright.systems.travel.account.devices import Devices
from tablewright.systems.travel.account.email_login import EmailLogin
from tablewright.systems.travel.account.keyring import KeyRing, passing_keyring
from tablewright.systems.travel.account.pictures import Pictures
from tablewright.systems.travel.account.privacy import Privacy
from tablewright.systems.travel.account.sessions import Sessions
from tablewright.systems.travel.errors import NotThere
from tablewright.systems.travel.geography.regions import Geography, geography
from tablewright.systems.travel.model import Message
from tablewright.systems.travel.notices import Logged, Notifier
from tablewright.systems.travel.outbox import Outbox
from tablewright.systems.travel.places.public_profiles import Sharing
from tablewright.systems.travel.places.region_search import Places
from tablewright.systems.travel.places.statistics import Statistics
from tablewright.systems.travel.places.visitor_counts import Regions
from tablewright.systems.travel.places.visits import Visits
from tablewright.systems.travel.places.visits_import import Importing
from tablewright.systems.travel.repository import Repository
from tablewright.systems.travel.sync.documents import Documents
from tablewright.systems.travel.sync.feed import Feed
from tablewright.systems.travel.sync.push import Sync
from tablewright.world import World


@dataclass(frozen=True, slots=True)
class Travel:
    """The parts of Skratch."""

    repository: Repository
    geography: Geography
    sync: Sync
    feed: Feed
    documents: Documents
    visits: Visits
    statistics: Statistics
    regions: Regions
    # --- people, and what they see of each other ---
    accounts: Accounts
    devices: Devices
    sessions: Sessions
    nonces: Nonces
    apple: AppleVerifier | None
    email_login: EmailLogin
    outbox: Outbox
    dispatch: OutboxDispatch[Message]
    notifier: Notifier
    privacy: Privacy
    sharing: Sharing
    exporting: Exporting
    importing: Importing
    pictures: Pictures
    places: Places

    def follow(self, told: Change[Any]) -> None:
        """What follows a change: figures, visitors of regions, lists after a switch was turned."""
        match told.shape.tag:
            case d.changes.shape.tag if told.after is not None:
                with suppress(NotThere):  # erased since
                    self.statistics.of(told.after.user_id)
            case d.visits.shape.tag:
                self.regions.follow_visit(told)
            case d.heads.shape.tag:
                self.regions.follow_head(told)

    def follower(self) -> Consumer:
        """Follows every change; one for each process that helps.

        After a day or more away some changes are lost to it. It goes on all the same: figures are made from what is
        there, and recounts put the rest right.
        """
        followed, table = (d.changes, d.visits, d.heads), d.table.table.name
        return Consumer(self.repository.db, followed, table, d.FOLLOWER, self.follow, skip_to_horizon=True)


def open_travel(
    db: Db,
    world: World,
    *,
    places: Geography | None = None,
    keyring: KeyRing | None = None,
    issue: Issue = no_tokens,
    apple: AppleVerifier | None = None,
    objects: Objects | None = None,
    notifier: Notifier | None = None,
) -> Travel:
    """Skratch over a database. `places` is the geography, the one in the box if not given.

    Without a `keyring` nobody is found by their address after a restart, without `objects` pictures and lists die with
    the process, without `issue` nobody can sign in here, without `apple` nobody with Apple; without a
    `notifier` devices are told nothing before they ask.
    """
    repository, known = Repository(db, world), places or geography()
    ring, kept = keyring or passing_keyring(world), objects or InMemory()
    regions = Regions(repository, known)
    sync, feed = Sync(repository, known, regions.relist), Feed(repository)
    statistics, sessions = Statistics(repository, known), Sessions(repository)
    devices = Devices(repository, sessions)
    outbox = Outbox(repository, ring)
    exporting = Exporting(repository, known, ring, kept, outbox)
    return Travel(
        repository=repository,
        geography=known,
        sync=sync,
        feed=feed,
        documents=Documents(repository, known, sync, feed),
        visits=Visits(repository, known, sync),
        statistics=statistics,
        regions=regions,
        accounts=Accounts(repository, ring, issue, sync, devices, sessions),
        devices=devices,
        sessions=sessions,
        nonces=Nonces(repository, ring),
        apple=apple,
        email_login=EmailLogin(repository, ring, outbox),
        outbox=outbox,
        dispatch=outbox.dispatch(),
        notifier=notifier or Logged(),
        privacy=Privacy(repository, ring, kept, outbox, exporting.without),
        sharing=Sharing(repository, regions, statistics),
        exporting=exporting,
        importing=Importing(repository, known, sync),
        pictures=Pictures(repository, kept),
        places=Places(repository, known),
    )
