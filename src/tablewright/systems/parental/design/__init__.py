"""The design of parental controls: the document's five tables, and those it needs and does not name.

`SubscriberSessions`, `ChildProfiles` and `IngestReceipts` are what the document's rules rest on; `ParentalFamilies`
holds who belongs together and what staff works with. Every table of a child is keyed by the child's tenure of its
number (see model.py). Must hold: only what failed or waits is in StatusTimestampIndex, only addresses in use in the
PrivateIPIndexes.

Each part holds some of the tables, with what is asked of them: base.py what all rest on, policies.py what parents
write, rules.py what is done on firewalls, sessions.py who has which address, metrics.py what was blocked, families.py
who belongs together.
"""

import tablewright.systems.parental.design.acceptances  # noqa: F401  # before it is built
from tablewright.systems.parental.design.base import *  # noqa: F403
from tablewright.systems.parental.design.base import PARENTAL
from tablewright.systems.parental.design.families import *  # noqa: F403
from tablewright.systems.parental.design.metrics import *  # noqa: F403
from tablewright.systems.parental.design.policies import *  # noqa: F403
from tablewright.systems.parental.design.rules import *  # noqa: F403
from tablewright.systems.parental.design.sessions import *  # noqa: F403

PARENTAL.build()
DESIGNS = (PARENTAL,)
