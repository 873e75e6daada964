"""Skratch as one value: everything it can do, over one database.

api/router.py, the pages and the jobs use this; nothing above it knows of tables.
"""

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from tablewright.edge.errors import NotFound
from tablewright.kit.delivery import OutboxDispatch
from tablewright.kit.erased import ErasedList
from tablewright.kit.keyring import KeyRing, passing_keyring
from tablewright.kit.objects.memory import InMemory
from tablewright.kit.objects.store import Objects
from tablewright.mapping import Change, Consumer, Db
from tablewright.systems.travel import design as d
from tablewright.systems.travel.account.accounts import Accounts, Issue, no_tokens
from tablewright.systems.travel.account.apple import AppleVerifier, Nonces
from tablewright.systems.travel.account.data_export import Exporting
from tablewright.systems.travel.account.devices import Devices
from tablewright.systems.travel.account.email_login import EmailLogin
from tablewright.systems.travel.account.pictures import Pictures
from tablewright.systems.travel.account.privacy import Privacy
from tablewright.systems.travel.account.sessions import Sessions
from tablewright.systems.travel.account.subjects import traveller
from tablewright.systems.travel.geography.regions import Geography, geography
from tablewright.systems.travel.model import Message
from tablewright.systems.travel.notices import Logged, Notices, Notifier
from tablewright.systems.travel.outbox import Outbox
from tablewright.systems.travel.places.public_profiles import Sharing
from tablewright.systems.travel.places.region_search import Places
from tablewright.systems.travel.places.statistics import Statistics
from tablewright.systems.travel.places.visitor_counts import Regions
from tablewright.systems.travel.places.visits import Visits
from tablewright.systems.travel.places.visits_import import Importing
from tablewright.systems.travel.repository import Repository
from tablewright.systems.travel.sync.feed import Feed
from tablewright.systems.travel.sync.push import Sync
from tablewright.world import World

# What keys are made for; it never changes.
KEYRING = "skratch"


@dataclass(frozen=True, slots=True)
class Travel:
    """The parts of Skratch."""

    repository: Repository
    geography: Geography
    sync: Sync
    feed: Feed
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
    notices: Notices
    privacy: Privacy
    sharing: Sharing
    exporting: Exporting
    importing: Importing
    pictures: Pictures
    places: Places

    def follow(self, told: Change[Any]) -> None:
        """Update statistics, visitor counts, and lists after a privacy setting changed."""
        match told.shape.tag:
            case d.changes.shape.tag if told.after is not None:
                with suppress(NotFound):  # erased since
                    self.statistics.of(told.after.user_id)
            case d.visits.shape.tag:
                self.regions.follow_visit(told)
            case d.heads.shape.tag:
                self.regions.follow_head(told)

    def follower(self) -> Consumer:
        """A consumer of every change; one for each process that helps.

        After a day or more without a run some changes are no longer in the stream. It continues all the same: figures
        are computed from the stored visits, and recounts correct the rest.
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
    """Skratch over a database. `places` is the geography, the shipped one by default.

    Without a `keyring` no account is found by its address after a restart; without `objects` pictures and the list of
    erasures are lost with the process; without `issue` sign-in is not possible, without `apple` not with Apple; without
    a `notifier` devices get no notifications.
    """
    repository, known = Repository(db, world), places or geography()
    ring, kept = keyring or passing_keyring(KEYRING, world), objects or InMemory()
    regions = Regions(repository, known)
    sync, feed = Sync(repository, known, regions.relist), Feed(repository)
    statistics, sessions = Statistics(repository, known), Sessions(repository)
    devices = Devices(repository, sessions)
    outbox = Outbox(repository, ring)
    person = traveller(repository, ring, kept, outbox)
    exporting = Exporting(repository, known, ring, kept, person)
    erased = ErasedList(kept, suffix=".json")
    return Travel(
        repository=repository,
        geography=known,
        sync=sync,
        feed=feed,
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
        notices=Notices(repository, outbox, statistics, notifier or Logged()),
        privacy=Privacy(repository, ring, person, erased, outbox, exporting.without),
        sharing=Sharing(repository, regions, statistics),
        exporting=exporting,
        importing=Importing(repository, known, sync),
        pictures=Pictures(repository, kept),
        places=Places(repository, known),
    )
