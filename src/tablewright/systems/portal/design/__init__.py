"""The portal's design: three tables for the business, and one for items that expire.

`tenants`, `products` and `campaigns` are those of the document. `portal_desk` has one-time secrets, limits and the
outbox, because the three have no TTL, and the tallies, which are counted from their streams. Orders and audit entries
have other attribute names than the records they are stored beside (`orderStatus`, `placedAt`, `auditAt`), so that they
stay out of those records' indexes.

Each module has some of the tables with their access patterns: base.py the design and its environments, customers.py
tenants and their orders, catalogue.py products, campaigns.py campaigns, history.py audit entries, mail_and_codes.py
the table of items that expire.
"""

# In the order in which they are listed.
# isort: off
from tablewright.systems.portal.design.base import *  # noqa: F403  # its `__all__`
from tablewright.systems.portal.design.base import PORTAL
from tablewright.systems.portal.design.customers import *  # noqa: F403  # its `__all__`
from tablewright.systems.portal.design.catalogue import *  # noqa: F403  # its `__all__`
from tablewright.systems.portal.design.campaigns import *  # noqa: F403  # its `__all__`
from tablewright.systems.portal.design.history import *  # noqa: F403  # its `__all__`
from tablewright.systems.portal.design.mail_and_codes import *  # noqa: F403  # its `__all__`

import tablewright.systems.portal.design.acceptances  # noqa: F401  # before it is built

PORTAL.build()
DESIGNS = (PORTAL,)
