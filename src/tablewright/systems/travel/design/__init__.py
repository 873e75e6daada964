"""The design of Skratch: one table, two overloaded indexes, as the document resolves them (A.0).

A traveller's things lie in USER#..., what their devices do in SYNC#..., so that a push does not rewrite what is listed.
Must hold: no item names an e-mail address in a key; only live visits of travellers who share them are in GSI1, only
live ones in GSI2; popular regions, statuses and days are written to sixteen partitions; every item says what it is
(`item_type`) and which form it has (`schema_version`).

Each part holds some of the entities, with what is asked of them: base.py what all rest on, accounts.py travellers,
visits.py what they marked, sync.py what their devices did, geography.py regions, statistics.py what is counted,
housekeeping.py what is kept beside them and how an account ends.
"""

# In the order in which they are listed.
# isort: off
from tablewright.systems.travel.design.base import *  # noqa: F403  # its `__all__`
from tablewright.systems.travel.design.base import TRAVEL
from tablewright.systems.travel.design.accounts import *  # noqa: F403  # its `__all__`
from tablewright.systems.travel.design.visits import *  # noqa: F403  # its `__all__`
from tablewright.systems.travel.design.sync import *  # noqa: F403  # its `__all__`
from tablewright.systems.travel.design.geography import *  # noqa: F403  # its `__all__`
from tablewright.systems.travel.design.statistics import *  # noqa: F403  # its `__all__`
from tablewright.systems.travel.design.housekeeping import *  # noqa: F403  # its `__all__`

import tablewright.systems.travel.design.acceptances  # noqa: F401  # before it is built

TRAVEL.build()
DESIGNS = (TRAVEL,)
